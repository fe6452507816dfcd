// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A depthwise convolution and the pointwise one behind it, in strips: a task computes a few rows of all
// channels into memory of its own, which stays in the cache until all blocks of the result have read it.
#include "tessera/targets/cpu/packed/ConvKernel.h"
#include "tessera/targets/cpu/packed/DepthwiseKernel.h"

#include <numeric>

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

PackedConvOp packed::findPointwise(PackedDepthwiseOp op) {
  Value v;
  auto conv = dyn_cast_or_null<PackedConvOp>(findReader(op, v));
  if (!conv || conv.getX() != v || conv.getStrides() != ArrayRef<int64_t>({1, 1}) || conv.getGroups() != 1)
    return {};
  ArrayRef<int64_t> w = typeOf(conv.getW()).getShape();
  return w[2] * w[3] == 1 ? conv : PackedConvOp();
}

static LogicalResult checkPair(PackedDepthwiseOp first, PackedConvOp second, std::string &why) {
  if (findPointwise(first) == second)
    return success();
  why = "expected a depthwise layer that only the pointwise one reads";
  return failure();
}

// What comes of the first layer is all of what the second reads.
static LogicalResult checkStrip(const Output &strip, PackedConvOp second, std::string &why) {
  if (strip.stored() == second.getX() && !strip.hasHalo())
    return success();
  why = "something between the layers cannot be part of a store";
  return failure();
}

FailureOr<SmallVector<Operation *>> packed::findTaken(PackedDepthwiseOp first, PackedConvOp second,
                                                      const Taken &taken, std::string &why) {
  if (failed(checkPair(first, second, why)))
    return failure();
  FailureOr<Output> strip = Output::find(first, why, /*byTiles=*/false, &taken);
  if (failed(strip) || failed(checkStrip(*strip, second, why)))
    return failure();
  FailureOr<Output> output = Output::find(second, why, /*byTiles=*/false, &taken);
  if (failed(output))
    return failure();
  SmallVector<Operation *> all = strip->taken();
  all.append(output->taken());
  return all;
}

// Rows and columns are known when the kernel runs: strips are as wide as a row is.
static LogicalResult lowerOpenPair(RewriterBase &rewriter, PackedDepthwiseOp first, const DepthwiseTiles &a,
                                   PackedConvOp second, const ConvTiles &b, Output &strip, Output &output,
                                   std::string &why) {
  if (a.rows != 1 || b.rows != 1) {
    why = "expected tiles of one row, since the extents of its planes are open; but got " +
          std::to_string(a.rows) + " and " + std::to_string(b.rows);
    return failure();
  }
  DepthwiseKernel depthwise = DepthwiseKernel::of(rewriter, first, strip);
  Gen &g = depthwise.g;
  Value batch = batchOf(g, depthwise.x.memory), rows = placesOf(g, first, depthwise.x, 2),
        columns = placesOf(g, first, depthwise.x, 3);
  output.begin(g, batch, rows, columns);
  strip.setExtents(rows, columns);
  Memory memory{Value(),
                {1, depthwise.blocks, b.task, ShapedType::kDynamic, depthwise.block},
                {Value(), Value(), Value(), columns, Value()}};
  ConvKernel pointwise = ConvKernel::of(rewriter, second, {memory, 0, 0}, output, b);
  const int64_t blocks = typeOf(second.getW()).getDimSize(0);
  g.tasks({getAsOpFoldResult(batch), getAsOpFoldResult(g.parts(rows, b.task))}, [&](ValueRange ids) {
    Value n = ids[0], from = g.mul(ids[1], b.task), to = g.min(g.add(from, b.task), rows);
    pointwise.x.memory =
        allocate(g, memory.shape, typeOf(second.getX()).getElementType(), {}, memory.extents);
    pointwise.firstRow = from;
    strip.redirect(pointwise.x.memory, from);
    g.each(0, depthwise.blocks, 1, [&](Value block) { depthwise.part(n, block, from, to, Value(), a); });
    g.each(0, blocks, b.blocks, [&](Value f) { pointwise.openPart(n, f, from, to, columns, b); });
    if (output.hasHalo())
      g.each(0, blocks, 1, [&](Value f) { output.border(g, n, f, from, to); });
  });
  output.finish(rewriter, second);
  strip.finish(rewriter, first);
  return success();
}

