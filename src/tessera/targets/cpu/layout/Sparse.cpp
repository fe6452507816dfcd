// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Sparse.h.
#include "tessera/targets/cpu/layout/Sparse.h"

#include "tessera/transforms/nn/graph/Constants.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

namespace {
/// Weights as blocks x rows x lanes.
struct Weights {
  int64_t blocks = 0, rows = 0, lanes = 0;
};
} // namespace

static std::optional<Weights> weightsOf(Operation *op) {
  if (auto conv = dyn_cast<PackedConvOp>(op)) {
    ArrayRef<int64_t> w = typeOf(conv.getW()).getShape();
    if (typeOf(conv.getW()).getElementType().isF32() && conv.getGroups() == 1)
      return Weights{w[0], w[1] * w[2] * w[3] * w[4], w[5]};
  }
  if (auto product = dyn_cast<PackedMatmulOp>(op)) {
    ArrayRef<int64_t> w = typeOf(product.getW()).getShape();
    if (typeOf(product.getW()).getElementType().isF32() && int64_t(product.getColumns()) == w[0] * w[2])
      return Weights{w[0], w[1], w[2]};
  }
  return std::nullopt;
}

static bool isFilled(ArrayRef<float> row) {
  return llvm::any_of(row, [](float v) { return v != 0; });
}

bool cpu::isMostlyZero(Value w) {
  Bytes bytes(elementsOf(w));
  if (!bytes || !typeOf(w).getElementType().isF32())
    return false;
  ArrayRef<float> all = bytes.as<float>();
  return 2 * size_t(llvm::count(all, 0.f)) >= all.size();
}

static bool markSparse(Operation *op) {
  std::optional<Weights> w = weightsOf(op);
  ElementsAttr attr = w ? elementsOf(op->getOperand(1)) : ElementsAttr();
  if (!attr)
    return false;
  Bytes bytes(attr);
  ArrayRef<float> all = bytes.as<float>();
  int64_t rows = w->blocks * w->rows, filled = 0;
  if (int64_t(all.size()) != rows * w->lanes)
    return false;
  for (int64_t r = 0; r < rows && 2 * filled <= rows; ++r)
    filled += isFilled(all.slice(r * w->lanes, w->lanes));
  if (2 * filled > rows)
    return false;
  cpu::Notes::filled.set(op, 100 * filled / rows);
  return true;
}

Value cpu::emitSparse(OpBuilder &b, Operation *op) {
  Weights w = *weightsOf(op);
  Bytes bytes(elementsOf(op->getOperand(1)));
  ArrayRef<float> all = bytes.as<float>();
  std::vector<float> values;
  std::vector<int32_t> taps, starts = {0};
  for (int64_t f = 0; f < w.blocks; ++f) {
    for (int64_t r = 0; r < w.rows; ++r)
      if (ArrayRef<float> row = all.slice((f * w.rows + r) * w.lanes, w.lanes); isFilled(row)) {
        values.insert(values.end(), row.begin(), row.end());
        taps.push_back(int32_t(r));
      }
    starts.push_back(int32_t(taps.size()));
  }
  // There is no tensor without elements.
  if (taps.empty()) {
    values.assign(w.lanes, 0);
    taps.push_back(0);
  }
  auto constant = [&](ArrayRef<int64_t> shape, Type element, auto elements) {
    return makeConstant(b, op->getLoc(), makeElements(RankedTensorType::get(shape, element), elements));
  };
  int64_t count = taps.size();
  SmallVector<int64_t> kernel = {1, 1}, strides = {1, 1}, dilations = {1, 1};
  if (auto conv = dyn_cast<PackedConvOp>(op)) {
    kernel.assign({typeOf(conv.getW()).getDimSize(2), typeOf(conv.getW()).getDimSize(3)});
    strides.assign(conv.getStrides().begin(), conv.getStrides().end());
    dilations.assign(conv.getDilations().begin(), conv.getDilations().end());
  }
  return PackedSparseOp::create(
      b, op->getLoc(), op->getOperand(0), constant({count, w.lanes}, b.getF32Type(), ArrayRef<float>(values)),
      constant({count}, b.getI32Type(), ArrayRef<int32_t>(taps)),
      constant({int64_t(starts.size())}, b.getI32Type(), ArrayRef<int32_t>(starts)),
      op->getNumOperands() > 2 ? op->getOperand(2) : Value(), kernel, strides, dilations);
}

Value cpu::chooseSparse(OpBuilder &b, Operation *from, Value y, Operation *direct) {
  Operation *dense = y.getDefiningOp();
  if (markSparse(direct)) {
    StringAttr choice = cpu::Notes::algorithm.get(from);
    cpu::Notes::filled.copy(direct, dense);
    if (choice && choice.getValue() == sparseName)
      y = emitSparse(b, direct);
  }
  if (direct != dense)
    direct->erase();
  if (dense != y.getDefiningOp())
    dense->erase();
  return y;
}
