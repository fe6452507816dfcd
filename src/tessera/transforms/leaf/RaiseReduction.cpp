// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop inside an instance as a reduction dimension of the grid's linalg.generic (Rewrites.h).
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/IR/IRMapping.h"

using namespace tessera;
using leaf::Raised;

namespace {

/// A read of a tensor at places that are ids, loop counters or constants: an operand of the raised operation.
struct Read {
  tensor::ExtractOp op;
  AffineMap map;
};

class Raiser {
public:
  Raiser(linalg::GenericOp op, std::string &why) : op(op), why(why) {}
  /// Whether it can be raised. Finds what the rest is made of.
  LogicalResult find();
  Raised describe();
  linalg::GenericOp raise(RewriterBase &b);

private:
  LogicalResult fail(const Twine &text) {
    why = text.str();
    return failure();
  }
  /// The dimension that an index stands for: the grid's, or one of the loops'.
  AffineExpr asDim(Value v);
  unsigned rank() { return op.getNumLoops() + loops.size(); }
  bool addsProducts();
  SmallVector<AffineMap> inputMaps();
  SmallVector<utils::IteratorType> iterators();
  AffineMap widened(AffineMap map) { return AffineMap::get(rank(), 0, map.getResults(), op.getContext()); }

  linalg::GenericOp op;
  std::string &why;
  SmallVector<scf::ForOp> loops; // outermost first
  SmallVector<Read> reads;
  SmallVector<Operation *> arithmetic;
  Operation *combine = nullptr; // the loops' value and one more
};

AffineExpr Raiser::asDim(Value v) {
  if (auto index = v.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(index.getDim(), op.getContext());
  for (auto [i, loop] : llvm::enumerate(loops))
    if (v == loop.getInductionVar())
      return getAffineDimExpr(op.getNumLoops() + i, op.getContext());
  return {};
}

LogicalResult Raiser::find() {
  if (op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.hasPureTensorSemantics())
    return fail("it is not a gather of one value");
  Block *body = op.getBody();
  // The yielded value must be the result of the loop alone; other operations may only compute indices.
  auto outer = body->getTerminator()->getOperand(0).getDefiningOp<scf::ForOp>();
  if (!outer || outer->getBlock() != body)
    return fail("what it yields is not the result of a loop");
  for (scf::ForOp loop = outer; loop;) {
    if (loop.getNumResults() != 1)
      return fail("its loop carries more than one value");
    auto step = getConstantIntValue(loop.getStep()), lower = getConstantIntValue(loop.getLowerBound());
    if (step != 1 || lower != 0)
      return fail("its loop does not count from 0 by 1");
    loops.push_back(loop);
    auto inner = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp<scf::ForOp>();
    if (inner && inner->getBlock() != loop.getBody())
      inner = nullptr;
    if (inner && inner.getInitArgs()[0] != loop.getRegionIterArgs()[0])
      return fail("an inner loop does not continue the outer one's value");
    loop = inner;
  }
  scf::ForOp innermost = loops.back();
  combine = innermost.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  Value carried = innermost.getRegionIterArgs()[0];
  if (!combine || combine->getNumOperands() != 2 || combine->getNumResults() != 1 || !carried.hasOneUse() ||
      *carried.getUsers().begin() != combine ||
      !isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxSIOp, arith::MinSIOp>(combine))
    return fail("its loop does not combine a value by a named operation");
  // Everything in the loops: reads at plain places, and arithmetic on what was read.
  for (auto [i, loop] : llvm::enumerate(loops))
    for (Operation &inner : loop.getBody()->without_terminator()) {
      if (i + 1 < loops.size() && &inner == loops[i + 1])
        continue;
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
        SmallVector<AffineExpr> exprs;
        for (Value index : extract.getIndices()) {
          AffineExpr e = asDim(index);
          if (!e)
            return fail("an index is neither an id nor the loop's counter");
          exprs.push_back(e);
        }
        if (!extract.getTensor().getParentRegion()->isProperAncestor(&op.getRegion()))
          return fail("it reads a tensor made inside the instance");
        reads.push_back({extract, AffineMap::get(rank(), 0, exprs, op.getContext())});
        continue;
      }
      if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
        return fail("its loop does more than read and compute");
      arithmetic.push_back(&inner);
    }
  DenseSet<Value> available;
  for (Read &r : reads)
    available.insert(r.op.getResult());
  available.insert(carried);
  for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
    available.insert(body->getArgument(i));
  for (Operation *a : arithmetic) {
    for (Value v : a->getOperands())
      if (!available.contains(v) && !v.getParentRegion()->isProperAncestor(&op.getRegion()) &&
          !v.getDefiningOp<arith::ConstantOp>())
        return fail("its loop uses a value that is computed for the instance");
    for (Value v : a->getResults())
      available.insert(v);
  }
  Value initial = outer.getInitArgs()[0];
  if (!initial.getParentRegion()->isProperAncestor(&op.getRegion()) &&
      !initial.getDefiningOp<arith::ConstantOp>())
    return fail("the loop's initial value is computed for the instance");
  for (scf::ForOp loop : loops) {
    Value upper = loop.getUpperBound();
    if (!upper.getParentRegion()->isProperAncestor(&op.getRegion()) &&
        !upper.getDefiningOp<arith::ConstantOp>())
      return fail("the loop's bound is computed for the instance");
  }
  return success();
}

SmallVector<AffineMap> Raiser::inputMaps() {
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(widened(op.getMatchingIndexingMap(input)));
  for (const Read &read : reads)
    maps.push_back(read.map);
  return maps;
}

SmallVector<utils::IteratorType> Raiser::iterators() {
  SmallVector<utils::IteratorType> all(op.getNumLoops(), utils::IteratorType::parallel);
  all.append(loops.size(), utils::IteratorType::reduction);
  return all;
}

// Whether the combination adds a product of two elements, perhaps widened.
bool Raiser::addsProducts() {
  auto source = [&](Value v) {
    while (Operation *def = v.getDefiningOp()) {
      if (def->getNumOperands() != 1 || isa<tensor::ExtractOp>(def))
        break;
      v = def->getOperand(0);
    }
    return v;
  };
  auto isElement = [&](Value v) {
    v = source(v);
    return llvm::any_of(reads, [&](const Read &read) { return read.op->getResult(0) == v; }) ||
           llvm::is_contained(op.getBody()->getArguments(), v);
  };
  Value carried = loops.back().getRegionIterArgs()[0];
  if (!isa<arith::AddFOp>(combine))
    return false;
  Value added = source(combine->getOperand(combine->getOperand(0) == carried ? 1 : 0));
  auto product = added.getDefiningOp<arith::MulFOp>();
  return product && isElement(product.getLhs()) && isElement(product.getRhs());
}

Raised Raiser::describe() {
  return {iterators(), inputMaps(), widened(op.getMatchingIndexingMap(op.getDpsInitOperand(0))),
          addsProducts()};
}

linalg::GenericOp Raiser::raise(RewriterBase &b) {
  // Extents of the loops must be extents of what is read, which linalg takes its bounds from: check that a
  // read covers each loop from 0 to its bound. The bounds are equal only if the program says so; slices make
  // it so.
  Location loc = op.getLoc();
  Value carried = loops.back().getRegionIterArgs()[0];
  Block *body = op.getBody();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  auto outside = [&](Value v) -> Value {
    if (v.getParentRegion()->isProperAncestor(&op.getRegion()))
      return v;
    return b.clone(*v.getDefiningOp())->getResult(0);
  };
  SmallVector<OpFoldResult> bounds;
  for (scf::ForOp loop : loops)
    bounds.push_back(getAsOpFoldResult(outside(loop.getUpperBound())));
  SmallVector<Value> ins(op.getInputs());
  SmallVector<AffineMap> maps = inputMaps();
  AffineMap outMap = widened(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  // Grid extents, from the output.
  SmallVector<OpFoldResult> gridExtents = tensor::getMixedSizes(b, loc, op.getOutputs()[0]);
  for (Read &read : reads) {
    Value tensor = read.op.getTensor();
    SmallVector<OpFoldResult> sizes, zeros(read.map.getNumResults(), b.getIndexAttr(0)),
        ones(read.map.getNumResults(), b.getIndexAttr(1));
    for (AffineExpr e : read.map.getResults()) {
      unsigned d = cast<AffineDimExpr>(e).getPosition();
      sizes.push_back(d < op.getNumLoops() ? gridExtents[d] : bounds[d - op.getNumLoops()]);
    }
    ins.push_back(tensor::ExtractSliceOp::create(b, loc, tensor, zeros, sizes, ones));
  }
  maps.push_back(outMap);
  Value initial = outside(loops.front().getInitArgs()[0]);
  Value init =
      linalg::FillOp::create(b, loc, ValueRange{initial}, ValueRange{op.getOutputs()[0]}).getResult(0);
  auto raised = linalg::GenericOp::create(
      b, loc, op.getResultTypes(), ins, ValueRange{init}, maps, iterators(),
      [&](OpBuilder &inner, Location l, ValueRange args) {
        IRMapping map;
        for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
          map.map(body->getArgument(i), args[i]);
        for (auto [i, read] : llvm::enumerate(reads))
          map.map(read.op.getResult(), args[op.getNumDpsInputs() + i]);
        map.map(carried, args.back());
        for (Operation *a : arithmetic) {
          for (Value v : a->getOperands())
            if (auto constant = v.getDefiningOp<arith::ConstantOp>(); constant && !map.contains(v))
              map.map(v, inner.clone(*constant)->getResult(0));
          inner.clone(*a, map);
        }
        linalg::YieldOp::create(inner, l, map.lookup(combine->getResult(0)));
      });
  SharedNotes::ordered.set(raised);
  b.replaceOp(op, raised);
  return raised;
}

} // namespace

FailureOr<linalg::GenericOp> leaf::raiseReduction(RewriterBase &rewriter, linalg::GenericOp op,
                                                  std::string &why) {
  Raiser raiser(op, why);
  if (failed(raiser.find()))
    return failure();
  return raiser.raise(rewriter);
}

FailureOr<leaf::Raised> leaf::findReduction(linalg::GenericOp op, std::string &why) {
  Raiser raiser(op, why);
  if (failed(raiser.find()))
    return failure();
  return raiser.describe();
}
