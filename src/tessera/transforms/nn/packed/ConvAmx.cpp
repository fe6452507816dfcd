// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution of narrow elements by tiles (Amx.h): a tile of x is up to 16 places of a row of the result,
// with the channels of a block, and of the neighbours that the window sees, side by side. Sums go through
// memory that stays in the cache, and from there the way of all stores.
#include "tessera/transforms/nn/packed/Amx.h"

using namespace tessera;
using namespace tessera::nn;
using namespace tessera::nn::packed;

namespace {

/// What of a convolution does not depend on the machine.
struct ConvShape {
  int64_t cBlocks, c, blocks, perBlock, kh, kw; ///< of weights; perBlock: channels of a block of the result
  int64_t rows, columns;                        ///< of the result
  int64_t elementBytes;
  int64_t strideH, strideW, dilationH, dilationW;

  explicit ConvShape(PackedConvOp op) {
    ArrayRef<int64_t> w = typeOf(op.getW()).getShape(), y = typeOf(op.getY()).getShape();
    cBlocks = w[1];
    c = typeOf(op.getX()).getShape().back();
    blocks = w[0] / int64_t(op.getGroups());
    perBlock = w[5];
    kh = w[2];
    kw = w[3];
    rows = y[2];
    columns = y[3];
    elementBytes = typeOf(op.getX()).getElementTypeBitWidth() / 8;
    strideH = op.getStrides()[0];
    strideW = op.getStrides()[1];
    dilationH = op.getDilations()[0];
    dilationW = op.getDilations()[1];
  }
  int64_t lanes() const { return std::min(perBlock, mostLanes); }
  /// Neighbours in a row stand side by side: all of a window's are one long row of a matrix.
  int64_t together() const { return dilationW == 1 ? kw : 1; }
  int64_t runBytes() const { return together() * c * elementBytes; }
  int64_t stepBytes() const { return partOf(runBytes()); }
};

/// Columns of a row that are computed together: each tile's first one, and how many of its places another
/// tile has already.
struct Columns {
  SmallVector<Value> first;
  SmallVector<int64_t> known;
};

struct ConvByTiles {
  Gen g;
  ConvShape window;
  Input x;
  Memory w, bias;
  Output &out;
  TileProduct product;
  Memory sums;
  int64_t firstBlock; ///< blocks of x between groups

  void row(Value n, Value channel, Value row, int64_t tileRows, const Tiles &t);
  void tile(Value n, Value channel, Value row, int64_t tileRows, const Columns &columns);
  void steps(Value n, Value channel, Value row, int64_t tileRows, const Columns &columns);
  /// The columns from tile `from` of `count` on, of which the last may have to begin earlier.
  Columns columnsFrom(int64_t from, int64_t count);
  int64_t tilesOfRow() const { return ceilDiv(window.columns, product.places); }
};

} // namespace

Columns ConvByTiles::columnsFrom(int64_t from, int64_t count) {
  Columns columns;
  for (int64_t i = from; i < from + count; ++i) {
    int64_t first = std::min(i * product.places, window.columns - product.places);
    columns.first.push_back(g.index(first));
    columns.known.push_back(i * product.places - first);
  }
  return columns;
}

