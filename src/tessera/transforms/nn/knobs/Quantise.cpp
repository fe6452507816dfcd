// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Quantise.h.
#include "tessera/transforms/nn/knobs/Quantise.h"

#include "tessera/base/Check.h"
#include "tessera/base/Weights.h"
#include "tessera/ir/nn/NnTypes.h"
#include "tessera/transforms/nn/graph/Constants.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

static Value scalar(OpBuilder &b, Location loc, float v) {
  return makeConstant(b, loc, makeElements<float>(RankedTensorType::get({}, b.getF32Type()), {v}));
}

// The range is extended to hold 0, which must have a byte of its own: borders are made of it.
FailureOr<PrecisionRewriter::Scale> PrecisionRewriter::scaleOf(TunableOp op) {
  std::optional<std::pair<float, float>> range = rangeOf(op);
  if (!range)
    return op->emitOpError("the knob '" + knobOf(op).str() +
                           "' needs the range of the activation; 'tessera calibrate' measures it");
  float low = std::min(range->first, 0.f), high = std::max(range->second, 0.f);
  float step = (high - low) / 255;
  if (!(step > 0) || !std::isfinite(step))
    step = 1;
  Scale scale{1 / step, step, 0};
  scale.zero = std::clamp<int64_t>(std::nearbyint(-low / step), 0, 255);
  return scale;
}

bool PrecisionRewriter::wantsOnly(Value v, const Scale &scale) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<TunableOp>(user);
    if (!op || !isa<ConvOp, MatmulOp, BinaryOp>(user) || op.getRangedOperand() != v || !knobOf(op).isBytes())
      return isa<tensor::DimOp>(user);
    FailureOr<Scale> other = scaleOf(op);
    return succeeded(other) && other->step == scale.step && other->zero == scale.zero;
  });
}

// The same maxima of the narrow `x`, in front of or behind the pool.
static PoolOp poolOf(OpBuilder &b, PoolOp pool, Value x) {
  auto copy = cast<PoolOp>(b.clone(*pool));
  nn::Notes::knob.remove(copy);
  nn::Notes::range.remove(copy);
  copy.getXMutable().assign(x);
  copy.getY().setType(typeLike(pool.getY(), typeOf(x).getElementType()));
  return copy;
}

Value PrecisionRewriter::quantised(Value v, const Scale &scale) {
  Value &known = bytes[{v, {llvm::bit_cast<uint32_t>(scale.factor), scale.zero}}];
  if (known)
    return known;
  OpBuilder b(v.getContext());
  b.setInsertionPointAfterValue(v);
  Location loc = v.getLoc();
  Operation *def = v.getDefiningOp();
  Value result;
  // A maximum of bytes is the byte of the maximum; the bytes of -1 and 0 are the same when none is below.
  if (auto pool = dyn_cast_or_null<PoolOp>(def);
      pool && pool.getKind() == ReduceKind::max && wantsOnly(v, scale)) {
    Value x = quantised(pool.getX(), scale);
    PoolOp copy = poolOf(b, pool, x);
    copy.setIsUnsigned(true);
    result = copy.getY();
  } else if (auto reshape = dyn_cast_or_null<ReshapeOp>(def)) {
    Value x = quantised(reshape.getX(), scale);
    result = ReshapeOp::create(b, loc, typeLike(v, b.getI8Type()), x, reshape.getExtents());
  } else if (auto unary = dyn_cast_or_null<UnaryOp>(def);
             unary && unary.getKind() == UnaryKind::relu && scale.zero == 0 && wantsOnly(v, scale)) {
    result = quantised(unary.getX(), scale);
  } else {
    Value scaled = BinaryOp::create(b, loc, BinaryKind::mul, v, scalar(b, loc, scale.factor));
    Value zero = makeConstant(
        b, loc, makeElements<int8_t>(RankedTensorType::get({}, b.getI8Type()), {int8_t(scale.zero)}));
    result =
        QuantizeOp::create(b, loc, typeLike(v, b.getI8Type()), scaled, scalar(b, loc, 1), zero, /*axis=*/1,
                           /*block=*/0, Format::unsigned_, /*wrap=*/false);
  }
  return bytes[{v, {llvm::bit_cast<uint32_t>(scale.factor), scale.zero}}] = result;
}

