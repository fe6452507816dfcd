// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches and loops write what they give into tensors that are made before them: a buffer that one side of a
// branch or one step of a loop makes has no place of its own once that side or step is over.
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::nn;

// Unlike a copy by linalg, nobody folds this one away.
static Value writeInto(OpBuilder &b, Location loc, Value v, Value destination) {
  return bufferization::MaterializeInDestinationOp::create(b, loc, destination.getType(), v, destination)
      .getResult();
}

// A tensor that is only written by one who asks for it. Equal ones are not merged, unlike tensor.empty: an
// operand of writeInto must stay apart from what is computed on the way.
static Value allocate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, RankedTensorType type) {
  SmallVector<Value> dynamic;
  for (OpFoldResult extent : extents)
    if (auto value = dyn_cast<Value>(extent))
      dynamic.push_back(value);
  return bufferization::AllocTensorOp::create(b, loc, type, dynamic, /*copy=*/Value());
}

// An index that is computed below `above`, as a value before it: arithmetic on extents is done there instead.
// Null where it takes more than that.
static Value indexBefore(OpBuilder &b, Operation *above, Value v) {
  if (!above->isAncestor(v.getParentRegion()->getParentOp()))
    return v;
  Operation *def = v.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(def)) {
    std::optional<int64_t> d = dim.getConstantIndex();
    Origin origin = d ? originOf(dim.getSource(), *d) : Origin{v, std::nullopt};
    if (!origin.dim)
      return origin.value == v ? Value() : indexBefore(b, above, origin.value);
    if (above->isAncestor(origin.value.getParentRegion()->getParentOp()))
      return {};
    return tensor::DimOp::create(b, above->getLoc(), origin.value, *origin.dim);
  }
  if (!def || !isa<arith::ArithDialect, affine::AffineDialect>(def->getDialect()) || !isPure(def))
    return {};
  IRMapping mapping;
  for (Value operand : def->getOperands()) {
    Value outside = operand.getType().isIntOrIndex() ? indexBefore(b, above, operand) : Value();
    if (!outside)
      return {};
    mapping.map(operand, outside);
  }
  return b.clone(*def, mapping)->getResult(cast<OpResult>(v).getResultNumber());
}

// Extent `d` of a tensor that is made below `above`, as a value before it; nothing where there is none.
static std::optional<OpFoldResult> extentBefore(OpBuilder &b, Operation *above, Value v, int64_t d) {
  if (!typeOf(v).isDynamicDim(d))
    return OpFoldResult(b.getIndexAttr(typeOf(v).getDimSize(d)));
  Origin origin = originOf(v, d);
  if (!origin.dim) {
    Value outside = indexBefore(b, above, origin.value);
    return outside ? std::optional<OpFoldResult>(outside) : std::nullopt;
  }
  if (!typeOf(origin.value).isDynamicDim(*origin.dim))
    return OpFoldResult(b.getIndexAttr(typeOf(origin.value).getDimSize(*origin.dim)));
  if (!above->isAncestor(origin.value.getParentRegion()->getParentOp()))
    return tensor::getMixedSize(b, above->getLoc(), origin.value, *origin.dim);
  // Dimensions that were merged: as many elements as they had.
  auto merged = origin.value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!merged)
    return std::nullopt;
  Value product = indexOf(b, above->getLoc(), 1);
  ReassociationIndices parts = merged.getReassociationIndices()[*origin.dim];
  for (int64_t part : parts) {
    std::optional<OpFoldResult> extent = extentBefore(b, above, merged.getSrc(), part);
    if (!extent)
      return std::nullopt;
    product = b.createOrFold<arith::MulIOp>(above->getLoc(), product, asValue(b, above->getLoc(), *extent));
  }
  return OpFoldResult(product);
}

