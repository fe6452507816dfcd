// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See NarrowLayers.h.
#include "tessera/targets/cpu/layout/NarrowLayers.h"

#include "tessera/targets/cpu/packed/Weights.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<float> cpu::floatsOf(Value constant) {
  Bytes bytes(elementsOf(constant));
  if (typeOf(constant).getElementType().isF32())
    return std::vector<float>(bytes.as<float>());
  ArrayRef<int32_t> integers = bytes.as<int32_t>();
  return std::vector<float>(integers.begin(), integers.end());
}

static std::optional<Narrow> bytesOf(Value x, Value w, int64_t together) {
  Narrow narrow{.source = {}, .together = together};
  if (auto sub = x.getDefiningOp<BinaryOp>(); sub && sub.getKind() == BinaryKind::sub) {
    ElementsAttr zero = elementsOf(sub.getB());
    if (!zero || zero.getNumElements() != 1 || !zero.getElementType().isInteger(32))
      return std::nullopt;
    narrow.zero = Bytes(zero).as<int32_t>()[0];
    x = sub.getA();
  }
  auto cast = x.getDefiningOp<CastOp>();
  if (!cast || cast.getFrom() != Format::unsigned_ || !typeOf(cast.getX()).getElementType().isInteger(8) ||
      narrow.zero < 0 || narrow.zero > 255)
    return std::nullopt;
  narrow.source = cast.getX();
  Bytes bytes(elementsOf(w));
  // No sum may leave 32 bits.
  int64_t rows = std::max<int64_t>(1, typeOf(w).getDimSize(0));
  if (!bytes || typeOf(w).getNumElements() / rows > 60000 ||
      llvm::any_of(bytes.as<int32_t>(), [](int32_t v) { return v < -128 || v > 127; }))
    return std::nullopt;
  return narrow;
}

static std::optional<Narrow> halvesOf(Value x, Value w, int64_t together) {
  auto cast = x.getDefiningOp<CastOp>();
  if (!cast || !typeOf(cast.getX()).getElementType().isBF16())
    return std::nullopt;
  Bytes bytes(elementsOf(w));
  if (!bytes || llvm::any_of(bytes.as<uint32_t>(), [](uint32_t v) { return v & 0xffff; }))
    return std::nullopt;
  return Narrow{.source = cast.getX(), .together = together};
}

std::optional<Narrow> cpu::narrowOf(Value x, Value w, const LayoutOptions &options) {
  if (!elementsOf(w))
    return std::nullopt;
  Type element = typeOf(x).getElementType();
  std::optional<Narrow> narrow;
  if (element.isInteger(32) && typeOf(w).getElementType().isInteger(32) && options.bytes) {
    narrow = bytesOf(x, w, options.bytes);
    if (narrow && options.smallBytes && llvm::all_of(Bytes(elementsOf(w)).as<int32_t>(), packed::fitsPairs)) {
      narrow->together = options.smallBytes;
      narrow->isSmall = true;
    }
    if (narrow)
      narrow->tile = options.tileBytes;
  } else if (element.isF32() && typeOf(w).getElementType().isF32() && options.halves) {
    narrow = halvesOf(x, w, options.halves);
    if (narrow)
      narrow->tile = options.tileHalves;
  }
  return narrow;
}
std::optional<Narrow> cpu::narrowOf(ConvOp op, const LayoutOptions &options) {
  return narrowOf(op.getX(), op.getW(), options);
}

// Rows of `lanes` weights → `together` rows side by side: … x rows x lanes → … x rows / together x lanes x
// together.
static Value packRows(OpBuilder &b, Location loc, ArrayRef<float> rows, SmallVector<int64_t> shape,
                      int64_t together, Type element) {
  int64_t lanes = shape.back(), groups = int64_t(rows.size()) / lanes / together;
  shape[shape.size() - 2] /= together;
  shape.push_back(together);
  std::vector<char> bytes(rows.size() * (element.getIntOrFloatBitWidth() / 8));
  for (int64_t g = 0, to = 0; g < groups; ++g)
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t k = 0; k < together; ++k, ++to) {
        float v = rows[(g * together + k) * lanes + lane];
        if (element.isInteger(8)) {
          bytes[to] = static_cast<char>(static_cast<int8_t>(v));
        } else {
          auto bits = static_cast<uint16_t>(llvm::bit_cast<uint32_t>(v) >> 16);
          std::memcpy(&bytes[2 * to], &bits, 2);
        }
      }
  return makeConstant(b, loc, makeElements(RankedTensorType::get(shape, element), std::move(bytes)));
}