LogicalResult packed::lowerSeparable(RewriterBase &rewriter, PackedDepthwiseOp first,
                                     const DepthwiseTiles &firstTiles, PackedConvOp second,
                                     const ConvTiles &secondTiles, std::string &why) {
  if (failed(checkPair(first, second, why)))
    return failure();
  DepthwiseTiles a = firstTiles;
  ConvTiles b = secondTiles;
  if (a.rows < 1 || a.columns < 1 || b.rows < 1 || b.columns < 1 || b.blocks < 1 || b.task < 1 ||
      typeOf(second.getW()).getDimSize(0) % b.blocks) {
    why = "expected tiles of at least 1 and blocks that divide those of the result";
    return failure();
  }
  FailureOr<Output> strip = Output::follow(rewriter, first, why);
  if (failed(strip) || failed(checkStrip(*strip, second, why)))
    return failure();
  FailureOr<Output> output = Output::follow(rewriter, second, why);
  if (failed(output))
    return failure();
  if (hasOpenPlanes(first) || hasOpenPlanes(second))
    return lowerOpenPair(rewriter, first, a, second, b, *strip, *output, why);
  DepthwiseKernel depthwise = DepthwiseKernel::of(rewriter, first, *strip);
  Gen &g = depthwise.g;
  int64_t rows = depthwise.rows, columns = depthwise.columns;
  Value batch = batchOf(g, depthwise.x.memory);
  output->begin(g, batch);
  a.rows = std::min(a.rows, rows);
  b.rows = std::min(b.rows, rows);
  a.columns = std::min(a.columns, columns);
  b.columns = std::min(b.columns, columns);
  int64_t unit = std::lcm(a.rows, b.rows), stripRows = std::min(ceilDiv(b.task, unit) * unit, rows),
          parts = ceilDiv(rows, stripRows), blocks = typeOf(second.getW()).getDimSize(0);
  Memory memory{Value(), {1, depthwise.blocks, stripRows, columns, depthwise.block}};
  ConvKernel pointwise = ConvKernel::of(rewriter, second, {memory, 0, 0}, *output, b);
  // While a strip is multiplied, what the next one reads comes closer, a few vectors with each tile.
  int64_t across = ceilDiv(columns, b.columns), down = ceilDiv(stripRows, b.rows),
          vectors = depthwise.blocks * stripRows * depthwise.strideH * depthwise.x.memory.shape[3],
          each = std::min<int64_t>(ceilDiv(vectors, blocks / b.blocks * down * across), 64);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(parts)}, [&](ValueRange ids) {
    Value n = ids[0], from = g.mul(ids[1], stripRows), to = g.min(g.add(from, stripRows), g.index(rows)),
          last = g.equal(ids[1], parts - 1);
    pointwise.x.memory = allocate(g, memory.shape, typeOf(second.getX()).getElementType());
    pointwise.firstRow = from;
    strip->redirect(pointwise.x.memory, from);
    g.each(0, depthwise.blocks, 1, [&](Value block) { depthwise.part(n, block, from, to, last, a); });
    // The next image comes after the last strip.
    Value next = arith::SelectOp::create(g.b, g.loc, last, g.add(n, 1), n),
          nextRow = arith::SelectOp::create(g.b, g.loc, last, g.index(0), g.add(from, stripRows));
    pointwise.beforeTile = [&, from, next, nextRow](Value f, Value row, Value column) {
      Value tile = g.add(g.mul(g.div(f, b.blocks), down), g.div(g.sub(row, from), b.rows));
      tile = g.add(g.mul(tile, across), g.div(column, b.columns));
      depthwise.prefetch(next, nextRow, stripRows, g.mul(tile, each), each);
    };
    g.each(0, blocks, b.blocks, [&](Value f) { pointwise.part(n, f, from, to, last, b); });
    if (output->hasHalo())
      g.each(0, blocks, 1, [&](Value f) { output->border(g, n, f, from, to); });
  });
  output->finish(rewriter, second);
  strip->finish(rewriter, first);
  return success();
}

std::pair<DepthwiseTiles, ConvTiles> packed::chooseSeparable(PackedDepthwiseOp first, PackedConvOp second,
                                                             const Machine &machine) {
  DepthwiseTiles a = chooseDepthwise(first, forBlocks(first, machine));
  ConvTiles b = chooseConv(second, forBlocks(second, machine), 0, /*inRows=*/true);
  ArrayRef<int64_t> y = typeOf(first.getY()).getShape();
  if (hasOpenPlanes(first)) {
    constexpr int64_t likelyWidth = 28, mostRows = 8;
    b.task = std::clamp<int64_t>(machine.l2 / 4 / (4 * y[1] * likelyWidth * y[4]), 1, mostRows);
    b.split = a.task = 0;
    return {a, b};
  }
  // Strips that leave half of the second cache to the weights, and enough of them for a few threads.
  int64_t rowBytes = 4 * y[1] * y[3] * y[4], unit = std::lcm(a.rows, b.rows);
  b.task = std::min(machine.l2 / 4 / rowBytes, ceilDiv(y[2], 4)) / unit * unit;
  b.task = std::max(b.task, unit);
  b.split = a.task = 0;
  return {a, b};
}

std::string packed::describeSeparable(const DepthwiseTiles &a, const ConvTiles &b) {
  auto text = [](int64_t v) { return std::to_string(v); };
  return "depthwise and pointwise convolution in strips of " + text(b.task) + " rows, " + text(a.rows) + "x" +
         text(a.columns) + ", then " + text(b.rows) + "x" + text(b.columns) + " places of " + text(b.blocks) +
         " blocks in registers";
}
