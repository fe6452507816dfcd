// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with weights that are mostly zero: for a few places of one block at a time, a loop over the rows
// of weights that hold something. Each says which tap of the window it is for.
#include "tessera/targets/cpu/packed/KernelBuilder.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

namespace {

struct SparseKernel {
  Gen g;
  Input x;
  Memory values, taps, starts, bias;
  Output &out;
  int64_t lanes, c;
  ArrayRef<int64_t> kernel, strides, dilations;
  bool matrix; ///< places are rows of a matrix

  Value number(const Memory &memory, Value at) {
    Value v = cursorAt(g, memory, at).scalar(g, 0);
    return arith::IndexCastOp::create(g.b, g.loc, g.b.getIndexType(), v);
  }
  /// Elements of x from the first of a window to a tap.
  Value distanceTo(Value tap);
  /// `count` places from (n, row, column) on; of a matrix, from row n on.
  void tile(Value n, Value f, Value row, Value column, int64_t count);
};

} // namespace

Value SparseKernel::distanceTo(Value tap) {
  if (matrix)
    return tap;
  Value place = g.div(tap, c), row = g.rem(g.div(place, kernel[1]), kernel[0]);
  Value at = g.mul(g.div(place, kernel[0] * kernel[1]), x.memory.stride(1));
  if (kernel[0] > 1)
    at = g.add(at, g.mul(row, dilations[0] * x.memory.stride(2)));
  if (kernel[1] > 1)
    at = g.add(at, g.mul(g.rem(place, kernel[1]), dilations[1] * c));
  return g.add(at, g.rem(tap, c));
}

void SparseKernel::tile(Value n, Value f, Value row, Value column, int64_t count) {
  Type element = cast<MemRefType>(values.buffer.getType()).getElementType();
  Value start = bias.buffer ? cursorAt(g, bias, {f, g.index(0)}).load(g, 0, lanes)
                            : g.splat(vectorOf(element, lanes), 0);
  SmallVector<Value> sums(count, start);
  Value base = matrix ? x.memory.offset(g, {n, g.index(0)})
                      : x.memory.offset(g, {n, g.index(0), g.add(g.mul(row, strides[0]), x.top),
                                            g.add(g.mul(column, strides[1]), x.left)});
  int64_t distance = matrix ? x.memory.stride(0) : strides[1] * c;
  sums = g.loop(number(starts, f), number(starts, g.add(f, 1)), 1, sums, [&](Value s, ValueRange carried) {
    Value at = g.add(base, distanceTo(number(taps, s)));
    Value w = cursorAt(g, values, {s, g.index(0)}).load(g, 0, lanes);
    Cursor from = cursorAt(g, x.memory, at);
    SmallVector<Value> next(carried);
    for (auto [j, sum] : llvm::enumerate(next))
      sum = g.fma(vector::BroadcastOp::create(g.b, g.loc, w.getType(), from.scalar(g, int64_t(j) * distance)),
                  w, sum);
    return next;
  });
  for (auto [j, sum] : llvm::enumerate(sums)) {
    if (matrix)
      out.store(g, {g.add(n, int64_t(j)), g.mul(f, lanes)}, sum);
    else
      out.store(g, {n, f, row, g.add(column, int64_t(j)), g.index(0)}, sum);
  }
}

