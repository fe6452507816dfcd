// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between layouts, and borders where no layer makes them on its way.
#include "tessera/targets/cpu/packed/KernelBuilder.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

// As many vectors as they have lanes, a power of two, with rows and columns exchanged: blocks of 1, 2, 4, …
// change places with their mirror images.
static SmallVector<Value> transpose(Gen &g, SmallVector<Value> v) {
  int64_t n = v.size();
  for (int64_t step = 1; step < n; step *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t k = 0; k < n; ++k) {
      low.push_back(k & step ? n + k - step : k);
      high.push_back(k & step ? n + k : k + step);
    }
    for (int64_t i = 0; i < n; ++i)
      if (!(i & step)) {
        Value first = v[i], second = v[i | step];
        v[i] = vector::ShuffleOp::create(g.b, g.loc, first, second, low);
        v[i | step] = vector::ShuffleOp::create(g.b, g.loc, first, second, high);
      }
  }
  return v;
}

// Calls `body` for the blocks of channels, with how many of a block's lanes are channels.
static void forValidLanes(Gen &g, Value block, int64_t blocks, int64_t lanes, int64_t channels,
                          function_ref<void(int64_t valid)> body) {
  int64_t rest = channels - (blocks - 1) * lanes;
  if (rest == lanes || blocks == 1)
    return body(rest);
  g.when(g.less(block, g.index(blocks - 1)), [&] { body(lanes); });
  g.when(g.equal(block, blocks - 1), [&] { body(rest); });
}

LogicalResult packed::lowerPack(RewriterBase &rewriter, PackOp op, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Memory x = inputOf(rewriter, op.getX()).memory;
  int64_t lanes = op.getBlock(), blocks = output->shape()[1];
  bool open = x.isOpen() || output->isOpen();
  VectorType type = vectorOf(typeOf(op.getX()).getElementType(), lanes);
  Value batch = batchOf(g, x);
  if (open)
    output->begin(g, batch, x.extent(g, 2), x.extent(g, 3));
  else
    output->begin(g, batch);
  bool flat = output->isFlat();
  Value rows = output->rows(g), columns = output->columns(g), across = flat ? g.mul(rows, columns) : columns,
        down = flat ? g.index(1) : rows, whole = g.mul(g.div(across, lanes), lanes);
  // A channel of x from a place on: at a constant distance from the first where planes have constant extents.
  auto channelAt = [&](const Cursor &first, Value n, Value block, Value i, Value j, int64_t k) {
    if (!open)
      return std::pair(first, k * x.stride(1));
    return std::pair(k ? cursorAt(g, x, {n, g.add(g.mul(block, lanes), k), i, j}) : first, int64_t(0));
  };
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(blocks)}, [&](ValueRange ids) {
    Value n = ids[0], block = ids[1];
    forValidLanes(g, block, blocks, lanes, x.shape[1], [&](int64_t valid) {
      g.each(g.index(0), down, 1, [&](Value i) {
        // As many places as lanes: rows of x, transposed. Then one place at a time.
        g.each(g.index(0), whole, lanes, [&](Value j) {
          Cursor from = cursorAt(g, x, {n, g.mul(block, lanes), i, j});
          SmallVector<Value> channels(lanes, g.splat(type, 0));
          for (int64_t k = 0; k < valid; ++k) {
            auto [channel, distance] = channelAt(from, n, block, i, j, k);
            channels[k] = channel.load(g, distance, lanes);
          }
          for (auto [q, place] : llvm::enumerate(transpose(g, channels)))
            output->store(g, {n, block, i, g.add(j, int64_t(q)), g.index(0)}, place);
        });
        g.each(whole, across, 1, [&](Value j) {
          Cursor from = cursorAt(g, x, {n, g.mul(block, lanes), i, j});
          Value v = g.splat(type, 0);
          for (int64_t k = 0; k < valid; ++k) {
            auto [channel, distance] = channelAt(from, n, block, i, j, k);
            v = vector::InsertOp::create(g.b, g.loc, channel.scalar(g, distance), v, ArrayRef<int64_t>{k});
          }
          output->store(g, {n, block, i, j, g.index(0)}, v);
        });
      });
    });
    output->border(g, n, block, g.index(0), rows);
  });
  output->finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerUnpack(RewriterBase &rewriter, UnpackOp op, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  ArrayRef<int64_t> in = typeOf(op.getX()).getShape();
  int64_t lanes = in[4];
  Value batch = batchOf(g, x.memory), rows = x.rows(g), columns = x.columns(g);
  if (x.memory.isOpen() || output->isOpen())
    output->begin(g, batch, rows, columns);
  else
    output->begin(g, batch);
  VectorType one = vectorOf(typeOf(op.getX()).getElementType(), 1);
  bool flat = output->isFlat() && x.cropped == std::array<int64_t, 2>();
  Value across = flat ? g.mul(rows, columns) : columns, down = flat ? g.index(1) : rows,
        whole = g.mul(g.div(across, lanes), lanes);
  int64_t blocks = ceilDiv(int64_t(op.getChannels()), lanes);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(blocks)}, [&](ValueRange ids) {
    Value n = ids[0], block = ids[1], first = g.mul(block, lanes);
    forValidLanes(g, block, blocks, lanes, op.getChannels(), [&](int64_t valid) {
      g.each(g.index(0), down, 1, [&](Value i) {
        auto at = [&](Value j) {
          return cursorAt(g, x.memory, {n, block, g.add(i, x.top), g.add(j, x.left), g.index(0)});
        };
        g.each(g.index(0), whole, lanes, [&](Value j) {
          Cursor from = at(j);
          SmallVector<Value> places;
          for (int64_t q = 0; q < lanes; ++q)
            places.push_back(from.load(g, q * lanes, lanes));
          SmallVector<Value> channels = transpose(g, places);
          for (auto [k, channel] : llvm::enumerate(ArrayRef(channels).take_front(valid)))
            output->store(g, {n, g.add(first, int64_t(k)), i, j}, channel);
        });
        g.each(whole, across, 1, [&](Value j) {
          Cursor from = at(j);
          for (int64_t k = 0; k < valid; ++k)
            output->store(g, {n, g.add(first, k), i, j},
                          vector::BroadcastOp::create(g.b, g.loc, one, from.scalar(g, k)));
        });
      });
    });
  });
  output->finish(rewriter, op);
  return success();
}

