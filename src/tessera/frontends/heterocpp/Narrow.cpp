// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ computes with `int` what is stored in fewer bits. The bits that are stored do not depend on those
// above, so the same is computed as narrow as it is stored: updates of narrow numbers are reductions, and
// lanes are full.
#include "tessera/frontends/heterocpp/Graph.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace tessera;
using namespace tessera::heterocpp;

static bool isExtended(Value v, Type narrow) {
  Operation *op = v.getDefiningOp();
  return op && isa<arith::ExtUIOp, arith::ExtSIOp>(op) && op->getOperand(0).getType() == narrow;
}

static Value rebuild(OpBuilder &b, Operation *op, ValueRange operands) {
  // Nothing is known about overflow in the narrow type.
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(operands[0].getType());
  return b.create(state)->getResult(0);
}

// trunc(op(extend(a), b)) is op(a, trunc(b)) where the low bits of the result come from the low bits.
Value Translator::truncate(Value v, Type narrow) {
  Operation *op = v.getDefiningOp();
  if (op &&
      isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      (isExtended(op->getOperand(0), narrow) || isExtended(op->getOperand(1), narrow)))
    return rebuild(b, op,
                   {b.createOrFold<arith::TruncIOp>(current, narrow, op->getOperand(0)),
                    b.createOrFold<arith::TruncIOp>(current, narrow, op->getOperand(1))});
  return b.createOrFold<arith::TruncIOp>(current, narrow, v);
}

// op(extend(a), extend(b)) != 0 is op(a, b) of truth values.
Value Translator::isNotZero(Value v) {
  Operation *op = v.getDefiningOp();
  Type truth = b.getI1Type();
  if (op && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) && isExtended(op->getOperand(0), truth) &&
      isExtended(op->getOperand(1), truth))
    return rebuild(
        b, op,
        {op->getOperand(0).getDefiningOp()->getOperand(0), op->getOperand(1).getDefiningOp()->getOperand(0)});
  return b.createOrFold<arith::CmpIOp>(current, arith::CmpIPredicate::ne, v, zero(v.getType()));
}

namespace {
/// extend(op(trunc(load), b)) → op(load, extend(b)): a truth value in memory is 0 or 1, and only such a one
/// is read by taking its last bit.
struct CombineTruth : OpRewritePattern<arith::ExtUIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtUIOp extend, PatternRewriter &rewriter) const override {
    Operation *op = extend.getIn().getDefiningOp();
    if (!op || !extend.getIn().getType().isInteger(1) || !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return failure();
    auto getLoaded = [&](Value v) -> Value {
      auto bit = v.getDefiningOp<arith::TruncIOp>();
      return bit && bit.getIn().getType() == extend.getType() && bit.getIn().getDefiningOp<memref::LoadOp>()
                 ? bit.getIn()
                 : Value();
    };
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(getLoaded(v));
    if (!operands[0] && !operands[1])
      return failure();
    for (unsigned i = 0; i < 2; ++i)
      if (!operands[i])
        operands[i] = arith::ExtUIOp::create(rewriter, extend.getLoc(), extend.getType(), op->getOperand(i));
    rewriter.replaceOp(extend, rebuild(rewriter, op, operands));
    return success();
  }
};

/// *r = *r || x  →  *r = *r | x, where all iterations of a node share *r: each of them may find it unset.
struct CombineShared : OpRewritePattern<memref::StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::StoreOp store, PatternRewriter &rewriter) const override {
    auto extend = store.getValue().getDefiningOp<arith::ExtUIOp>();
    auto branch = extend ? extend.getIn().getDefiningOp<scf::IfOp>() : scf::IfOp();
    auto node = store->getParentOfType<dfg::NodeOp>();
    if (!branch || branch->getNumResults() != 1 || !node || !node.getRank() ||
        !extend.getIn().getType().isInteger(1) ||
        !llvm::all_of(store.getIndices(), [](Value v) { return getConstantIntValue(v).has_value(); }))
      return failure();
    // What is stored, as it was loaded.
    auto isOld = [&](Value v) {
      auto bit = v.getDefiningOp<arith::TruncIOp>();
      auto load = bit ? bit.getIn().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
      return load && load.getMemRef() == store.getMemRef() &&
             llvm::equal(load.getIndices(), store.getIndices());
    };
    Value yes = branch.thenYield().getOperand(0), no = branch.elseYield().getOperand(0),
          condition = branch.getCondition();
    bool isOr = isConstantIntValue(yes, -1) || isConstantIntValue(yes, 1), isAnd = isConstantIntValue(no, 0);
    Value other = isOr ? no : yes;
    if (isOr == isAnd || isOld(condition) == isOld(other))
      return failure();
    // Both sides run from now on.
    bool writes = false;
    branch->walk([&](Operation *op) {
      writes |= !isa<memref::LoadOp, scf::IfOp, scf::ForOp, scf::WhileOp>(op) && !isMemoryEffectFree(op);
    });
    if (writes)
      return failure();
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      for (Operation &op : llvm::make_early_inc_range(region->front().without_terminator()))
        rewriter.moveOpBefore(&op, branch);
    rewriter.setInsertionPoint(branch);
    Value joined = isOr ? arith::OrIOp::create(rewriter, branch.getLoc(), condition, other).getResult()
                        : arith::AndIOp::create(rewriter, branch.getLoc(), condition, other).getResult();
    rewriter.replaceOp(branch, joined);
    return success();
  }
};
} // namespace

void heterocpp::addTruthPatterns(RewritePatternSet &patterns) {
  patterns.add<CombineTruth, CombineShared>(patterns.getContext());
}
