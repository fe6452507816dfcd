// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Batched.h.
#include "tessera/targets/cpu/packed/Batched.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Strided Strided::of(Gen &g, Value buffer) {
  Strided s{buffer, {}, {}};
  auto rank = cast<MemRefType>(buffer.getType()).getRank();
  s.strides.resize(rank);
  for (int64_t d = 0; d < rank; ++d)
    s.extents.push_back(extentOf(g, buffer, d));
  Value stride = g.index(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    s.strides[d] = stride;
    stride = g.mul(stride, s.extents[d]);
  }
  return s;
}

Value Strided::step(Gen &g, unsigned dim) const {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim) == 1 ? g.index(0) : strides[dim];
  return arith::SelectOp::create(g.b, g.loc, g.equal(extents[dim], 1), g.index(0), strides[dim]);
}

Value Strided::matrix(Gen &g, ValueRange at) const {
  Value sum = g.index(0);
  for (auto [d, index] : llvm::enumerate(at))
    sum = g.add(sum, g.mul(index, step(g, d)));
  return sum;
}

static MemRefType lineOf(Value buffer, int64_t count) {
  auto type = cast<MemRefType>(buffer.getType());
  return MemRefType::get({count}, type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, {1}));
}

Cursor packed::cursorFrom(Gen &g, Value buffer, Value offset, int64_t count) {
  Value v = memref::ReinterpretCastOp::create(g.b, g.loc, lineOf(buffer, count), buffer, OpFoldResult(offset),
                                              SmallVector<OpFoldResult>{g.b.getIndexAttr(count)},
                                              SmallVector<OpFoldResult>{g.b.getIndexAttr(1)});
  return {v};
}

// A line of nothing stands anywhere, so at the start.
static Value lineFrom(Gen &g, Value buffer, Value offset, Value count) {
  offset = arith::SelectOp::create(g.b, g.loc, g.equal(count, 0), g.index(0), offset);
  return memref::ReinterpretCastOp::create(g.b, g.loc, lineOf(buffer, ShapedType::kDynamic), buffer,
                                           OpFoldResult(offset), SmallVector<OpFoldResult>{count},
                                           SmallVector<OpFoldResult>{g.b.getIndexAttr(1)});
}

Value packed::loadLanes(Gen &g, Value buffer, Value offset, int64_t lanes, Value count) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (!count)
    return cursorFrom(g, buffer, offset, lanes).load(g, 0, lanes);
  Value zero = arith::ConstantOp::create(g.b, g.loc, g.b.getZeroAttr(element));
  return vector::TransferReadOp::create(g.b, g.loc, vectorOf(element, lanes),
                                        lineFrom(g, buffer, offset, count), ValueRange{g.index(0)}, zero,
                                        ArrayRef<bool>{false});
}

void packed::storeLanes(Gen &g, Value v, Value buffer, Value offset, Value count) {
  int64_t lanes = cast<VectorType>(v.getType()).getNumElements();
  if (!count)
    return cursorFrom(g, buffer, offset, lanes).store(g, v, 0);
  vector::TransferWriteOp::create(g.b, g.loc, v, lineFrom(g, buffer, offset, count), ValueRange{g.index(0)},
                                  ArrayRef<bool>{false});
}

SmallVector<Value> packed::indicesOf(Gen &g, Value number, ArrayRef<Value> extents) {
  SmallVector<Value> at(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    at[d] = d ? g.rem(number, extents[d]) : number;
    if (d)
      number = g.div(number, extents[d]);
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

// n vectors of n lanes → the columns of the matrix that they are.
static SmallVector<Value> exchanged(Gen &g, SmallVector<Value> rows) {
  int64_t n = int64_t(rows.size());
  for (int64_t step = 1; step < n; step *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < n / 2; ++i) {
      SmallVector<int64_t> low, high;
      for (int64_t k = 0; k < n / 2; ++k) {
        low.append({k, n + k});
        high.append({n / 2 + k, n + n / 2 + k});
      }
      next.push_back(vector::ShuffleOp::create(g.b, g.loc, rows[i], rows[i + n / 2], low));
      next.push_back(vector::ShuffleOp::create(g.b, g.loc, rows[i], rows[i + n / 2], high));
    }
    rows = next;
  }
  return rows;
}

// Rows of memory are columns of the panel: squares of lanes x lanes.
static void copyExchanged(Gen &g, const Matrix &from, Value row, Value depth, Value column,
                          const Memory &panel, int64_t lanes) {
  int64_t width = panel.shape[1];
  Value last = g.sub(from.rows, g.index(1));
  Value whole = g.mul(g.div(depth, lanes), lanes);
  auto square = [&](Value at, Value count) {
    for (int64_t k = 0; k < width; k += lanes) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < lanes; ++i) {
        Value own = g.min(g.add(column, k + i), last);
        Value offset = g.add(g.add(from.offset, g.mul(own, from.stride)), g.add(row, at));
        rows.push_back(loadLanes(g, from.buffer, offset, lanes, count));
      }
      rows = exchanged(g, rows);
      for (int64_t i = 0; i < lanes; ++i) {
        auto store = [&] {
          Value to = g.add(g.mul(g.add(at, i), width), k);
          cursorFrom(g, panel.buffer, to, lanes).store(g, rows[i], 0);
        };
        if (count && i)
          g.when(g.less(g.index(i), count), store);
        else
          store();
      }
    }
  };
  g.each(g.index(0), whole, lanes, [&](Value at) { square(at, {}); });
  g.when(g.less(whole, depth), [&] { square(whole, g.sub(depth, whole)); });
}

