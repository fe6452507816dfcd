// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on constants are computed at compile time. Movement and plain arithmetic of large weights are
// done here, on their bytes; everything else by the evaluator, which knows what each operation means.
#include "tessera/transforms/nn/graph/Patterns.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

/// A result may be so much larger than its operands: what only repeats elements is cheaper to compute than to
/// store.
static constexpr int64_t maxGrowth = 4096;
/// Elements that the evaluator is asked to compute at most.
static constexpr int64_t maxEvaluated = 1 << 16;

static int64_t totalBytes(TypeRange types) {
  int64_t total = 0;
  for (Type t : types) {
    auto type = cast<RankedTensorType>(t);
    total += type.getNumElements() * std::max(1u, elementBytes(type.getElementType()));
  }
  return total;
}

static ElementsAttr foldReshape(ElementsAttr x, RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(x))
    return dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(x))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

// Copies the elements of `from` that `strides` (in elements) reaches from `start`, in the order of `shape`.
static std::vector<char> gatherStrided(ArrayRef<char> from, unsigned bytes, ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> strides, int64_t start) {
  int64_t count = 1;
  for (int64_t e : shape)
    count *= e;
  std::vector<char> out(size_t(count) * bytes);
  if (!count)
    return out;
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t at = start;
  char *to = out.data();
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    std::copy_n(from.data() + at * bytes, bytes, to);
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

static ElementsAttr foldTranspose(TransposeOp op, ElementsAttr x) {
  auto from = cast<RankedTensorType>(op.getX().getType()), to = cast<RankedTensorType>(op.getType());
  Bytes bytes(x);
  if (!bytes)
    return {};
  SmallVector<int64_t> strides = stridesOf(from.getShape()), permuted;
  for (int64_t p : op.getPermutation())
    permuted.push_back(strides[p]);
  return makeElements(
      to, gatherStrided(bytes.data(), elementBytes(to.getElementType()), to.getShape(), permuted, 0));
}

static ElementsAttr foldSlice(SliceOp op, ElementsAttr x) {
  auto from = cast<RankedTensorType>(op.getX().getType()), to = cast<RankedTensorType>(op.getType());
  Bytes bytes(x);
  if (!bytes)
    return {};
  SmallVector<int64_t> strides = stridesOf(from.getShape());
  int64_t start = 0;
  for (auto [d, stride] : llvm::enumerate(strides)) {
    start += op.getStarts()[d] * stride;
    stride *= op.getSteps()[d];
  }
  return makeElements(
      to, gatherStrided(bytes.data(), elementBytes(to.getElementType()), to.getShape(), strides, start));
}

static std::optional<float> applyBinary(BinaryKind kind, float a, float b) {
  switch (kind) {
  case BinaryKind::add:
    return a + b;
  case BinaryKind::sub:
    return a - b;
  case BinaryKind::mul:
    return a * b;
  case BinaryKind::div:
    return a / b;
  default:
    return std::nullopt;
  }
}

static ElementsAttr foldBinary(BinaryOp op, ElementsAttr a, ElementsAttr b) {
  auto type = cast<RankedTensorType>(op.getType());
  Bytes x(a), y(b);
  if (!type.getElementType().isF32() || !a.getElementType().isF32() || !x || !y ||
      !applyBinary(op.getKind(), 1, 1))
    return {};
  // Strides of 0 repeat an operand along what it lacks.
  auto spread = [&](ElementsAttr attr) {
    ArrayRef<int64_t> shape = attr.getShapedType().getShape();
    SmallVector<int64_t> own = stridesOf(shape), all(type.getRank(), 0);
    for (auto [d, extent] : llvm::enumerate(shape))
      all[type.getRank() - shape.size() + d] = extent == 1 ? 0 : own[d];
    return all;
  };
  std::vector<char> left = gatherStrided(x.data(), 4, type.getShape(), spread(a), 0),
                    right = gatherStrided(y.data(), 4, type.getShape(), spread(b), 0);
  float *l = reinterpret_cast<float *>(left.data());
  const float *r = reinterpret_cast<const float *>(right.data());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    l[i] = *applyBinary(op.getKind(), l[i], r[i]);
  return makeElements(type, std::move(left));
}

static ElementsAttr foldUnary(UnaryOp op, ElementsAttr a) {
  Bytes x(a);
  auto type = cast<RankedTensorType>(op.getType());
  if (!a.getElementType().isF32() || !type.getElementType().isF32() || !x)
    return {};
  std::vector<char> out(x.data().begin(), x.data().end());
  float *to = reinterpret_cast<float *>(out.data());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    switch (op.getKind()) {
    case UnaryKind::neg:
      to[i] = -to[i];
      break;
    case UnaryKind::abs:
      to[i] = std::fabs(to[i]);
      break;
    case UnaryKind::sqrt:
      to[i] = std::sqrt(to[i]);
      break;
    case UnaryKind::reciprocal:
      to[i] = 1 / to[i];
      break;
    default:
      return {};
    }
  return makeElements(type, std::move(out));
}

namespace {

struct FoldConstants : RewritePattern {
  FoldConstants(MLIRContext *ctx, const Evaluator &evaluate)
      : RewritePattern(MatchAnyOpTypeTag(), 3, ctx), evaluate(evaluate) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<NnOp>(op) || op->getNumRegions() || !op->getNumOperands() || !isMemoryEffectFree(op))
      return failure();
    SmallVector<ElementsAttr> operands;
    for (Value v : op->getOperands()) {
      operands.push_back(elementsOf(v));
      if (!operands.back())
        return failure();
    }
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
        return failure();
    if (totalBytes(op->getResultTypes()) > totalBytes(op->getOperandTypes()) + maxGrowth)
      return failure();
    SmallVector<ElementsAttr> results;
    if (ElementsAttr fast = foldFast(op, operands))
      results.push_back(fast);
    else if (evaluate && countAll(op) <= maxEvaluated)
      results = evaluate(op, operands);
    if (results.size() != op->getNumResults())
      return failure();
    SmallVector<Value> values;
    for (ElementsAttr attr : results)
      values.push_back(makeConstant(rewriter, op->getLoc(), attr));
    rewriter.replaceOp(op, values);
    return success();
  }

private:
  static int64_t countAll(Operation *op) {
    int64_t count = cast<NnOp>(op).getFlops();
    for (Type type : op->getResultTypes())
      count += countElements(type);
    return count;
  }

  static ElementsAttr foldFast(Operation *op, ArrayRef<ElementsAttr> operands) {
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return foldReshape(operands[0], cast<RankedTensorType>(reshape.getType()));
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return foldTranspose(transpose, operands[0]);
    if (auto slice = dyn_cast<SliceOp>(op))
      return foldSlice(slice, operands[0]);
    if (auto binary = dyn_cast<BinaryOp>(op))
      return foldBinary(binary, operands[0], operands[1]);
    if (auto unary = dyn_cast<UnaryOp>(op))
      return foldUnary(unary, operands[0]);
    return {};
  }

  const Evaluator &evaluate;
};

} // namespace

void nn::populateFoldConstants(RewritePatternSet &patterns, const Evaluator &evaluate) {
  patterns.add<FoldConstants>(patterns.getContext(), evaluate);
}
