// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Winograd's convolution in strips: a task transforms its tiles of x into memory that stays in the cache,
// multiplies them with the transformed weights of a few blocks of channels at a time, and transforms these
// products into results at once.
#include "tessera/targets/cpu/packed/Winograd.h"

#include "tessera/targets/cpu/packed/KernelBuilder.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

namespace {

struct WinogradKernel {
  Gen g;
  Input x;
  Memory w, bias;
  Output &out;
  Type element;
  WinogradMatrices m;
  int64_t cBlocks, c, lanes, height, width; ///< of x
  int64_t rows, columns;                    ///< of the result
  Value tilesDown, tilesAcross;
  WinogradTiles t;
  Memory inputs,
      products; ///< points x (blocks x tiles x lanes and a line, so that points do not collide in the cache)

  /// matrix (n x points) times the vectors, by additions where it can.
  SmallVector<Value> apply(const double *matrix, int64_t n, ArrayRef<Value> vectors);
  /// Image, row and column of a tile in units of tiles.
  std::array<Value, 3> place(Value tile) {
    Value plane = g.mul(tilesDown, tilesAcross);
    return {g.div(tile, plane), g.div(g.rem(tile, plane), tilesAcross), g.rem(tile, tilesAcross)};
  }
  /// Rows and columns from (top, left) on are there, so many of both; always for a plane of whole tiles.
  Value isInside(Value top, Value left, int64_t size, Value height, Value width) {
    return g.both(g.less(g.add(top, size - 1), height), g.less(g.add(left, size - 1), width));
  }
  void transformInput(Value tile, Value slot);
  void multiply(Value f, Value count);
  void product(Value f, Value point, Value slot, int64_t tiles);
  void transformOutput(Value tile, Value slot, Value f);

private:
  void readTile(Value n, Value block, Value top, Value left, Value slot, bool ragged);
  void storeTile(const Cursor &from, Value n, Value block, Value top, Value left, bool downRagged,
                 bool acrossRagged);
};

} // namespace

SmallVector<Value> WinogradKernel::apply(const double *matrix, int64_t n, ArrayRef<Value> vectors) {
  SmallVector<Value> results;
  for (int64_t i = 0; i < n; ++i) {
    // Terms with factor 1 first, so that the sum needs no multiplication to start with.
    Value sum;
    auto term = [&](int64_t j, bool unit) {
      double factor = matrix[i * m.points + j];
      if (factor == 0 || (std::abs(factor) == 1) != unit)
        return;
      Value v = vectors[j];
      if (!sum)
        sum = factor == 1 ? v : Value(arith::MulFOp::create(g.b, g.loc, v, g.splat(v.getType(), factor)));
      else if (factor == 1)
        sum = arith::AddFOp::create(g.b, g.loc, sum, v);
      else if (factor == -1)
        sum = arith::SubFOp::create(g.b, g.loc, sum, v);
      else
        sum = g.fma(v, g.splat(v.getType(), factor), sum);
    };
    // A positive one first of all.
    for (int64_t j = 0; j < m.points && !sum; ++j)
      if (matrix[i * m.points + j] == 1) {
        sum = vectors[j];
        for (int64_t k = 0; k < m.points; ++k)
          if (k != j)
            term(k, true);
      }
    if (!sum)
      for (int64_t j = 0; j < m.points; ++j)
        term(j, true);
    for (int64_t j = 0; j < m.points; ++j)
      term(j, false);
    results.push_back(sum);
  }
  return results;
}

