// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Algorithm.h.
#include "tessera/targets/cpu/layout/Algorithm.h"

#include "tessera/targets/cpu/layout/NarrowLayers.h"
#include "tessera/targets/cpu/packed/Packed.h"
#include "tessera/targets/cpu/packed/Weights.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static constexpr std::pair<Algorithm, llvm::StringLiteral> names[] = {{Algorithm::Direct, "direct"},
                                                                      {Algorithm::Depthwise, "depthwise"},
                                                                      {Algorithm::Winograd2, "winograd:2"},
                                                                      {Algorithm::Winograd4, "winograd:4"}};

StringRef cpu::nameOf(Algorithm algorithm) {
  for (auto &[each, name] : names)
    if (each == algorithm)
      return name;
  return "";
}

std::optional<Algorithm> cpu::parseAlgorithm(StringRef text) {
  for (auto &[each, name] : names)
    if (name == text)
      return each;
  return std::nullopt;
}

SmallVector<Algorithm> cpu::algorithmsFor(ConvOp op, const LayoutOptions &options) {
  auto all = [](ArrayRef<int64_t> values) { return llvm::all_of(values, [](int64_t v) { return v == 1; }); };
  ConvKind kind = classifyConv(op, options);
  // The author may have chosen.
  Knob chosen = knobOf(op);
  if (chosen.structure == Knob::Structure::Winograd && kind == ConvKind::Winograd)
    return {chosen.value == 4 ? Algorithm::Winograd4 : Algorithm::Winograd2};
  if (chosen.structure == Knob::Structure::Direct && kind == ConvKind::Direct)
    return {Algorithm::Direct};
  switch (kind) {
  case ConvKind::None:
    return {};
  case ConvKind::Depthwise:
    return {Algorithm::Depthwise};
  case ConvKind::Winograd: {
    // With few places the larger tile's weights, four times as many as the window's, cost more to read than
    // it saves.
    if (placesOf(op.getY()) >= 64)
      return {Algorithm::Winograd4, Algorithm::Winograd2, Algorithm::Direct};
    return {Algorithm::Winograd2, Algorithm::Winograd4, Algorithm::Direct};
  }
  case ConvKind::Direct:
    break;
  }
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  if (options.winograd && !narrowOf(op, options) && op.getGroups() == 1 && (w[2] == 3 || w[2] == 5) &&
      w[3] == w[2] && all(op.getStrides()) && all(op.getDilations()))
    return {Algorithm::Direct, Algorithm::Winograd2, Algorithm::Winograd4};
  return {Algorithm::Direct};
}

Algorithm cpu::algorithmOf(ConvOp op, const LayoutOptions &options) {
  SmallVector<Algorithm> possible = algorithmsFor(op, options);
  if (StringAttr name = cpu::Notes::algorithm.get(op))
    if (std::optional<Algorithm> wanted = parseAlgorithm(name);
        wanted && llvm::is_contained(possible, *wanted))
      return *wanted;
  return possible.front();
}

Value cpu::emitConv(OpBuilder &b, ConvOp op, Value x, Value bias, int64_t block, Algorithm algorithm,
                    bool contents) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  int64_t groups = op.getGroups(), channels = w[1] * groups, from = typeOf(x).getShape().back(),
          blocks = ceilDiv(w[0], block);
  Bytes bytes(elementsOf(op.getW()));
  const float *data = bytes.as<float>().data();
  auto constant = [&](ArrayRef<int64_t> shape, function_ref<std::vector<float>()> pack) {
    auto type = RankedTensorType::get(shape, b.getF32Type());
    ElementsAttr attr = contents ? makeElements<float>(type, pack())
                                 : makeElements(type, std::vector<char>(size_t(4 * type.getNumElements())));
    return makeConstant(b, op.getW().getLoc(), attr);
  };
  Value y;
  switch (algorithm) {
  case Algorithm::Depthwise: {
    Value packed = constant({blocks, w[2], w[3], block},
                            [&] { return packed::packDepthwise(data, channels, w[2], w[3], block); });
    y = PackedDepthwiseOp::create(b, op.getLoc(), x, packed, bias, op.getStrides(), op.getDilations());
    break;
  }
  case Algorithm::Winograd2:
  case Algorithm::Winograd4: {
    int64_t tile = algorithm == Algorithm::Winograd4 ? 4 : 2, points = tile + w[2] - 1,
            depth = ceilDiv(channels, from) * from;
    Value packed = constant({blocks, points * points, depth, block}, [&] {
      return packed::packWinograd(data, w[0], channels, w[2], tile, from, block);
    });
    y = PackedWinogradOp::create(b, op.getLoc(), x, packed, bias, tile);
    break;
  }
  case Algorithm::Direct: {
    Value packed = constant({blocks, ceilDiv(w[1], from), w[2], w[3], from, block}, [&] {
      return packed::packConv(data, w[0], channels, w[2], w[3], groups, from, block);
    });
    y = PackedConvOp::create(b, op.getLoc(), x, packed, bias, op.getStrides(), op.getDilations(), groups);
    break;
  }
  }
  return y;
}
