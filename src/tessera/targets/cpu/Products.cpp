// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices that no schedule reached, such as that of a state in each step of a recurrent layer: a
// few rows and columns of the result stay in registers over the whole sum, whose order stays the same.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tessera;
using namespace tessera::cpu;

namespace {

/// y[i, j] += x[i, k] * w[k, j], with loops i, k, j.
struct Product {
  Value x, w, y;
  arith::MulFOp times;
  arith::AddFOp plus;
  int64_t columns, lanes;

  /// The rows from `row` on with `vectors` vectors of columns from `column` on.
  void tile(OpBuilder &b, Location loc, Value row, Value column, int64_t rows, int64_t vectors) const;
  /// All columns, in tiles of so many vectors, then fewer.
  void row(OpBuilder &b, Location loc, Value row, int64_t rows, int64_t vectors) const;
};

} // namespace

static Value index(OpBuilder &b, Location loc, int64_t v) {
  return arith::ConstantIndexOp::create(b, loc, v);
}

// A matrix whose columns stand side by side in memory.
static bool hasRows(Value v) {
  auto type = dyn_cast<MemRefType>(v.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isF32())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) && strides.back() == 1;
}

static std::optional<Product> matchProduct(linalg::GenericOp op, int64_t lanes) {
  using utils::IteratorType;
  if (!op.hasPureBufferSemantics() || op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<IteratorType> it = op.getIteratorTypesArray();
  AffineExpr i, k, j;
  bindDims(op.getContext(), i, k, j);
  auto map = [&](AffineExpr a, AffineExpr b) { return AffineMap::get(3, 0, {a, b}, op.getContext()); };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (it[0] != IteratorType::parallel || it[1] != IteratorType::reduction ||
      it[2] != IteratorType::parallel || maps[0] != map(i, k) || maps[1] != map(k, j) || maps[2] != map(i, j))
    return std::nullopt;
  Product p{op.getInputs()[0], op.getInputs()[1], op.getOutputs()[0], {}, {}, 0, lanes};
  if (!hasRows(p.x) || !hasRows(p.w) || !hasRows(p.y))
    return std::nullopt;
  p.columns = cast<MemRefType>(p.y.getType()).getDimSize(1);
  if (ShapedType::isDynamic(p.columns) || p.columns % lanes)
    return std::nullopt;
  Block *body = op.getBody();
  p.plus = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!p.plus || body->getOperations().size() != 3)
    return std::nullopt;
  Value product = p.plus.getLhs() == body->getArgument(2) ? p.plus.getRhs() : p.plus.getLhs();
  p.times = product.getDefiningOp<arith::MulFOp>();
  auto takes = [](Operation *two, Value a, Value b) {
    return (two->getOperand(0) == a && two->getOperand(1) == b) ||
           (two->getOperand(0) == b && two->getOperand(1) == a);
  };
  if (!p.times || !takes(p.plus, body->getArgument(2), product) ||
      !takes(p.times, body->getArgument(0), body->getArgument(1)))
    return std::nullopt;
  return p;
}

void Product::tile(OpBuilder &b, Location loc, Value row, Value column, int64_t rows, int64_t vectors) const {
  auto type = VectorType::get({lanes}, b.getF32Type());
  SmallVector<Value> rowAt, columnAt, sums;
  for (int64_t r = 0; r < rows; ++r)
    rowAt.push_back(b.createOrFold<arith::AddIOp>(loc, row, index(b, loc, r)));
  for (int64_t v = 0; v < vectors; ++v)
    columnAt.push_back(b.createOrFold<arith::AddIOp>(loc, column, index(b, loc, v * lanes)));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(vector::LoadOp::create(b, loc, type, y, ValueRange{rowAt[r], columnAt[v]}));
  Value depth = memref::DimOp::create(b, loc, x, 1);
  auto loop = scf::ForOp::create(
      b, loc, index(b, loc, 0), depth, index(b, loc, 1), sums,
      [&](OpBuilder &b, Location loc, Value k, ValueRange carried) {
        SmallVector<Value> weights, next(carried);
        for (int64_t v = 0; v < vectors; ++v)
          weights.push_back(vector::LoadOp::create(b, loc, type, w, ValueRange{k, columnAt[v]}));
        for (int64_t r = 0; r < rows; ++r) {
          Value one = memref::LoadOp::create(b, loc, x, ValueRange{rowAt[r], k});
          Value all = vector::BroadcastOp::create(b, loc, type, one);
          for (int64_t v = 0; v < vectors; ++v) {
            arith::MulFOp once = times;
            arith::AddFOp sum = plus;
            Value product = arith::MulFOp::create(b, loc, all, weights[v], once.getFastmathAttr());
            Value &own = next[r * vectors + v];
            own = arith::AddFOp::create(b, loc, own, product, sum.getFastmathAttr());
          }
        }
        scf::YieldOp::create(b, loc, next);
      });
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      vector::StoreOp::create(b, loc, loop.getResult(r * vectors + v), y, ValueRange{rowAt[r], columnAt[v]});
}

void Product::row(OpBuilder &b, Location loc, Value row, int64_t rows, int64_t vectors) const {
  int64_t from = 0;
  for (; vectors; vectors /= 2) {
    int64_t step = vectors * lanes, to = from + (columns - from) / step * step;
    if (to > from)
      scf::ForOp::create(b, loc, index(b, loc, from), index(b, loc, to), index(b, loc, step), ValueRange(),
                         [&](OpBuilder &b, Location loc, Value column, ValueRange) {
                           tile(b, loc, row, column, rows, vectors);
                           scf::YieldOp::create(b, loc);
                         });
    from = to;
  }
}

void cpu::tileProducts(ModuleOp kernels, int64_t lanes, int64_t registers) {
  SmallVector<std::pair<linalg::GenericOp, Product>> products;
  kernels.walk([&](linalg::GenericOp op) {
    if (std::optional<Product> product = matchProduct(op, lanes))
      products.push_back({op, *product});
  });
  // Two vectors of columns; where there is one row, more of them hide the latency of its sums.
  int64_t rows = registers >= 32 ? 8 : 4;
  for (auto &[op, product] : products) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value count = memref::DimOp::create(b, loc, product.y, 0);
    Value size = index(b, loc, rows);
    Value whole = arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, count, size), size);
    auto loop = [&, &product = product](Value from, Value to, int64_t step, int64_t vectors) {
      scf::ForOp::create(b, loc, from, to, index(b, loc, step), ValueRange(),
                         [&](OpBuilder &b, Location loc, Value at, ValueRange) {
                           product.row(b, loc, at, step, vectors);
                           scf::YieldOp::create(b, loc);
                         });
    };
    loop(index(b, loc, 0), whole, rows, 2);
    loop(whole, count, 1, 8);
    op.erase();
  }
}
