// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linalg. Every structured operation, named or generic, is its loops, its indexing maps and its region, run
// in row-major order; pack, unpack and softmax have a meaning of their own.
#include "tessera/oracle/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <cmath>

using namespace tessera;
using namespace tessera::oracle;

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

namespace {
// One operand: a scalar, a tensor or memory, and where its element for a point of the loops is.
struct Operand {
  Val value;
  AffineMap map;
  // Linear maps into tensors: the element's position is `offset` plus the coefficients times the point.
  bool isLinear = false;
  int64_t offset = 0;
  SmallVector<int64_t, 6> coefficients;
  SmallVector<int64_t, 4> index;

  bool isScalar() const { return value.getTag() != Val::Tensor && value.getTag() != Val::Memory; }
  ArrayRef<int64_t> shape() const {
    if (isScalar())
      return {};
    return value.getTag() == Val::Memory ? ArrayRef<int64_t>(value.memory().sizes)
                                         : ArrayRef<int64_t>(value.elements().shape);
  }
};
} // namespace

// The coefficients of a linear expression of dimensions; false when it divides.
static bool linearize(AffineExpr expr, int64_t factor, int64_t &constant,
                      MutableArrayRef<int64_t> coefficients) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * c.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  if (pair && expr.getKind() == AffineExprKind::Add)
    return linearize(pair.getLHS(), factor, constant, coefficients) &&
           linearize(pair.getRHS(), factor, constant, coefficients);
  if (pair && expr.getKind() == AffineExprKind::Mul)
    if (auto c = dyn_cast<AffineConstantExpr>(pair.getRHS()))
      return linearize(pair.getLHS(), factor * c.getValue(), constant, coefficients);
  return false;
}

// Extents of the loops: each appears alone as an index of some operand.
static LogicalResult findExtents(Exec &x, const Inst &inst, ArrayRef<Operand> operands,
                                 SmallVectorImpl<int64_t> &extents) {
  for (const Operand &operand : operands)
    for (auto [d, expr] : llvm::enumerate(operand.map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t &extent = extents[dim.getPosition()], actual = operand.shape()[d];
        if (extent >= 0 && extent != actual)
          return x.error(inst, "has operands whose extents do not agree: " + Twine(extent) + " and " +
                                   Twine(actual) + " for loop " + Twine(dim.getPosition()));
        extent = actual;
      }
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent < 0)
      return x.error(inst, "has a loop " + Twine(d) + " whose extent no operand gives");
  return success();
}

// For linear maps the corners of the loops decide about all points.
static LogicalResult prepare(Exec &x, const Inst &inst, Operand &operand, ArrayRef<int64_t> extents) {
  ArrayRef<int64_t> shape = operand.shape();
  operand.index.assign(shape.size(), 0);
  if (operand.isScalar())
    return success();
  operand.coefficients.assign(extents.size(), 0);
  SmallVector<int64_t, 4> strides = denseStrides(shape);
  operand.isLinear = operand.value.getTag() == Val::Tensor;
  for (auto [d, expr] : llvm::enumerate(operand.map.getResults())) {
    int64_t constant = 0;
    SmallVector<int64_t, 6> coefficients(extents.size(), 0);
    if (!linearize(expr, 1, constant, coefficients)) {
      operand.isLinear = false;
      continue;
    }
    int64_t low = constant, high = constant;
    for (size_t l = 0; l < extents.size(); ++l) {
      (coefficients[l] < 0 ? low : high) += coefficients[l] * (extents[l] - 1);
      operand.coefficients[l] += coefficients[l] * strides[d];
    }
    operand.offset += constant * strides[d];
    if (low < 0 || high >= shape[d])
      return x.error(inst, "accesses " + Twine(low) + " to " + Twine(high) + " of extent " + Twine(shape[d]) +
                               " in dimension " + Twine(d));
  }
  return success();
}

static LogicalResult locate(Exec &x, const Inst &inst, Operand &operand, ArrayRef<int64_t> point) {
  for (auto [d, expr] : llvm::enumerate(operand.map.getResults())) {
    std::optional<int64_t> at = evaluate(expr, point, {});
    if (!at)
      return x.error(inst, "divides by a number that is not positive");
    operand.index[d] = *at;
  }
  return x.checkBounds(inst, operand.index, operand.shape(), "operand");
}

static int64_t linearPosition(const Operand &operand, ArrayRef<int64_t> point) {
  int64_t at = operand.offset;
  for (size_t l = 0; l < point.size(); ++l)
    at += operand.coefficients[l] * point[l];
  return at;
}

