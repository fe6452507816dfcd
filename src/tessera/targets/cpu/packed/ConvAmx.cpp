// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution of narrow elements by tiles (Amx.h): a tile of x is up to 16 places of a row of the result,
// with the channels of a block, and of the neighbours that the window sees, side by side. Where rows are
// short, all of x is one long row, with the places at the ends of rows computed for nothing. Sums go through
// memory that stays in the cache, and from there the way of all stores.
#include "tessera/targets/cpu/packed/Amx.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

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
  /// Places of all rows as one, where a row of x is so wide.
  int64_t placesInOneRow(int64_t width) const { return (rows - 1) * width + columns; }
  /// Whether that takes fewer tiles.
  bool isBetterInOneRow(int64_t width) const {
    return strideH * strideW == 1 &&
           8 * ceilDiv(placesInOneRow(width), mostPlaces) < 7 * rows * ceilDiv(columns, mostPlaces);
  }
  /// Neighbours in a row stand side by side: all of a window's are one long row of a matrix.
  int64_t together() const { return dilationW == 1 ? kw : 1; }
  int64_t runBytes() const { return together() * c * elementBytes; }
  int64_t stepBytes() const { return partOf(runBytes()); }
};

/// A tile of x: where its first row comes from and where that row's sums go.
struct XTile {
  Value origin;         ///< elements of x in front of it, for the first channels and tap
  int64_t further = 0;  ///< and so many more
  Value n, row, column; ///< of the result
  Value known;          ///< rows that another tile has already
};

struct ConvByTiles {
  Gen g;
  ConvShape window;
  Input x;
  Memory w, bias;
  Output &out;
  TileProduct product;
  bool acrossImages;  ///< rows of tiles are images, not columns
  Value count;        ///< of rows
  int64_t firstBlock; ///< blocks of x between groups
  int64_t pitch;      ///< of the one long row: places from a row of the result to the next; otherwise 0
  int64_t inRow;      ///< and how many of them belong to the result
  bool isStreamed;    ///< weights are asked for before they are wanted
  Memory sums;

  void setUp(Type wide) {
    product.configure(g, acrossImages ? count : Value());
    sums = product.allocateSums(g, wide);
  }
  /// All columns of `tileRows` rows from `row` on.
  void rows(Value n, Value channel, Value row, int64_t tileRows, int64_t beside);
  /// The tiles from `first` on, `beside` of them, of the places of a row; the last may begin earlier.
  SmallVector<XTile> columns(Value n, Value channel, Value row, int64_t tileRows, Value first,
                             int64_t beside);
  SmallVector<XTile> lastColumns(Value n, Value channel, Value row, int64_t tileRows, int64_t from,
                                 int64_t beside);
  /// All places of the images that `image` is the first of.
  void images(Value image, Value batch, Value channel);
  void tile(Value channel, ArrayRef<XTile> tiles);
  void steps(Value channel, ArrayRef<XTile> tiles);

  int64_t tilesOfRow() const { return ceilDiv(window.columns, product.places); }
  Value blockOf(Value channel) { return g.div(channel, window.perBlock); }
  /// Elements in front of the window at this place.
  Value originOf(Value n, Value channel, Value row, Value column) {
    Value first = firstBlock ? g.mul(g.div(blockOf(channel), window.blocks), firstBlock) : g.index(0);
    return x.memory.offset(g, {n, first, g.add(g.mul(row, window.strideH), x.top),
                               g.add(g.mul(column, window.strideW), x.left)});
  }
};

} // namespace

