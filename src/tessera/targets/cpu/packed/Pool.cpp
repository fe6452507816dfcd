// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows over planes: maxima and means. Lanes are channels.
#include "tessera/targets/cpu/packed/KernelBuilder.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

Value packed::combine(Gen &g, ReduceKind kind, Value a, Value b) {
  bool bytes = isa<IntegerType>(getElementTypeOrSelf(a));
  switch (kind) {
  case ReduceKind::max:
    if (bytes)
      return arith::MaxUIOp::create(g.b, g.loc, a, b);
    return arith::MaximumFOp::create(g.b, g.loc, a, b);
  case ReduceKind::min:
    if (bytes)
      return arith::MinUIOp::create(g.b, g.loc, a, b);
    return arith::MinimumFOp::create(g.b, g.loc, a, b);
  default:
    return arith::AddFOp::create(g.b, g.loc, a, b);
  }
}

PackedPoolOp packed::findPool(Operation *op) {
  Value v;
  auto pool = dyn_cast_or_null<PackedPoolOp>(findReader(op, v));
  auto all = [](ArrayRef<int64_t> values, int64_t v) {
    return llvm::all_of(values, [&](int64_t each) { return each == v; });
  };
  if (!pool || hasOpenPlanes(pool) || pool.getKernel() != pool.getStrides() || !all(pool.getPads(), 0) ||
      !all(pool.getDilations(), 1))
    return {};
  // Windows lie within the tiles that a layer computes at once.
  ArrayRef<int64_t> kernel = pool.getKernel();
  if (auto winograd = dyn_cast<PackedWinogradOp>(op))
    return winograd.getTile() % kernel[0] || winograd.getTile() % kernel[1] ? PackedPoolOp() : pool;
  return isa<PackedConvOp>(op) && kernel[0] <= 3 && kernel[1] <= 3 ? pool : PackedPoolOp();
}

// Taps of a window from `start` on that lie in [0, extent), as a range of tap numbers.
static std::pair<Value, Value> tapsInside(Gen &g, Value start, int64_t taps, int64_t dilation, Value extent) {
  Value zero = g.index(0);
  Value first = g.div(g.add(g.max(g.sub(zero, start), zero), dilation - 1), dilation);
  Value left = g.max(g.sub(extent, start), zero);
  return {first, g.min(g.index(taps), g.div(g.add(left, dilation - 1), dilation))};
}