// The extents of what a branch gives: one side's where they differ.
static std::optional<SmallVector<OpFoldResult>> extentsBefore(OpBuilder &b, scf::IfOp op, Value yes,
                                                              Value no) {
  SmallVector<OpFoldResult> extents;
  for (int64_t d = 0; d < typeOf(yes).getRank(); ++d) {
    std::optional<OpFoldResult> own = extentBefore(b, op, yes, d), other = own;
    if (!haveSameExtent(yes, d, no, d))
      other = extentBefore(b, op, no, d);
    if (!own || !other)
      return std::nullopt;
    auto value = [&](OpFoldResult extent) { return getValueOrCreateConstantIndexOp(b, op.getLoc(), extent); };
    if (*own != *other)
      own =
          arith::SelectOp::create(b, op.getLoc(), op.getCondition(), value(*own), value(*other)).getResult();
    extents.push_back(*own);
  }
  return extents;
}

static bool haveSameExtents(Value x, Value y) {
  return llvm::all_of(llvm::seq<int64_t>(0, typeOf(x).getRank()),
                      [&](int64_t d) { return haveSameExtent(x, d, y, d); });
}

static void writeOutside(scf::IfOp op) {
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    OpBuilder b(op);
    std::optional<SmallVector<OpFoldResult>> extents =
        extentsBefore(b, op, op.thenYield().getOperand(i), op.elseYield().getOperand(i));
    if (!extents)
      continue;
    Value outside = allocate(b, op.getLoc(), *extents, typeOf(result));
    for (scf::YieldOp side : {op.thenYield(), op.elseYield()}) {
      b.setInsertionPoint(side);
      side.setOperand(i, writeInto(b, op.getLoc(), side.getOperand(i), outside));
    }
  }
}

// A step that gives one of the values it was given as another: it is copied before anything is written over
// it.
static void copyWhatMoves(scf::WhileOp op) {
  OpBuilder b = OpBuilder::atBlockBegin(op.getAfterBody());
  for (OpOperand &next : op.getYieldOp()->getOpOperands()) {
    auto given = dyn_cast<BlockArgument>(next.get());
    if (!given || given.getOwner() != op.getAfterBody() || !isa<RankedTensorType>(given.getType()) ||
        op.getConditionOp().getArgs()[given.getArgNumber()] ==
            op.getBeforeArguments()[next.getOperandNumber()])
      continue;
    Value copy = allocate(b, op.getLoc(), extentsOf(b, op.getLoc(), given), typeOf(given));
    next.set(writeInto(b, op.getLoc(), given, copy));
  }
}

// Each step writes over what the one before gave it.
static void writeOutside(scf::WhileOp op) {
  copyWhatMoves(op);
  scf::ConditionOp condition = op.getConditionOp();
  scf::YieldOp yield = op.getYieldOp();
  OpBuilder b(op);
  for (auto [r, forwarded] : llvm::enumerate(condition.getArgs())) {
    auto arg = dyn_cast<BlockArgument>(forwarded);
    if (!arg || arg.getOwner() != op.getBeforeBody() || !isa<RankedTensorType>(arg.getType()))
      continue;
    unsigned i = arg.getArgNumber();
    Value init = op.getInits()[i], carried = op.getAfterArguments()[r], next = yield.getOperand(i);
    if (next.getType() != carried.getType() || !haveSameExtents(next, carried))
      continue;
    if (next != carried) {
      b.setInsertionPoint(yield);
      yield.setOperand(i, writeInto(b, op.getLoc(), next, carried));
    }
    if (typeOf(init).hasStaticShape())
      continue;
    // No step changes the extents, so they are known before the first.
    for (Value inside : {carried, Value(arg)})
      for (Operation *user : llvm::make_early_inc_range(inside.getUsers()))
        if (auto dim = dyn_cast<tensor::DimOp>(user))
          dim.getSourceMutable().assign(init);
    b.setInsertionPointAfter(op);
    Value result = op.getResult(r);
    Value outside = allocate(b, op.getLoc(), extentsOf(b, op.getLoc(), init), typeOf(init));
    auto copy = writeInto(b, op.getLoc(), result, outside);
    result.replaceAllUsesExcept(copy, copy.getDefiningOp());
  }
}

void nn::writeOutside(dfg::NodeOp node) {
  node.getBody().walk([](Operation *op) {
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults())
      ::writeOutside(branch);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      ::writeOutside(loop);
  });
}
