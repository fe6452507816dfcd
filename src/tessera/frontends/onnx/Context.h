// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the conversion of one node works with: the node's attributes and inputs, builders for operations of
// `nn` that never fail hard, and a place for its outputs. A mistake is recorded once with the node's name;
// after it the builders give null values, which they also accept, so that conversions need not look after
// each step.
#pragma once

#include "tessera/frontends/onnx/Value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tessera::onnximport {

class Importer;
struct Scope;
using Ints = SmallVector<int64_t>;
/// from, from + 1, … to - 1.
inline Ints range(int64_t from, int64_t to) {
  Ints list;
  for (int64_t i = from; i < to; ++i)
    list.push_back(i);
  return list;
}

class NodeContext {
public:
  NodeContext(Importer &importer, const Node &node, Scope &scope, int64_t opset, Location loc);

  //===------------------------------------------------------------------===//
  // The node
  //===------------------------------------------------------------------===//
  const ::tessera::onnx::Attribute *attr(StringRef name) const;
  bool hasAttr(StringRef name) const { return attr(name); }
  int64_t attrInt(StringRef name, int64_t otherwise);
  double attrFloat(StringRef name, double otherwise);
  std::string attrString(StringRef name, StringRef otherwise);
  /// Empty when it is not there.
  Ints attrInts(StringRef name);
  SmallVector<double> attrFloats(StringRef name);
  std::vector<std::string> attrStrings(StringRef name);

  unsigned numInputs() const { return in.size(); }
  bool has(unsigned i) const { return i < in.size() && in[i]; }
  Val val(unsigned i) const { return i < in.size() ? in[i] : nullptr; }
  /// Input `i` as a tensor; fails when it was left out.
  Value v(unsigned i);
  /// Null when it was left out.
  Value optional(unsigned i) { return has(i) ? v(i) : Value(); }
  DataType type(unsigned i) const { return has(i) ? in[i]->type : DataType::Undefined; }
  bool wants(unsigned i) const;
  unsigned numOutputs() const;

  /// The elements of an input that must be known; fails, naming the remedy, when they are not. May hold
  /// dynamic ones.
  KnownPtr known(unsigned i, StringRef what);
  /// The same, without failing.
  KnownPtr tryKnown(unsigned i);
  /// Known integers without dynamic ones; `ok` tells failure from empty.
  std::optional<Ints> ints(unsigned i, StringRef what);
  std::optional<int64_t> oneInt(unsigned i, StringRef what);
  std::optional<double> oneFloat(unsigned i, StringRef what);
  /// From the attribute of that name, or from input `i` where the opset takes it there. nullopt without
  /// failure when neither is given.
  std::optional<Ints> attrOrInput(StringRef name, unsigned i);

  /// The strings of an input.
  std::optional<WordTable> words(unsigned i);

  void set(unsigned i, Value value, DataType type);
  void set(unsigned i, Val value);
  void set(unsigned i, Known known);

  std::nullptr_t fail(const Twine &text);
  /// With what the operation said.
  void failInference();
  bool bad = false;

  //===------------------------------------------------------------------===//
  // Types and extents
  //===------------------------------------------------------------------===//
  RankedTensorType tt(Value v) const { return v ? cast<RankedTensorType>(v.getType()) : RankedTensorType(); }
  int64_t rank(Value v) const { return v ? tt(v).getRank() : 0; }
  /// kDynamic, or 1 for a null value or a dimension that is not there (which fails).
  int64_t dim(Value v, int64_t i);
  Type elem(Value v) const { return v ? tt(v).getElementType() : Type(); }
  Type elem(DataType type) const { return elementType(type, b.getContext()); }
  /// Extent `i` of `v` is static, or fails: `what` depends on it.
  bool needStatic(Value v, int64_t i, StringRef what);
  bool allStatic(Value v) const { return v && tt(v).hasStaticShape(); }
  /// Extent `i` as an operand may be asked for it; derived from the leaf's inputs where that is possible.
  Ext ext(Value v, int64_t i);
  Exts exts(Value v);
  Value index(Ext e);
  Ext mul(Ext a, Ext b);
  Ext add(Ext a, Ext b);
  Ext sub(Ext a, Ext b);
  Ext floordiv(Ext a, Ext b);
  /// Of natural numbers.
  Ext ceildiv(Ext a, Ext b);
  Ext min(Ext a, Ext b);
  Ext max(Ext a, Ext b);
  /// The extent of two that broadcast: the other one where one is 1.
  Ext wider(Ext a, Ext b);
  /// The number of elements of dimensions [from, to).
  Ext product(Value v, int64_t from, int64_t to);
  /// The same extent for certain.
  bool same(const Ext &a, const Ext &b) const;
  /// Compares the two before anything runs; a launch where they differ is refused with the node's name and
  /// `text`. Where a launch cannot know them beforehand, `ifKnown` leaves the check out instead of refusing
  /// the model.
  void require(Ext got, Ext expected, const Twine &text, bool ifKnown = false);
  /// An axis in [0, rank), or fails.
  std::optional<int64_t> axis(int64_t a, int64_t rank);
  std::optional<Ints> axes(ArrayRef<int64_t> list, int64_t rank);

