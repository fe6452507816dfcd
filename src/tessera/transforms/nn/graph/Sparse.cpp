// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Sparse.h.
#include "tessera/transforms/nn/graph/Sparse.h"

#include "tessera/transforms/nn/graph/Constants.h"

using namespace tessera;
using namespace tessera::nn;

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
    if (typeOf(conv.getW()).getElementType().isF32() && w[2] * w[3] == 1 && conv.getGroups() == 1 &&
        conv.getStrides() == ArrayRef<int64_t>({1, 1}))
      return Weights{w[0], w[1] * w[4], w[5]};
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

bool nn::markSparse(Operation *op) {
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
  op->setAttr(filledAttr, IntegerAttr::get(IntegerType::get(op->getContext(), 64), 100 * filled / rows));
  return true;
}

Value nn::emitSparse(OpBuilder &b, Operation *op) {
  Weights w = *weightsOf(op);
  Bytes bytes(elementsOf(op->getOperand(1)));
  ArrayRef<float> all = bytes.as<float>();
  std::vector<float> values;
  std::vector<int32_t> channels, starts = {0};
  for (int64_t f = 0; f < w.blocks; ++f) {
    for (int64_t r = 0; r < w.rows; ++r)
      if (ArrayRef<float> row = all.slice((f * w.rows + r) * w.lanes, w.lanes); isFilled(row)) {
        values.insert(values.end(), row.begin(), row.end());
        channels.push_back(int32_t(r));
      }
    starts.push_back(int32_t(channels.size()));
  }
  // There is no tensor without elements.
  if (channels.empty()) {
    values.assign(w.lanes, 0);
    channels.push_back(0);
  }
  auto constant = [&](ArrayRef<int64_t> shape, Type element, auto elements) {
    return makeConstant(b, op->getLoc(), makeElements(RankedTensorType::get(shape, element), elements));
  };
  int64_t count = channels.size();
  return PackedSparseOp::create(b, op->getLoc(), op->getOperand(0),
                                constant({count, w.lanes}, b.getF32Type(), ArrayRef<float>(values)),
                                constant({count}, b.getI32Type(), ArrayRef<int32_t>(channels)),
                                constant({int64_t(starts.size())}, b.getI32Type(), ArrayRef<int32_t>(starts)),
                                op->getNumOperands() > 2 ? op->getOperand(2) : Value());
}
