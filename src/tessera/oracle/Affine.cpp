// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The affine dialect: expressions, loops and accesses.
#include "tessera/oracle/Tensors.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"

using namespace tessera;
using namespace tessera::oracle;

std::optional<int64_t> oracle::evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto pair = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(pair.getLHS(), dims, symbols),
                         b = evaluate(pair.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  // Unsigned, so that an overflow wraps as index arithmetic does.
  auto wrap = [](uint64_t value) { return static_cast<int64_t>(value); };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return wrap(static_cast<uint64_t>(*a) + static_cast<uint64_t>(*b));
  case AffineExprKind::Mul:
    return wrap(static_cast<uint64_t>(*a) * static_cast<uint64_t>(*b));
  default:
    break;
  }
  if (*b <= 0)
    return std::nullopt;
  int64_t quotient = *a / *b, remainder = *a % *b;
  switch (expr.getKind()) {
  case AffineExprKind::Mod:
    return remainder < 0 ? remainder + *b : remainder;
  case AffineExprKind::FloorDiv:
    return remainder < 0 ? quotient - 1 : quotient;
  case AffineExprKind::CeilDiv:
    return remainder > 0 ? quotient + 1 : quotient;
  default:
    return std::nullopt;
  }
}

// The map's results for operands from `first` on.
static LogicalResult applyMap(Exec &x, const Inst &inst, AffineMap map, unsigned first,
                              SmallVectorImpl<int64_t> &results) {
  SmallVector<int64_t, 4> dims, symbols;
  if (failed(x.indices(inst, first, map.getNumDims(), dims)) ||
      failed(x.indices(inst, first + map.getNumDims(), map.getNumSymbols(), symbols)))
    return failure();
  results.clear();
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> value = evaluate(expr, dims, symbols);
    if (!value)
      return x.error(inst, "divides by a number that is not positive");
    results.push_back(*value);
  }
  return success();
}

static LogicalResult apply(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> results;
  if (failed(applyMap(x, inst, cast<affine::AffineApplyOp>(inst.op).getAffineMap(), 0, results)))
    return failure();
  x.out(inst) = Val::index(results[0]);
  return success();
}

template <typename Op, bool isMin> static LogicalResult extremum(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> results;
  if (failed(applyMap(x, inst, cast<Op>(inst.op).getMap(), 0, results)))
    return failure();
  x.out(inst) = Val::index(isMin ? *llvm::min_element(results) : *llvm::max_element(results));
  return success();
}

static LogicalResult runFor(Exec &x, const Inst &inst) {
  auto loop = cast<affine::AffineForOp>(inst.op);
  AffineMap lowerMap = loop.getLowerBoundMap(), upperMap = loop.getUpperBoundMap();
  SmallVector<int64_t, 4> lower, upper;
  if (failed(applyMap(x, inst, lowerMap, 0, lower)) ||
      failed(applyMap(x, inst, upperMap, lowerMap.getNumInputs(), upper)))
    return failure();
  Vals args, results;
  for (unsigned i = lowerMap.getNumInputs() + upperMap.getNumInputs(); i < inst.in.size(); ++i)
    results.push_back(x.take(inst, i));
  int64_t end = *llvm::min_element(upper);
  for (int64_t iv = *llvm::max_element(lower); iv < end; iv += loop.getStepAsInt()) {
    args.assign(1, Val::index(iv));
    for (Val &v : results)
      args.push_back(std::move(v));
    if (failed(x.run(inst.regions[0], args, results)))
      return failure();
  }
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(results[i]);
  return success();
}

static LogicalResult runIf(Exec &x, const Inst &inst) {
  IntegerSet set = cast<affine::AffineIfOp>(inst.op).getIntegerSet();
  SmallVector<int64_t, 4> dims, symbols;
  if (failed(x.indices(inst, 0, set.getNumDims(), dims)) ||
      failed(x.indices(inst, set.getNumDims(), set.getNumSymbols(), symbols)))
    return failure();
  bool holds = true;
  for (auto [i, expr] : llvm::enumerate(set.getConstraints())) {
    std::optional<int64_t> value = evaluate(expr, dims, symbols);
    if (!value)
      return x.error(inst, "divides by a number that is not positive");
    holds &= set.isEq(i) ? *value == 0 : *value >= 0;
  }
  const CodeRegion &region = inst.regions[holds ? 0 : 1];
  Vals results;
  if (!region.blocks.empty() && failed(x.run(region, {}, results)))
    return failure();
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(results[i]);
  return success();
}

static LogicalResult load(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> index;
  if (failed(applyMap(x, inst, cast<affine::AffineLoadOp>(inst.op).getAffineMap(), 1, index)))
    return failure();
  return x.load(inst, x.in(inst, 0).memory(), index, x.out(inst));
}

static LogicalResult store(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> index;
  if (failed(applyMap(x, inst, cast<affine::AffineStoreOp>(inst.op).getAffineMap(), 2, index)))
    return failure();
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  return x.store(inst, x.in(inst, 1).memory(), index, x.in(inst, 0));
}

static LogicalResult delinearize(Exec &x, const Inst &inst) {
  auto op = cast<affine::AffineDelinearizeIndexOp>(inst.op);
  unsigned first = 1;
  SmallVector<int64_t, 4> basis;
  int64_t rest;
  if (failed(x.mixed(inst, op.getStaticBasis(), first, basis)) || failed(x.index(inst, 0, rest)))
    return failure();
  // Without an outer bound the first result takes what is left.
  for (size_t r = inst.out.size(), b = basis.size(); r-- > 0;) {
    if (b == 0 || r == 0) {
      x.out(inst, r) = Val::index(rest);
      break;
    }
    int64_t extent = basis[--b];
    if (extent <= 0)
      return x.error(inst, "divides by a number that is not positive");
    int64_t digit = rest % extent;
    if (digit < 0)
      digit += extent;
    x.out(inst, r) = Val::index(digit);
    rest = (rest - digit) / extent;
  }
  return success();
}

static LogicalResult linearize(Exec &x, const Inst &inst) {
  auto op = cast<affine::AffineLinearizeIndexOp>(inst.op);
  unsigned count = op.getMultiIndex().size(), first = count;
  SmallVector<int64_t, 4> index, basis;
  if (failed(x.indices(inst, 0, count, index)) || failed(x.mixed(inst, op.getStaticBasis(), first, basis)))
    return failure();
  uint64_t value = 0, stride = 1;
  for (size_t i = count, b = basis.size(); i-- > 0;) {
    value += static_cast<uint64_t>(index[i]) * stride;
    if (b > 0)
      stride *= static_cast<uint64_t>(basis[--b]);
  }
  x.out(inst) = Val::scalar(value);
  return success();
}

void oracle::addAffine(HandlerTable &table) {
  table.add("affine.apply", apply);
  table.add("affine.min", extremum<affine::AffineMinOp, true>);
  table.add("affine.max", extremum<affine::AffineMaxOp, false>);
  table.add("affine.for", runFor);
  table.add("affine.if", runIf);
  table.add("affine.load", load);
  table.add("affine.store", store);
  table.add("affine.delinearize_index", delinearize);
  table.add("affine.linearize_index", linearize);
}
