// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Phases.h.
#include "tessera/transforms/check/Phases.h"

using namespace tessera;
using namespace tessera::check;

static bool mayPassBarrier(Operation *op) {
  return op->walk([](dfg::BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static bool mustPassBarrier(Operation *op);
static bool mustPassBarrier(Block &block) {
  return llvm::any_of(block, [](Operation &op) { return mustPassBarrier(&op); });
}

// A barrier is passed whenever the operation runs.
static bool mustPassBarrier(Operation *op) {
  if (isa<dfg::BarrierOp>(op))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return !branch.getElseRegion().empty() && mustPassBarrier(*branch.thenBlock()) &&
           mustPassBarrier(*branch.elseBlock());
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound());
    return lower && upper && *lower < *upper && mustPassBarrier(*loop.getBody());
  }
  return false;
}

// No barrier surely stands between two operations of one block (exclusive).
static bool isClear(Operation *from, Operation *to, Meeting &meeting) {
  for (Operation *op = from; op && op != to; op = op->getNextNode()) {
    if (mustPassBarrier(op))
      return false;
    if (mayPassBarrier(op))
      meeting.exact = false;
  }
  return true;
}

// Going out of `op`'s surroundings up to `block`: to the end (or from the start) of each without passing a
// barrier.
static bool isClearOutwards(Operation *op, Block *block, bool toEnd, bool isA, Meeting &meeting) {
  for (;;) {
    Block *here = op->getBlock();
    if (!isClear(toEnd ? op->getNextNode() : &here->front(), toEnd ? nullptr : op, meeting))
      return false;
    if (here == block)
      return true;
    op = op->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && mustPassBarrier(*loop.getBody()))
      meeting.loops.push_back({loop, toEnd ? (isA ? Meeting::ALast : Meeting::BLast)
                                           : (isA ? Meeting::AFirst : Meeting::BFirst)});
    else if (!isa<scf::IfOp>(op) && mayPassBarrier(op))
      meeting.exact = false;
  }
}

static void findIn(Block *block, Operation *a, Operation *b, const Meeting &so,
                   SmallVectorImpl<Meeting> &found) {
  Operation *aroundA = block->findAncestorOpInBlock(*a), *aroundB = block->findAncestorOpInBlock(*b);
  if (aroundA != aroundB) {
    bool aFirst = aroundA->isBeforeInBlock(aroundB);
    Operation *first = aFirst ? a : b, *second = aFirst ? b : a;
    Operation *aroundFirst = aFirst ? aroundA : aroundB, *aroundSecond = aFirst ? aroundB : aroundA;
    Meeting meeting = so;
    // From the first out of what holds it, over what lies between, into what holds the second.
    auto leaves = [&](Operation *op, Operation *around, bool toEnd, bool isA) {
      if (op == around)
        return true;
      for (Operation *up = op; up != around; up = up->getParentOp())
        if (up->getParentOp() == around)
          return isClearOutwards(op, up->getBlock(), toEnd, isA, meeting);
      return true;
    };
    if (!leaves(first, aroundFirst, true, aFirst) ||
        !isClear(aroundFirst->getNextNode(), aroundSecond, meeting) ||
        !leaves(second, aroundSecond, false, !aFirst))
      return;
    // What holds them may be loops with barriers themselves: then only the last round meets the first.
    auto bound = [&](Operation *op, Operation *around, bool isA, bool last) {
      if (op == around || isa<scf::IfOp>(around) || !mayPassBarrier(around))
        return;
      auto loop = dyn_cast<scf::ForOp>(around);
      if (loop && mustPassBarrier(*loop.getBody()))
        meeting.loops.push_back({loop, last ? (isA ? Meeting::ALast : Meeting::BLast)
                                            : (isA ? Meeting::AFirst : Meeting::BFirst)});
      else
        meeting.exact = false;
    };
    bound(first, aroundFirst, aFirst, true);
    bound(second, aroundSecond, !aFirst, false);
    found.push_back(meeting);
    return;
  }

  Operation *around = aroundA;
  if (around == a || around == b || !mayPassBarrier(around)) {
    found.push_back(so);
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(around)) {
    // All instances take the same branch.
    for (Region *region : branch.getRegions())
      if (region->isAncestor(a->getParentRegion()) && region->isAncestor(b->getParentRegion()))
        findIn(&region->front(), a, b, so, found);
    return;
  }
  auto loop = dyn_cast<scf::ForOp>(around);
  if (!loop) {
    found.push_back(so);
    found.back().exact = false;
    return;
  }
  Block *body = loop.getBody();
  if (!mustPassBarrier(*body)) {
    found.push_back(so);
    found.back().exact = false;
    return;
  }
  Meeting same = so;
  same.loops.push_back({loop, Meeting::Same});
  findIn(body, a, b, same, found);
  // The end of one round and the beginning of the next are one phase.
  for (bool bNext : {true, false}) {
    Meeting next = so;
    next.loops.push_back({loop, bNext ? Meeting::BNext : Meeting::ANext});
    if (isClearOutwards(bNext ? a : b, body, true, bNext, next) &&
        isClearOutwards(bNext ? b : a, body, false, !bNext, next))
      found.push_back(next);
  }
}

SmallVector<Meeting> check::findMeetings(dfg::NodeOp leaf, Operation *a, Operation *b) {
  SmallVector<Meeting> found;
  findIn(leaf.getBodyBlock(), a, b, Meeting(), found);
  return found;
}