// The element may be undefined: many regions ignore the old value of their output.
static LogicalResult loadElement(Exec &x, const Inst &inst, Operand &operand, ArrayRef<int64_t> point,
                                 Val &value) {
  if (operand.isScalar()) {
    value = operand.value;
    return success();
  }
  if (operand.isLinear) {
    value = operand.value.elements().load(linearPosition(operand, point));
    return success();
  }
  if (failed(locate(x, inst, operand, point)))
    return failure();
  if (operand.value.getTag() == Val::Memory)
    return x.load(inst, operand.value.memory(), operand.index, value, /*allowUndef=*/true);
  value = operand.value.elements().load(operand.value.elements().linear(operand.index));
  return success();
}

static LogicalResult storeElement(Exec &x, const Inst &inst, Operand &operand, ArrayRef<int64_t> point,
                                  const Val &value) {
  if (operand.isLinear) {
    operand.value.elements().store(linearPosition(operand, point), value);
    return success();
  }
  if (failed(locate(x, inst, operand, point)))
    return failure();
  if (operand.value.getTag() == Val::Memory)
    return x.store(inst, operand.value.memory(), operand.index, value);
  operand.value.elements().store(operand.value.elements().linear(operand.index), value);
  return success();
}

LogicalResult oracle::runStructured(Exec &x, const Inst &inst) {
  auto op = cast<linalg::LinalgOp>(inst.op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::vector<Operand> operands(inst.in.size());
  size_t inits = op.getNumDpsInits(), inputs = operands.size() - inits;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (isa<ShapedType>(inst.op->getOperand(i).getType()) && x.in(inst, i).isUndef())
      return x.undefined(inst);
    operands[i].value = i < inputs ? x.in(inst, i) : x.take(inst, i);
    operands[i].map = maps[i];
    // Results are written in place; nobody else may see that.
    if (i >= inputs && operands[i].value.getTag() == Val::Tensor)
      mutate(operands[i].value);
  }
  SmallVector<int64_t, 6> extents(op.getNumLoops(), -1);
  if (failed(findExtents(x, inst, operands, extents)))
    return failure();
  bool isEmpty = llvm::is_contained(extents, 0);
  const CodeRegion &region = inst.regions[0];
  size_t numArgs = region.front().args.size();
  if (!isEmpty) {
    for (Operand &operand : operands)
      if (failed(prepare(x, inst, operand, extents)))
        return failure();
    SmallVector<int64_t, 6> point(extents.size());
    const int64_t *saved = std::exchange(x.point, point.data());
    Vals args, results;
    LogicalResult status = success();
    do {
      args.resize(numArgs);
      for (size_t i = 0; i < numArgs && succeeded(status); ++i)
        status = loadElement(x, inst, operands[i], point, args[i]);
      if (succeeded(status))
        status = x.run(region, args, results);
      for (size_t r = 0; r < inits && succeeded(status); ++r)
        status = storeElement(x, inst, operands[inputs + r], point, results[r]);
    } while (succeeded(status) && nextIndex(point, extents));
    x.point = saved;
    if (failed(status))
      return failure();
  }
  unsigned result = 0;
  for (size_t i = inputs; i < operands.size(); ++i)
    if (operands[i].value.getTag() == Val::Tensor)
      x.out(inst, result++) = std::move(operands[i].value);
  return success();
}

static LogicalResult loopIndex(Exec &x, const Inst &inst) {
  if (!x.point)
    return x.error(inst, "stands outside a linalg operation");
  x.out(inst) = Val::index(x.point[cast<linalg::IndexOp>(inst.op).getDim()]);
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
// The correspondence of a plain and a tiled layout.
struct Tiling {
  SmallVector<int64_t, 4> positions, tiles, permutation;

  template <typename Op> LogicalResult read(Exec &x, const Inst &inst, Op op, unsigned rank) {
    positions.assign(op.getInnerDimsPos().begin(), op.getInnerDimsPos().end());
    permutation.assign(op.getOuterDimsPerm().begin(), op.getOuterDimsPerm().end());
    if (permutation.empty())
      for (unsigned d = 0; d < rank; ++d)
        permutation.push_back(d);
    unsigned next = inst.in.size() - op.getInnerTiles().size();
    if (failed(x.mixed(inst, op.getStaticInnerTiles(), next, tiles)))
      return failure();
    for (int64_t tile : tiles)
      if (tile <= 0)
        return x.error(inst, "has a tile whose extent is not positive");
    return success();
  }
  // The plain index of a tiled one.
  void toPlain(ArrayRef<int64_t> tiled, SmallVectorImpl<int64_t> &plain) const {
    unsigned rank = permutation.size();
    plain.resize(rank);
    for (unsigned d = 0; d < rank; ++d)
      plain[permutation[d]] = tiled[d];
    for (size_t t = 0; t < tiles.size(); ++t)
      plain[positions[t]] = plain[positions[t]] * tiles[t] + tiled[rank + t];
  }
};
} // namespace

