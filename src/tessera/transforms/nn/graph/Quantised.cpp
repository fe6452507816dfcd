// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that were quantised elsewhere: dequantize → layer → quantize. Layers become sums of products of
// integers, scaled afterwards: the form that layout assignment recognises, and what knobs of precision make,
// too. This comes before constants are folded, while weights are still integers.
#include "tessera/ir/nn/NnTypes.h"
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::nn;

// A constant, perhaps in another shape.
static ElementsAttr constantBehind(Value v) {
  while (auto reshape = v ? v.getDefiningOp<ReshapeOp>() : ReshapeOp())
    v = reshape.getX();
  return v ? elementsOf(v) : ElementsAttr();
}

namespace {

/// One scale and zero point for all elements of an activation of bytes.
struct Scale {
  float step;
  int64_t zero; ///< as the format has it
  bool isUnsigned;
  bool operator==(const Scale &) const = default;
};

} // namespace

template <typename Op> static std::optional<Scale> scaleOf(Op op, Value bytes, Format format) {
  if (!typeOf(bytes).getElementType().isInteger(8) || op.getBlock() ||
      (format != Format::plain && format != Format::unsigned_))
    return std::nullopt;
  ElementsAttr scale = constantBehind(op.getScale());
  if (!scale || scale.getNumElements() != 1 || !scale.getElementType().isF32())
    return std::nullopt;
  Scale result{Bytes(scale).as<float>()[0], 0, format == Format::unsigned_};
  if (op.getZero()) {
    ElementsAttr zero = constantBehind(op.getZero());
    if (!zero || zero.getNumElements() != 1 || !zero.getElementType().isInteger(8))
      return std::nullopt;
    result.zero = result.isUnsigned ? int64_t(Bytes(zero).as<uint8_t>()[0]) : Bytes(zero).as<int8_t>()[0];
  }
  return result;
}
static std::optional<Scale> scaleOf(QuantizeOp op) {
  if (!typeOf(op.getX()).getElementType().isF32())
    return std::nullopt;
  return scaleOf(op, op.getY(), op.getTo());
}
static std::optional<Scale> scaleOf(DequantizeOp op) {
  if (!op || !typeOf(op.getY()).getElementType().isF32())
    return std::nullopt;
  return scaleOf(op, op.getX(), op.getFrom());
}

static Value zeroPoint(OpBuilder &b, Location loc, int64_t zero) {
  return makeConstant(
      b, loc, makeElements<int8_t>(RankedTensorType::get({}, b.getI8Type()), {static_cast<int8_t>(zero)}));
}
static Value number(OpBuilder &b, Location loc, float v) {
  return makeConstant(b, loc, makeElements<float>(RankedTensorType::get({}, b.getF32Type()), {v}));
}

// Signed bytes that only dequantize reads → unsigned ones, 128 higher.
static void makeUnsigned(QuantizeOp op) {
  std::optional<Scale> scale = scaleOf(op);
  if (!scale || scale->isUnsigned)
    return;
  for (Operation *user : op.getY().getUsers())
    if (auto back = dyn_cast<DequantizeOp>(user); !back || !scaleOf(back) || scaleOf(back)->isUnsigned)
      return;
  OpBuilder b(op);
  op.getZeroMutable().assign(zeroPoint(b, op.getLoc(), scale->zero + 128));
  op.setTo(Format::unsigned_);
  for (Operation *user : op.getY().getUsers()) {
    auto back = cast<DequantizeOp>(user);
    b.setInsertionPoint(back);
    back.getZeroMutable().assign(zeroPoint(b, back.getLoc(), scaleOf(back)->zero + 128));
    back.setFrom(Format::unsigned_);
  }
}

