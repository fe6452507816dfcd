// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The translator of a graph's own level: its operations are wiring, and memory must not be touched.
#pragma once

#include "tessera/frontends/heterocpp/Graph.h"
#include "tessera/frontends/heterocpp/Members.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace tessera::heterocpp {

/// The memory behind a pointer in a structure.
struct MemberMemory {
  Object *object = nullptr;
  bool isEnd = false; ///< the pointer stands behind the last element
  /// Of an array of structures: where the elements of each begin, and the units of a structure and an
  /// element.
  Object *starts = nullptr;
  uint64_t strideUnits = 0, elementUnits = 0;
};

/// The graph's own level.
class GraphTranslator : public Translator {
public:
  using Translator::Translator;
  const Lists *lists = nullptr; ///< of the launch
  std::function<std::optional<MemberMemory>(Object *, Value, clang::SourceLocation)> addMember;
  std::function<Value(Object *, Value, clang::QualType, clang::SourceLocation)> addNumber;
  /// The operation of two numbers that a function is, as a combiner of the module; null after a diagnostic.
  std::function<FlatSymbolRefAttr(const clang::CallExpr *, const clang::FunctionDecl *, TypedAttr)>
      addCombiner;
  ModuleOp module;
  std::function<bool(Object *)> isClosure;              ///< of a lambda that is not mutable
  std::map<const clang::ValueDecl *, Storage *> inputs; ///< of the graph
  /// The values of calls in the statement at hand that are parts of the graph.
  std::map<const clang::CallExpr *, Value> results;

  Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation at) override {
    for (auto &[known, storage] : inputs)
      if (known->getCanonicalDecl() == decl->getCanonicalDecl())
        return storage;
    if (reported.insert(decl).second) {
      diag.emitError(at,
                     "'" + decl->getNameAsString() + "' is used in a graph, but is no input of its launch");
      diag.note(decl->getLocation(),
                "it is declared here; list it where the graph is launched, and count it");
    }
    failed = true;
    return nullptr;
  }
  std::optional<RValue> emitMarker(const clang::CallExpr *call, const clang::FunctionDecl *callee) override {
    if (auto known = results.find(call); known != results.end())
      return RValue::of(known->second);
    return Translator::emitMarker(call, callee);
  }
  Value loadNumber(const Place &place, clang::SourceLocation at) override {
    return addNumber(place.object, place.offset, place.type, at);
  }
  std::optional<RValue> loadPointer(const Place &place, clang::SourceLocation at) override {
    std::optional<MemberMemory> memory = addMember(place.object, place.offset, getUserLoc(at));
    if (!memory || !memory->object || memory->starts)
      return std::nullopt;
    if (memory->isEnd) {
      failed = true;
      diag.emitError(getUserLoc(at), "the size of a vector is asked for between the tasks of a graph");
      diag.note(getUserLoc(at), "ask before the graph, 'size_t n = v.size();', and capture the number");
    }
    return RValue::pointer({place.type->getPointeeType(), nullptr, memory->object, constantIndex(0)});
  }
  bool mayAccess(Object &object, bool writes, clang::SourceLocation at) override {
    failed = true;
    at = getUserLoc(at);
    diag.emitError(at, Twine("memory is ") + (writes ? "written" : "read") +
                           " outside of a task or parallel loop");
    diag.note(
        at,
        "put the statement into a task: '__hetero_task_begin(…)' before it, '__hetero_task_end(…)' after");
    return false;
  }
  Object *allocate(clang::QualType type, clang::SourceLocation at) override {
    unsupported(at, "an array between tasks", "make it an input of the launch, or declare it inside a task");
    Unit unit = getUnit(type, b.getContext(), ast);
    if (!unit)
      unit = {b.getI8Type(), 1};
    return makeObject(Value(), unit, nullptr);
  }
  // The plan that computes extents knows signed numbers of 64 bits.
  Value toIndex(Value v, clang::QualType type) override {
    if (getConstantIntValue(v))
      return Translator::toIndex(v, type);
    // A conversion to a wider type, which the index is anyway.
    if (auto wide = v.getDefiningOp<arith::ExtSIOp>())
      return arith::IndexCastOp::create(b, current, b.getIndexType(), wide.getIn());
    // A promotion of a narrow number.
    bool isWidened = false;
    if (auto wide = v.getDefiningOp<arith::ExtUIOp>(); wide && !wide.getIn().getType().isInteger(1)) {
      v = wide.getIn();
      isWidened = true;
    }
    auto integer = dyn_cast<IntegerType>(v.getType());
    if (!integer || (isSigned(type) && !isWidened) || integer.getWidth() == 64)
      return Translator::toIndex(v, type);
    Value narrow = arith::IndexCastOp::create(b, current, b.getIndexType(), v);
    AffineExpr all = b.getAffineDimExpr(0) % (int64_t(1) << integer.getWidth());
    return affine::AffineApplyOp::create(b, current, AffineMap::get(1, 0, all), ValueRange{narrow});
  }
  Storage *find(const clang::ValueDecl *decl, clang::SourceLocation at) { return lookup(decl, at); }
  /// The parameters, and the captures, of a function that is part of the graph.
  void bindParameters(const clang::FunctionDecl *function, const clang::CallExpr *call) {
    SmallVector<const clang::Expr *> args(call->arg_begin(), call->arg_end());
    Place self;
    const auto *method = dyn_cast<clang::CXXMethodDecl>(function);
    if (method && !method->isStatic()) {
      self = emitPlace(args.front());
      args.erase(args.begin());
    }
    bindParameters(function, args, call->getBeginLoc());
    if (method && method->getParent()->isLambda())
      bindCaptures(frames.back(), method, self, call->getBeginLoc());
  }
  void bindParameters(const clang::FunctionDecl *function, ArrayRef<const clang::Expr *> args,
                      clang::SourceLocation at) {
    // All arguments first: they may name the same parameters.
    std::vector<RValue> values;
    for (auto [param, arg] : llvm::zip(function->parameters(), args)) {
      values.push_back({RValue::Reference, {}, {}, {}});
      if (param->getType()->isReferenceType())
        values.back().place = emitPlace(arg);
      else
        values.back() = emit(arg);
    }
    for (auto [param, value] : llvm::zip(function->parameters(), values))
      store(placeOf(declare(param)), value, at);
  }
  /// Whether a name stands for memory, not for a variable of the level.
  bool isMemory(const clang::ValueDecl *decl) {
    if (!knows(decl))
      return true;
    Storage *storage = find(decl, decl->getLocation());
    return !storage || !storage->target.storage;
  }
  /// The variable of the level that is kept there; null when it has no name.
  const clang::ValueDecl *getName(const Storage *storage) const {
    for (const Frame &frame : frames)
      for (auto &[decl, known] : frame.vars)
        if (known == storage)
          return cast<clang::ValueDecl>(decl);
    return nullptr;
  }
  bool knows(const clang::ValueDecl *decl) {
    for (auto &[known, storage] : inputs)
      if (known->getCanonicalDecl() == decl->getCanonicalDecl())
        return true;
    return llvm::any_of(frames, [&](const Frame &frame) { return frame.vars.count(decl) != 0; });
  }
  Value slotValue(unsigned slot) { return slots[slot]; }
  void setSlot(unsigned slot, Value v) { slots[slot] = v; }
  std::set<const clang::ValueDecl *> reported;
};

} // namespace tessera::heterocpp