  //===------------------------------------------------------------------===//
  // Builders
  //===------------------------------------------------------------------===//
  /// An operation with inferred result types; null when they do not follow (a wrong shape), which is
  /// recorded.
  template <typename Op, typename... Args> Operation *make(Args &&...args) {
    return makeImpl<Op>(opResults<Op>(), std::forward<Args>(args)...);
  }
  template <typename Op, typename... Args> Value one(Args &&...args) {
    Operation *op = make<Op>(std::forward<Args>(args)...);
    return op ? op->getResult(0) : Value();
  }
  /// Checks a type's number of elements.
  bool sane(RankedTensorType type);
  RankedTensorType typeFor(ArrayRef<Ext> shape, Type element);

  Value scalar(double value, DataType type);
  Value scalar(double value, Type type);
  Value constant(DataType type, ArrayRef<int64_t> dims, ArrayRef<double> values);
  Value constInts(ArrayRef<int64_t> values, DataType type = DataType::I64);
  Value constInts(ArrayRef<int64_t> dims, ArrayRef<int64_t> values, DataType type);
  /// A tensor with `value` everywhere.
  Value full(ArrayRef<Ext> shape, double value, DataType type);
  Value materialise(const Known &known);

  Value unary(nn::UnaryKind kind, Value x, bool isUnsigned = false);
  Value activation(nn::ActivationKind kind, Value x, double alpha = 0, double beta = 0,
                   bool isUnsigned = false);
  Value binary(nn::BinaryKind kind, Value a, Value b, bool isUnsigned = false);
  Value add(Value a, Value b) { return binary(nn::BinaryKind::add, a, b); }
  Value sub(Value a, Value b) { return binary(nn::BinaryKind::sub, a, b); }
  Value mul(Value a, Value b) { return binary(nn::BinaryKind::mul, a, b); }
  Value div(Value a, Value b) { return binary(nn::BinaryKind::div, a, b); }
  Value select(Value condition, Value a, Value b);
  Value castTo(Value x, DataType from, DataType to, bool saturate = true, StringRef round = "nearest");
  Value castFloat(Value x, Type to);
  Value reshape(Value x, ArrayRef<Ext> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  Value swapInner(Value x);
  Value broadcast(Value x, ArrayRef<Ext> shape);
  Value concat(ArrayRef<Value> values, int64_t axis);
  /// `size` elements from `start` along one axis.
  Value slice(Value x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  /// The same with an offset or a size that may be computed; where there are fewer, the launch is refused.
  Value part(Value x, int64_t axis, Ext start, Ext size);
  Value pad(Value x, ArrayRef<int64_t> lows, ArrayRef<int64_t> highs, Value value = {},
            nn::PadMode mode = nn::PadMode::constant);
  Value reduce(nn::ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keep, bool isUnsigned = false);
  Value matmul(Value a, Value b, bool transposeA = false, bool transposeB = false);
  Value softmax(Value x, int64_t axis, bool log = false);
  Value gather(Value x, Value indices, int64_t axis);
  /// start + i * step, one-dimensional.
  Value iota(Ext n, DataType type, double start = 0, double step = 1);
  /// The same of i64, from a start that may be computed.
  Value places(Ext n, Ext start, int64_t step);
  /// An extent as an i64 of rank 0.
  Value number(Ext e);
  Value unsqueeze(Value x, ArrayRef<int64_t> axes); ///< positions in the result, ascending
  Value squeeze(Value x, ArrayRef<int64_t> axes);
  /// Dimensions [from, to) become one.
  Value collapse(Value x, int64_t from, int64_t to);
  /// Extents of 1 in front until the rank is `rank`.
  Value lead(Value x, int64_t rank);
  /// A vector along dimension `axis` of tensors of rank `rank`.
  Value along(Value vector, int64_t axis, int64_t rank);

  Importer &importer;
  const Node &node;
  Scope &scope;
  int64_t opset;
  Location loc;
  OpBuilder &b;
  std::vector<Val> in, out;

private:
  template <typename Op> static constexpr unsigned opResults() {
    if constexpr (Op::template hasTrait<OpTrait::OneResult>())
      return 1;
    else if constexpr (Op::template hasTrait<OpTrait::NResults<2>::Impl>())
      return 2;
    else
      return 3;
  }
  template <typename Op, typename... Args> Operation *makeImpl(unsigned results, Args &&...args) {
    OperationState state(loc, Op::getOperationName());
    SmallVector<Type> placeholders(results, b.getNoneType());
    Op::build(b, state, TypeRange(placeholders), std::forward<Args>(args)...);
    // Optional operands that are left out are not part of the list; any other null is a failure before.
    for (Value operand : state.operands)
      if (!operand)
        return nullptr;
    if (bad)
      return nullptr;
    state.types.clear();
    SmallVector<Type> types;
    if (failed(Op::inferReturnTypes(b.getContext(), loc, state.operands,
                                    state.attributes.getDictionary(b.getContext()), state.getRawProperties(),
                                    {}, types)))
      return failInference(), nullptr;
    for (Type type : types)
      if (!sane(cast<RankedTensorType>(type)))
        return nullptr;
    state.addTypes(types);
    return b.create(state);
  }
};

using Convert = void (*)(NodeContext &);
/// An operator of a domain (the standard one is "") from opset `since` on, as one function converts it.
struct OperatorEntry {
  const char *name;
  int64_t since, until;
  Convert convert;
  const char *domain = "";
};
constexpr int64_t lastOpset = 27;
/// ONNX Runtime's own operators; its domain has one version.
inline constexpr const char *microsoft = "com.microsoft";

// One for each file of a family.
ArrayRef<OperatorEntry> elementwiseOperators();
ArrayRef<OperatorEntry> reduceOperators();
ArrayRef<OperatorEntry> contractOperators();
ArrayRef<OperatorEntry> poolOperators();
ArrayRef<OperatorEntry> normOperators();
ArrayRef<OperatorEntry> moveOperators();
ArrayRef<OperatorEntry> partOperators();
ArrayRef<OperatorEntry> reshapeOperators();
ArrayRef<OperatorEntry> shapeOperators();
ArrayRef<OperatorEntry> indexOperators();
ArrayRef<OperatorEntry> resampleOperators();
ArrayRef<OperatorEntry> quantOperators();
ArrayRef<OperatorEntry> sequenceOperators();
ArrayRef<OperatorEntry> attentionOperators();
ArrayRef<OperatorEntry> lossOperators();
ArrayRef<OperatorEntry> signalOperators();
ArrayRef<OperatorEntry> controlOperators();
ArrayRef<OperatorEntry> selectionOperators();
ArrayRef<OperatorEntry> contribOperators();
ArrayRef<OperatorEntry> contribQuantOperators();
ArrayRef<OperatorEntry> contribAttentionOperators();
ArrayRef<OperatorEntry> learnedOperators();
ArrayRef<OperatorEntry> treeOperators();
ArrayRef<OperatorEntry> encoderOperators();
ArrayRef<OperatorEntry> listOperators();

/// Whether the operator may have operands of strings.
bool takesStrings(const Node &node);
/// Converts a node with such operands.
void convertStrings(NodeContext &c, Convert convert);

/// Computes the node's outputs from known elements. False when it does not know the operator, or not for
/// these.
bool evaluate(NodeContext &c);

} // namespace tessera::onnximport