Value PrecisionRewriter::rounded(Value v, Type half) {
  Value &known = halves[{v, half}];
  if (known)
    return known;
  OpBuilder b(v.getContext());
  b.setInsertionPointAfterValue(v);
  Location loc = v.getLoc();
  // Weights are rounded now.
  if (elementsOf(v))
    if (std::optional<SmallVector<double>> numbers = readDoubles(v)) {
      ElementsAttr narrow = makeFloats(typeLike(v, half), *numbers);
      Bytes bits(narrow);
      SmallVector<double> back;
      for (uint16_t each : bits.as<uint16_t>())
        back.push_back(APFloat(cast<FloatType>(half).getFloatSemantics(), APInt(16, each)).convertToDouble());
      return known = makeConstant(b, loc, makeFloats(typeOf(v), back));
    }
  Value narrow = narrowed(v, half);
  b.setInsertionPointAfterValue(narrow);
  return halves[{v, half}] =
             CastOp::create(b, loc, v.getType(), narrow, Format::plain, Format::plain, false, "nearest");
}

// Whoever reads `v` wants it rounded so.
bool PrecisionRewriter::wantsOnly(Value v, Type half) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<TunableOp>(user);
    if (!op || op.getRangedOperand() != v)
      return isa<tensor::DimOp>(user);
    Knob::Precision precision = knobOf(op).precision;
    return half.isBF16() ? precision == Knob::Precision::BF16 : precision == Knob::Precision::F16;
  });
}

// A reshape stays in front of whoever reads it. So does a maximum, which is the same before and after
// rounding, unless a layer takes it before it stores anything: windows that lie side by side.
Value PrecisionRewriter::narrowed(Value v, Type half) {
  OpBuilder b(v.getContext());
  b.setInsertionPointAfterValue(v);
  if (auto pool = v.getDefiningOp<PoolOp>(); pool && pool.getKind() == ReduceKind::max && half.isBF16() &&
                                             pool.getKernel() != pool.getStrides() && wantsOnly(v, half)) {
    Value x = narrowed(pool.getX(), half);
    b.setInsertionPoint(pool);
    return poolOf(b, pool, x).getY();
  }
  if (auto reshape = v.getDefiningOp<ReshapeOp>())
    return ReshapeOp::create(b, v.getLoc(), typeLike(v, half), narrowed(reshape.getX(), half),
                             reshape.getExtents());
  return CastOp::create(b, v.getLoc(), typeLike(v, half), v, Format::plain, Format::plain, false, "nearest");
}

void PrecisionRewriter::applyHalf(TunableOp op, Type half) {
  Value x = op.getRangedOperand(), w = op.getWeights();
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == x || (w && operand.get() == w))
      operand.set(rounded(operand.get(), half));
}

// Rows of weights, each to be scaled on its own, as integers: sw = max |w| / most.
namespace {
struct IntegerWeights {
  std::vector<int32_t> values;
  std::vector<float> steps;
};
} // namespace

static IntegerWeights quantiseWeights(ArrayRef<float> w, int64_t rows, int64_t columns, bool transposed,
                                      int32_t most) {
  IntegerWeights result;
  result.values.resize(w.size());
  auto at = [&](int64_t r, int64_t c) { return transposed ? c * rows + r : r * columns + c; };
  for (int64_t r = 0; r < rows; ++r) {
    float largest = 0;
    for (int64_t c = 0; c < columns; ++c)
      largest = std::max(largest, std::abs(w[at(r, c)]));
    float step = largest > 0 ? largest / static_cast<float>(most) : 1;
    result.steps.push_back(step);
    for (int64_t c = 0; c < columns; ++c)
      result.values[at(r, c)] = std::clamp<int32_t>(std::nearbyint(w[at(r, c)] / step), -most, most);
  }
  return result;
}

// The bytes as integers, their zero point at 0.
Value PrecisionRewriter::widened(OpBuilder &b, Location loc, Value q, const Scale &scale) {
  Type i32 = b.getI32Type();
  Value wide =
      CastOp::create(b, loc, typeLike(q, i32), q, Format::unsigned_, Format::plain, false, "nearest");
  if (!scale.zero)
    return wide;
  return BinaryOp::create(
      b, loc, BinaryKind::sub, wide,
      makeConstant(b, loc, makeElements<int32_t>(RankedTensorType::get({}, i32), {int32_t(scale.zero)})));
}

