// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of the loops inside a kernel: unrolling and splitting off borders (Rewrites.h).
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

using namespace tessera;

// Operations as the code generator will see them: a function of the math dialect becomes some twenty.
static int64_t countOps(Operation *root) {
  constexpr int64_t opsOfFunction = 20;
  int64_t count = 0;
  root->walk([&](Operation *op) { count += isa<math::MathDialect>(op->getDialect()) ? opsOfFunction : 1; });
  return count;
}

unsigned leaf::unrollConstantLoops(Operation *root, int64_t maxTrip, int64_t maxOps) {
  // A kernel with many loops must not become as many times the most that one may add.
  constexpr int64_t loopsOfKernel = 4;
  int64_t left = loopsOfKernel * maxOps;
  unsigned unrolled = 0;
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) { loops.push_back(loop); }); // post-order: innermost first
  for (scf::ForOp loop : loops) {
    std::optional<APInt> trip = loop.getStaticTripCount();
    if (!trip || trip->getSExtValue() > maxTrip)
      continue;
    int64_t before = countOps(loop), after = trip->getSExtValue() * before;
    if (after > maxOps || after - before > left)
      continue;
    if (succeeded(loopUnrollFull(loop))) {
      left -= after - before;
      ++unrolled;
    }
  }
  return unrolled;
}

unsigned leaf::unrollInnermostLoops(Operation *root, int64_t factor) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    if (!loop.getBody()->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
      loops.push_back(loop);
  });
  unsigned unrolled = 0;
  for (scf::ForOp loop : loops)
    unrolled += succeeded(loopUnrollByFactor(loop, factor));
  return unrolled;
}

namespace {

/// One clamp of iv + c, and the bound of iv from which on it does nothing.
struct Clamp {
  Operation *op;
  Value kept;  ///< the operand that remains in the interior
  Value bound; ///< the other operand
  bool lower;  ///< maxsi
};

class BorderSplitter {
public:
  BorderSplitter(RewriterBase &b, scf::ForOp loop) : b(b), loop(loop) {}
  FailureOr<scf::ForOp> run(std::string &why);

private:
  /// v == iv + (invariant terms), looking through clamps that were found; appends the terms with their signs.
  bool isShifted(Value v, SmallVectorImpl<std::pair<Value, bool>> &terms);
  bool isInvariant(Value v) { return loop.isDefinedOutsideOfLoop(v); }
  /// The value of iv at which iv + c reaches `bound`: bound - c.
  Value threshold(const Clamp &clamp);
  scf::ForOp cloneLoop(Value lower, Value upper, ValueRange inits);

  RewriterBase &b;
  scf::ForOp loop;
  SmallVector<Clamp> clamps;
  DenseMap<Value, Value> simplified; // result of a clamp → what it is in the interior
};

bool BorderSplitter::isShifted(Value v, SmallVectorImpl<std::pair<Value, bool>> &terms) {
  if (v == loop.getInductionVar())
    return true;
  auto it = simplified.find(v);
  if (it != simplified.end())
    return isShifted(it->second, terms);
  if (auto add = v.getDefiningOp<arith::AddIOp>()) {
    if (isInvariant(add.getRhs()) && isShifted(add.getLhs(), terms)) {
      terms.push_back({add.getRhs(), false});
      return true;
    }
    if (isInvariant(add.getLhs()) && isShifted(add.getRhs(), terms)) {
      terms.push_back({add.getLhs(), false});
      return true;
    }
  }
  if (auto sub = v.getDefiningOp<arith::SubIOp>())
    if (isInvariant(sub.getRhs()) && isShifted(sub.getLhs(), terms)) {
      terms.push_back({sub.getRhs(), true});
      return true;
    }
  return false;
}

Value BorderSplitter::threshold(const Clamp &clamp) {
  SmallVector<std::pair<Value, bool>> terms;
  isShifted(clamp.kept, terms);
  Location loc = clamp.op->getLoc();
  Value at = clamp.bound;
  for (auto [term, negated] : terms)
    at = negated ? arith::AddIOp::create(b, loc, at, term).getResult()
                 : arith::SubIOp::create(b, loc, at, term).getResult();
  return at;
}

scf::ForOp BorderSplitter::cloneLoop(Value lower, Value upper, ValueRange inits) {
  auto copy = cast<scf::ForOp>(b.clone(*loop));
  copy.setLowerBound(lower);
  copy.setUpperBound(upper);
  copy.getInitArgsMutable().assign(inits);
  return copy;
}

FailureOr<scf::ForOp> BorderSplitter::run(std::string &why) {
  if (getConstantIntValue(loop.getStep()) != 1) {
    why = "its step is not 1";
    return failure();
  }
  if (loop.getBody()->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted()) {
    why = "it holds other loops; unroll those first";
    return failure();
  }
  loop.getBody()->walk([&](Operation *op) {
    if (!isa<arith::MaxSIOp, arith::MinSIOp>(op) || !op->getResult(0).getType().isIndex())
      return;
    for (unsigned i = 0; i < 2; ++i) {
      SmallVector<std::pair<Value, bool>> terms;
      Value kept = op->getOperand(i), bound = op->getOperand(1 - i);
      if (isInvariant(bound) && !isInvariant(kept) && isShifted(kept, terms)) {
        clamps.push_back({op, kept, bound, isa<arith::MaxSIOp>(op)});
        simplified[op->getResult(0)] = kept;
        return;
      }
    }
  });
  if (clamps.empty()) {
    why = "it clamps no index of the form 'iv + constant'";
    return failure();
  }
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value begin = lower, end = upper;
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  for (const Clamp &clamp : clamps) {
    Value at = threshold(clamp);
    if (clamp.lower)
      begin = arith::MaxSIOp::create(b, loc, begin, at);
    else // iv <= at
      end = arith::MinSIOp::create(b, loc, end, arith::AddIOp::create(b, loc, at, one));
  }
  begin = arith::MinSIOp::create(b, loc, begin, upper);
  end = arith::MaxSIOp::create(b, loc, end, begin);
  scf::ForOp first = cloneLoop(lower, begin, loop.getInitArgs());
  scf::ForOp interior = cloneLoop(begin, end, first.getResults());
  scf::ForOp last = cloneLoop(end, upper, interior.getResults());
  // In the interior each clamp is its own operand. The copies have the clamps in the same order as the loop.
  SmallVector<Operation *> copies;
  DenseSet<Operation *> wanted;
  for (const Clamp &clamp : clamps)
    wanted.insert(clamp.op);
  SmallVector<Operation *> originals;
  loop.getBody()->walk([&](Operation *op) { originals.push_back(op); });
  unsigned next = 0;
  SmallVector<std::pair<Operation *, unsigned>> replace;
  interior.getBody()->walk([&](Operation *op) {
    Operation *original = originals[next++];
    if (!wanted.contains(original))
      return;
    for (const Clamp &clamp : clamps)
      if (clamp.op == original)
        replace.push_back({op, original->getOperand(0) == clamp.kept ? 0 : 1});
  });
  for (auto [op, index] : replace)
    b.replaceOp(op, op->getOperand(index));
  b.replaceOp(loop, last.getResults());
  return interior;
}

} // namespace

FailureOr<scf::ForOp> leaf::splitBorder(RewriterBase &rewriter, scf::ForOp loop, std::string &why) {
  return BorderSplitter(rewriter, loop).run(why);
}
