// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between layouts, and borders where no layer makes them on its way.
#include "tessera/transforms/nn/packed/Support.h"

using namespace tessera;
using namespace tessera::nn;
using namespace tessera::nn::packed;

LogicalResult packed::lowerPack(RewriterBase &rewriter, PackOp op, const Tiles &, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Memory x = inputOf(rewriter, op.getX()).memory;
  int64_t lanes = op.getBlock(), blocks = output->shape()[1], rows = output->shape()[2],
          columns = output->shape()[3];
  Type element = typeOf(op.getX()).getElementType();
  VectorType type = vectorOf(element, lanes);
  Value batch = batchOf(g, x);
  output->begin(g, batch);
  // One vector of channels at a place; those from `valid` on are zero.
  auto place = [&](Value n, Value block, Value i, Value j, int64_t valid) {
    Cursor from = cursorAt(g, x, {n, g.mul(block, lanes), i, j});
    Value v = g.splat(type, 0);
    for (int64_t k = 0; k < valid; ++k)
      v = vector::InsertOp::create(g.b, g.loc, from.scalar(g, k * x.stride(1)), v, ArrayRef<int64_t>{k});
    output->store(g, {n, block, i, j, g.index(0)}, v);
  };
  int64_t rest = x.shape[1] - (blocks - 1) * lanes;
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(blocks)}, [&](ValueRange ids) {
    Value n = ids[0], block = ids[1];
    auto plane = [&](int64_t valid) {
      g.each(0, rows, 1,
             [&](Value i) { g.each(0, columns, 1, [&](Value j) { place(n, block, i, j, valid); }); });
    };
    if (rest == lanes || blocks == 1) {
      plane(rest);
    } else {
      g.when(g.less(block, g.index(blocks - 1)), [&] { plane(lanes); });
      g.when(g.equal(block, blocks - 1), [&] { plane(rest); });
    }
    output->border(g, n, block, g.index(0), g.index(rows));
  });
  output->finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerUnpack(RewriterBase &rewriter, UnpackOp op, const Tiles &, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  ArrayRef<int64_t> in = typeOf(op.getX()).getShape();
  int64_t lanes = in[4];
  Value batch = batchOf(g, x.memory);
  output->begin(g, batch);
  VectorType one = vectorOf(typeOf(op.getX()).getElementType(), 1);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(int64_t(op.getChannels()))}, [&](ValueRange ids) {
    Value block = g.div(ids[1], lanes), lane = g.rem(ids[1], lanes);
    g.each(0, in[2], 1, [&](Value i) {
      g.each(0, in[3], 1, [&](Value j) {
        Value v =
            cursorAt(g, x.memory, {ids[0], block, g.add(i, x.top), g.add(j, x.left), lane}).scalar(g, 0);
        output->store(g, {ids[0], ids[1], i, j}, vector::BroadcastOp::create(g.b, g.loc, one, v));
      });
    });
  });
  output->finish(rewriter, op);
  return success();
}

// A copy of x into the middle of the result, or of the middle of x; zeros where x does not reach.
static LogicalResult lowerCopy(RewriterBase &rewriter, Operation *op, Value operand, int64_t above,
                               int64_t left, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op->getLoc()};
  Input x = inputOf(rewriter, operand);
  ArrayRef<int64_t> in = typeOf(operand).getShape();
  SmallVector<int64_t> shape = output->shape();
  int64_t lanes = in[4];
  VectorType type = vectorOf(typeOf(operand).getElementType(), lanes);
  Value batch = batchOf(g, x.memory);
  output->begin(g, batch);
  int64_t rowFrom = std::max<int64_t>(above, 0), rowTo = std::min(shape[2], above + in[2]);
  int64_t columnFrom = std::max<int64_t>(left, 0), columnTo = std::min(shape[3], left + in[3]);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(in[1])}, [&](ValueRange ids) {
    Value zero = g.splat(type, 0);
    auto clear = [&](Value i, int64_t from, int64_t to) {
      g.each(from, to, 1, [&](Value j) { output->store(g, {ids[0], ids[1], i, j, g.index(0)}, zero); });
    };
    g.each(0, rowFrom, 1, [&](Value i) { clear(i, 0, shape[3]); });
    g.each(rowFrom, rowTo, 1, [&](Value i) {
      clear(i, 0, columnFrom);
      g.each(columnFrom, columnTo, 1, [&](Value j) {
        Value v = cursorAt(g, x.memory,
                           {ids[0], ids[1], g.add(i, x.top - above), g.add(j, x.left - left), g.index(0)})
                      .load(g, 0, lanes);
        output->store(g, {ids[0], ids[1], i, j, g.index(0)}, v);
      });
      clear(i, columnTo, shape[3]);
    });
    g.each(rowTo, shape[2], 1, [&](Value i) { clear(i, 0, shape[3]); });
    output->border(g, ids[0], ids[1], g.index(0), g.index(shape[2]));
  });
  output->finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerHalo(RewriterBase &rewriter, HaloOp op, const Tiles &, std::string &why) {
  return lowerCopy(rewriter, op, op.getX(), op.getPads()[0], op.getPads()[1], why);
}
LogicalResult packed::lowerCrop(RewriterBase &rewriter, CropOp op, const Tiles &, std::string &why) {
  return lowerCopy(rewriter, op, op.getX(), -op.getPads()[0], -op.getPads()[1], why);
}
