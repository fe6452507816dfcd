// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution as it stands: a tile of rows x columns x blocks of channels of the result stays in registers
// while all taps and channels are added. Each step loads one vector of weights for each block and multiplies
// it by single elements of x.
#include "tessera/targets/cpu/packed/Amx.h"
#include "tessera/targets/cpu/packed/ConvKernel.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

ConvKernel ConvKernel::of(RewriterBase &rewriter, PackedConvOp op, const Input &x, Output &out,
                          const ConvTiles &t) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  return {Gen{rewriter, op.getLoc()},
          x,
          inputOf(rewriter, op.getW()).memory,
          op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
          out,
          Products::of(op.getX(), op.getW(), op.getY(), t.dot),
          w[1],
          x.memory.shape[2],
          x.memory.shape[3],
          x.memory.shape[4],
          w[0] / int64_t(op.getGroups()),
          w[5],
          w[2],
          w[3],
          out.shape()[2],
          out.shape()[3],
          op.getStrides()[0],
          op.getStrides()[1],
          op.getDilations()[0],
          op.getDilations()[1],
          op.getGroups() > 1 ? w[1] : 0,
          {},
          {}};
}

void ConvKernel::steps(Value n, Value f, Value row, Value column, int64_t tileRows, int64_t tileColumns,
                       const ConvTiles &t, SmallVector<Value> &sums) {
  int64_t panel = w.stride(0); // elements between blocks of the result
  // Steps of the reduction in one tap. However short, a tap is a loop of its own: what neighbours see of each
  // other's taps would be loaded once for both and kept, in more registers than there are.
  int64_t together = products.together, depth = c / together;
  int64_t unroll = std::min(std::max<int64_t>(t.unroll, 1), depth);
  while (depth % unroll)
    --unroll;
  Value firstC = firstBlock ? g.mul(g.div(f, fBlocks), firstBlock) : g.index(0);
  // Adds `unroll` steps from these places on.
  auto body = [&](Cursor from, Cursor weights, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t ci = 0; ci < unroll; ++ci) {
      SmallVector<Value> factors;
      for (int64_t k = 0; k < t.blocks; ++k)
        factors.push_back(products.weights(g, weights, k * panel + ci * products.width()));
      for (int64_t i = 0; i < tileRows; ++i)
        for (int64_t j = 0; j < tileColumns; ++j) {
          int64_t distance = ((i ? i * strideH * width : 0) + j * strideW) * c + ci * together;
          Value v = products.spread(g, from, distance);
          for (int64_t k = 0; k < t.blocks; ++k) {
            Value &sum = next[(i * tileColumns + j) * t.blocks + k];
            sum = products.add(g, v, factors[k], sum);
          }
        }
    }
    return next;
  };
  Value top = g.add(g.mul(firstRow ? g.sub(row, firstRow) : row, strideH), x.top),
        left = g.add(g.mul(column, strideW), x.left), image = firstRow ? g.index(0) : n;
  sums = g.loop(0, cBlocks, 1, sums, [&](Value c1, ValueRange carried) {
    return g.loop(0, kh, 1, carried, [&](Value tapH, ValueRange carried) {
      SmallVector<Value> place = {image, g.add(firstC, c1), g.add(top, g.mul(tapH, dilationH)), left,
                                  g.index(0)};
      Value xAt = x.memory.offset(g, place);
      Value wAt = w.offset(g, {f, c1, tapH});
      return g.loop(0, kw, 1, carried, [&](Value tapW, ValueRange carried) {
        return g.loop(0, depth, unroll, carried, [&](Value ci, ValueRange carried) {
          Value xTap = g.add(g.add(xAt, g.mul(tapW, dilationW * c)), g.mul(ci, together));
          Value wTap = g.add(wAt, g.mul(g.add(g.mul(tapW, depth), ci), products.width()));
          return body(cursorAt(g, x.memory, xTap), cursorAt(g, w, wTap), carried);
        });
      });
    });
  });
}

