// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The softmax of scores times values, by blocks of keys. Of each row only the largest score so far, the sum
// of the weights and the sum of the weighted values are kept; where a block brings a larger score, the sums
// shrink accordingly. Scores that come of a product in the same node are computed block by block, too.
#include "tessera/targets/cpu/packed/Batched.h"
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

//===----------------------------------------------------------------------===//
// What stands between a product and its softmax
//===----------------------------------------------------------------------===//

// Computes its element from the one at the same place of `v`, and from operands at places along dimensions.
static bool isOnScores(linalg::GenericOp op, Value v) {
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.hasPureTensorSemantics() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty())
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (input->get() == v) {
      if (!map.isIdentity())
        return false;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type)
      continue;
    if (!type.getElementType().isIntOrFloat())
      return false;
    for (auto [i, result] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim && !isa<AffineConstantExpr>(result))
        return false;
      if (dim && dim.getPosition() + 1 == map.getNumDims() && i + 1 != map.getNumResults())
        return false;
    }
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(inner))
      continue;
    if (inner.getNumRegions() || inner.getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(&inner))
      return false;
  }
  return getElementTypeOrSelf(op.getResult(0)).isF32();
}

static Value skipCasts(Value v) {
  while (auto cast = v.getDefiningOp<tensor::CastOp>()) {
    if (!cast->hasOneUse())
      break;
    v = cast.getSource();
  }
  return v;
}

ScoresOf packed::findScores(AttendOp op) {
  ScoresOf found;
  Value v = skipCasts(op.getScores());
  while (true) {
    Operation *def = v.getDefiningOp();
    if (!def || def->getBlock() != op->getBlock() || !v.hasOneUse())
      return {};
    if (auto product = dyn_cast<ProductOp>(def)) {
      // The panel of keys needs a size.
      if (ShapedType::isDynamic(typeOf(product.getX()).getShape().back()))
        return {};
      found.product = product;
      std::reverse(found.steps.begin(), found.steps.end());
      return found;
    }
    auto generic = dyn_cast<linalg::GenericOp>(def);
    if (!generic || generic.getNumResults() != 1)
      return {};
    // The operand that the scores come along.
    Value next;
    for (OpOperand *input : generic.getDpsInputOperands()) {
      Value from = skipCasts(input->get());
      Operation *before = from.getDefiningOp();
      bool computed = before && before->getBlock() == op->getBlock() &&
                      isa<ProductOp, linalg::GenericOp>(before) && from.hasOneUse() &&
                      input->get().hasOneUse() && generic.getMatchingIndexingMap(input).isIdentity();
      if (!computed)
        continue;
      if (next)
        return {};
      next = input->get();
    }
    if (!next || !isOnScores(generic, next))
      return {};
    found.steps.push_back({generic, next});
    v = skipCasts(next);
  }
}

static Value clamped(Gen &g, Value count, int64_t lanes) {
  return g.max(g.min(count, g.index(lanes)), g.index(0));
}

namespace {

/// Elementwise operations on vectors of scores.
class Chain {
public:
  /// `ScoresOf::steps`, with what they read as memory.
  Chain(RewriterBase &rewriter, Gen &g, const ScoresOf &scores);
  /// The scores at keys `at.back()`, …, of the row that the other indices name. With `count`, only so many
  /// keys exist from there on; there may be more than lanes, or none.
  Value apply(Gen &g, ValueRange at, Value v, Value count) const;

private:
  struct Step {
    linalg::GenericOp op;
    Value along;
    SmallVector<Strided> inputs;
  };
  Value read(Gen &g, const Step &step, unsigned input, ValueRange at, int64_t lanes, Value count) const;
  SmallVector<Step> steps;
};

} // namespace

Chain::Chain(RewriterBase &rewriter, Gen &g, const ScoresOf &scores) {
  for (auto [op, along] : scores.steps) {
    Step step{op, along, {}};
    for (OpOperand *input : linalg::GenericOp(op).getDpsInputOperands()) {
      bool isMemory = input->get() != along && isa<RankedTensorType>(input->get().getType());
      step.inputs.push_back(isMemory ? Strided::of(g, inputOf(rewriter, input->get()).memory.buffer)
                                     : Strided());
    }
    steps.push_back(std::move(step));
  }
}