void packed::copyPanel(Gen &g, const Matrix &from, Value row, Value depth, Value column, Value count,
                       const Memory &panel, int64_t lanes) {
  int64_t width = panel.shape[1];
  if (from.transposed)
    return copyExchanged(g, from, row, depth, column, panel, lanes);
  g.each(g.index(0), depth, 1, [&](Value i) {
    Value offset = g.add(g.add(from.offset, g.mul(g.add(row, i), from.stride)), column);
    for (int64_t k = 0; k < width; k += lanes) {
      Value own;
      if (count)
        own = g.max(g.min(g.sub(count, g.index(k)), g.index(lanes)), g.index(0));
      Value v = loadLanes(g, from.buffer, g.add(offset, k), lanes, own);
      cursorFrom(g, panel.buffer, g.add(g.mul(i, width), k), lanes).store(g, v, 0);
    }
  });
}

SmallVector<Value> Tile::multiply(Gen &g, Value depth, int64_t unroll, SmallVector<Value> sums) const {
  size_t vectors = widths.size();
  auto steps = [&](Value at, int64_t count, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t s = 0; s < count; ++s) {
      Value k = g.add(at, s);
      Value base = g.add(offset, g.mul(k, stride));
      SmallVector<Value> factors;
      int64_t distance = 0;
      for (int64_t width : widths) {
        factors.push_back(cursorFrom(g, from, g.add(base, distance), width).load(g, 0, width));
        distance += width;
      }
      for (auto [i, row] : llvm::enumerate(rows)) {
        Value x = memref::LoadOp::create(g.b, g.loc, row, ValueRange{k});
        for (size_t w = 0; w < vectors; ++w) {
          Value &sum = next[i * vectors + w];
          sum = g.fma(vector::BroadcastOp::create(g.b, g.loc, sum.getType(), x), factors[w], sum);
        }
      }
    }
    return next;
  };
  Value whole = g.mul(g.div(depth, unroll), unroll);
  sums = g.loop(g.index(0), whole, unroll, sums,
                [&](Value at, ValueRange carried) { return steps(at, unroll, carried); });
  if (getConstantIntValue(depth) && getConstantIntValue(depth) == getConstantIntValue(whole))
    return sums;
  return g.loop(whole, depth, 1, sums, [&](Value at, ValueRange carried) { return steps(at, 1, carried); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Target Target::of(RewriterBase &rewriter, Gen &g, Value result, Value init) {
  Target target;
  if (result.hasOneUse())
    if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(*result.getUsers().begin());
        copy && isa<MemRefType>(copy.getDest().getType()) &&
        copy->getBlock() == result.getDefiningOp()->getBlock()) {
      target.copy = copy;
      target.buffer = copy.getDest();
      rewriter.setInsertionPointAfter(copy);
      return target;
    }
  RankedTensorType type = typeOf(result);
  SmallVector<Value> dynamic;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      dynamic.push_back(g.b.createOrFold<tensor::DimOp>(g.loc, init, d));
  target.buffer = memref::AllocOp::create(g.b, g.loc, MemRefType::get(type.getShape(), type.getElementType()),
                                          dynamic, g.b.getI64IntegerAttr(64));
  return target;
}

void Target::finish(RewriterBase &rewriter, Operation *op) const {
  if (copy) {
    rewriter.eraseOp(copy);
  } else {
    Value tensor =
        bufferization::ToTensorOp::create(rewriter, op->getLoc(), op->getResult(0).getType(), buffer,
                                          /*restrict=*/true, /*writable=*/true);
    rewriter.replaceAllUsesWith(op->getResult(0), tensor);
  }
  rewriter.eraseOp(op);
}
