// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two computed operands. A task has a block of the result: for each block of the reduction, the
// columns of the second operand that it takes are copied side by side, as a panel that stays in the cache for
// all of the task's rows.
#include "tessera/targets/cpu/packed/Batched.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

/// Steps of the reduction for which a panel is copied.
static constexpr int64_t depthOfPanel = 256;

LogicalResult packed::lowerProduct(RewriterBase &rewriter, ProductOp op, const BatchTiles &t,
                                   std::string &why) {
  if (t.rows < 1 || t.lanes < 1 || t.vectors < 1 || t.unroll < 1 || t.task < 1) {
    why = "expected numbers of at least 1";
    return failure();
  }
  rewriter.setInsertionPointAfter(op);
  Gen g{rewriter, op.getLoc()};
  Target target = Target::of(rewriter, g, op.getZ(), op.getInit());
  Strided x = Strided::of(g, inputOf(rewriter, op.getX()).memory.buffer),
          y = Strided::of(g, inputOf(rewriter, op.getY()).memory.buffer), z = Strided::of(g, target.buffer);
  unsigned rank = x.rank();
  ArrayRef<Value> lead = ArrayRef(z.extents).drop_back(2);
  Value rows = z.extents[rank - 2], columns = z.extents[rank - 1], depth = x.extents[rank - 1],
        matrices = g.index(1);
  for (Value extent : lead)
    matrices = g.mul(matrices, extent);
  // Wide enough that the panel is worth its rows of x, which are read once for each.
  int64_t lanes = t.lanes, width = 2 * t.vectors * lanes, high = ceilDiv(t.task, t.rows) * t.rows;
  if (std::optional<int64_t> known = getConstantIntValue(columns))
    width = std::min(width, ceilDiv(*known, t.vectors * lanes) * t.vectors * lanes);
  auto parts = [&](Value extent, int64_t size) {
    return getAsOpFoldResult(g.div(g.add(extent, size - 1), size));
  };
  g.tasks({getAsOpFoldResult(matrices), parts(columns, width), parts(rows, high)}, [&](ValueRange ids) {
    SmallVector<Value> at = indicesOf(g, ids[0], lead);
    Value column = g.mul(ids[1], width), first = g.mul(ids[2], high);
    Value own = g.min(g.sub(rows, first), g.index(high)),
          wide = g.min(g.sub(columns, column), g.index(width));
    Memory panel = allocate(g, {depthOfPanel, width}, rewriter.getF32Type()),
           sums = allocate(g, {high, width}, rewriter.getF32Type());
    Value zero = g.splat(vectorOf(rewriter.getF32Type(), lanes), 0), xs = x.matrix(g, at);
    g.each(g.index(0), own, 1, [&](Value i) {
      for (int64_t k = 0; k < width; k += lanes)
        cursorFrom(g, sums.buffer, g.add(g.mul(i, width), k), lanes).store(g, zero, 0);
    });
    bool turned = op.getTransposeY();
    Matrix from{y.buffer, y.matrix(g, at), y.strides[rank - 2], turned ? columns : depth, turned};
    g.each(g.index(0), depth, depthOfPanel, [&](Value k) {
      Value steps = g.min(g.sub(depth, k), g.index(depthOfPanel));
      copyPanel(g, from, k, steps, column, wide, panel, lanes);
      g.each(g.index(0), own, t.rows, [&](Value row) {
        for (int64_t part = 0; part < width; part += t.vectors * lanes) {
          Tile tile{
              {}, panel.buffer, g.index(part), g.index(width), lanes, SmallVector<int64_t>(t.vectors, lanes)};
          SmallVector<Value> init;
          for (int64_t i = 0; i < t.rows; ++i) {
            // Rows that there are not are the last one again.
            Value number = g.add(first, g.min(g.add(row, i), g.sub(own, g.index(1))));
            tile.rows.push_back(
                cursorFrom(g, x.buffer, g.add(g.add(xs, g.mul(number, x.strides[rank - 2])), k), depthOfPanel)
                    .view);
            for (int64_t w = 0; w < t.vectors; ++w)
              init.push_back(
                  cursorFrom(g, sums.buffer, g.add(g.mul(g.add(row, i), width), part + w * lanes), lanes)
                      .load(g, 0, lanes));
          }
          SmallVector<Value> done = tile.multiply(g, steps, t.unroll, init);
          for (int64_t i = 0; i < t.rows; ++i)
            for (int64_t w = 0; w < t.vectors; ++w)
              cursorFrom(g, sums.buffer, g.add(g.mul(g.add(row, i), width), part + w * lanes), lanes)
                  .store(g, done[i * t.vectors + w], 0);
        }
      });
    });
    Value zs = z.matrix(g, at);
    auto store = [&](bool whole) {
      g.each(g.index(0), own, 1, [&](Value i) {
        for (int64_t k = 0; k < width; k += lanes) {
          Value v = cursorFrom(g, sums.buffer, g.add(g.mul(i, width), k), lanes).load(g, 0, lanes);
          Value to = g.add(g.add(zs, g.mul(g.add(first, i), z.strides[rank - 2])), g.add(column, k)), count;
          if (!whole)
            count = g.max(g.min(g.sub(wide, g.index(k)), g.index(lanes)), g.index(0));
          storeLanes(g, v, z.buffer, to, count);
        }
      });
    };
    Value full = g.equal(wide, width);
    g.when(full, [&] { store(true); });
    g.when(g.less(wide, g.index(width)), [&] { store(false); });
  });
  target.finish(rewriter, op);
  return success();
}

BatchTiles packed::chooseBatch(const Machine &machine) {
  BatchTiles t;
  t.rows = machine.registers >= 32 ? 8 : 4;
  t.lanes = machine.lanes;
  t.vectors = 2;
  t.unroll = 4;
  t.task = 64;
  return t;
}