static LogicalResult pack(Exec &x, const Inst &inst) {
  auto op = cast<linalg::PackOp>(inst.op);
  if (x.in(inst, 0).getTag() != Val::Tensor || x.in(inst, 1).getTag() != Val::Tensor)
    return x.error(inst, "has no meaning in the oracle");
  const Elements &from = x.in(inst, 0).elements();
  Tiling tiling;
  if (failed(tiling.read(x, inst, op, from.shape.size())))
    return failure();
  Val target = x.in(inst, 1);
  Elements &to = mutate(target);
  // The padding is the operand between the destination and the tiles.
  Val padding = op.getPaddingValue() ? x.in(inst, 2) : Val();
  SmallVector<int64_t, 6> tiled(to.shape.size());
  SmallVector<int64_t, 4> plain;
  for (int64_t e = 0, count = to.size(); e < count; ++e, nextIndex(tiled, to.shape)) {
    tiling.toPlain(tiled, plain);
    int64_t at = from.linear(plain);
    to.store(e, at >= 0 ? from.load(at) : padding);
  }
  x.out(inst) = std::move(target);
  return success();
}

static LogicalResult unpack(Exec &x, const Inst &inst) {
  auto op = cast<linalg::UnPackOp>(inst.op);
  if (x.in(inst, 0).getTag() != Val::Tensor || x.in(inst, 1).getTag() != Val::Tensor)
    return x.error(inst, "has no meaning in the oracle");
  const Elements &from = x.in(inst, 0).elements();
  Val target = x.in(inst, 1);
  Elements &to = mutate(target);
  Tiling tiling;
  if (failed(tiling.read(x, inst, op, to.shape.size())))
    return failure();
  SmallVector<int64_t, 6> tiled(from.shape.size());
  SmallVector<int64_t, 4> plain;
  for (int64_t e = 0, count = from.size(); e < count; ++e, nextIndex(tiled, from.shape)) {
    tiling.toPlain(tiled, plain);
    if (int64_t at = to.linear(plain); at >= 0)
      to.store(at, from.load(e));
  }
  x.out(inst) = std::move(target);
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

// In long double, rounded once: the exact value up to a back end's own rounding.
static LogicalResult softmax(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).getTag() != Val::Tensor)
    return x.error(inst, "has no meaning in the oracle");
  const Elements &from = x.in(inst, 0).elements();
  int64_t along = cast<linalg::SoftmaxOp>(inst.op).getDimension();
  Ref<Elements> to = new Elements(from.info, from.shape);
  SmallVector<int64_t, 4> strides = denseStrides(from.shape), index(from.shape.size()), outer(from.shape);
  int64_t extent = from.shape[along], stride = strides[along];
  outer[along] = 1;
  if (from.size() != 0) {
    do {
      int64_t start = from.linear(index);
      long double largest = -HUGE_VALL, sum = 0;
      for (int64_t k = 0; k < extent; ++k) {
        if (!from.isDefined(start + k * stride))
          return x.undefined(inst);
        double value = toDouble(from.info, from.load(start + k * stride));
        largest = std::isnan(value) ? value : std::max<long double>(largest, value);
      }
      for (int64_t k = 0; k < extent; ++k)
        sum += expl(toDouble(from.info, from.load(start + k * stride)) - largest);
      for (int64_t k = 0; k < extent; ++k)
        to->store(start + k * stride,
                  fromLongDouble(from.info,
                                 expl(toDouble(from.info, from.load(start + k * stride)) - largest) / sum));
    } while (nextIndex(index, outer));
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

void oracle::addLinalg(HandlerTable &table) {
  table.add("linalg.index", loopIndex);
  table.add("linalg.pack", pack);
  table.add("linalg.unpack", unpack);
  table.add("linalg.softmax", softmax);
}
