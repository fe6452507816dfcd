// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix times packed weights. Rows of x come in tiles, those that are left one by one; with few rows the
// weights are read once, and nothing else matters.
#include "tessera/targets/cpu/packed/Amx.h"
#include "tessera/targets/cpu/packed/Products.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

// Each tile of rows reads the weights of its blocks from the second cache again: as many sums of twice the
// rows and half the blocks ask it for half as much.
bool packed::hasTallerTiles(PackedMatmulOp op, const MatmulTiles &t) {
  return t.rows == 4 && t.blocks == 4 && typeOf(op.getX()).getElementType().isF32();
}

// Memory as a matrix with its innermost dimension as columns.
static Memory rowsOf(Memory memory) {
  int64_t rows = 1;
  for (int64_t extent : ArrayRef(memory.shape).drop_back())
    rows =
        ShapedType::isDynamic(extent) || ShapedType::isDynamic(rows) ? ShapedType::kDynamic : rows * extent;
  return {memory.buffer, {rows, memory.shape.back()}};
}

LogicalResult packed::lowerMatmul(RewriterBase &rewriter, PackedMatmulOp op, const MatmulTiles &tiles,
                                  std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  ArrayRef<int64_t> shape = typeOf(op.getW()).getShape();
  Products products = Products::of(op.getX(), op.getW(), op.getY(), byVectors(tiles.dot));
  int64_t panels = shape[0], depth = shape[1], lanes = shape[2], total = op.getColumns(),
          together = products.together;
  MatmulTiles t = tiles;
  if (t.rows < 1 || t.blocks < 1 || t.unroll < 1) {
    why = "expected tiles of at least 1";
    return failure();
  }
  t.blocks = std::min(t.blocks, panels);
  Gen g{rewriter, op.getLoc()};
  Memory x = rowsOf(inputOf(rewriter, op.getX()).memory), w = inputOf(rewriter, op.getW()).memory;
  Memory bias = op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory();
  VectorType type = products.sumType();
  // All dimensions but the innermost are rows.
  SmallVector<Value> extents;
  Value batch = g.index(1);
  for (int64_t d = 0; d + 1 < typeOf(op.getX()).getRank(); ++d) {
    extents.push_back(extentOf(g, x.buffer, d));
    batch = g.mul(batch, extents.back());
  }
  output->beginRows(g, batch, extents);
  auto tile = [&](Value row, Value panel, int64_t rows, int64_t blocks) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < blocks; ++k)
        sums.push_back(bias.buffer ? cursorAt(g, bias, {g.add(panel, k), g.index(0)}).load(g, 0, lanes)
                                   : g.splat(type, 0));
    auto body = [&](Value at, int64_t steps, ValueRange carried) {
      SmallVector<Value> next(carried);
      Cursor from = cursorAt(g, x, {row, g.mul(at, together)}), weights = cursorAt(g, w, {panel, at});
      for (int64_t s = 0; s < steps; ++s) {
        SmallVector<Value> factors;
        for (int64_t k = 0; k < blocks; ++k)
          factors.push_back(products.weights(g, weights, (k * depth + s) * products.width()));
        for (int64_t i = 0; i < rows; ++i) {
          Value v = products.spread(g, from, (i * depth + s) * together);
          for (int64_t k = 0; k < blocks; ++k)
            next[i * blocks + k] = products.add(g, v, factors[k], next[i * blocks + k]);
        }
      }
      return next;
    };
    int64_t whole = depth / t.unroll * t.unroll;
    sums = g.loop(0, whole, t.unroll, sums,
                  [&](Value at, ValueRange carried) { return body(at, t.unroll, carried); });
    if (whole < depth)
      sums = body(g.index(whole), depth - whole, sums);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < blocks; ++k)
        output->store(g, {g.add(row, i), g.mul(g.add(panel, k), lanes)}, sums[i * blocks + k]);
  };
  // The last panel may have fewer columns than lanes; it is narrower then.
  auto narrow = [&](Value row, Value panel) {
    int64_t valid = total - (panels - 1) * lanes;
    Value start = bias.buffer ? cursorAt(g, bias, {panel, g.index(0)}).load(g, 0, lanes) : g.splat(type, 0);
    SmallVector<Value> init = {start};
    for (int64_t s = 1; s < t.unroll; ++s)
      init.push_back(g.splat(type, 0));
    auto step = [&](Value at, int64_t steps, ValueRange carried) {
      SmallVector<Value> next(carried);
      Cursor from = cursorAt(g, x, {row, g.mul(at, together)}), weights = cursorAt(g, w, {panel, at});
      for (int64_t s = 0; s < steps; ++s)
        next[s] = products.add(g, products.spread(g, from, s * together),
                               products.weights(g, weights, s * products.width()), next[s]);
      return next;
    };
    int64_t whole = depth / t.unroll * t.unroll;
    SmallVector<Value> sums =
        g.loop(0, whole, t.unroll, init, [&](Value at, ValueRange c) { return step(at, t.unroll, c); });
    if (whole < depth)
      sums = step(g.index(whole), depth - whole, sums);
    Value sum = sums[0];
    for (Value more : ArrayRef(sums).drop_front())
      sum = isa<FloatType>(products.wide) ? Value(arith::AddFOp::create(g.b, g.loc, sum, more))
                                          : Value(arith::AddIOp::create(g.b, g.loc, sum, more));
    if (valid < lanes)
      sum = vector::ExtractStridedSliceOp::create(g.b, g.loc, sum, ArrayRef<int64_t>{0},
                                                  ArrayRef<int64_t>{valid}, ArrayRef<int64_t>{1});
    output->store(g, {row, g.index((panels - 1) * lanes)}, sum);
  };
  bool ragged = total % lanes || panels * lanes != total;
  // Panels behind the columns that are wanted are not computed.
  panels = ceilDiv(total, lanes);
  int64_t full = ragged ? panels - 1 : panels, groups = full / t.blocks, single = full % t.blocks;
  int64_t tasks = groups + single + (ragged ? 1 : 0);
  const bool taller = hasTallerTiles(op, t);
  g.tasks({rewriter.getIndexAttr(tasks)}, [&](ValueRange ids) {
    // By tiles where that is possible and there are enough rows, otherwise by vectors.
    auto choose = [&](Value panel, int64_t blocks, int64_t valid, function_ref<void()> vectors) {
      if (!isByTiles(tiles.dot) || !canMultiply(tiles.dot, op.getX(), op.getW()))
        return vectors();
      Value few = g.less(batch, g.index(leastRows));
      g.when(few, vectors);
      g.when(g.less(g.index(leastRows - 1), batch),
             [&] { MatmulByTiles{x, w, bias, *output, tiles.dot}.rows(g, batch, panel, blocks, valid); });
    };
    auto rows = [&](Value panel, int64_t blocks) {
      choose(panel, blocks, blocks * lanes, [&] {
        Value done = g.index(0);
        auto upTo = [&](int64_t rows, int64_t width) {
          Value whole = g.mul(g.div(batch, rows), rows);
          for (int64_t k = 0; k < blocks; k += width)
            g.each(done, whole, rows, [&](Value row) { tile(row, g.add(panel, k), rows, width); });
          done = whole;
        };
        if (taller && blocks == t.blocks)
          upTo(2 * t.rows, blocks / 2);
        upTo(t.rows, blocks);
        upTo(1, blocks);
      });
    };
    if (groups)
      g.when(g.less(ids[0], g.index(groups)), [&] { rows(g.mul(ids[0], t.blocks), t.blocks); });
    if (single)
      g.when(g.both(g.less(g.index(groups - 1), ids[0]), g.less(ids[0], g.index(groups + single))),
             [&] { rows(g.add(ids[0], groups * t.blocks - groups), 1); });
    if (ragged)
      g.when(g.equal(ids[0], tasks - 1), [&] {
        Value last = g.index(panels - 1);
        choose(last, 1, total - (panels - 1) * lanes,
               [&] { g.each(g.index(0), batch, 1, [&](Value row) { narrow(row, last); }); });
      });
  });
  output->finish(rewriter, op);
  return success();
}

MatmulTiles packed::chooseMatmul(PackedMatmulOp op, const Machine &machine) {
  MatmulTiles t;
  int64_t panels = typeOf(op.getW()).getShape()[0];
  // With one row each panel is one sum, whose latency only other panels can hide.
  t.blocks = panels % 4 == 0 ? 4 : panels % 2 == 0 ? 2 : std::min<int64_t>(panels, 4);
  t.rows = std::max<int64_t>(1, (machine.registers - t.blocks - 1) / t.blocks);
  t.rows = t.rows >= 8 ? 8 : t.rows >= 4 ? 4 : t.rows;
  t.unroll = 4;
  return t;
}
