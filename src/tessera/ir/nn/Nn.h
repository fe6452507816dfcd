// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `nn` dialect as C++ classes, and the questions about shapes that its users share.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/ir/LLVM.h"
#include "tessera/ir/note/Note.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tessera::nn {

/// Elements of a shaped type; a dynamic extent counts as 1.
int64_t countElements(Type type);

/// Arithmetic of extents: dynamic when an operand is. kDynamic itself is a number, and would be one factor
/// like any other.
inline int64_t addExtents(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ? ShapedType::kDynamic : a + b;
}
inline int64_t mulExtents(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ? ShapedType::kDynamic : a * b;
}
/// Extent `dim` of a tensor, which must be static by what its operation's verifier asks.
int64_t staticExtent(Value tensor, int64_t dim);

/// The same element types and ranks, and no two static extents that differ.
bool areCompatible(TypeRange inferred, TypeRange actual);

/// The shape of operands of these shapes after broadcast. A dynamic extent against a static one other than 1
/// takes the static one. Fails when two extents differ and neither is 1.
FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes);
FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// An axis that counts from the front; nothing when it is outside [-rank, rank).
std::optional<int64_t> normaliseAxis(int64_t axis, int64_t rank);

/// One dimension of a convolution or a pool.
struct Window {
  int64_t kernel, stride = 1, low = 0, high = 0, dilation = 1;
  bool ceil = false;

  /// Elements from the first to the last tap.
  int64_t span() const { return dilation * (kernel - 1) + 1; }
  /// Windows over `in` elements; negative or zero when none fits; dynamic when `in` is.
  int64_t places(int64_t in) const;
};

/// Splits an equation `ij,jk->ik` into the labels of its operands and of its result. Fails unless it is an
/// explicit one of letters.
struct Einsum {
  SmallVector<StringRef> operands;
  StringRef result;
};
FailureOr<Einsum> parseEinsum(StringRef equation);

/// Where notes of layers may stand, and what their values must be beyond their types.
bool isLayer(Operation *op);
LogicalResult verifyName(Operation *op, Attribute name);
LogicalResult verifyKnob(Operation *op, Attribute knob);
LogicalResult verifyRange(Operation *op, Attribute range);
LogicalResult verifyDemand(Operation *op, Attribute demand);

} // namespace tessera::nn

#include "tessera/ir/nn/NnDialect.h.inc"
#include "tessera/ir/nn/NnEnums.h.inc"

#include "tessera/ir/nn/NnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "tessera/ir/nn/Nn.h.inc"

namespace tessera::nn {

using Notes = NnDialect::Notes;

/// The operation is about blocks of channels itself (Layout::Packed). Numbers of channels are static.
bool isPacked(Operation *op);

/// Whether the kind gives i1 whatever it takes.
bool isPredicate(UnaryKind kind);
bool isComparison(BinaryKind kind);

/// Windows of a convolution or pool, one for each spatial dimension.
SmallVector<Window> makeWindows(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                                ArrayRef<int64_t> dilations, bool ceil = false);

/// The knob that the operation carries; f32 when it carries none. Its spelling has been verified.
Knob knobOf(Operation *op);
/// The range of an operation's activation from `nn.range`; nothing when it has none.
std::optional<std::pair<float, float>> rangeOf(Operation *op);
/// The operation's `nn.name`, or "".
StringRef nameOf(Operation *op);

/// Whether the operation can be computed so: types and shapes allow it, and weights are constants where the
/// knob changes them.
bool hasKnob(TunableOp op, const Knob &knob);
/// All knobs worth trying, f32 first.
SmallVector<Knob> listKnobs(TunableOp op);
/// The knob changes weights before the program runs.
bool changesWeights(const Knob &knob);

/// Weights as a matrix: results of one sum in a row each, the summands in a column each (groups of a
/// convolution one below the other).
struct WeightMatrix {
  int64_t rows = 0, columns = 0;
};
WeightMatrix weightMatrix(TunableOp op);

/// The place of row (or column) `i` of nn.interpolate among its parts: the part and the row there; nothing
/// when it is interpolated.
std::optional<std::pair<int64_t, int64_t>> partOf(int64_t i, int64_t rate, int64_t offset);

/// Bits that an element of the format takes, and whether it is one of the formats stored in bytes.
bool isByteFormat(Format format);

/// Like OpT::create without result types, but gives a null operation, with the error emitted, when the
/// operands do not fit: `create` itself ends the program then. For whoever builds operations from a user's
/// file.
template <typename OpT, typename... Args> OpT tryCreate(OpBuilder &b, Location loc, Args &&...args) {
  size_t results = 1;
  if constexpr (OpT::template hasTrait<OpTrait::NResults<2>::Impl>())
    results = 2;
  else if constexpr (OpT::template hasTrait<OpTrait::NResults<3>::Impl>())
    results = 3;
  SmallVector<Type> types(results, b.getNoneType());
  OpT op = OpT::create(b, loc, TypeRange(types), std::forward<Args>(args)...);
  SmallVector<Type> inferred;
  if (failed(OpT::inferReturnTypes(b.getContext(), loc, op->getOperands(), op->getAttrDictionary(),
                                   op->getPropertiesStorage(), op->getRegions(), inferred))) {
    op->erase();
    return {};
  }
  for (auto [result, type] : llvm::zip_equal(op->getResults(), inferred))
    result.setType(type);
  return op;
}

} // namespace tessera::nn