void WinogradKernel::readTile(Value n, Value block, Value top, Value left, Value slot, bool ragged) {
  int64_t p = m.points;
  bool open = x.memory.isOpen();
  // What lies outside is multiplied into results that are dropped; any finite number will do, so the last
  // row and column stand in.
  SmallVector<Value> half(p * p);
  Cursor whole = cursorAt(g, x.memory, {n, block, g.add(top, x.top), g.add(left, x.left), g.index(0)});
  SmallVector<Cursor> rowsOfTile;
  for (int64_t i = 0; open && !ragged && i < p; ++i)
    rowsOfTile.push_back(
        cursorAt(g, x.memory, {n, block, g.add(g.add(top, i), x.top), g.add(left, x.left), g.index(0)}));
  SmallVector<Value> rowAt, columnAt;
  for (int64_t i = 0; ragged && i < p; ++i) {
    rowAt.push_back(g.min(g.add(top, i), g.add(out.rows(g), m.window - 2)));
    columnAt.push_back(g.min(g.add(left, i), g.add(out.columns(g), m.window - 2)));
  }
  auto load = [&](int64_t i, int64_t j) {
    if (ragged)
      return cursorAt(g, x.memory, {n, block, g.add(rowAt[i], x.top), g.add(columnAt[j], x.left), g.index(0)})
          .load(g, 0, c);
    return open ? rowsOfTile[i].load(g, j * c, c) : whole.load(g, (i * x.memory.shape[3] + j) * c, c);
  };
  for (int64_t j = 0; j < p; ++j) {
    SmallVector<Value> column;
    for (int64_t i = 0; i < p; ++i)
      column.push_back(load(i, j));
    SmallVector<Value> done = apply(m.input, p, column);
    for (int64_t i = 0; i < p; ++i)
      half[i * p + j] = done[i];
  }
  Cursor to = cursorAt(g, inputs, {g.index(0), g.mul(g.add(g.mul(block, t.task), slot), c)});
  for (int64_t i = 0; i < p; ++i) {
    SmallVector<Value> done = apply(m.input, p, ArrayRef(half).slice(i * p, p));
    for (int64_t j = 0; j < p; ++j)
      to.store(g, done[j], (i * p + j) * inputs.stride(0));
  }
}

void WinogradKernel::transformInput(Value tile, Value slot) {
  auto [n, down, across] = place(tile);
  Value image = n, top = g.mul(down, m.tile), left = g.mul(across, m.tile);
  g.each(0, cBlocks, 1, [&](Value block) {
    if (!out.isOpen())
      return readTile(image, block, top, left, slot, rows % m.tile || columns % m.tile);
    Value inside = isInside(top, left, m.tile, out.rows(g), out.columns(g));
    g.when(inside, [&] { readTile(image, block, top, left, slot, false); });
    g.when(g.negate(inside), [&] { readTile(image, block, top, left, slot, true); });
  });
}

void WinogradKernel::product(Value f, Value point, Value slot, int64_t tiles) {
  VectorType type = vectorOf(element, lanes);
  int64_t panel = w.stride(0);
  SmallVector<Value> sums(tiles * t.blocks, g.splat(type, 0));
  int64_t unroll = std::min(t.unroll, c);
  while (c % unroll)
    --unroll;
  sums = g.loop(0, cBlocks, 1, sums, [&](Value block, ValueRange carried) {
    Value from = inputs.offset(g, {point, g.mul(g.add(g.mul(block, t.task), slot), c)});
    Value weights = w.offset(g, {f, point, g.mul(block, c), g.index(0)});
    return g.loop(0, c, unroll, carried, [&](Value ci, ValueRange carried) {
      SmallVector<Value> next(carried);
      Cursor a = cursorAt(g, inputs, g.add(from, ci)), b = cursorAt(g, w, g.add(weights, g.mul(ci, lanes)));
      for (int64_t s = 0; s < unroll; ++s) {
        SmallVector<Value> factors;
        for (int64_t k = 0; k < t.blocks; ++k)
          factors.push_back(b.load(g, k * panel + s * lanes, lanes));
        for (int64_t i = 0; i < tiles; ++i) {
          Value v = vector::BroadcastOp::create(g.b, g.loc, type, a.scalar(g, i * c + s));
          for (int64_t k = 0; k < t.blocks; ++k)
            next[i * t.blocks + k] = g.fma(v, factors[k], next[i * t.blocks + k]);
        }
      }
      return next;
    });
  });
  Cursor to = cursorAt(g, products, {point, g.mul(slot, lanes)});
  for (int64_t i = 0; i < tiles; ++i)
    for (int64_t k = 0; k < t.blocks; ++k)
      to.store(g, sums[i * t.blocks + k], (k * t.task + i) * lanes);
}

void WinogradKernel::multiply(Value f, Value count) {
  int64_t p = m.points * m.points, rest = t.rest;
  g.each(0, p, 1, [&](Value point) {
    // What is left in smaller steps, if there are any; the last may compute more than there is, into memory
    // that nobody reads.
    Value whole = rest < t.tiles ? g.mul(g.div(count, t.tiles), t.tiles) : count;
    g.each(g.index(0), whole, t.tiles, [&](Value slot) { product(f, point, slot, t.tiles); });
    if (rest < t.tiles)
      g.each(whole, count, rest, [&](Value slot) { product(f, point, slot, rest); });
  });
}