LogicalResult packed::lowerPool(RewriterBase &rewriter, PackedPoolOp op, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  ArrayRef<int64_t> in = typeOf(op.getX()).getShape(), pads = op.getPads(), kernel = op.getKernel(),
                    strides = op.getStrides(), dilations = op.getDilations();
  int64_t lanes = in[4];
  bool open = x.memory.isOpen() || output->isOpen();
  ReduceKind kind = op.getKind();
  // Maxima of bf16 are found in f32, which has all of them.
  Type element = typeOf(op.getX()).getElementType();
  bool isHalf = element.isBF16();
  VectorType type = vectorOf(isHalf ? g.b.getF32Type() : element, lanes);
  auto load = [&](const Cursor &from, int64_t distance) -> Value {
    Value v = from.load(g, distance, lanes);
    return isHalf ? arith::ExtFOp::create(g.b, g.loc, type, v) : v;
  };
  auto narrowed = [&](Value v) -> Value {
    if (!isHalf)
      return v;
    Value bits = arith::BitcastOp::create(g.b, g.loc, vectorOf(g.b.getI32Type(), lanes), v);
    auto sixteen = DenseElementsAttr::get(vectorOf(g.b.getI32Type(), lanes), g.b.getI32IntegerAttr(16));
    bits = arith::ShRUIOp::create(g.b, g.loc, bits, arith::ConstantOp::create(g.b, g.loc, sixteen));
    bits = arith::TruncIOp::create(g.b, g.loc, vectorOf(g.b.getI16Type(), lanes), bits);
    return arith::BitcastOp::create(g.b, g.loc, vectorOf(element, lanes), bits);
  };
  bool mean = kind == ReduceKind::mean;
  Value batch = batchOf(g, x.memory);
  if (open)
    output->begin(g, batch, placesOf(g, op, x, 2), placesOf(g, op, x, 3));
  else
    output->begin(g, batch);
  Value rows = output->rows(g), columns = output->columns(g);
  const std::array<Value, 2> extents = {x.rows(g), x.columns(g)};
  int64_t taps = kernel[0] * kernel[1];
  // All taps of an unpadded window at constant distances.
  auto inside = [&](Value n, Value block, Value i, Value j) {
    auto rowAt = [&](int64_t a) {
      return cursorAt(g, x.memory,
                      {n, block, g.add(g.mul(i, strides[0]), x.top - pads[0] + a * dilations[0]),
                       g.add(g.mul(j, strides[1]), x.left - pads[1]), g.index(0)});
    };
    Cursor from = rowAt(0);
    Value sum;
    for (int64_t a = 0; a < kernel[0]; ++a)
      for (int64_t b = 0; b < kernel[1]; ++b) {
        // Rows are at constant distances where the width is one.
        int64_t distance = open ? 0 : a * dilations[0] * x.memory.shape[3];
        if (open && a && b == 0)
          from = rowAt(a);
        Value v = load(from, (distance + b * dilations[1]) * lanes);
        sum = sum ? combine(g, kind, sum, v) : v;
      }
    if (mean)
      sum = arith::MulFOp::create(g.b, g.loc, sum, g.splat(type, 1.0 / taps));
    return sum;
  };
  // Any window, tap by tap.
  auto anywhere = [&](Value n, Value block, Value i, Value j) {
    Value top = g.add(g.mul(i, strides[0]), -pads[0]), left = g.add(g.mul(j, strides[1]), -pads[1]);
    auto [a0, a1] = tapsInside(g, top, kernel[0], dilations[0], extents[0]);
    auto [b0, b1] = tapsInside(g, left, kernel[1], dilations[1], extents[1]);
    double start = kind == ReduceKind::max ? -INFINITY : kind == ReduceKind::min ? INFINITY : 0;
    if (isa<IntegerType>(type.getElementType()))
      start = kind == ReduceKind::min ? -1 : 0; // all bits, or none

    Value first = a0, rowEnd = a1, second = b0, columnEnd = b1;
    Value sum = g.loop(first, rowEnd, 1, g.splat(type, start), [&](Value a, ValueRange carried) {
      return g.loop(second, columnEnd, 1, carried, [&](Value b, ValueRange carried) -> SmallVector<Value> {
        Value v = load(cursorAt(g, x.memory,
                                {n, block, g.add(g.add(top, g.mul(a, dilations[0])), x.top),
                                 g.add(g.add(left, g.mul(b, dilations[1])), x.left), g.index(0)}),
                       0);
        return {combine(g, kind, carried[0], v)};
      });
    })[0];
    if (mean) {
      Value count;
      if (op.getCountPad()) {
        // Of the taps, those inside x and its pads; all of them, since windows do not leave the pads.
        count = g.index(taps);
      } else {
        count = g.mul(g.sub(rowEnd, first), g.sub(columnEnd, second));
      }
      Type element = type.getElementType();
      Value number = arith::SIToFPOp::create(g.b, g.loc, element,
                                             arith::IndexCastOp::create(g.b, g.loc, g.b.getI64Type(), count));
      Value one = g.splat(element, 1);
      sum = arith::MulFOp::create(
          g.b, g.loc, sum,
          vector::BroadcastOp::create(g.b, g.loc, type, arith::DivFOp::create(g.b, g.loc, one, number)));
    }
    return sum;
  };
  // Columns whose windows lie inside x whatever their row does, and rows alike.
  auto interior = [&](unsigned d, Value places) -> std::pair<Value, Value> {
    Value from = g.min(places, g.index(ceilDiv(pads[d], strides[d])));
    // Windows that end before x does; none where x is shorter than one.
    Value room = g.add(extents[d], pads[d] - (dilations[d] * (kernel[d] - 1) + 1) + strides[d]);
    Value to = g.min(places, g.div(g.max(room, g.index(0)), strides[d]));
    return {from, g.max(from, to)};
  };
  auto [rowFrom, rowTo] = interior(0, rows);
  auto [columnFrom, columnTo] = interior(1, columns);
  Value rf = rowFrom, rt = rowTo, cf = columnFrom, ct = columnTo, zero = g.index(0);
  bool unrolled = taps <= 49;
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(in[1])}, [&](ValueRange ids) {
    Value n = ids[0], block = ids[1];
    auto range = [&](Value i, Value from, Value to, bool whole) {
      g.each(from, to, 1, [&](Value j) {
        output->store(g, {n, block, i, j, g.index(0)},
                      narrowed(whole ? inside(n, block, i, j) : anywhere(n, block, i, j)));
      });
    };
    g.each(zero, rf, 1, [&](Value i) { range(i, zero, columns, false); });
    g.each(rf, rt, 1, [&](Value i) {
      range(i, zero, cf, false);
      range(i, cf, ct, unrolled);
      range(i, ct, columns, false);
    });
    g.each(rt, rows, 1, [&](Value i) { range(i, zero, columns, false); });
    output->border(g, n, block, g.index(0), rows);
  });
  output->finish(rewriter, op);
  return success();
}