void ConvByTiles::steps(Value n, Value channel, Value row, int64_t tileRows, const Columns &columns) {
  int64_t bytes = window.elementBytes, width = x.memory.shape[3], c = window.c;
  int64_t inRun = window.runBytes() / product.bytes, runs = window.kw / window.together();
  Value block = g.div(channel, window.perBlock), lane = g.rem(channel, window.perBlock);
  Value firstC = firstBlock ? g.mul(g.div(block, window.blocks), firstBlock) : g.index(0);
  Value top = g.add(g.mul(row, window.strideH), x.top);
  Value xBase = pointerTo(g, x.memory), wBase = pointerTo(g, w);
  // Weights of one step: rows of all channels of a block, of which a tile takes its own.
  int64_t wRow = 4 * window.perBlock;
  auto weightsOf = [&](Value at) {
    SmallVector<Value> pointers;
    for (int64_t k = 0; k < product.ws; ++k) {
      // Tiles of one block stand side by side, those of the next one a whole block further on.
      int64_t tilesOfBlock = window.perBlock / product.lanes, blocks = k / tilesOfBlock;
      pointers.push_back(
          pointerBehind(g, at, blocks * w.stride(0) * bytes + k % tilesOfBlock * 4 * product.lanes));
    }
    return pointers;
  };
  g.each(0, window.cBlocks, 1, [&](Value c1) {
    g.each(0, window.kh, 1, [&](Value tapH) {
      SmallVector<Value> xAt;
      for (Value column : columns.first) {
        Value left = g.add(g.mul(column, window.strideW), x.left);
        xAt.push_back(
            g.mul(x.memory.offset(g, {n, g.add(firstC, c1), g.add(top, g.mul(tapH, window.dilationH)), left}),
                  bytes));
      }
      Value wAt = g.add(g.mul(w.offset(g, {block, c1, tapH}), bytes), g.mul(lane, 4));
      g.each(0, runs, 1, [&](Value tapW) {
        Value xTap = g.mul(tapW, window.dilationW * c * bytes), wTap = g.mul(tapW, c * bytes / 4 * wRow);
        auto step = [&](Value at) {
          SmallVector<Value> xs;
          for (int64_t i = 0; i < tileRows; ++i)
            for (Value place : xAt) {
              Value from = g.add(g.add(place, xTap), g.mul(at, product.bytes));
              xs.push_back(
                  pointerBehind(g, pointerBehind(g, xBase, from), i * window.strideH * width * c * bytes));
            }
          Value from = g.add(g.add(wAt, wTap), g.mul(at, product.bytes / 4 * wRow));
          product.step(g, xs, window.strideW * c * bytes, weightsOf(pointerBehind(g, wBase, from)), wRow);
        };
        if (inRun <= 4)
          for (int64_t i = 0; i < inRun; ++i)
            step(g.index(i));
        else
          g.each(0, inRun, 1, step);
      });
    });
  });
}

void ConvByTiles::tile(Value n, Value channel, Value row, int64_t tileRows, const Columns &columns) {
  int64_t used = tileRows * int64_t(columns.first.size());
  product.begin(g, used, bias.buffer ? pointerBehind(g, pointerTo(g, bias), g.mul(channel, 4)) : Value());
  steps(n, channel, row, tileRows, columns);
  product.collect(g, used, sums);
  int64_t lanes = std::min(product.width(), window.perBlock);
  for (int64_t i = 0; i < tileRows; ++i)
    for (auto [j, first] : llvm::enumerate(columns.first)) {
      Value base = first;
      int64_t own = i * int64_t(columns.first.size()) + int64_t(j);
      g.each(columns.known[j], product.places, 1, [&](Value place) {
        Cursor from = cursorAt(g, sums, {g.index(own), place, g.index(0)});
        for (int64_t k = 0; k < product.width(); k += lanes) {
          Value at = g.add(channel, k);
          out.store(
              g,
              {n, g.div(at, window.perBlock), g.add(row, i), g.add(base, place), g.rem(at, window.perBlock)},
              from.load(g, k, lanes));
        }
      });
    }
}

void ConvByTiles::row(Value n, Value channel, Value row, int64_t tileRows, const Tiles &t) {
  int64_t whole = window.columns / product.places / t.unroll * t.unroll, all = tilesOfRow();
  g.each(0, whole, t.unroll, [&](Value first) {
    Columns columns;
    for (int64_t j = 0; j < t.unroll; ++j) {
      columns.first.push_back(g.mul(g.add(first, j), product.places));
      columns.known.push_back(0);
    }
    tile(n, channel, row, tileRows, columns);
  });
  for (int64_t from = whole; from < all; from += t.unroll)
    tile(n, channel, row, tileRows, columnsFrom(from, std::min(t.unroll, all - from)));
}