LogicalResult packed::lowerSparse(RewriterBase &rewriter, PackedSparseOp op, const SparseTiles &tiles,
                                  std::string &why) {
  FailureOr<Output> output = Output::follow(rewriter, op, why);
  if (failed(output))
    return failure();
  SparseTiles t = tiles;
  if (t.places < 1 || t.task < 1) {
    why = "expected tiles of at least 1";
    return failure();
  }
  bool matrix = typeOf(op.getX()).getRank() == 2;
  Input x = inputOf(rewriter, op.getX());
  SparseKernel k{Gen{rewriter, op.getLoc()},
                 x,
                 inputOf(rewriter, op.getValues()).memory,
                 inputOf(rewriter, op.getTaps()).memory,
                 inputOf(rewriter, op.getStarts()).memory,
                 op.getBias() ? inputOf(rewriter, op.getBias()).memory : Memory(),
                 *output,
                 typeOf(op.getValues()).getDimSize(1),
                 x.memory.shape.back(),
                 op.getKernel(),
                 op.getStrides(),
                 op.getDilations(),
                 matrix};
  Gen &g = k.g;
  Value batch = batchOf(g, x.memory), zero = g.index(0);
  output->begin(g, batch);
  int64_t blocks = typeOf(op.getStarts()).getDimSize(0) - 1;
  if (matrix) {
    g.tasks({rewriter.getIndexAttr(blocks)}, [&](ValueRange ids) {
      Value whole = g.mul(g.div(batch, t.places), t.places);
      g.each(zero, whole, t.places, [&](Value n) { k.tile(n, ids[0], zero, zero, t.places); });
      if (t.places > 1)
        g.each(whole, batch, 1, [&](Value n) { k.tile(n, ids[0], zero, zero, 1); });
    });
    output->finish(rewriter, op);
    return success();
  }
  int64_t rows = output->shape()[2], columns = output->shape()[3];
  if (isPointwise(op) && !x.top && !x.left && x.memory.shape[2] == rows && x.memory.shape[3] == columns &&
      output->isFlat()) {
    // All places are one long row.
    columns *= rows;
    rows = 1;
  }
  t.places = std::min(t.places, columns);
  // Tasks: rows, or parts of the one long row. What is left of a row belongs to its last part.
  int64_t whole = columns / t.places * t.places, perPart = rows == 1 ? t.task * t.places : whole,
          parts = rows == 1 ? std::max<int64_t>(1, ceilDiv(whole, perPart)) : rows;
  g.tasks({getAsOpFoldResult(batch), rewriter.getIndexAttr(parts), rewriter.getIndexAttr(blocks)},
          [&](ValueRange ids) {
            Value n = ids[0], part = ids[1], f = ids[2], row = rows == 1 ? zero : part,
                  from = rows == 1 ? g.mul(part, perPart) : zero,
                  to = g.min(g.add(from, perPart), g.index(whole));
            g.each(from, to, t.places, [&](Value column) { k.tile(n, f, row, column, t.places); });
            if (whole < columns) {
              auto rest = [&] { k.tile(n, f, row, g.index(whole), columns - whole); };
              if (rows == 1)
                g.when(g.equal(part, parts - 1), rest);
              else
                rest();
            }
            if (output->hasHalo())
              output->border(g, n, f, row, g.add(row, 1));
          });
  output->finish(rewriter, op);
  return success();
}

bool packed::isPointwise(PackedSparseOp op) {
  auto isOne = [](int64_t v) { return v == 1; };
  return llvm::all_of(op.getKernel(), isOne) && llvm::all_of(op.getStrides(), isOne);
}

SparseTiles packed::chooseSparse(PackedSparseOp op, const Machine &machine) {
  ArrayRef<int64_t> y = typeOf(op.getY()).getShape();
  bool halo = op.getY().hasOneUse() && isa<HaloOp>(*op.getY().getUsers().begin());
  bool rows = halo || !isPointwise(op);
  int64_t columns = y.size() == 2 ? 8 : rows ? y[3] : y[2] * y[3], least = INT64_MAX;
  SparseTiles best;
  best.places = 1;
  // A step loads its weights and finds its tap, whatever the tile.
  for (int64_t q = 1; q <= std::min(columns, machine.registers - 4); ++q)
    if (int64_t cost = columns / q * (q + 4) + (columns % q ? columns % q + 6 : 0); cost < least) {
      least = cost;
      best.places = q;
    }
  best.task = std::max<int64_t>(1, 64 / best.places);
  return best;
}
