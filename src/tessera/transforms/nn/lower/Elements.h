// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the families of the lowering share: extents, empty tensors, loops over elements, and the scalar
// functions behind elementwise operations.
#pragma once

#include "tessera/ir/nn/NnTypes.h"
#include "tessera/transforms/nn/lower/Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tessera::nn {

/// A constant of index type, and one of any scalar type; `v` is converted with rounding.
Value indexOf(OpBuilder &b, Location loc, int64_t v);
Value constantOf(OpBuilder &b, Location loc, Type type, double v);
Value integerOf(OpBuilder &b, Location loc, Type type, int64_t v);
/// An extent as a value of index type.
Value asValue(OpBuilder &b, Location loc, OpFoldResult v);
/// `expr` over d0, d1, … = `values`, folded where it is constant.
OpFoldResult applyExpr(OpBuilder &b, Location loc, AffineExpr expr, ArrayRef<OpFoldResult> values);

/// The extents of a tensor; constants where they are static.
SmallVector<OpFoldResult> extentsOf(OpBuilder &b, Location loc, Value tensor);
/// The extents of a type whose dynamic ones are given by `dynamic`, in order.
SmallVector<OpFoldResult> extentsOf(OpBuilder &b, RankedTensorType type, ValueRange dynamic);
/// A tensor without content, and one full of `v`.
Value emptyOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element);
Value filledWith(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Value v);
/// The tensor as a value of this type: a cast where static extents differ.
Value castTo(OpBuilder &b, Location loc, Value tensor, Type type);
/// The tensor with this static extent, which the node's checks have made sure of (Checks.cpp).
Value withExtent(OpBuilder &b, Location loc, Value tensor, int64_t dim, int64_t extent);

using BodyBuilder = function_ref<Value(OpBuilder &b, Location loc, ValueRange args)>;

/// A parallel linalg.generic over `extents`: the operands are read by `maps` (from loop dimensions), `body`
/// gets their elements and returns the result's.
Value mapElements(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element,
                  ValueRange operands, ArrayRef<AffineMap> maps, BodyBuilder body);
/// The same over index variables (linalg.index), without operands.
Value generate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Type element,
               function_ref<Value(OpBuilder &b, Location loc, ValueRange ids)> body);
/// The index variables inside of a linalg.generic.
SmallVector<Value> loopIndices(OpBuilder &b, Location loc, unsigned loops);
/// What decides an extent: a value of index type, or a dimension of a tensor.
struct Origin {
  Value value;
  std::optional<int64_t> dim;
};
/// What decides extent `d` of a tensor, within its node.
Origin originOf(Value v, int64_t d);
/// Whether two extents are known to be equal: they are static, or come from the same place.
bool haveSameExtent(Value a, int64_t da, Value b, int64_t db);
/// An elementwise function of operands that are broadcast as NumPy does, to a tensor of type `result`. A
/// dynamic extent that is not known to be the result's is taken for 1 or the result's when the program runs.
Value mapBroadcast(OpBuilder &b, Location loc, ValueRange operands, RankedTensorType result,
                   BodyBuilder body);
/// The tensor in these extents, each its own or, where its own is 1 when the program runs, any: it is
/// repeated along that dimension. The last element stands for those beyond it, so that no index leaves the
/// memory.
Value repeated(OpBuilder &b, Location loc, Value x, ArrayRef<OpFoldResult> extents);
/// `v`, which broadcasts to x, such that a map can read it: repeated where an extent may or may not be 1.
Value repeatedTo(OpBuilder &b, Location loc, Value v, Value x);
/// The map by which a tensor is read from loops over these extents when it is broadcast as NumPy does:
/// aligned at the innermost dimension, extents of 1 read at 0 unless the loop's is 1 as well.
AffineMap broadcastMap(MLIRContext *ctx, RankedTensorType type, ArrayRef<OpFoldResult> extents);

/// The same elements in another shape, of these extents.
Value reshapeTo(OpBuilder &b, Location loc, Value x, RankedTensorType type, ArrayRef<OpFoldResult> extents);
/// `whole` with `part` at `offsets`.
Value insertInto(OpBuilder &b, Location loc, Value part, Value whole, ArrayRef<OpFoldResult> offsets);

/// A reduction: loops over `extents`, those in `reduced` combined into a tensor of the others that starts as
/// `init`. `combine` gets the operands' elements and the value so far.
Value reduceElements(OpBuilder &b, Location loc, ValueRange operands, ArrayRef<AffineMap> maps,
                     ArrayRef<bool> reduced, ArrayRef<OpFoldResult> extents, Value init,
                     function_ref<Value(OpBuilder &, Location, ValueRange, Value)> combine);
/// `y` with dimensions of extent 1 where `units` says so, as a value of this type (which may not have them).
Value restoreUnits(OpBuilder &b, Location loc, Value y, ArrayRef<bool> units, RankedTensorType type);
/// What every element is at least, or at most: the infinities of floats.
Value leastOf(OpBuilder &b, Location loc, Type type, bool isUnsigned = false);
Value greatestOf(OpBuilder &b, Location loc, Type type, bool isUnsigned = false);

/// The scalar functions; half types compute in f32 where they must.
Value emitUnary(OpBuilder &b, Location loc, UnaryKind kind, Value x, bool isUnsigned = false);
Value emitActivation(OpBuilder &b, Location loc, ActivationKind kind, Value x, double alpha, double beta,
                     bool isUnsigned = false);
Value emitBinary(OpBuilder &b, Location loc, BinaryKind kind, Value x, Value y, bool isUnsigned = false);
/// Whether x comes before y in the order of extremes; NaN comes first.
Value emitPrecedes(OpBuilder &b, Location loc, Value x, Value y, bool smallest, bool isUnsigned);
/// `v` as another scalar type: floats are truncated to integers, numbers compared with zero for i1.
Value emitCast(OpBuilder &b, Location loc, Value v, Type to, bool fromUnsigned = false,
               bool toUnsigned = false);
/// An integer element as an index within [0, extent): negative ones count from the end. Any other makes the
/// launch fail, with `what` in the message, and becomes 0, such that no index leaves the memory.
Value emitIndex(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what);
/// The same where negative ones do not count from the end.
Value emitOffset(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what);
/// An integer element as a length of [0, extent].
Value emitLength(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what);
/// An integer that is not 0: where it is, the launch fails, and 1 stands instead.
Value emitDivisor(OpBuilder &b, Location loc, Value y, const Twine &what);

} // namespace tessera::nn