void ConvKernel::tile(Value n, Value f, Value row, Value column, int64_t tileRows, int64_t tileColumns,
                      const ConvTiles &t) {
  if (beforeTile)
    beforeTile(f, row, column);
  SmallVector<Value> starts;
  for (int64_t k = 0; k < t.blocks; ++k)
    starts.push_back(bias.buffer ? cursorAt(g, bias, {g.add(f, k), g.index(0)}).load(g, 0, lanes)
                                 : g.splat(products.sumType(), 0));
  SmallVector<Value> sums;
  for (int64_t i = 0; i < tileRows * tileColumns; ++i)
    sums.append(starts);
  steps(n, f, row, column, tileRows, tileColumns, t, sums);
  for (int64_t k = 0; k < t.blocks; ++k)
    out.storeTile(g, n, g.add(f, k), row, column, tileRows, tileColumns,
                  [&](int64_t i, int64_t j) { return sums[(i * tileColumns + j) * t.blocks + k]; });
}

void ConvKernel::row(Value n, Value f, Value row, int64_t tileRows, const ConvTiles &t) {
  int64_t whole = columns / t.columns * t.columns;
  g.each(0, whole, t.columns, [&](Value column) { tile(n, f, row, column, tileRows, t.columns, t); });
  if (whole < columns)
    tile(n, f, row, g.index(whole), tileRows, columns - whole, t);
}

void ConvKernel::part(Value n, Value f, Value from, Value to, Value last, const ConvTiles &t) {
  int64_t rest = rows % t.rows;
  g.each(from, rest ? g.min(to, g.index(rows - rest)) : to, t.rows,
         [&](Value at) { row(n, f, at, t.rows, t); });
  if (rest)
    g.when(last, [&] { row(n, f, g.index(rows - rest), rest, t); });
}

// Rows and columns are known when the kernel runs. Tiles are parts of rows, or of the one long row.
static LogicalResult lowerOpenConv(RewriterBase &rewriter, PackedConvOp op, const Input &x, Output &output,
                                   const ConvTiles &t, std::string &why) {
  if (t.rows != 1) {
    why = "expected tiles of one row, since the extents of its planes are open; but got " +
          std::to_string(t.rows);
    return failure();
  }
  ConvKernel k = ConvKernel::of(rewriter, op, x, output, t);
  Gen &g = k.g;
  Value batch = batchOf(g, x.memory), rows = placesOf(g, op, x, 2), columns = placesOf(g, op, x, 3);
  output.begin(g, batch, rows, columns);
  bool flat = k.kh * k.kw == 1 && k.strideH * k.strideW == 1 && x.cropped == std::array<int64_t, 2>() &&
              output.isFlat();
  Value all = flat ? g.mul(rows, columns) : rows;
  const int64_t perTask = flat ? t.task * t.columns : t.task;
  g.tasks(t.split, batch, typeOf(op.getW()).getDimSize(0) / t.blocks,
          getAsOpFoldResult(g.parts(all, perTask)), [&](Value image, Value group, Value part) {
            Value block = g.mul(group, t.blocks), from = g.mul(part, perTask),
                  to = g.min(g.add(from, perTask), all);
            if (flat)
              return k.openRow(image, block, g.index(0), from, to, t);
            k.openPart(image, block, from, to, columns, t);
            if (output.hasHalo())
              g.each(block, g.add(block, t.blocks), 1,
                     [&](Value b) { output.border(g, image, b, from, to); });
          });
  output.finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerConv(RewriterBase &rewriter, PackedConvOp op, const ConvTiles &tiles,
                                std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why, /*byTiles=*/true);
  if (failed(output))
    return failure();
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  ConvTiles t = tiles;
  if (t.rows < 1 || t.columns < 1 || t.blocks < 1 || t.task < 1 || w[0] / op.getGroups() % t.blocks) {
    why = "expected tiles of at least 1 and blocks that divide those of a group";
    return failure();
  }
  Input x = inputOf(rewriter, op.getX());
  if (output->isOpen() || x.memory.isOpen())
    return lowerOpenConv(rewriter, op, x, *output, tiles, why);
  ConvKernel k = ConvKernel::of(rewriter, op, x, *output, t);
  Gen &g = k.g;
  Value batch = batchOf(g, k.x.memory);
  output->begin(g, batch);
  // A window of one element sees no rows: all places are one long row.
  bool flat = k.kh * k.kw == 1 && k.strideH * k.strideW == 1 && !x.top && !x.left && k.height == k.rows &&
              k.width == k.columns && output->isFlat();
  if (flat) {
    k.columns *= k.rows;
    k.width = k.columns;
    k.rows = 1;
    t.rows = t.task = 1;
  }
  t.columns = std::min(t.columns, k.columns);
  t.rows = std::min(t.rows, k.rows);
  // Whole windows.
  auto [down, across] = output->window();
  t.rows = ceilDiv(t.rows, down) * down;
  t.columns = ceilDiv(t.columns, across) * across;
  // Tasks: parts of the rows, or of the one long row.
  int64_t taskRows = ceilDiv(t.task, t.rows) * t.rows;
  int64_t rowTasks = ceilDiv(k.rows, taskRows), blockTasks = w[0] / t.blocks;
  int64_t perPart = std::max<int64_t>(1, tiles.task);
  if (flat)
    rowTasks = std::max<int64_t>(1, ceilDiv(k.columns / t.columns, perPart));
  g.tasks(
      t.split, batch, blockTasks, rewriter.getIndexAttr(rowTasks), [&](Value image, Value group, Value part) {
        Value block = g.mul(group, t.blocks);
        if (flat) {
          // Whole tiles of this part; the rest of the row belongs to the last one.
          int64_t whole = k.columns / t.columns * t.columns;
          Value from = g.mul(part, perPart * t.columns),
                to = g.min(g.add(from, perPart * t.columns), g.index(whole));
          Value zero = g.index(0);
          g.each(from, to, t.columns,
                 [&](Value column) { k.tile(image, block, zero, column, 1, t.columns, t); });
          if (whole < k.columns)
            g.when(g.equal(part, rowTasks - 1),
                   [&] { k.tile(image, block, zero, g.index(whole), 1, k.columns - whole, t); });
          return;
        }
        Value from = g.mul(part, taskRows), to = g.min(g.add(from, taskRows), g.index(k.rows));
        k.part(image, block, from, to, g.equal(part, rowTasks - 1), t);
        if (output->hasHalo())
          g.each(block, g.add(block, t.blocks), 1, [&](Value b) { output->border(g, image, b, from, to); });
      });
  output->finish(rewriter, op);
  return success();
}

