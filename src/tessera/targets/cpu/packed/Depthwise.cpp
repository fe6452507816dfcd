// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Depthwise convolution: lanes are channels. The taps of a small window stay in registers for a whole plane,
// and each vector of x is loaded once for all places of a tile that it belongs to. Blocks that are as wide as
// a tile of a matrix are several vectors, one after the other.
#include "tessera/targets/cpu/packed/DepthwiseKernel.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

/// Blocks have at most as many lanes as a vector, or are for tiles of matrices, which come with these.
static constexpr int64_t mostLanesOfVector = 16;

DepthwiseKernel DepthwiseKernel::of(RewriterBase &rewriter, PackedDepthwiseOp op, Output &out) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  return {Gen{rewriter, op.getLoc()},
          inputOf(rewriter, op.getX()),
          inputOf(rewriter, op.getW()).memory,
          op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
          out,
          typeOf(op.getW()).getElementType(),
          w[0],
          w[3],
          std::min(w[3], mostLanesOfVector),
          w[1],
          w[2],
          out.shape()[2],
          out.shape()[3],
          op.getStrides()[0],
          op.getStrides()[1],
          op.getDilations()[0],
          op.getDilations()[1]};
}

Value DepthwiseKernel::read(const Cursor &from, int64_t distance) {
  Value v = from.load(g, distance, lanes);
  Type own = getElementTypeOrSelf(v);
  if (own == element)
    return v;
  if (isa<FloatType>(own))
    return arith::ExtFOp::create(g.b, g.loc, vectorOf(element, lanes), v);
  // By way of i32, which has a conversion of its own.
  v = arith::ExtUIOp::create(g.b, g.loc, vectorOf(g.b.getI32Type(), lanes), v);
  return arith::SIToFPOp::create(g.b, g.loc, vectorOf(element, lanes), v);
}

void DepthwiseKernel::tile(Value n, Value index, Value lane, Value row, Value column, int64_t tileRows,
                           int64_t tileColumns, Value start, ArrayRef<Value> taps) {
  SmallVector<Value> sums(tileRows * tileColumns, start);
  Value top = g.add(g.mul(row, strideH), x.top), left = g.add(g.mul(column, strideW), x.left);
  int64_t width = x.memory.shape[3];
  bool open = ShapedType::isDynamic(width);
  if (!taps.empty() && open) {
    // One row of the result; each row of taps has a pointer of its own.
    for (int64_t i = 0; i < kh; ++i) {
      Cursor from = cursorAt(g, x.memory, {n, index, g.add(top, i * dilationH), left, lane});
      std::map<int64_t, Value> loaded;
      for (int64_t j = 0; j < kw; ++j)
        for (int64_t q = 0; q < tileColumns; ++q) {
          int64_t v = q * strideW + j * dilationW;
          Value &vector = loaded[v];
          if (!vector)
            vector = read(from, v * block);
          sums[q] = g.fma(vector, taps[i * kw + j], sums[q]);
        }
    }
  } else if (!taps.empty()) {
    Cursor from = cursorAt(g, x.memory, {n, index, top, left, lane});
    std::map<std::pair<int64_t, int64_t>, Value> loaded;
    for (int64_t i = 0; i < kh; ++i)
      for (int64_t r = 0; r < tileRows; ++r)
        for (int64_t j = 0; j < kw; ++j)
          for (int64_t q = 0; q < tileColumns; ++q) {
            int64_t h = r * strideH + i * dilationH, v = q * strideW + j * dilationW;
            Value &vector = loaded[{h, v}];
            if (!vector)
              vector = read(from, (h * width + v) * block);
            Value &sum = sums[r * tileColumns + q];
            sum = g.fma(vector, taps[i * kw + j], sum);
          }
  } else {
    sums = g.loop(0, kh, 1, sums, [&](Value i, ValueRange carried) {
      return g.loop(0, kw, 1, carried, [&](Value j, ValueRange carried) {
        Value tap = cursorAt(g, w, {index, i, j, lane}).load(g, 0, lanes);
        Cursor from = cursorAt(
            g, x.memory, {n, index, g.add(top, g.mul(i, dilationH)), g.add(left, g.mul(j, dilationW)), lane});
        SmallVector<Value> next(carried);
        for (int64_t r = 0; r < tileRows; ++r)
          for (int64_t q = 0; q < tileColumns; ++q) {
            Value &sum = next[r * tileColumns + q];
            sum = g.fma(read(from, ((r ? r * strideH * width : 0) + q * strideW) * block), tap, sum);
          }
        return next;
      });
    });
  }
  for (int64_t r = 0; r < tileRows; ++r)
    for (int64_t q = 0; q < tileColumns; ++q)
      out.store(g, {n, index, g.add(row, r), g.add(column, q), lane}, sums[r * tileColumns + q]);
}

void DepthwiseKernel::part(Value n, Value index, Value lane, Value from, Value to, Value last,
                           const DepthwiseTiles &t) {
  Value start =
      bias.buffer ? cursorAt(g, bias, {index, lane}).load(g, 0, lanes) : g.splat(vectorOf(element, lanes), 0);
  SmallVector<Value> taps;
  if (kh * kw <= 9) {
    Cursor at = cursorAt(g, w, {index, g.index(0), g.index(0), lane});
    for (int64_t i = 0; i < kh * kw; ++i)
      taps.push_back(at.load(g, i * block, lanes));
  }
  if (out.isOpen()) {
    g.each(from, to, 1, [&](Value at) {
      g.cover(g.index(0), out.columns(g), t.columns,
              [&](Value column, int64_t size) { tile(n, index, lane, at, column, 1, size, start, taps); });
    });
    return;
  }
  auto row = [&](Value at, int64_t tileRows) {
    int64_t whole = columns / t.columns * t.columns;
    g.each(0, whole, t.columns,
           [&](Value column) { tile(n, index, lane, at, column, tileRows, t.columns, start, taps); });
    if (whole < columns)
      tile(n, index, lane, at, g.index(whole), tileRows, columns - whole, start, taps);
  };
  int64_t rest = rows % t.rows;
  g.each(from, rest ? g.min(to, g.index(rows - rest)) : to, t.rows, [&](Value at) { row(at, t.rows); });
  if (rest)
    g.when(last, [&] { row(g.index(rows - rest), rest); });
}