LogicalResult packed::lowerMean(RewriterBase &rewriter, PackedMeanOp op, std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  Gen g{rewriter, op.getLoc()};
  Input x = inputOf(rewriter, op.getX());
  ArrayRef<int64_t> in = typeOf(op.getX()).getShape();
  int64_t lanes = in[4];
  VectorType type = vectorOf(typeOf(op.getX()).getElementType(), lanes);
  Value batch = batchOf(g, x.memory), rows = x.rows(g), columns = x.columns(g);
  bool open = x.memory.isOpen();
  output->begin(g, batch);
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(in[1])}, [&](ValueRange ids) {
    SmallVector<Value> sums(4, g.splat(type, 0));
    sums = g.loop(g.index(0), rows, 1, sums, [&](Value i, ValueRange carried) {
      auto row = [&](Value j, int64_t count, ValueRange carried) {
        SmallVector<Value> next(carried);
        Cursor from = cursorAt(g, x.memory, {ids[0], ids[1], g.add(i, x.top), g.add(j, x.left), g.index(0)});
        for (int64_t k = 0; k < count; ++k)
          next[k] = arith::AddFOp::create(g.b, g.loc, next[k], from.load(g, k * lanes, lanes));
        return next;
      };
      Value whole = g.mul(g.div(columns, 4), 4);
      SmallVector<Value> next = g.loop(g.index(0), whole, 4, carried,
                                       [&](Value j, ValueRange carried) { return row(j, 4, carried); });
      if (open)
        return g.loop(whole, columns, 1, next,
                      [&](Value j, ValueRange carried) { return row(j, 1, carried); });
      return in[3] % 4 ? row(whole, in[3] % 4, next) : next;
    });
    Value sum = arith::AddFOp::create(g.b, g.loc, arith::AddFOp::create(g.b, g.loc, sums[0], sums[1]),
                                      arith::AddFOp::create(g.b, g.loc, sums[2], sums[3]));
    if (open) {
      Type element = type.getElementType();
      Value count = arith::IndexCastOp::create(g.b, g.loc, g.b.getI64Type(), g.mul(rows, columns));
      Value part = arith::DivFOp::create(g.b, g.loc, g.splat(element, 1),
                                         arith::SIToFPOp::create(g.b, g.loc, element, count));
      sum = arith::MulFOp::create(g.b, g.loc, sum, vector::BroadcastOp::create(g.b, g.loc, type, part));
    } else {
      sum = arith::MulFOp::create(g.b, g.loc, sum, g.splat(type, 1.0 / double(in[2] * in[3])));
    }
    output->store(g, {ids[0], g.mul(ids[1], lanes)}, sum);
  });
  output->finish(rewriter, op);
  return success();
}