LogicalResult packed::lowerConvByTiles(RewriterBase &rewriter, PackedConvOp op, const Tiles &tiles,
                                       std::string &why) {
  if (!canMultiply(tiles.dot, op.getX(), op.getW())) {
    why = "expected the elements that the instruction multiplies, in the order that it wants";
    return failure();
  }
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  ConvShape window(op);
  TileProduct product;
  product.dot = tiles.dot;
  product.bytes = window.stepBytes();
  product.lanes = window.lanes();
  product.xs = tiles.rows * tiles.unroll;
  product.ws = tiles.blocks;
  int64_t tilesOfBlock = window.perBlock / product.lanes, tilesOfGroup = window.blocks * tilesOfBlock;
  if (tiles.rows < 1 || tiles.columns < 1 || tiles.columns > mostPlaces || tiles.blocks < 1 ||
      tiles.unroll < 1 || tiles.task < 1 || !product.fits() || tilesOfGroup % tiles.blocks ||
      (tilesOfBlock % tiles.blocks && tiles.blocks % tilesOfBlock)) {
    why = "expected tiles that eight registers hold and that divide the channels of a group";
    return failure();
  }
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  // A window of one element sees no rows: all places are one long row.
  bool flat = window.kh * window.kw == 1 && window.strideH * window.strideW == 1 && !x.top && !x.left &&
              x.memory.shape[2] == window.rows && x.memory.shape[3] == window.columns && output->isFlat();
  Tiles t = tiles;
  if (flat) {
    window.columns *= window.rows;
    x.memory.shape[3] = window.columns;
    x.memory.shape[2] = window.rows = 1;
    t.rows = 1;
  }
  product.places = std::min(t.columns, window.columns);
  t.rows = std::min(t.rows, window.rows);
  t.unroll = std::min(t.unroll, ceilDiv(window.columns, product.places));
  product.xs = t.rows * t.unroll;
  ConvByTiles k{g,
                window,
                x,
                inputOf(rewriter, op.getW()).memory,
                op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
                *output,
                product,
                Memory(),
                op.getGroups() > 1 ? window.cBlocks : 0};
  Value batch = batchOf(g, x.memory);
  output->begin(g, batch);
  // Tasks: parts of the rows, or of the one long row.
  int64_t taskRows = ceilDiv(t.task, t.rows) * t.rows, rowTasks = ceilDiv(window.rows, taskRows);
  int64_t groups = window.columns / product.places / t.unroll, all = k.tilesOfRow();
  if (flat)
    rowTasks = std::max<int64_t>(1, ceilDiv(groups, t.task));
  OpFoldResult n = getAsOpFoldResult(batch),
               f = rewriter.getIndexAttr(tilesOfGroup * int64_t(op.getGroups()) / t.blocks),
               r = rewriter.getIndexAttr(rowTasks);
  SmallVector<OpFoldResult> extents = t.split == 1   ? SmallVector<OpFoldResult>{f, n, r}
                                      : t.split == 2 ? SmallVector<OpFoldResult>{n, f, r}
                                                     : SmallVector<OpFoldResult>{n, r, f};
  g.tasks(extents, [&](ValueRange ids) {
    Value image = ids[t.split == 1 ? 1 : 0], part = ids[t.split ? 2 : 1],
          channel = g.mul(ids[t.split == 1   ? 0
                              : t.split == 2 ? 1
                                             : 2],
                          product.width());
    product.configure(g);
    k.sums = product.allocateSums(g, typeOf(op.getY()).getElementType());
    if (flat) {
      Value from = g.mul(part, t.task), to = g.min(g.add(from, t.task), g.index(groups)), zero = g.index(0);
      g.each(from, to, 1, [&](Value group) {
        Columns columns;
        for (int64_t j = 0; j < t.unroll; ++j) {
          columns.first.push_back(g.mul(g.add(g.mul(group, t.unroll), j), product.places));
          columns.known.push_back(0);
        }
        k.tile(image, channel, zero, 1, columns);
      });
      if (groups * t.unroll < all)
        g.when(g.equal(part, rowTasks - 1), [&] {
          for (int64_t first = groups * t.unroll; first < all; first += t.unroll)
            k.tile(image, channel, zero, 1, k.columnsFrom(first, std::min(t.unroll, all - first)));
        });
      product.release(g);
      return;
    }
    Value from = g.mul(part, taskRows), to = g.min(g.add(from, taskRows), g.index(window.rows));
    int64_t rest = window.rows % t.rows;
    Value whole = rest ? g.min(to, g.index(window.rows - rest)) : to;
    g.each(from, whole, t.rows, [&](Value row) { k.row(image, channel, row, t.rows, t); });
    if (rest)
      g.when(g.equal(part, rowTasks - 1),
             [&] { k.row(image, channel, g.index(window.rows - rest), rest, t); });
    product.release(g);
    if (!output->hasHalo())
      return;
    // The border of a block belongs to whoever computes its first channels.
    Value block = g.div(channel, window.perBlock);
    int64_t own = std::max<int64_t>(1, t.blocks / tilesOfBlock);
    g.when(g.equal(g.rem(channel, window.perBlock), 0), [&] {
      g.each(block, g.add(block, own), 1, [&](Value b) { output->border(g, image, b, from, to); });
    });
  });
  output->finish(rewriter, op);
  return success();
}