void DepthwiseKernel::prefetch(Value n, Value row, int64_t rows, Value first, int64_t count) {
  int64_t run = rows * strideH * x.memory.shape[3];
  Value index = g.min(g.div(first, run), g.index(blocks - 1));
  Value at = x.memory.offset(g, {n, index, g.add(g.mul(row, strideH), x.top)});
  Cursor from = cursorAt(g, x.memory, g.add(at, g.mul(g.rem(first, run), block)));
  for (int64_t i = 0; i < count; ++i)
    memref::PrefetchOp::create(g.b, g.loc, from.view, ValueRange{g.index(i * block)}, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
}

// Rows and columns are known when the kernel runs.
static LogicalResult lowerOpen(RewriterBase &rewriter, PackedDepthwiseOp op, DepthwiseKernel &k,
                               Output &output, Value batch, const DepthwiseTiles &t, std::string &why) {
  if (t.rows != 1) {
    why = "expected tiles of one row, since the extents of its planes are open; but got " +
          std::to_string(t.rows);
    return failure();
  }
  Gen &g = k.g;
  Value rows = placesOf(g, op, k.x, 2);
  output.begin(g, batch, rows, placesOf(g, op, k.x, 3));
  g.tasks(
      {getAsOpFoldResult(batch), rewriter.getIndexAttr(k.blocks), getAsOpFoldResult(g.parts(rows, t.task))},
      [&](ValueRange ids) {
        Value from = g.mul(ids[2], t.task), to = g.min(g.add(from, t.task), rows);
        k.part(ids[0], ids[1], from, to, Value(), t);
        output.border(g, ids[0], ids[1], from, to);
      });
  output.finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerDepthwise(RewriterBase &rewriter, PackedDepthwiseOp op,
                                     const DepthwiseTiles &tiles, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  DepthwiseTiles t = tiles;
  if (t.rows < 1 || t.columns < 1 || t.task < 1) {
    why = "expected tiles of at least 1";
    return failure();
  }
  DepthwiseKernel k = DepthwiseKernel::of(rewriter, op, *output);
  // Blocks for tiles of bf16: who reads them takes denormal numbers for zero.
  if (k.block > k.lanes && typeOf(op.getX()).getElementType().isBF16())
    output->roundByInstruction();
  Gen &g = k.g;
  Value batch = batchOf(g, k.x.memory);
  if (output->isOpen() || k.x.memory.isOpen())
    return lowerOpen(rewriter, op, k, *output, batch, t, why);
  output->begin(g, batch);
  t.rows = std::min(t.rows, k.rows);
  t.columns = std::min(t.columns, k.columns);
  int64_t taskRows = ceilDiv(t.task, t.rows) * t.rows, rowTasks = ceilDiv(k.rows, taskRows);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(k.blocks), rewriter.getIndexAttr(rowTasks)},
          [&](ValueRange ids) {
            Value from = g.mul(ids[2], taskRows), to = g.min(g.add(from, taskRows), g.index(k.rows));
            k.part(ids[0], ids[1], from, to, g.equal(ids[2], rowTasks - 1), t);
            output->border(g, ids[0], ids[1], from, to);
          });
  output->finish(rewriter, op);
  return success();
}

DepthwiseTiles packed::chooseDepthwise(PackedDepthwiseOp op, const Machine &machine) {
  ArrayRef<int64_t> y = typeOf(op.getY()).getShape(), w = typeOf(op.getW()).getShape();
  int64_t taps = w[1] * w[2] <= 9 ? w[1] * w[2] : 1, left = machine.registers - taps - 2;
  DepthwiseTiles best;
  if (hasOpenPlanes(op)) {
    best.rows = 1;
    best.columns = std::clamp<int64_t>(left, 1, 14);
    best.task = 16;
    return best;
  }
  double bestCost = 1e30;
  for (int64_t rows : {1, 2})
    for (int64_t columns = 1; columns <= std::min<int64_t>(y[3], 14); ++columns) {
      if (rows > y[2] || (rows * columns > std::max<int64_t>(left, 2)))
        continue;
      // Vectors loaded for one tile, and a little for its loop.
      double loads =
          double((rows - 1) * op.getStrides()[0] + w[1]) * ((columns - 1) * op.getStrides()[1] + w[2]);
      double work = std::max(loads, rows * columns * double(w[1] * w[2]));
      double cost =
          (work + 4) * double(ceilDiv(y[2], rows)) * double(y[3]) / columns + (y[3] % columns ? 8 : 0);
      if (cost < bestCost) {
        bestCost = cost;
        best.rows = rows;
        best.columns = columns;
      }
    }
  // The vectors of a block share its lines.
  int64_t rowBytes =
      y[3] * op.getStrides()[0] * op.getStrides()[1] * w[3] * typeOf(op.getX()).getElementTypeBitWidth() / 8;
  best.task = w[3] <= mostLanesOfVector ? y[2] : std::clamp(machine.l1 / 2 / rowBytes, best.rows, y[2]);
  return best;
}