// What sums start with: the zero point's share, and a bias of the result's type. `sums` holds the sum of each
// filter's weights.
static Value startOf(OpBuilder &b, Location loc, ArrayRef<float> bias, ArrayRef<double> sums, int64_t zero,
                     int64_t block, bool integer) {
  int64_t f = sums.size(), blocks = ceilDiv(f, block);
  auto shape = {blocks, block};
  if (!integer) {
    if (bias.empty())
      return Value();
    std::vector<float> padded = packed::packBias(bias.data(), f, block);
    return makeConstant(b, loc, makeElements<float>(RankedTensorType::get(shape, b.getF32Type()), padded));
  }
  std::vector<int32_t> start(blocks * block);
  for (int64_t i = 0; i < f; ++i)
    start[i] = static_cast<int32_t>((bias.empty() ? 0 : static_cast<int64_t>(bias[i])) -
                                    zero * static_cast<int64_t>(sums[i]));
  return makeConstant(b, loc, makeElements<int32_t>(RankedTensorType::get(shape, b.getI32Type()), start));
}

static Value marked(Operation *layer, const Narrow &narrow) {
  if (narrow.isSmall)
    cpu::Notes::smallWeights.set(layer);
  return layer->getResult(0);
}

Value cpu::emitNarrowConv(OpBuilder &b, ConvOp op, const Narrow &narrow, Value x, int64_t block) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  int64_t groups = op.getGroups(), channels = w[1] * groups, from = typeOf(x).getShape().back();
  std::vector<float> weights = floatsOf(op.getW()), bias;
  if (op.getBias())
    bias = floatsOf(op.getBias());
  bool integer = typeOf(op.getY()).getElementType().isInteger(32);
  std::vector<double> sums(w[0]);
  for (size_t i = 0, each = weights.size() / w[0]; i < weights.size(); ++i)
    sums[i / each] += weights[i];
  Location loc = op.getLoc(), wLoc = op.getW().getLoc();
  if (groups > 1 && w[1] == 1 && w[0] == channels) {
    // Each sum is exact in f32, too: at most 2^24.
    int64_t blocks = ceilDiv(w[0], block);
    auto constant = [&](Location at, ArrayRef<int64_t> shape, ArrayRef<float> v) {
      return makeConstant(b, at, makeElements<float>(RankedTensorType::get(shape, b.getF32Type()), v));
    };
    for (int64_t i = 0; integer && i < w[0]; ++i) {
      if (bias.empty())
        bias.resize(w[0]);
      bias[i] -= static_cast<float>(static_cast<double>(narrow.zero) * sums[i]);
    }
    Value start =
        bias.empty() ? Value() : constant(loc, {blocks, block}, packed::packBias(bias.data(), w[0], block));
    Value packed = constant(wLoc, {blocks, w[2], w[3], block},
                            packed::packDepthwise(weights.data(), channels, w[2], w[3], block));
    return PackedDepthwiseOp::create(b, loc, x, packed, start, op.getStrides(), op.getDilations());
  }
  Value packed =
      packRows(b, wLoc, packed::packConv(weights.data(), w[0], channels, w[2], w[3], groups, from, block),
               {ceilDiv(w[0], block), ceilDiv(w[1], from), w[2], w[3], from, block}, narrow.together,
               typeOf(x).getElementType());
  return marked(PackedConvOp::create(b, loc, x, packed,
                                     startOf(b, loc, bias, sums, narrow.zero, block, integer),
                                     op.getStrides(), op.getDilations(), groups),
                narrow);
}

Value cpu::emitNarrowMatmul(OpBuilder &b, MatmulOp op, const Narrow &narrow, Value x, ArrayRef<float> rows,
                            int64_t block) {
  int64_t columns = typeOf(op.getY()).getShape().back(), panels = ceilDiv(columns, block),
          depth = int64_t(rows.size()) / panels / block;
  std::vector<double> sums(columns);
  for (int64_t i = 0, count = rows.size(); i < count; ++i)
    if (int64_t column = i / (depth * block) * block + i % block; column < columns)
      sums[column] += rows[i];
  bool integer = typeOf(op.getY()).getElementType().isInteger(32);
  Value packed = packRows(b, op.getB().getLoc(), rows, {panels, depth, block}, narrow.together,
                          typeOf(x).getElementType());
  return marked(PackedMatmulOp::create(b, op.getLoc(), x, packed,
                                       startOf(b, op.getLoc(), {}, sums, narrow.zero, block, integer),
                                       columns),
                narrow);
}