// Time of one step of the reduction, in eighths of cycles: a row of x and a tile of weights take a cycle for
// a product; two rows come from the first cache in a cycle, and weights from the second.
static int64_t stepCost(int64_t places, int64_t wRows, int64_t xs, int64_t ws) {
  int64_t products = 8 * places * xs * ws, loads = 4 * places * xs + 7 * wRows * ws;
  return std::max(products, loads) + loads / 4;
}

Tiles packed::chooseConvByTiles(PackedConvOp op, const Machine &machine) {
  ConvShape window(op);
  ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
  bool halo = op.getY().hasOneUse() && isa<HaloOp>(*op.getY().getUsers().begin());
  bool flat = window.kh * window.kw == 1 && x[2] == window.rows && x[3] == window.columns && !halo;
  int64_t rows = window.rows, columns = window.columns;
  if (flat) {
    columns *= rows;
    rows = 1;
  }
  Tiles best;
  best.columns = ceilDiv(columns, ceilDiv(columns, mostPlaces));
  int64_t tilesOfRow = ceilDiv(columns, best.columns), tilesOfBlock = window.perBlock / window.lanes(),
          channels = window.blocks * tilesOfBlock, least = INT64_MAX;
  for (int64_t ws : {1, 2, 4})
    for (int64_t r = 1; r <= std::min<int64_t>(rows, 6); ++r)
      for (int64_t beside = 1; beside <= std::min<int64_t>(tilesOfRow, 6); ++beside) {
        TileProduct product;
        product.xs = r * beside;
        product.ws = ws;
        if (!product.fits() || channels % ws || (tilesOfBlock % ws && ws % tilesOfBlock))
          continue;
        int64_t cost = 0, wRows = window.stepBytes() / 4;
        auto count = [&](int64_t tileRows, int64_t times) {
          cost += times * (tilesOfRow / beside) * stepCost(best.columns, wRows, tileRows * beside, ws);
          if (tilesOfRow % beside)
            cost += times * stepCost(best.columns, wRows, tileRows * (tilesOfRow % beside), ws);
        };
        count(r, rows / r);
        if (rows % r)
          count(rows % r, 1);
        cost *= channels / ws;
        if (cost < least) {
          least = cost;
          best.rows = r;
          best.unroll = beside;
          best.blocks = ws;
        }
      }
  int64_t weights = window.elementBytes * typeOf(op.getW()).getNumElements(),
          image = window.elementBytes * x[1] * x[2] * x[3] * x[4], passes = channels / best.blocks;
  bool imageFirst = image > machine.l2 / 2 || 2 * weights < passes * image;
  best.split = weights <= machine.l2 / 2 ? 0 : imageFirst ? 2 : 1;
  best.task = flat ? std::max<int64_t>(1, 64 / (best.columns * best.unroll))
                   : std::max<int64_t>(best.rows, ceilDiv(rows, 4));
  return best;
}