// What only moves elements, or takes the largest, does so with bytes: f(dequantize(x)) → dequantize(f(x)).
static void sinkBelow(Operation *op) {
  auto pool = dyn_cast<PoolOp>(op);
  if (!isa<ReshapeOp, TransposeOp>(op) && !(pool && pool.getKind() == ReduceKind::max))
    return;
  auto from = op->getOperand(0).getDefiningOp<DequantizeOp>();
  std::optional<Scale> scale = scaleOf(from);
  if (!scale)
    return;
  OpBuilder b(op);
  Operation *copy = b.clone(*op);
  copy->setOperand(0, from.getX());
  copy->getResult(0).setType(typeLike(op->getResult(0), b.getI8Type()));
  if (pool)
    cast<PoolOp>(copy).setIsUnsigned(scale->isUnsigned);
  Value y = DequantizeOp::create(
      b, op->getLoc(), op->getResult(0).getType(), copy->getResult(0), number(b, op->getLoc(), scale->step),
      zeroPoint(b, op->getLoc(), scale->zero), /*axis=*/0, /*block=*/0, from.getFrom());
  op->getResult(0).replaceAllUsesWith(y);
  op->erase();
}

namespace {

/// Weights as integers, and what one unit of each result's row is worth.
struct IntegerWeights {
  std::vector<int32_t> values;
  std::vector<float> steps;
};

} // namespace

// `axis`: of the results.
static std::optional<IntegerWeights> weightsOf(Value w, int64_t axis) {
  auto op = w.getDefiningOp<DequantizeOp>();
  ElementsAttr attr = op ? elementsOf(op.getX()) : ElementsAttr(),
               scale = op ? constantBehind(op.getScale()) : ElementsAttr(),
               zero = op ? constantBehind(op.getZero()) : ElementsAttr();
  if (!attr || !scale || !typeOf(w).hasStaticShape() || (op.getZero() && !zero) || op.getBlock() ||
      !scale.getElementType().isF32() || !attr.getElementType().isInteger(8) ||
      (zero && !zero.getElementType().isInteger(8)) ||
      (op.getFrom() != Format::plain && op.getFrom() != Format::unsigned_))
    return std::nullopt;
  bool isUnsigned = op.getFrom() == Format::unsigned_;
  auto integers = [&](ElementsAttr from) {
    Bytes bytes(from);
    std::vector<int32_t> all;
    for (int8_t v : bytes.as<int8_t>())
      all.push_back(isUnsigned ? static_cast<uint8_t>(v) : v);
    return all;
  };
  int64_t rows = typeOf(w).getDimSize(axis), inner = 1;
  for (int64_t extent : typeOf(w).getShape().drop_front(axis + 1))
    inner *= extent;
  Bytes steps(scale);
  int64_t count = scale.getNumElements();
  if (count != 1 && (count != rows || int64_t(op.getAxis()) != axis))
    return std::nullopt;
  IntegerWeights result{integers(attr), {}};
  for (int64_t i = 0; i < rows; ++i)
    result.steps.push_back(steps.as<float>()[count == 1 ? 0 : i]);
  std::vector<int32_t> zeros = zero ? integers(zero) : std::vector<int32_t>{0};
  if (int64_t(zeros.size()) != 1 && int64_t(zeros.size()) != rows)
    return std::nullopt;
  for (auto [i, v] : llvm::enumerate(result.values)) {
    v -= zeros[zeros.size() == 1 ? 0 : int64_t(i) / inner % rows];
    if (v < -128 || v > 127)
      return std::nullopt;
  }
  return result;
}

// The elements of a bias: f32, or integers with scales.
static std::optional<std::vector<float>> biasOf(Value bias) {
  if (ElementsAttr attr = constantBehind(bias); attr && attr.getElementType().isF32())
    return std::vector<float>(Bytes(attr).as<float>());
  auto op = bias.getDefiningOp<DequantizeOp>();
  ElementsAttr attr = op ? elementsOf(op.getX()) : ElementsAttr(),
               scale = op ? constantBehind(op.getScale()) : ElementsAttr();
  bool zero = op && op.getZero();
  if (zero)
    if (ElementsAttr point = constantBehind(op.getZero());
        point && llvm::all_of(Bytes(point).data(), [](char c) { return c == 0; }))
      zero = false;
  if (!attr || !scale || zero || op.getBlock() || !attr.getElementType().isInteger(32) ||
      !scale.getElementType().isF32() ||
      (scale.getNumElements() != 1 && scale.getNumElements() != attr.getNumElements()))
    return std::nullopt;
  Bytes values(attr), steps(scale);
  std::vector<float> result;
  for (auto [i, v] : llvm::enumerate(values.as<int32_t>()))
    result.push_back(static_cast<float>(v) * steps.as<float>()[scale.getNumElements() == 1 ? 0 : i]);
  return result;
}