// Time of one step of the reduction for a tile, in halves of cycles: two multiplications and two loads at a
// time, no sum twice within its latency, and weights that come from the second cache. Few of a narrow x are
// spread over a vector in an instruction of their own.
static int64_t stepCost(int64_t places, int64_t blocks, bool narrow) {
  return std::max<int64_t>({places * blocks, places + blocks, 8}) + blocks + (narrow ? places / 4 : 0);
}

/// Extents of planes that are looked at where they are open.
static constexpr int64_t likelyWidths[] = {7, 10, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112};

static ConvTiles chooseOpenConv(PackedConvOp op, const Machine &machine, int64_t onlyBlocks) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  const int64_t fBlocks = w[0] / op.getGroups();
  const bool flat = w[2] * w[3] == 1 && op.getStrides()[0] * op.getStrides()[1] == 1 && !getsHalo(op.getY());
  const bool narrow = typeOf(op.getX()).getElementType() != typeOf(op.getY()).getElementType();
  ConvTiles best;
  best.rows = best.columns = 1;
  best.blocks = std::max<int64_t>(onlyBlocks, 1);
  double least = 1e30;
  for (int64_t blocks : {1, 2, 3, 4})
    for (int64_t q = 1; q <= 28; ++q) {
      if (fBlocks % blocks || (onlyBlocks && blocks != onlyBlocks) ||
          q * blocks + blocks + 1 > machine.registers)
        continue;
      double cost = 0;
      for (int64_t width : likelyWidths) {
        // As Gen::cover does it.
        int64_t columns = flat ? width * width : width, left = columns, steps = 0;
        for (int64_t size = q; left > 0; size /= 2) {
          int64_t tiles = left / size + (left % size > size / 2 && columns >= size);
          steps += tiles * (stepCost(size, blocks, narrow) + 1);
          left -= tiles * size;
        }
        cost += double(steps) / double(columns);
      }
      if (cost /= double(blocks); cost < least) {
        least = cost;
        best.columns = q;
        best.blocks = blocks;
      }
    }
  best.unroll = 4;
  int64_t weights = 4 * typeOf(op.getW()).getNumElements(),
          rowBytes = 4 * w[1] * w[4] * 28 * op.getStrides()[0];
  best.split = weights <= machine.l2 / 2 ? 0 : 2;
  best.task =
      flat ? std::max<int64_t>(1, 64 / best.columns) : std::clamp<int64_t>(machine.l2 / 4 / rowBytes, 1, 14);
  return best;
}