// Bits have a byte each in memory. Those that there are not are the last one again.
static Value loadBits(Gen &g, Value buffer, Value offset, int64_t lanes, Value count) {
  SmallVector<Value> bits;
  for (int64_t k = 0; k < lanes; ++k) {
    Value at = count ? g.min(g.index(k), g.sub(count, g.index(1))) : g.index(k);
    bits.push_back(cursorFrom(g, buffer, g.add(offset, at)).scalar(g, 0));
  }
  return vector::FromElementsOp::create(g.b, g.loc, vectorOf(g.b.getI1Type(), lanes), bits);
}

Value Chain::read(Gen &g, const Step &step, unsigned index, ValueRange at, int64_t lanes, Value count) const {
  linalg::GenericOp op = step.op;
  OpOperand *operand = op.getDpsInputOperand(index);
  const Strided &input = step.inputs[index];
  if (!input.buffer)
    return vector::BroadcastOp::create(g.b, g.loc, vectorOf(operand->get().getType(), lanes), operand->get());
  Type element = typeOf(operand->get()).getElementType();
  VectorType type = vectorOf(element, lanes);
  DenseElementsAttr constant;
  if (matchPattern(operand->get(), m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(g.b, g.loc,
                                     DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
  AffineMap map = op.getMatchingIndexingMap(operand);
  Value offset = g.index(0);
  bool along = false;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    Value place = dim ? at[dim.getPosition()] : g.index(cast<AffineConstantExpr>(result).getValue());
    offset = g.add(offset, g.mul(place, input.strides[i]));
    along |= dim && dim.getPosition() + 1 == map.getNumDims();
  }
  if (!along)
    return vector::BroadcastOp::create(g.b, g.loc, type, cursorFrom(g, input.buffer, offset).scalar(g, 0));
  if (element.isInteger(1))
    return loadBits(g, input.buffer, offset, lanes, count);
  return loadLanes(g, input.buffer, offset, lanes, count ? clamped(g, count, lanes) : Value());
}

Value Chain::apply(Gen &g, ValueRange at, Value v, Value count) const {
  int64_t lanes = cast<VectorType>(v.getType()).getNumElements();
  auto spread = [&](Value x) -> Value {
    return vector::BroadcastOp::create(g.b, g.loc, vectorOf(x.getType(), lanes), x);
  };
  for (const Step &step : steps) {
    IRMapping map;
    linalg::GenericOp op = step.op;
    for (unsigned i = 0; i < step.inputs.size(); ++i) {
      OpOperand *operand = op.getDpsInputOperand(i);
      map.map(op.getMatchingBlockArgument(operand),
              operand->get() == step.along ? v : read(g, step, i, at, lanes, count));
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
        VectorType type = vectorOf(constant.getType(), lanes);
        map.map(constant.getResult(),
                arith::ConstantOp::create(
                    g.b, g.loc, DenseElementsAttr::get(type, cast<Attribute>(constant.getValue()))));
        continue;
      }
      if (auto number = dyn_cast<linalg::IndexOp>(inner)) {
        Value index = spread(at[number.getDim()]);
        if (number.getDim() + 1 == op.getNumLoops())
          index = arith::AddIOp::create(
              g.b, g.loc, index, vector::StepOp::create(g.b, g.loc, vectorOf(g.b.getIndexType(), lanes)));
        map.map(number.getResult(), index);
        continue;
      }
      for (Value operand : inner.getOperands())
        if (!map.contains(operand))
          map.map(operand, spread(operand));
      Operation *copy = g.b.clone(inner, map);
      copy->getResult(0).setType(vectorOf(inner.getResult(0).getType(), lanes));
    }
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    if (!map.contains(yielded))
      map.map(yielded, spread(yielded));
    v = map.lookup(yielded);
  }
  return v;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static Value greater(Gen &g, Value a, Value b) {
  Value more = arith::CmpFOp::create(g.b, g.loc, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(g.b, g.loc, more, a, b);
}
static Value exponential(Gen &g, Value v) {
  auto exp = math::ExpOp::create(g.b, g.loc, v);
  SharedNotes::approximate.set(exp);
  return exp;
}

namespace {

/// One kernel: what all of its parts know.
struct Attend {
  Gen &g;
  const BatchTiles &t;
  Strided q, k, s, v, z; ///< `s` only where the scores are memory, `q` and `k` only where they are not
  bool turned;           ///< a row of `k` is a key
  const Chain *chain;
  int64_t lanes = 0, block = 0, high = 0, depth = 0, width = 0;
  // Of a task.
  SmallVector<Value> at;
  Value first, rows, keys;
  Memory panel, scores, sums, weights, largest;
  Value lowest;

  void task(ValueRange ids, bool zeros);
  void keysFrom(Value key, Value count);
  /// The scores of a tile of rows, to `scores`; the largest of each row.
  SmallVector<Value> score(Value row, Value key, Value count);
  void finish(bool zeros);
  Value rowOf(Value row) { return g.add(first, g.min(row, g.sub(rows, g.index(1)))); }
};

} // namespace

SmallVector<Value> Attend::score(Value row, Value key, Value count) {
  SmallVector<Value> most(t.rows);
  for (int64_t part = 0; part < block; part += t.vectors * lanes) {
    SmallVector<Value> tile;
    if (q.buffer) {
      Tile product{
          {}, panel.buffer, g.index(part), g.index(block), lanes, SmallVector<int64_t>(t.vectors, lanes)};
      Value base = q.matrix(g, at);
      for (int64_t i = 0; i < t.rows; ++i) {
        Value from = g.add(base, g.mul(rowOf(g.add(row, i)), q.strides[q.rank() - 2]));
        product.rows.push_back(cursorFrom(g, q.buffer, from, depth).view);
      }
      tile = product.multiply(
          g, g.index(depth), t.unroll,
          SmallVector<Value>(t.rows * t.vectors, g.splat(vectorOf(g.b.getF32Type(), lanes), 0)));
    }
    for (int64_t i = 0; i < t.rows; ++i) {
      Value number = rowOf(g.add(row, i));
      for (int64_t w = 0; w < t.vectors; ++w) {
        int64_t behind = part + w * lanes;
        Value left, own, score;
        if (count) {
          left = g.sub(count, g.index(behind));
          own = clamped(g, left, lanes);
        }
        Value place = g.add(key, behind);
        if (tile.empty()) {
          Value from = g.add(s.matrix(g, at), g.mul(number, s.strides[s.rank() - 2]));
          score = loadLanes(g, s.buffer, g.add(from, place), lanes, own);
        } else {
          SmallVector<Value> where(at);
          where.append({number, place});
          score = chain->apply(g, where, tile[i * t.vectors + w], left);
        }
        if (own) {
          Value exists = vector::CreateMaskOp::create(g.b, g.loc, vectorOf(g.b.getI1Type(), lanes), own);
          score = arith::SelectOp::create(g.b, g.loc, exists, score,
                                          g.splat(score.getType(), -std::numeric_limits<double>::infinity()));
        }
        cursorFrom(g, scores.buffer, g.index(i * block + behind), lanes).store(g, score, 0);
        most[i] = most[i] ? greater(g, most[i], score) : score;
      }
    }
  }
  return most;
}

void Attend::keysFrom(Value key, Value count) {
  unsigned rank = z.rank();
  if (k.buffer) {
    Matrix from{k.buffer, k.matrix(g, at), k.strides[rank - 2], turned ? keys : g.index(depth), turned};
    copyPanel(g, from, g.index(0), g.index(depth), key, count, panel, lanes);
  }
  g.each(g.index(0), rows, t.rows, [&](Value row) {
    SmallVector<Value> most = score(row, key, count), shrink;
    for (int64_t i = 0; i < t.rows; ++i) {
      Value number = g.add(row, i);
      Cursor top = cursorFrom(g, largest.buffer, number),
             total = cursorFrom(g, weights.buffer, g.mul(number, lanes), lanes);
      Value before = top.scalar(g, 0);
      Value here = vector::ReductionOp::create(g.b, g.loc, vector::CombiningKind::MAXNUMF, most[i]);
      Value after = greater(g, before, here);
      memref::StoreOp::create(g.b, g.loc, after, top.view, ValueRange{g.index(0)});
      // A row of -infinity alone has no distance from its largest.
      Value none = arith::CmpFOp::create(g.b, g.loc, arith::CmpFPredicate::OEQ, after, lowest);
      Value from = arith::SelectOp::create(g.b, g.loc, none, g.splat(g.b.getF32Type(), 0), after);
      shrink.push_back(exponential(g, arith::SubFOp::create(g.b, g.loc, before, from)));
      VectorType type = vectorOf(g.b.getF32Type(), lanes);
      Value spread = vector::BroadcastOp::create(g.b, g.loc, type, from);
      Value sum = arith::MulFOp::create(g.b, g.loc, total.load(g, 0, lanes),
                                        vector::BroadcastOp::create(g.b, g.loc, type, shrink[i]));
      for (int64_t at = 0; at < block; at += lanes) {
        Cursor place = cursorFrom(g, scores.buffer, g.index(i * block + at), lanes);
        Value weight = exponential(g, arith::SubFOp::create(g.b, g.loc, place.load(g, 0, lanes), spread));
        place.store(g, weight, 0);
        sum = arith::AddFOp::create(g.b, g.loc, sum, weight);
      }
      total.store(g, sum, 0);
    }
    Value base = g.add(v.matrix(g, at), g.mul(key, v.strides[rank - 2]));
    for (int64_t column = 0; column < width;) {
      Tile product{{}, v.buffer, g.add(base, column), v.strides[rank - 2], lanes, {}};
      for (int64_t at = column; at < width && int64_t(product.widths.size()) < t.vectors;) {
        product.widths.push_back(std::min(lanes, width - at));
        at += product.widths.back();
      }
      SmallVector<Value> init;
      auto each = [&](function_ref<void(int64_t row, int64_t width, Cursor place)> f) {
        for (int64_t i = 0; i < t.rows; ++i) {
          int64_t at = column;
          for (int64_t own : product.widths) {
            f(i, own, cursorFrom(g, sums.buffer, g.add(g.mul(g.add(row, i), width), at), own));
            at += own;
          }
        }
      };
      each([&](int64_t i, int64_t own, Cursor place) {
        Value by = vector::BroadcastOp::create(g.b, g.loc, vectorOf(g.b.getF32Type(), own), shrink[i]);
        init.push_back(arith::MulFOp::create(g.b, g.loc, place.load(g, 0, own), by));
      });
      for (int64_t i = 0; i < t.rows; ++i)
        product.rows.push_back(cursorFrom(g, scores.buffer, g.index(i * block), block).view);
      SmallVector<Value> done = product.multiply(g, count ? count : g.index(block), t.unroll, init);
      unsigned next = 0;
      each([&](int64_t, int64_t, Cursor place) { place.store(g, done[next++], 0); });
      for (int64_t own : product.widths)
        column += own;
    }
  });
}

void Attend::finish(bool zeros) {
  unsigned rank = z.rank();
  Type f32 = g.b.getF32Type();
  g.each(g.index(0), rows, 1, [&](Value row) {
    Value total = vector::ReductionOp::create(
        g.b, g.loc, vector::CombiningKind::ADD,
        cursorFrom(g, weights.buffer, g.mul(row, lanes), lanes).load(g, 0, lanes));
    Value by = arith::DivFOp::create(g.b, g.loc, g.splat(f32, 1), total);
    if (zeros) {
      Value none = arith::CmpFOp::create(g.b, g.loc, arith::CmpFPredicate::OEQ, total, g.splat(f32, 0));
      by = arith::SelectOp::create(g.b, g.loc, none, g.splat(f32, 0), by);
    }
    Value to = g.add(z.matrix(g, at), g.mul(g.add(first, row), z.strides[rank - 2]));
    for (int64_t column = 0; column < width; column += lanes) {
      int64_t own = std::min(lanes, width - column);
      Value sum = cursorFrom(g, sums.buffer, g.add(g.mul(row, width), column), own).load(g, 0, own);
      sum = arith::MulFOp::create(g.b, g.loc, sum,
                                  vector::BroadcastOp::create(g.b, g.loc, vectorOf(f32, own), by));
      cursorFrom(g, z.buffer, g.add(to, column), own).store(g, sum, 0);
    }
  });
}

void Attend::task(ValueRange ids, bool zeros) {
  unsigned rank = z.rank();
  Type f32 = g.b.getF32Type();
  at = indicesOf(g, ids[0], ArrayRef(z.extents).drop_back(2));
  first = g.mul(ids[1], high);
  rows = g.min(g.sub(z.extents[rank - 2], first), g.index(high));
  if (k.buffer)
    panel = allocate(g, {depth, block}, f32);
  scores = allocate(g, {t.rows, block}, f32);
  sums = allocate(g, {high, width}, f32);
  weights = allocate(g, {high, lanes}, f32);
  largest = allocate(g, {high}, f32);
  lowest = g.splat(f32, -std::numeric_limits<double>::infinity());
  g.each(0, high, 1, [&](Value row) {
    memref::StoreOp::create(g.b, g.loc, lowest, largest.buffer, ValueRange{row});
    cursorFrom(g, weights.buffer, g.mul(row, lanes), lanes).store(g, g.splat(vectorOf(f32, lanes), 0), 0);
    for (int64_t column = 0; column < width; column += lanes) {
      int64_t own = std::min(lanes, width - column);
      cursorFrom(g, sums.buffer, g.add(g.mul(row, width), column), own)
          .store(g, g.splat(vectorOf(f32, own), 0), 0);
    }
  });
  Value whole = g.mul(g.div(keys, block), block);
  g.each(g.index(0), whole, block, [&](Value key) { keysFrom(key, {}); });
  g.when(g.less(whole, keys), [&] { keysFrom(whole, g.sub(keys, whole)); });
  finish(zeros);
}

LogicalResult packed::lowerAttend(RewriterBase &rewriter, AttendOp op, const BatchTiles &t,
                                  std::string &why) {
  if (t.rows < 1 || t.lanes < 1 || t.vectors < 1 || t.unroll < 1 || t.task < 1) {
    why = "expected numbers of at least 1";
    return failure();
  }
  rewriter.setInsertionPointAfter(op);
  Gen g{rewriter, op.getLoc()};
  bool zeros = op.getZeros();
  ScoresOf found = findScores(op);
  Target target = Target::of(rewriter, g, op.getZ(), op.getInit());
  auto memory = [&](Value tensor) { return Strided::of(g, inputOf(rewriter, tensor).memory.buffer); };
  int64_t wide = t.vectors * t.lanes;
  Attend kernel{g, t, {}, {}, {}, memory(op.getValues()), Strided::of(g, target.buffer), false, nullptr};
  std::optional<Chain> chain;
  if (found.product) {
    kernel.q = memory(found.product.getX());
    kernel.k = memory(found.product.getY());
    kernel.turned = found.product.getTransposeY();
    chain.emplace(rewriter, g, found);
    kernel.chain = &*chain;
    kernel.depth = typeOf(found.product.getX()).getShape().back();
  } else {
    kernel.s = memory(op.getScores());
  }
  kernel.keys = kernel.v.extents[kernel.v.rank() - 2];
  kernel.lanes = t.lanes;
  kernel.block = 2 * wide;
  kernel.high = ceilDiv(t.task, t.rows) * t.rows;
  kernel.width = typeOf(op.getValues()).getShape().back();
  unsigned rank = kernel.z.rank();
  Value matrices = g.index(1);
  for (Value extent : ArrayRef(kernel.z.extents).drop_back(2))
    matrices = g.mul(matrices, extent);
  Value parts = g.div(g.add(kernel.z.extents[rank - 2], kernel.high - 1), kernel.high);
  g.tasks({getAsOpFoldResult(matrices), getAsOpFoldResult(parts)},
          [&](ValueRange ids) { kernel.task(ids, zeros); });
  Operation *scores = op.getScores().getDefiningOp();
  target.finish(rewriter, op);
  if (!found.product)
    return success();
  // Nobody asks for the scores any more.
  while (scores && scores->use_empty()) {
    Operation *before = nullptr;
    if (auto cast = dyn_cast<tensor::CastOp>(scores))
      before = cast.getSource().getDefiningOp();
    for (auto [step, along] : found.steps)
      if (step == scores)
        before = Value(along).getDefiningOp();
    rewriter.eraseOp(scores);
    scores = before;
  }
  return success();
}