// Layers that run on blocks (Layout.h); others are faster in f32.
static bool isFast(ConvOp op) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  int64_t groups = op.getGroups();
  return w.size() == 4 &&
         (groups == 1 || (w[1] == 1 && w[0] == groups) || (w[1] % 4 == 0 && w[0] / groups % 4 == 0));
}

// No sum of products may leave 32 bits.
static constexpr int64_t mostProducts = 60000;

static void multiplyIntegers(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  auto product = dyn_cast<MatmulOp>(op);
  if ((!conv && !product) || (conv && !isFast(conv)) || (product && typeOf(product.getB()).getRank() != 2) ||
      (product && (typeOf(product.getA()).getRank() != 2 || product.getTransposeA())))
    return;
  auto from = op->getOperand(0).getDefiningOp<DequantizeOp>();
  std::optional<Scale> scale = scaleOf(from);
  if (!scale || !scale->isUnsigned)
    return;
  Value w = op->getOperand(1), y = op->getResult(0);
  std::optional<IntegerWeights> weights = weightsOf(w, conv || product.getTransposeB() ? 0 : 1);
  if (!weights || int64_t(weights->values.size() / weights->steps.size()) > mostProducts)
    return;
  std::optional<std::vector<float>> bias;
  if (conv && conv.getBias()) {
    bias = biasOf(conv.getBias());
    if (!bias)
      return;
  }
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value q = from.getX();
  Value x = CastOp::create(b, loc, typeLike(q, i32), q, Format::unsigned_, Format::plain, false, "nearest");
  if (scale->zero)
    x = BinaryOp::create(
        b, loc, BinaryKind::sub, x,
        makeConstant(b, loc, makeElements<int32_t>(RankedTensorType::get({}, i32), {int32_t(scale->zero)})));
  Value integers = makeConstant(b, w.getLoc(), makeElements<int32_t>(typeLike(w, i32), weights->values));
  Value sum;
  if (conv)
    sum = ConvOp::create(b, loc, typeLike(y, i32), x, integers, Value(), conv.getStrides(), conv.getPads(),
                         conv.getDilations(), conv.getGroups());
  else
    sum = MatmulOp::create(b, loc, typeLike(y, i32), x, integers, false, product.getTransposeB());
  Value real = CastOp::create(b, loc, y.getType(), sum, Format::plain, Format::plain, false, "nearest");
  SmallVector<int64_t> channel(conv ? typeOf(y).getRank() - 1 : 1, 1);
  channel.front() = int64_t(weights->steps.size());
  auto factors = RankedTensorType::get(channel, f32);
  for (float &step : weights->steps)
    step *= scale->step;
  real = BinaryOp::create(b, loc, BinaryKind::mul, real,
                          makeConstant(b, loc, makeElements<float>(factors, weights->steps)));
  if (bias)
    real = BinaryOp::create(b, loc, BinaryKind::add, real,
                            makeConstant(b, loc, makeElements<float>(factors, *bias)));
  y.replaceAllUsesWith(real);
  op->erase();
}

void nn::readQuantised(dfg::NodeOp node) {
  for (auto op : node.getBodyBlock()->getOps<QuantizeOp>())
    makeUnsigned(op);
  for (Operation &op : llvm::make_early_inc_range(*node.getBodyBlock()))
    sinkBelow(&op);
  // What was only put into other words in between.
  for (auto op : llvm::make_early_inc_range(node.getBodyBlock()->getOps<QuantizeOp>()))
    if (auto from = op.getX().getDefiningOp<DequantizeOp>();
        from && scaleOf(from) && scaleOf(from) == scaleOf(op)) {
      op.getY().replaceAllUsesWith(from.getX());
      op.erase();
    }
  for (Operation &op : llvm::make_early_inc_range(*node.getBodyBlock()))
    multiplyIntegers(&op);
}