// A copy of x into the middle of the result, or of the middle of x; `fill` where x does not reach.
static LogicalResult lowerCopy(RewriterBase &rewriter, Operation *op, Value operand, int64_t above,
                               int64_t left, int64_t fill, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op->getLoc()};
  Input x = inputOf(rewriter, operand);
  ArrayRef<int64_t> in = typeOf(operand).getShape();
  int64_t lanes = in[4];
  VectorType type = vectorOf(typeOf(operand).getElementType(), lanes);
  Value batch = batchOf(g, x.memory);
  if (x.memory.isOpen() || output->isOpen())
    output->begin(g, batch, placesOf(g, op, x, 2), placesOf(g, op, x, 3));
  else
    output->begin(g, batch);
  Value rows = output->rows(g), columns = output->columns(g), first = g.index(0);
  Value rowFrom = g.index(std::max<int64_t>(above, 0)), rowTo = g.min(rows, g.add(x.rows(g), above));
  Value columnFrom = g.index(std::max<int64_t>(left, 0)),
        columnTo = g.min(columns, g.add(x.columns(g), left));
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(in[1])}, [&](ValueRange ids) {
    Value zero = g.splat(type, type.getElementType().isInteger(8) ? double(int8_t(fill)) : double(fill));
    auto clear = [&](Value i, Value from, Value to) {
      g.each(from, to, 1, [&](Value j) { output->store(g, {ids[0], ids[1], i, j, g.index(0)}, zero); });
    };
    g.each(first, rowFrom, 1, [&](Value i) { clear(i, first, columns); });
    g.each(rowFrom, rowTo, 1, [&](Value i) {
      clear(i, first, columnFrom);
      g.each(columnFrom, columnTo, 1, [&](Value j) {
        Value v = cursorAt(g, x.memory,
                           {ids[0], ids[1], g.add(i, x.top - above), g.add(j, x.left - left), g.index(0)})
                      .load(g, 0, lanes);
        output->store(g, {ids[0], ids[1], i, j, g.index(0)}, v);
      });
      clear(i, columnTo, columns);
    });
    g.each(rowTo, rows, 1, [&](Value i) { clear(i, first, columns); });
    output->border(g, ids[0], ids[1], g.index(0), rows);
  });
  output->finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerHalo(RewriterBase &rewriter, HaloOp op, std::string &why) {
  return lowerCopy(rewriter, op, op.getX(), op.getPads()[0], op.getPads()[1], op.getFill(), why);
}
// Part of a copy's stores.
LogicalResult packed::lowerSplit(RewriterBase &rewriter, SplitOp op, std::string &why) {
  auto copy = CropOp::create(rewriter, op.getLoc(), op.getX(), ArrayRef<int64_t>{0, 0, 0, 0});
  rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(copy); });
  return lowerCrop(rewriter, copy, why);
}
LogicalResult packed::lowerCrop(RewriterBase &rewriter, CropOp op, std::string &why) {
  return lowerCopy(rewriter, op, op.getX(), -op.getPads()[0], -op.getPads()[1], 0, why);
}
