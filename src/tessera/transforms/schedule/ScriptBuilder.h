// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds schedule scripts: the operations of the transform dialect are made directly, and the text that users
// see is printed from them.
#pragma once

#include "tessera/transforms/schedule/Script.h"
#include "tessera/transforms/schedule/Sequences.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace tessera::schedule {

/// What a step works on: operations of the payload. `OpTy` says of which kind; Operation stands for any.
template <typename OpTy = Operation> class Handle {
public:
  Handle() = default;
  explicit Handle(Value value) : handle(value) {}
  /// A handle of one kind serves where any kind does.
  template <typename Other>
    requires(std::is_same_v<OpTy, Operation>)
  Handle(Handle<Other> other) : handle(other.value()) {}

  Value value() const { return handle; }
  explicit operator bool() const { return bool(handle); }
  static Type type(MLIRContext *context) {
    if constexpr (std::is_same_v<OpTy, Operation>)
      return transform::AnyOpType::get(context);
    else
      return transform::OperationType::get(context, OpTy::getOperationName());
  }

private:
  Value handle;
};

using AnyHandle = Handle<>;

/// A number that is known when the script runs. Steps that are added with `add` take it by `value()` among
/// their parameters, in whose place stands ShapedType::kDynamic.
class Param {
public:
  explicit Param(Value value) : param(value) {}
  Value value() const { return param; }
  operator OpFoldResult() const { return param; }

private:
  Value param;
};

/// The kind of a handle whose operations take part in tiling.
template <typename OpTy, typename LoopTy> struct Tiled {
  Handle<OpTy> op;
  Handle<LoopTy> loop;
};

/// Adds steps to a sequence, or to a region inside one. A step's name is the one that the text gives to what
/// the step returns; steps that return several handles have names for them.
class Steps {
public:
  Steps(OpBuilder builder, AnyHandle root) : b(builder), handle(root) {}

  /// What the sequence, or the region, is given.
  AnyHandle root() const { return handle; }

  /// Adds any step. Handles are passed by `value()`.
  template <typename StepOp, typename... Args> StepOp add(StringRef name, Args &&...args) {
    return StepOp::create(b, locate(name), std::forward<Args>(args)...);
  }

  /// A number that a tuner may choose among `options`, and the one that is chosen now.
  Param knob(StringRef name, int64_t chosen, ArrayRef<int64_t> options);

  /// The operations of a kind, with an attribute when there is one.
  template <typename OpTy>
  Handle<OpTy> match(StringRef name, AnyHandle in, std::optional<NamedAttribute> attribute = {}) {
    return Handle<OpTy>(
        match(name, in, OpTy::getOperationName(), Handle<OpTy>::type(b.getContext()), attribute));
  }
  /// The same for a kind that is known by its name only.
  AnyHandle matchNamed(StringRef name, AnyHandle in, StringRef kind, NamedAttribute attribute) {
    return AnyHandle(match(name, in, kind, AnyHandle::type(b.getContext()), attribute));
  }
  AnyHandle producerOf(StringRef name, AnyHandle op, unsigned operand);

  /// Tiles into tasks, and by a loop; sizes are numbers or parameters. Size 0 leaves a dimension in one
  /// piece; a loop needs one other size.
  template <typename OpTy> Tiled<OpTy, scf::ForallOp> tileForall(Handle<OpTy> op, ArrayRef<int64_t> sizes) {
    return tileForall(op, ArrayRef<OpFoldResult>(getAsIndexOpFoldResult(b.getContext(), sizes)));
  }
  template <typename OpTy>
  Tiled<OpTy, scf::ForallOp> tileForall(Handle<OpTy> op, ArrayRef<OpFoldResult> sizes) {
    auto [tiled, loop] = tileForall(op.value(), Handle<OpTy>::type(b.getContext()), sizes);
    return {Handle<OpTy>(tiled), Handle<scf::ForallOp>(loop)};
  }
  template <typename OpTy> Tiled<OpTy, scf::ForOp> tileFor(Handle<OpTy> op, ArrayRef<int64_t> sizes) {
    return tileFor(op, ArrayRef<OpFoldResult>(getAsIndexOpFoldResult(b.getContext(), sizes)));
  }
  template <typename OpTy> Tiled<OpTy, scf::ForOp> tileFor(Handle<OpTy> op, ArrayRef<OpFoldResult> sizes) {
    auto [tiled, loop] = tileFor(op.value(), Handle<OpTy>::type(b.getContext()), sizes);
    return {Handle<OpTy>(tiled), Handle<scf::ForOp>(loop)};
  }
  /// Computes a producer inside the tasks that read it.
  Tiled<Operation, scf::ForallOp> fuseInto(AnyHandle producer, Handle<scf::ForallOp> tasks);
  void interchange(AnyHandle op, ArrayRef<int64_t> order);
  void vectorize(AnyHandle op);
  /// Steps for each operation of a handle.
  void forEach(AnyHandle ops, StringRef name, function_ref<void(Steps &)> body);
  /// The transform.apply_patterns.* that are named, with their defaults.
  template <typename... Patterns> void applyPatterns(AnyHandle target) {
    OpBuilder inner = beginPatterns(target);
    (Patterns::create(inner, inner.getUnknownLoc()), ...);
  }
  void applyCse(AnyHandle target);
  void hoistSubsets(Handle<scf::ForOp> loops);

private:
  Location locate(StringRef name) const;
  Value match(StringRef name, AnyHandle in, StringRef kind, Type type,
              std::optional<NamedAttribute> attribute);
  std::pair<Value, Value> tileForall(Value op, Type type, ArrayRef<OpFoldResult> sizes);
  std::pair<Value, Value> tileFor(Value op, Type type, ArrayRef<OpFoldResult> sizes);
  OpBuilder beginPatterns(AnyHandle target);

  OpBuilder b;
  AnyHandle handle;
};

/// A script while it is written.
class ScriptBuilder {
public:
  explicit ScriptBuilder(MLIRContext *context);

  /// A sequence without steps; `argument` is the name of what it is given.
  Steps addSequence(StringRef name, Phase phase, StringRef argument);
  /// Adds to the first line of the text, which says in words what the script does.
  void note(const Twine &text) { script.note += (script.note.empty() ? "" : "; ") + text.str(); }
  /// Gives a step a comment of its own.
  void comment(Operation *step, const Twine &text) { script.comments[step] = text.str(); }
  Script finish();

private:
  Script script;
};

} // namespace tessera::schedule