void WinogradKernel::storeTile(const Cursor &from, Value n, Value block, Value top, Value left,
                               bool downRagged, bool acrossRagged) {
  int64_t p = m.points, o = m.tile;
  bool open = out.isOpen();
  SmallVector<Value> half(o * p);
  for (int64_t j = 0; j < p; ++j) {
    SmallVector<Value> column;
    for (int64_t i = 0; i < p; ++i)
      column.push_back(from.load(g, (i * p + j) * products.stride(0), lanes));
    SmallVector<Value> done = apply(m.output, o, column);
    for (int64_t i = 0; i < o; ++i)
      half[i * p + j] = done[i];
  }
  Value start = bias.buffer ? cursorAt(g, bias, {block, g.index(0)}).load(g, 0, lanes) : Value();
  auto [down, across] = out.window();
  for (int64_t i = 0; i < o; i += down) {
    SmallVector<Value> done;
    for (int64_t a = 0; a < down; ++a)
      done.append(apply(m.output, o, ArrayRef(half).slice((i + a) * p, p)));
    Value row = g.add(top, i);
    auto storeRow = [&] {
      for (int64_t j = 0; j < o; j += across) {
        Value column = g.add(left, j);
        auto one = [&] {
          out.storeTile(g, n, block, row, column, down, across, [&](int64_t a, int64_t b) {
            Value v = done[a * o + j + b];
            return start ? Value(arith::AddFOp::create(g.b, g.loc, v, start)) : v;
          });
        };
        // Columns that every tile has need no question.
        if (!acrossRagged || j == 0 || (!open && j <= (columns - 1) % o))
          one();
        else
          g.when(g.less(column, out.columns(g)), one);
      }
    };
    if (!downRagged || i == 0 || (!open && i <= (rows - 1) % o))
      storeRow();
    else
      g.when(g.less(row, out.rows(g)), storeRow);
  }
}

void WinogradKernel::transformOutput(Value tile, Value slot, Value f) {
  auto [n, down, across] = place(tile);
  Value image = n, top = g.mul(down, m.tile), left = g.mul(across, m.tile);
  g.each(0, t.blocks, 1, [&](Value k) {
    Value block = g.add(f, k);
    Cursor from = cursorAt(g, products, {g.index(0), g.mul(g.add(g.mul(k, t.task), slot), lanes)});
    if (!out.isOpen())
      return storeTile(from, image, block, top, left, rows % m.tile, columns % m.tile);
    Value inside = isInside(top, left, m.tile, out.rows(g), out.columns(g));
    g.when(inside, [&] { storeTile(from, image, block, top, left, false, false); });
    g.when(g.negate(inside), [&] { storeTile(from, image, block, top, left, true, true); });
  });
}

LogicalResult packed::lowerWinograd(RewriterBase &rewriter, PackedWinogradOp op, const WinogradTiles &tiles,
                                    std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why, /*byTiles=*/true);
  if (failed(output))
    return failure();
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape(), in = typeOf(op.getX()).getShape();
  WinogradTiles t = tiles;
  if (t.tiles < 1 || t.rest < 1 || t.blocks < 1 || t.task < 1 || t.parts < 1 || w[0] % (t.blocks * t.parts) ||
      t.task % t.rest || t.task % t.tiles) {
    why = "expected tiles of at least 1, blocks and parts that divide those of the weights, and tasks of "
          "whole tiles";
    return failure();
  }
  Gen g{rewriter, op.getLoc()};
  Type element = typeOf(op.getX()).getElementType();
  WinogradKernel k{g,
                   inputOf(rewriter, op.getX()),
                   inputOf(rewriter, op.getW()).memory,
                   op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
                   *output,
                   element,
                   winograd(op.getTile(), winogradWindow(op.getTile(), w[1])),
                   in[1],
                   in[4],
                   w[3],
                   in[2],
                   in[3],
                   output->shape()[2],
                   output->shape()[3],
                   {},
                   {},
                   t,
                   {},
                   {}};
  int64_t points = k.m.points * k.m.points;
  Value batch = batchOf(g, k.x.memory);
  if (output->isOpen() || k.x.memory.isOpen())
    output->begin(g, batch, placesOf(g, op, k.x, 2), placesOf(g, op, k.x, 3));
  else
    output->begin(g, batch);
  k.tilesDown = g.parts(output->rows(g), k.m.tile);
  k.tilesAcross = g.parts(output->columns(g), k.m.tile);
  Value all = g.mul(batch, g.mul(k.tilesDown, k.tilesAcross));
  Value parts = g.b.createOrFold<arith::CeilDivUIOp>(g.loc, all, g.index(t.task));
  int64_t perPart = w[0] / t.parts;
  g.tasks({rewriter.getIndexAttr(t.parts), getAsOpFoldResult(parts)}, [&](ValueRange ids) {
    k.inputs = allocate(g, {points, k.cBlocks * t.task * k.c + k.lanes}, element);
    k.products = allocate(g, {points, t.blocks * t.task * k.lanes + k.lanes}, element);
    Value first = g.mul(ids[1], t.task), count = g.min(g.sub(all, first), g.index(t.task));
    g.each(g.index(0), count, 1, [&](Value slot) { k.transformInput(g.add(first, slot), slot); });
    Value begin = g.mul(ids[0], perPart);
    g.each(begin, g.add(begin, perPart), t.blocks, [&](Value f) {
      k.multiply(f, count);
      g.each(g.index(0), count, 1, [&](Value slot) { k.transformOutput(g.add(first, slot), slot, f); });
    });
    // The border of a plane belongs to whoever has its first tile.
    if (output->hasHalo()) {
      Value plane = g.mul(k.tilesDown, k.tilesAcross), more = g.sub(plane, 1);
      Value n0 = g.div(g.add(first, more), plane), n1 = g.div(g.add(g.add(first, count), more), plane);
      g.each(n0, n1, 1, [&](Value n) {
        g.each(begin, g.add(begin, perPart), 1,
               [&](Value f) { output->border(g, n, f, g.index(0), output->rows(g)); });
      });
    }
  });
  output->finish(rewriter, op);
  return success();
}