LogicalResult PrecisionRewriter::applyInt8Sum(BinaryOp op) {
  auto tunable = cast<TunableOp>(op.getOperation());
  FailureOr<Scale> scale = scaleOf(tunable);
  if (failed(scale))
    return failure();
  Value v = tunable.getRangedOperand(), q = quantised(v, *scale);
  nn::Notes::knob.remove(op);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value number = CastOp::create(b, loc, v.getType(), widened(b, loc, q, *scale), Format::plain, Format::plain,
                                false, "nearest");
  Value back = BinaryOp::create(b, loc, BinaryKind::mul, number, scalar(b, loc, scale->step));
  op->replaceUsesOfWith(v, back);
  return success();
}

LogicalResult PrecisionRewriter::applyInt8(TunableOp op) {
  if (auto sum = dyn_cast<BinaryOp>(op.getOperation()))
    return applyInt8Sum(sum);
  FailureOr<Scale> scale = scaleOf(op);
  if (failed(scale))
    return failure();
  auto conv = dyn_cast<ConvOp>(op.getOperation());
  auto product = dyn_cast<MatmulOp>(op.getOperation());
  TESSERA_CHECK(conv || product) << op->getName().getStringRef().str();
  Bytes weights(elementsOf(op.getWeights()));
  Value y = op->getResult(0);
  Location loc = op->getLoc();
  int64_t results = conv ? typeOf(conv.getW()).getDimSize(0) : typeOf(y).getShape().back();
  bool transposed = product && !product.getTransposeB();
  IntegerWeights w =
      quantiseWeights(weights.as<float>(), results, typeOf(op.getWeights()).getNumElements() / results,
                      transposed, mostOf(knobOf(op).precision));
  Value q = quantised(op.getRangedOperand(), *scale);
  OpBuilder b(op);
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value wide = widened(b, loc, q, *scale);
  Value integers = makeConstant(b, op.getWeights().getLoc(),
                                makeElements<int32_t>(typeLike(op.getWeights(), i32), w.values));
  Value sum;
  if (conv)
    sum = ConvOp::create(b, loc, typeLike(y, i32), wide, integers, Value(), conv.getStrides(), conv.getPads(),
                         conv.getDilations(), conv.getGroups());
  else
    sum = MatmulOp::create(b, loc, typeLike(y, i32), wide, integers, product.getTransposeA(),
                           product.getTransposeB());
  // What else was decided for the operation.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (nn::Notes::knob != attr.getName() && nn::Notes::range != attr.getName())
      sum.getDefiningOp()->setAttr(attr.getName(), attr.getValue());
  Value number = CastOp::create(b, loc, y.getType(), sum, Format::plain, Format::plain, false, "nearest");
  SmallVector<int64_t> channel(conv ? typeOf(y).getRank() - 1 : 1, 1);
  channel.front() = results;
  for (float &step : w.steps)
    step *= scale->step;
  auto factors = RankedTensorType::get(channel, f32);
  Value scaled = BinaryOp::create(b, loc, BinaryKind::mul, number,
                                  makeConstant(b, loc, makeElements<float>(factors, w.steps)));
  if (conv && conv.getBias()) {
    Bytes bias(elementsOf(conv.getBias()));
    scaled = BinaryOp::create(
        b, loc, BinaryKind::add, scaled,
        makeConstant(b, conv.getBias().getLoc(), makeElements<float>(factors, bias.as<float>())));
  }
  y.replaceAllUsesWith(scaled);
  op->erase();
  return success();
}

LogicalResult PrecisionRewriter::apply(TunableOp op) {
  OpBuilder b(op->getContext());
  Knob::Precision precision = knobOf(op).precision;
  if (knobOf(op).isBytes())
    return applyInt8(op);
  nn::Notes::knob.remove(op);
  if (precision == Knob::Precision::BF16)
    applyHalf(op, b.getBF16Type());
  else
    applyHalf(op, b.getF16Type());
  return success();
}