void ConvByTiles::steps(Value channel, ArrayRef<XTile> tiles) {
  int64_t bytes = window.elementBytes, c = window.c;
  int64_t inRun = window.runBytes() / product.bytes, runs = window.kw / window.together();
  int64_t xStride = (acrossImages ? x.memory.stride(0) : window.strideW * c) * bytes;
  Value block = blockOf(channel), lane = g.rem(channel, window.perBlock);
  Value xBase = pointerTo(g, x.memory), wBase = pointerTo(g, w);
  // Weights of one step: rows of all channels of a block, of which a tile takes its own.
  int64_t wRow = 4 * window.perBlock;
  int64_t prefetched = isStreamed ? std::max<int64_t>(4096, product.bytes / 2 * wRow) : 0;
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
      Value xTaps = g.add(g.mul(c1, x.memory.stride(1)), g.mul(tapH, window.dilationH * x.memory.stride(2)));
      Value wAt = g.add(g.mul(w.offset(g, {block, c1, tapH}), bytes), g.mul(lane, 4));
      g.each(0, runs, 1, [&](Value tapW) {
        Value xTap = g.mul(g.add(xTaps, g.mul(tapW, window.dilationW * c)), bytes),
              wTap = g.mul(tapW, c * bytes / 4 * wRow);
        auto step = [&](Value at) {
          SmallVector<Value> xs;
          for (const XTile &t : tiles) {
            Value from = g.add(g.add(g.mul(t.origin, bytes), xTap), g.mul(at, product.bytes));
            xs.push_back(pointerBehind(g, pointerBehind(g, xBase, from), t.further * bytes));
          }
          Value from = g.add(g.add(wAt, wTap), g.mul(at, product.bytes / 4 * wRow));
          product.step(g, xs, xStride, weightsOf(pointerBehind(g, wBase, from)), wRow, prefetched);
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

void ConvByTiles::tile(Value channel, ArrayRef<XTile> tiles) {
  int64_t used = tiles.size();
  product.begin(g, used, bias.buffer ? pointerBehind(g, pointerTo(g, bias), g.mul(channel, 4)) : Value());
  steps(channel, tiles);
  product.collect(g, used, sums);
  int64_t lanes = std::min(product.width(), window.perBlock);
  for (auto [own, t] : llvm::enumerate(tiles)) {
    Value memory = g.index(int64_t(own));
    const XTile &to = t;
    g.each(to.known, count, 1, [&](Value place) {
      Value n = acrossImages ? g.add(to.n, place) : to.n, row = to.row,
            column = acrossImages ? to.column : g.add(to.column, place);
      bool inOneRow = pitch && !acrossImages;
      if (inOneRow) {
        row = g.div(column, pitch);
        column = g.rem(column, pitch);
      }
      auto store = [&] {
        Cursor from = cursorAt(g, sums, {memory, place, g.index(0)});
        for (int64_t k = 0; k < product.width(); k += lanes) {
          Value at = g.add(channel, k);
          out.store(g, {n, blockOf(at), row, column, g.rem(at, window.perBlock)}, from.load(g, k, lanes));
        }
      };
      if (inOneRow && inRow < pitch)
        g.when(g.less(column, g.index(inRow)), store);
      else
        store();
    });
  }
}

SmallVector<XTile> ConvByTiles::columns(Value n, Value channel, Value row, int64_t tileRows, Value first,
                                        int64_t beside) {
  SmallVector<XTile> tiles;
  for (int64_t i = 0; i < tileRows; ++i)
    for (int64_t j = 0; j < beside; ++j) {
      Value column = g.mul(g.add(first, j), product.places);
      tiles.push_back({originOf(n, channel, row, column), i * window.strideH * x.memory.stride(2), n,
                       g.add(row, i), column, g.index(0)});
    }
  return tiles;
}

SmallVector<XTile> ConvByTiles::lastColumns(Value n, Value channel, Value row, int64_t tileRows, int64_t from,
                                            int64_t beside) {
  SmallVector<XTile> tiles;
  for (int64_t i = 0; i < tileRows; ++i)
    for (int64_t j = from; j < from + beside; ++j) {
      int64_t first = std::min(j * product.places, window.columns - product.places);
      Value column = g.index(first);
      tiles.push_back({originOf(n, channel, row, column), i * window.strideH * x.memory.stride(2), n,
                       g.add(row, i), column, g.index(j * product.places - first)});
    }
  return tiles;
}

void ConvByTiles::rows(Value n, Value channel, Value row, int64_t tileRows, int64_t beside) {
  int64_t whole = window.columns / product.places / beside * beside, all = tilesOfRow();
  g.each(0, whole, beside,
         [&](Value first) { tile(channel, columns(n, channel, row, tileRows, first, beside)); });
  for (int64_t from = whole; from < all; from += beside)
    tile(channel, lastColumns(n, channel, row, tileRows, from, std::min(beside, all - from)));
}

void ConvByTiles::images(Value image, Value batch, Value channel) {
  // The last images begin earlier, so that there are as many as elsewhere.
  Value first = g.min(image, g.sub(batch, count)), known = g.sub(image, first);
  int64_t places = window.rows * window.columns, whole = places / product.xs * product.xs;
  auto some = [&](Value from, int64_t many) {
    SmallVector<XTile> tiles;
    for (int64_t i = 0; i < many; ++i) {
      Value place = g.add(from, i), row = g.div(place, window.columns), column = g.rem(place, window.columns);
      tiles.push_back({originOf(first, channel, row, column), 0, first, row, column, known});
    }
    tile(channel, tiles);
  };
  g.each(0, whole, product.xs, [&](Value from) { some(from, product.xs); });
  if (whole < places)
    some(g.index(whole), places - whole);
}

/// Weights of more bytes come from memory that is far away.
static constexpr int64_t streamedWeights = 1 << 20;

/// Planes of so few places have fewer neighbours than a tile has rows; from so many images on, these take
/// their place.
static constexpr int64_t smallPlane = 64, leastImages = 8;

// Tiles of places that share a tile of weights: many, and as many each time.
static int64_t placesTogether(int64_t places, int64_t ws) {
  int64_t best = 1;
  for (int64_t xs = 1; xs <= std::min<int64_t>(places, 6); ++xs) {
    TileProduct product;
    product.xs = xs;
    product.ws = ws;
    if (product.fits() && (ceilDiv(places, xs) < ceilDiv(places, best)))
      best = xs;
  }
  return best;
}

LogicalResult packed::lowerConvByTiles(RewriterBase &rewriter, PackedConvOp op, const MatrixConvTiles &tiles,
                                       std::string &why) {
  if (!canMultiply(tiles.dot, op.getX(), op.getW())) {
    why = "expected the elements that the instruction multiplies, in the order that it wants";
    return failure();
  }
  if (failed(refuseOpenPlanes(op, why)))
    return failure();
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  if (tiles.dot == Dot::AmxHalves)
    output->roundByInstruction();
  ConvShape window(op);
  TileProduct product;
  product.dot = tiles.dot;
  product.bytes = window.stepBytes();
  product.lanes = window.lanes();
  product.xs = tiles.rows * tiles.beside;
  product.ws = tiles.weights;
  int64_t tilesOfBlock = window.perBlock / product.lanes, tilesOfGroup = window.blocks * tilesOfBlock;
  if (tiles.rows < 1 || tiles.places < 1 || tiles.places > mostPlaces || tiles.weights < 1 ||
      tiles.beside < 1 || tiles.task < 1 || !product.fits() || tilesOfGroup % tiles.weights ||
      (tilesOfBlock % tiles.weights && tiles.weights % tilesOfBlock)) {
    why = "expected tiles that eight registers hold and that divide the channels of a group";
    return failure();
  }
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  // A window of one element sees no rows: all places are one long row.
  bool flat = window.kh * window.kw == 1 && window.strideH * window.strideW == 1 && !x.top && !x.left &&
              x.memory.shape[2] == window.rows && x.memory.shape[3] == window.columns && output->isFlat();
  MatrixConvTiles t = tiles;
  int64_t width = x.memory.shape[3], pitch = 0, inRow = window.columns;
  ConvShape plane = window;
  if (flat) {
    window.columns *= window.rows;
    x.memory.shape[3] = window.columns;
    x.memory.shape[2] = window.rows = 1;
    t.rows = 1;
    plane = window;
  } else if (window.isBetterInOneRow(width)) {
    pitch = width;
    window.columns = window.placesInOneRow(width);
    window.rows = 1;
    t.beside *= t.rows;
    t.rows = 1;
  }
  bool inOneRow = flat || pitch;
  product.places = std::min(t.places, window.columns);
  t.rows = std::min(t.rows, window.rows);
  t.beside = std::min(t.beside, ceilDiv(window.columns, product.places));
  product.xs = t.rows * t.beside;
  Value batch = batchOf(g, x.memory);
  ConvByTiles k{g,
                window,
                x,
                inputOf(rewriter, op.getW()).memory,
                op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
                *output,
                product,
                /*acrossImages=*/false,
                g.index(product.places),
                op.getGroups() > 1 ? window.cBlocks : 0,
                pitch,
                inRow,
                window.elementBytes * typeOf(op.getW()).getNumElements() > streamedWeights,
                Memory()};
  output->begin(g, batch);
  // Tasks: parts of the rows, or of the one long row.
  int64_t taskRows = ceilDiv(t.task, t.rows) * t.rows, rowTasks = ceilDiv(window.rows, taskRows);
  int64_t groups = window.columns / product.places / t.beside, all = k.tilesOfRow();
  if (inOneRow)
    rowTasks = std::max<int64_t>(1, ceilDiv(groups, t.task));
  Type wide = typeOf(op.getY()).getElementType();
  int64_t places = plane.rows * plane.columns;
  bool small = places <= smallPlane && rowTasks == 1 && t.split == 1;
  int64_t channels = tilesOfGroup * int64_t(op.getGroups()) / t.weights;
  g.tasks(
      t.split, batch, channels, rewriter.getIndexAttr(rowTasks), [&](Value image, Value tile, Value part) {
        Value channel = g.mul(tile, product.width());
        Value from = g.mul(part, taskRows), to = g.min(g.add(from, taskRows), g.index(window.rows));
        auto alone = [&] {
          k.setUp(wide);
          if (inOneRow) {
            Value first = g.mul(part, t.task), last = g.min(g.add(first, t.task), g.index(groups)),
                  zero = g.index(0);
            g.each(first, last, 1, [&](Value group) {
              k.tile(channel, k.columns(image, channel, zero, 1, g.mul(group, t.beside), t.beside));
            });
            if (groups * t.beside < all)
              g.when(g.equal(part, rowTasks - 1), [&] {
                for (int64_t rest = groups * t.beside; rest < all; rest += t.beside)
                  k.tile(channel,
                         k.lastColumns(image, channel, zero, 1, rest, std::min(t.beside, all - rest)));
              });
          } else {
            int64_t rest = window.rows % t.rows;
            Value whole = rest ? g.min(to, g.index(window.rows - rest)) : to;
            g.each(from, whole, t.rows, [&](Value row) { k.rows(image, channel, row, t.rows, t.beside); });
            if (rest)
              g.when(g.equal(part, rowTasks - 1),
                     [&] { k.rows(image, channel, g.index(window.rows - rest), rest, t.beside); });
          }
        };
        if (small) {
          g.when(g.less(batch, g.index(leastImages)), alone);
          // One task for sixteen images; those of the others have only their border to do.
          Value many = g.less(g.index(leastImages - 1), batch);
          g.when(g.both(many, g.equal(g.rem(image, mostPlaces), 0)), [&] {
            ConvByTiles across = k;
            across.acrossImages = true;
            across.window = plane;
            across.count = g.min(batch, g.index(mostPlaces));
            across.product.places = mostPlaces;
            // Two tiles of weights at a time share those of x better than four do.
            across.product.ws = std::min<int64_t>(product.ws, 2);
            across.product.xs = placesTogether(places, across.product.ws);
            across.setUp(wide);
            for (int64_t c = 0; c < product.width(); c += across.product.width())
              across.images(image, batch, g.add(channel, c));
          });
        } else {
          alone();
        }
        if (!output->hasHalo())
          return;
        // The border of a block belongs to whoever computes its first channels, all of it to the first part
        // of the one long row.
        Value block = g.div(channel, window.perBlock), owner = g.equal(g.rem(channel, window.perBlock), 0);
        if (inOneRow) {
          from = g.index(0);
          to = g.index(plane.rows);
          owner = g.both(owner, g.equal(part, 0));
        }
        int64_t own = std::max<int64_t>(1, t.weights / tilesOfBlock);
        g.when(owner, [&] {
          g.each(block, g.add(block, own), 1, [&](Value b) { output->border(g, image, b, from, to); });
        });
      });
  output->finish(rewriter, op);
  return success();
}

// Time of one step of the reduction, in eighths of cycles: a product takes as long for few places as for
// many. Rows of x come from the first cache, those of weights from the second, or from further away: then
// half of each pair of lines is read twice by who wants only one tile of a block.
static int64_t stepCost(int64_t places, int64_t wRows, int64_t xs, int64_t ws, bool halves) {
  int64_t products = 8 * mostPlaces * xs * ws, loads = 7 * places * xs + (halves ? 33 : 11) * wRows * ws;
  return std::max(products, loads);
}

MatrixConvTiles packed::chooseConvByTiles(PackedConvOp op, const Machine &machine, int64_t onlyBlocks) {
  ConvShape window(op);
  ArrayRef<int64_t> x = typeOf(op.getX()).getShape();
  bool flat =
      window.kh * window.kw == 1 && x[2] == window.rows && x[3] == window.columns && !getsHalo(op.getY());
  int64_t rows = window.rows, columns = window.columns;
  bool inOneRow = flat || window.isBetterInOneRow(x[3]);
  if (inOneRow) {
    columns = flat ? rows * columns : window.placesInOneRow(x[3]);
    rows = 1;
  }
  int64_t weights = window.elementBytes * typeOf(op.getW()).getNumElements();
  MatrixConvTiles best;
  best.places = ceilDiv(columns, ceilDiv(columns, mostPlaces));
  int64_t tilesOfRow = ceilDiv(columns, best.places), tilesOfBlock = window.perBlock / window.lanes(),
          channels = window.blocks * tilesOfBlock, least = INT64_MAX;
  for (int64_t ws : {1, 2, 4})
    for (int64_t r = 1; r <= std::min<int64_t>(rows, 6); ++r)
      for (int64_t beside = 1; beside <= std::min<int64_t>(tilesOfRow, 6); ++beside) {
        TileProduct product;
        product.xs = r * beside;
        product.ws = ws;
        if (!product.fits() || channels % ws || (tilesOfBlock % ws && ws % tilesOfBlock) ||
            (onlyBlocks && ws != onlyBlocks))
          continue;
        int64_t cost = 0, wRows = window.stepBytes() / 4;
        bool halves = weights > streamedWeights && ws < tilesOfBlock && ws * window.lanes() * 4 < 128;
        auto count = [&](int64_t tileRows, int64_t times) {
          cost += times * (tilesOfRow / beside) * stepCost(best.places, wRows, tileRows * beside, ws, halves);
          if (tilesOfRow % beside)
            cost += times * stepCost(best.places, wRows, tileRows * (tilesOfRow % beside), ws, halves);
        };
        count(r, rows / r);
        if (rows % r)
          count(rows % r, 1);
        cost *= channels / ws;
        if (cost < least) {
          least = cost;
          best.rows = r;
          best.beside = beside;
          best.weights = ws;
        }
      }
  if (!best.weights)
    return {};
  int64_t image = window.elementBytes * x[1] * x[2] * x[3] * x[4], passes = channels / best.weights;
  bool imageFirst = image > machine.l2 / 2 || 2 * weights < passes * image;
  best.split = weights <= machine.l2 / 2 ? 0 : imageFirst ? 2 : 1;
  best.task = inOneRow ? std::max<int64_t>(1, 256 / (best.places * best.beside))
                       : std::max<int64_t>(best.rows, ceilDiv(rows, 4));
  // Small planes are whole tasks, and the images of one block of channels follow each other.
  if (window.rows * window.columns <= smallPlane) {
    best.task = inOneRow ? ceilDiv(columns, best.places * best.beside) : rows;
    best.split = 1;
  }
  return best;
}
