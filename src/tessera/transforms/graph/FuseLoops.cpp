// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes one loop of two adjacent loops inside a leaf. Memory that both touch is allowed only where each trip
// touches elements of its own.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
struct Access {
  Operation *op;
  Value memory;
  ValueRange indices;
  bool write;
};
} // namespace

// All accesses below a loop; fails at an effect that is not a load, a store or an accumulation.
static LogicalResult collectAccesses(scf::ForOp loop, SmallVectorImpl<Access> &accesses, Refusal &no) {
  WalkResult walk = loop.getBody()->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({op, memoryRoot(load.getMemRef()), load.getIndices(), false});
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({op, memoryRoot(store.getMemRef()), store.getIndices(), true});
    else if (auto add = dyn_cast<AccumulateOp>(op))
      accesses.push_back({op, memoryRoot(add.getMemory()), add.getIndices(), true});
    else if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op)) {
      (void)no(op,
               "cannot fuse the loops: what '" + op->getName().getStringRef() +
                   "' does to memory is not known",
               "use loads and stores");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return success(!walk.wasInterrupted());
}

// The two accesses touch the same element in the same trip and different elements in different trips.
static bool sameTrip(const Access &a, scf::ForOp first, const Access &b, scf::ForOp second) {
  if (a.indices.size() != b.indices.size())
    return false;
  bool byTrip = false;
  for (auto [x, y] : llvm::zip(a.indices, b.indices)) {
    bool iv = x == first.getInductionVar() && y == second.getInductionVar();
    byTrip |= iv;
    if (!iv && !sameExtent(x, y))
      return false;
  }
  return byTrip;
}

static LogicalResult checkFusable(scf::ForOp first, scf::ForOp second, Refusal &no) {
  if (first == second || first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second))
    return no(second, "cannot fuse the loops: they do not follow each other in one block",
              "name the earlier loop first");
  if (!sameExtent(first.getLowerBound(), second.getLowerBound()) ||
      !sameExtent(first.getUpperBound(), second.getUpperBound()) ||
      !sameExtent(first.getStep(), second.getStep()))
    return no(second, "cannot fuse the loops: their bounds or steps differ", "give both the same bounds");
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return no(op,
                "cannot fuse the loops: '" + op->getName().getStringRef() + "' between them touches memory",
                "move it before the first or after the second");
  // Nothing of the second loop may need what the first leaves behind.
  llvm::SmallPtrSet<Operation *, 8> dependent{first};
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    bool depends =
        op->walk([&](Operation *inner) {
            return llvm::any_of(
                       inner->getOperands(),
                       [&](Value v) { return v.getDefiningOp() && dependent.contains(v.getDefiningOp()); })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    if (depends)
      dependent.insert(op);
    if (op == second)
      break;
  }
  if (dependent.contains(second))
    return no(second, "cannot fuse the loops: the second needs a result of the first", "keep them apart");
  SmallVector<Access> before, after;
  if (failed(collectAccesses(first, before, no)) || failed(collectAccesses(second, after, no)))
    return failure();
  for (const Access &a : before)
    for (const Access &b : after)
      if (a.memory == b.memory && (a.write || b.write) && !sameTrip(a, first, b, second) &&
          !(isa<AccumulateOp>(a.op) && isa<AccumulateOp>(b.op)))
        return no(b.op,
                  "cannot fuse the loops: this may touch an element that the first loop uses in another trip",
                  "index both by the loop's own counter");
  return success();
}

// scf.for %i {A}; scf.for %i {B}  →  scf.for %i {A; B}
FailureOr<scf::ForOp> graph::fuseLoops(RewriterBase &rewriter, scf::ForOp first, scf::ForOp second,
                                       Refusal &no) {
  if (failed(checkFusable(first, second, no)))
    return failure();
  // What stands between goes before the first, or after the second when it needs the first's results.
  SmallVector<Operation *> between;
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    between.push_back(op);
  llvm::SmallPtrSet<Operation *, 8> late{first};
  Operation *after = second;
  for (Operation *op : between) {
    bool needs = op->walk([&](Operation *inner) {
                     return llvm::any_of(inner->getOperands(),
                                         [&](Value v) {
                                           return v.getDefiningOp() && late.contains(v.getDefiningOp());
                                         })
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   }).wasInterrupted();
    if (!needs) {
      rewriter.moveOpBefore(op, first);
      continue;
    }
    late.insert(op);
    rewriter.moveOpAfter(op, after);
    after = op;
  }
  IRMapping map;
  SmallVector<Value> inits(first.getInitArgs());
  inits.append(second.getInitArgs().begin(), second.getInitArgs().end());
  rewriter.setInsertionPoint(second);
  auto loc = rewriter.getFusedLoc({first.getLoc(), second.getLoc()});
  auto fused =
      scf::ForOp::create(rewriter, loc, first.getLowerBound(), first.getUpperBound(), first.getStep(), inits);
  if (!inits.empty() && fused.getBody()->mightHaveTerminator())
    rewriter.eraseOp(fused.getBody()->getTerminator());
  map.map(first.getInductionVar(), fused.getInductionVar());
  map.map(second.getInductionVar(), fused.getInductionVar());
  unsigned count = first.getInitArgs().size();
  for (auto [i, arg] : llvm::enumerate(first.getRegionIterArgs()))
    map.map(arg, fused.getRegionIterArgs()[i]);
  for (auto [i, arg] : llvm::enumerate(second.getRegionIterArgs()))
    map.map(arg, fused.getRegionIterArgs()[count + i]);
  rewriter.setInsertionPointToStart(fused.getBody());
  SmallVector<Value> yielded;
  for (scf::ForOp loop : {first, second}) {
    for (Operation &op : loop.getBody()->without_terminator())
      rewriter.clone(op, map);
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      yielded.push_back(map.lookupOrDefault(value));
  }
  if (!inits.empty())
    scf::YieldOp::create(rewriter, loc, yielded);
  rewriter.replaceOp(first, fused.getResults().take_front(count));
  rewriter.replaceOp(second, fused.getResults().drop_front(count));
  return fused;
}

namespace tessera::graph {
#define GEN_PASS_DEF_FUSELOOPSPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct FuseLoopsPass : graph::impl::FuseLoopsPassBase<FuseLoopsPass> {
  using FuseLoopsPassBase::FuseLoopsPassBase;

  // The first two neighbouring loops of one block that fuse; a named node reports why its loops do not.
  static bool fuseOne(IRRewriter &rewriter, NodeOp leaf, Refusal &no) {
    SmallVector<scf::ForOp> loops;
    leaf.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp first : loops) {
      Operation *next = first->getNextNode();
      while (next && !isa<scf::ForOp>(next))
        next = next->getNextNode();
      if (next && succeeded(fuseLoops(rewriter, first, cast<scf::ForOp>(next), no)))
        return true;
    }
    return false;
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp leaf, Refusal &no) {
          bool any = false;
          while (fuseOne(rewriter, leaf, no))
            any = true;
          if (!any && no.text.empty())
            return no(leaf, "there are no two loops to fuse in '" + leaf.getName() + "'",
                      "name another node");
          return success(any);
        })))
      signalPassFailure();
  }
};
} // namespace
