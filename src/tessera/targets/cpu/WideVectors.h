// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that are much wider than registers (WideVectors.cpp): what its parts share. Only this folder's
// sources include this.
#pragma once

#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tessera::cpu {

/// Vectors that are much wider than registers → loops over their elements.
void legaliseWideVectors(func::FuncOp payload);

using Lane = ArrayRef<Value>; ///< the position of an element, one index for each dimension
/// Calls the body once for each position of a shape, in order, in loops that it builds.
void forLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
              function_ref<void(OpBuilder &, Lane)> body);
/// The same with a number that goes from one position to the next.
Value foldLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Value first,
                function_ref<Value(OpBuilder &, Lane, Value)> body);
Value constantIndex(OpBuilder &b, Location loc, int64_t n);
/// x * y, as numbers of the type that their sum has.
Value makeProduct(OpBuilder &b, Location loc, Value x, Value y, Type sum = {});
/// The elements as constant memory.
Value makeTable(OpBuilder &b, Operation *user, DenseElementsAttr elements);

/// Single elements of vectors: each is computed from elements of the operands, or lies in memory.
class WideLanes {
public:
  /// Whether elements of the operation's results can be computed one by one, and nothing else happens.
  static bool isLazy(Operation *op);
  /// Whether an element of a lazy operation's result looks at the same element of each operand.
  static bool isStraight(Operation *op) { return OpTrait::hasElementwiseMappableTraits(op); }
  /// Whether the operation makes its elements from next to nothing.
  static bool isCheap(Operation *op);
  /// Whether the operation would ask for elements of the operand several times.
  static bool readsOften(OpOperand &operand);

  /// The element of a vector at a position.
  Value at(OpBuilder &b, Value v, Lane lane);
  /// The same, of what a lazy operation gives; the result of a position that is none is a scalar.
  Value compute(OpBuilder &b, Operation *op, unsigned result, Lane lane);
  /// The same, of a vector that was stored.
  Value load(OpBuilder &b, Value v, Lane lane);
  void store(OpBuilder &b, Location loc, Value element, Value buffer, Lane lane);
  /// Memory for the elements of a vector.
  Value allocate(OpBuilder &b, Location loc, VectorType type);
  /// A whole vector from memory, and into it; for operations that take vectors as they are.
  Value readWhole(OpBuilder &b, Location loc, Value buffer, Type element);
  void writeWhole(OpBuilder &b, Location loc, Value v, Value buffer);

  VectorType typeOf(Value v) const;
  /// Where vectors lie that were stored.
  DenseMap<Value, Value> memory;
  /// The types of vectors that are too wide. Where loops carried them, they are something else by now.
  DenseMap<Value, VectorType> wide;

private:
  Value fromConstant(OpBuilder &b, arith::ConstantOp op, Lane lane);
  Value read(OpBuilder &b, vector::TransferReadOp op, Lane lane);
  Value spread(OpBuilder &b, vector::BroadcastOp op, Lane lane);
  Value recast(OpBuilder &b, vector::ShapeCastOp op, Lane lane);
  Value bits(OpBuilder &b, vector::BitCastOp op, Lane lane);
  /// `then` where the lane of the mask is set.
  Value masked(OpBuilder &b, Location loc, Value isSet, Value otherwise,
               function_ref<Value(OpBuilder &)> then);
  /// Lanes that one loop has asked for.
  struct Seen {
    SmallVector<Value> lane;
    Value element;
  };
  DenseMap<Value, SmallVector<Seen, 1>> seen;
  Block *seenIn = nullptr;
};

/// The place in memory of a lane of a transfer. Null as long as it is inside for certain, else whether it is.
template <typename Op>
Value locate(OpBuilder &b, Op op, Value base, Lane lane, SmallVectorImpl<Value> &place) {
  Location loc = op.getLoc();
  place.assign(op.getIndices().begin(), op.getIndices().end());
  Value inside;
  for (auto [v, expr] : llvm::enumerate(op.getPermutationMap().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    unsigned d = dim.getPosition();
    place[d] = arith::AddIOp::create(b, loc, place[d], lane[v]);
    if (op.isDimInBounds(v))
      continue;
    // As an unsigned number, one in front of the memory is behind it.
    Value extent = memref::DimOp::create(b, loc, base, d);
    Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place[d], extent);
    inside = inside ? arith::AndIOp::create(b, loc, inside, is).getResult() : is;
  }
  return inside;
}
/// The lane of a transfer's mask: it has the memory's dimensions in their order.
template <typename Op> SmallVector<Value> maskLane(Op op, Lane lane) {
  SmallVector<Value> at;
  AffineMap map = op.getPermutationMap();
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    for (unsigned v = 0; v < map.getNumResults(); ++v)
      if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(v)); dim && dim.getPosition() == d)
        at.push_back(lane[v]);
  return at;
}
/// The place of a lane where a vector's dimensions are the memory's last ones.
SmallVector<Value> placeOf(OpBuilder &b, Location loc, ValueRange indices, Lane lane);

} // namespace tessera::cpu