WinogradTiles packed::chooseWinograd(PackedWinogradOp op, const Machine &machine, int64_t blocks,
                                     int64_t tiles) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape(), y = typeOf(op.getY()).getShape();
  int64_t tile = op.getTile(), points = w[1], rows = y[2], columnsOfPlane = y[3];
  if (PackedPoolOp pool = findPool(op)) {
    rows = typeOf(pool.getY()).getDimSize(2) * pool.getKernel()[0];
    columnsOfPlane = typeOf(pool.getY()).getDimSize(3) * pool.getKernel()[1];
  }
  // Open planes are taken for middling ones.
  if (hasOpenPlanes(op))
    rows = columnsOfPlane = 56;
  int64_t plane = ceilDiv(rows, tile) * ceilDiv(columnsOfPlane, tile);
  WinogradTiles t;
  t.blocks = blocks ? blocks : w[0] % 2 ? 1 : 2;
  int64_t most = (machine.registers - t.blocks - 1) / t.blocks;
  // Tiles that divide a plane leave nothing over at any batch.
  t.tiles = 1;
  for (int64_t q = most; q >= most / 2 && q > 1; --q)
    if (plane % q == 0) {
      t.tiles = q;
      break;
    }
  if (t.tiles == 1)
    t.tiles = most >= 14 ? 14 : most >= 12 ? 12 : most >= 8 ? 8 : std::max<int64_t>(most, 1);
  if (plane < t.tiles)
    t.tiles = most >= 12 ? 12 : t.tiles;
  // What open planes leave over is a multiple of anything: a rest of four is better than one of two.
  if (hasOpenPlanes(op) && most >= 12)
    t.tiles = 12;
  if (tiles)
    t.tiles = tiles;
  t.rest = t.tiles % 4 == 0 ? 4 : t.tiles % 2 == 0 ? 2 : 1;
  t.unroll = 4;
  // The transformed tiles of a task take half of the second cache; more when weights come from further away,
  // so that they come less often.
  int64_t weights = 4 * w[0] * w[1] * w[2] * w[3],
          room = weights > 4 * machine.l2 ? machine.l2 * 3 / 4 : machine.l2 / 2;
  int64_t fit = std::max<int64_t>(1, room / (points * w[2] * 4) / t.tiles);
  // Of the sizes that fit, the one with which two threads finish first.
  int64_t units = ceilDiv(plane, t.tiles), least = INT64_MAX, best = 1;
  for (int64_t k = 1; k <= std::min(fit, units); ++k)
    if (int64_t load = ceilDiv(ceilDiv(units, k), 2) * k; load <= least) {
      least = load;
      best = k;
    }
  if (units == 1)
    best = std::min<int64_t>(fit, 4);
  t.task = best * t.tiles;
  // A small plane has too few tasks for two threads: its channels are shared out.
  t.parts = plane <= t.task && w[0] % (2 * t.blocks) == 0 ? 2 : 1;
  return t;
}