ConvTiles packed::chooseConv(PackedConvOp op, const Machine &machine, int64_t onlyBlocks, bool inRows) {
  if (hasOpenPlanes(op))
    return chooseOpenConv(op, machine, onlyBlocks);
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape(), y = typeOf(op.getY()).getShape(),
                    x = typeOf(op.getX()).getShape();
  int64_t fBlocks = w[0] / op.getGroups(), rows = y[2], columns = y[3], down = 1, across = 1;
  if (PackedPoolOp pool = findPool(op)) {
    down = pool.getKernel()[0];
    across = pool.getKernel()[1];
    rows = typeOf(pool.getY()).getDimSize(2) * down;
    columns = typeOf(pool.getY()).getDimSize(3) * across;
  }
  bool flat = w[2] * w[3] == 1 && x[2] == rows && x[3] == columns && !getsHalo(op.getY()) && !inRows &&
              down * across == 1;
  if (flat) {
    columns *= rows;
    rows = 1;
  }
  bool narrow = typeOf(op.getX()).getElementType() != typeOf(op.getY()).getElementType();
  ConvTiles best;
  int64_t bestCost = INT64_MAX;
  for (int64_t blocks : {1, 2, 3, 4})
    for (int64_t r = down; r <= std::min<int64_t>(rows, 7); r += down)
      for (int64_t q = across; q <= std::min<int64_t>(columns, 28); q += across) {
        if (fBlocks % blocks || (onlyBlocks && blocks != onlyBlocks) ||
            r * q * blocks + blocks + 1 > machine.registers || (r > down && q < columns) ||
            (down * across > 1 && blocks == 1 && fBlocks % 2 == 0 && !onlyBlocks))
          continue;
        int64_t cost = 0;
        auto count = [&](int64_t tileRows, int64_t times) {
          cost += times * (columns / q) * stepCost(tileRows * q, blocks, narrow);
          if (columns % q)
            cost += times * (stepCost(tileRows * (columns % q), blocks, narrow) + 1);
        };
        count(r, rows / r);
        if (rows % r)
          count(rows % r, 1);
        cost = cost * 64 * (fBlocks / blocks) + r * q;
        if (cost < bestCost) {
          bestCost = cost;
          best.rows = r;
          best.columns = q;
          best.blocks = blocks;
        }
      }
  // A window is computed at once, whatever the registers say.
  if (!best.columns)
    best = {down, across, std::max<int64_t>(onlyBlocks, 1)};
  best.unroll = 4;
  // Weights that do not fit beside x stay in the cache for one block of channels at a time: for all images,
  // or for one where its x would have to come from further away than the weights.
  int64_t bytes = std::max<int64_t>(1, typeOf(op.getX()).getElementTypeBitWidth() / 8);
  int64_t weights = bytes * typeOf(op.getW()).getNumElements(), image = bytes * x[1] * x[2] * x[3] * x[4],
          passes = w[0] / best.blocks;
  bool imageFirst = image > machine.l2 / 2 || 2 * weights < passes * image;
  best.split = weights <= machine.l2 / 2 ? 0 : imageFirst ? 2 : 1;
  // Enough tasks for a few threads, and rows that stay in the cache while the blocks go over them.
  best.task = flat ? std::max<int64_t>(1, 64 / best.columns) : std::max<int64_t>(best.rows, ceilDiv(rows, 4));
  if (!best.split && !flat) {
    int64_t rowBytes = bytes * x[1] * x[3] * x[4] * op.getStrides()[0];
    best.task = std::max<int64_t>(
        best.rows, std::min<int64_t>(best.task, machine.l2 / 4 / std::max<int64_t>(rowBytes, 1)));
  }
  return best;
}
