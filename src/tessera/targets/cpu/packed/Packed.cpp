// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Packed.h: which file is for which layer.
#include "tessera/targets/cpu/packed/Packed.h"

#include "tessera/targets/cpu/packed/Amx.h"
#include "tessera/targets/cpu/packed/Winograd.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

static constexpr std::pair<Dot, StringLiteral> dots[] = {
    {Dot::Plain, "plain"},       {Dot::Vnni, "vnni"},         {Dot::Bf16, "bf16"},
    {Dot::Madd, "madd"},         {Dot::MaddBytes, "maddubs"}, {Dot::Usdot, "usdot"},
    {Dot::AmxBytes, "amx-int8"}, {Dot::AmxHalves, "amx-bf16"}};

StringRef packed::stringifyDot(Dot dot) {
  return llvm::find_if(dots, [&](auto &each) { return each.first == dot; })->second;
}
std::optional<Dot> packed::parseDot(StringRef word) {
  for (auto &[dot, name] : dots)
    if (word == name)
      return dot;
  return std::nullopt;
}

std::string packed::spellNumbers(const Tiles &t) {
  std::string text;
  for (auto [word, v] : {std::pair<const char *, int64_t>{"rows", t.rows},
                         {"columns", t.columns},
                         {"blocks", t.blocks},
                         {"unroll", t.unroll},
                         {"task", t.task},
                         {"split", t.split}})
    if (v)
      text += " " + std::string(word) + " " + std::to_string(v);
  return text;
}

int64_t packed::stepOf(Dot dot) {
  switch (dot) {
  case Dot::Plain:
    return 1;
  case Dot::Vnni:
  case Dot::MaddBytes:
  case Dot::Usdot:
  case Dot::AmxBytes:
    return 4;
  case Dot::Bf16:
  case Dot::Madd:
  case Dot::AmxHalves:
    return 2;
  }
}

// What multiplies the operation's elements: the machine's instruction, if the weights stand as it wants them
// and its vectors are no wider than the machine's.
static Dot dotOf(Operation *op, const Machine &machine) {
  if (!isa<PackedConvOp, PackedMatmulOp>(op))
    return Dot::Plain;
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  Dot dot = element.isInteger(8) ? machine.bytes : element.isBF16() ? machine.halves : Dot::Plain;
  ArrayRef<int64_t> w = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  // Weights that may be too large for it stand in pairs.
  if (dot == Dot::MaddBytes && !op->hasAttr(smallWeightsAttr))
    dot = Dot::Madd;
  if (dot == Dot::Plain || w.back() != stepOf(dot))
    return Dot::Plain;
  int64_t lanes = w[w.size() - 2];
  if (isByTiles(dot)) {
    // Rows that only divide into short parts are left to vectors, which have their own limits.
    bool divides = true;
    if (auto product = dyn_cast<PackedMatmulOp>(op)) {
      auto x = cast<RankedTensorType>(product.getX().getType());
      int64_t bytes = x.getDimSize(1) * x.getElementTypeBitWidth() / 8;
      divides = 2 * partOf(bytes) >= std::min<int64_t>(bytes, 64);
    }
    if (divides && machine.lanes == mostLanes && (lanes <= mostLanes || lanes % mostLanes == 0))
      return dot;
    dot = byVectors(dot);
  }
  bool known = lanes == 4 || (dot != Dot::Usdot && (lanes == 8 || lanes == 16));
  return known && lanes <= machine.lanes ? dot : Dot::Plain;
}

static bool isNarrow(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getElementType() !=
         cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
}

Machine packed::forBlocks(Operation *op, Machine machine) {
  auto type =
      dyn_cast_or_null<RankedTensorType>(op->getNumOperands() > 1 ? op->getOperand(1).getType() : Type());
  int64_t width = type && type.getRank() ? type.getShape().back() : machine.lanes;
  if (isa<PackedConvOp, PackedMatmulOp>(op) && isNarrow(op))
    width = type.getShape()[type.getRank() - 2];
  if (isa<PackedDepthwiseOp>(op))
    width = std::min(width, machine.lanes); // it takes one vector after the other
  machine.registers = std::max<int64_t>(
      4, machine.registers / std::max<int64_t>(1, width / std::max<int64_t>(1, machine.lanes)));
  return machine;
}

void packed::setTiles(Operation *op, const Tiles &t) {
  op->setAttr(tilesAttr, DenseI64ArrayAttr::get(op->getContext(),
                                                {t.rows, t.columns, t.blocks, t.unroll, t.task, t.split}));
}

Tiles packed::chooseTiles(Operation *op, const Machine &given) {
  if (auto set = op->getAttrOfType<DenseI64ArrayAttr>(tilesAttr); set && set.size() == 6)
    return {set[0], set[1], set[2], set[3], set[4], set[5], dotOf(op, given)};
  Machine machine = forBlocks(op, given);
  // Without an instruction for them, narrow elements take so many of others that large tiles are only large
  // code.
  bool plain = isa<PackedConvOp, PackedMatmulOp>(op) && isNarrow(op) && dotOf(op, given) == Dot::Plain;
  if (plain)
    machine.registers = std::min<int64_t>(machine.registers, 8);
  Tiles tiles =
      llvm::TypeSwitch<Operation *, Tiles>(op)
          .Case([&](PackedConvOp conv) {
            return isByTiles(dotOf(op, given)) ? chooseConvByTiles(conv, machine) : chooseConv(conv, machine);
          })
          .Case([&](PackedWinogradOp conv) { return chooseWinograd(conv, machine); })
          .Case([&](PackedSparseOp product) { return chooseSparse(product, machine); })
          .Case([&](PackedDepthwiseOp conv) { return chooseDepthwise(conv, machine); })
          .Case([&](PackedMatmulOp product) { return chooseMatmul(product, machine); })
          .Default([](Operation *) { return Tiles(); });
  tiles.dot = dotOf(op, given);
  if (plain)
    tiles.unroll = 1;
  return tiles;
}

std::string packed::describe(Operation *op, const Tiles &t) {
  auto text = [](int64_t v) { return std::to_string(v); };
  auto by = [](Dot dot) { return dot == Dot::Plain ? std::string() : " by " + stringifyDot(dot).str(); };
  std::string pooled;
  if (PackedPoolOp pool = findPool(op))
    pooled = ", pooled " + text(pool.getKernel()[0]) + "x" + text(pool.getKernel()[1]);
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](PackedConvOp) {
        if (isByTiles(t.dot))
          return "direct convolution" + by(t.dot) + ", " + text(t.rows * t.unroll) + "x" + text(t.columns) +
                 " places of " + text(t.blocks) + " tiles of channels in registers";
        return "direct convolution" + by(t.dot) + ", " + text(t.rows) + "x" + text(t.columns) +
               " places of " + text(t.blocks) + " blocks in registers" + pooled;
      })
      .Case([&](PackedWinogradOp conv) {
        std::string tile = text(conv.getTile());
        ArrayRef<int64_t> w = cast<RankedTensorType>(conv.getW().getType()).getShape();
        std::string window = text(winogradWindow(conv.getTile(), w[1]));
        return "Winograd F(" + tile + "x" + tile + ", " + window + "x" + window + "), " + text(t.columns) +
               " tiles of " + text(t.blocks) + " blocks in registers, " + text(t.task) + " tiles as tasks" +
               pooled;
      })
      .Case([&](PackedSparseOp product) {
        ArrayRef<int64_t> x = cast<RankedTensorType>(product.getX().getType()).getShape();
        int64_t rows = cast<RankedTensorType>(product.getValues().getType()).getDimSize(0),
                all = (cast<RankedTensorType>(product.getStarts().getType()).getDimSize(0) - 1) *
                      (x.size() == 2 ? x[1] : x[1] * x[4] * product.getKernel()[0] * product.getKernel()[1]);
        return std::string(isPointwise(product) ? "product" : "convolution") + " with sparse weights, " +
               text(100 * rows / all) + " % of their rows are there, " + text(t.columns) +
               " places in registers";
      })
      .Case([&](PackedDepthwiseOp) {
        return "depthwise convolution, " + text(t.rows) + "x" + text(t.columns) + " places in registers";
      })
      .Case([&](PackedMatmulOp product) {
        std::string taller = text(2 * t.rows) + " rows of " + text(t.blocks / 2) + " or ";
        return "product with packed weights" + by(t.dot) + ", " + (hasTallerTiles(product, t) ? taller : "") +
               text(t.rows) + " rows of " + text(t.blocks) + " blocks in registers";
      })
      .Case([](PackedPoolOp) { return "pool on blocks"; })
      .Case([](PackedMeanOp) { return "mean of planes"; })
      .Case([](InterpolateOp) { return "rows and columns put together, others between them"; })
      .Default([](Operation *) { return "copy between layouts"; });
}

LogicalResult packed::lower(RewriterBase &rewriter, Operation *op, const Tiles &tiles, std::string &why) {
  why = "it is not a packed layer";
  // What others have read through, or made part of their stores.
  if (isPacked(op) && op->use_empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](PackedConvOp o) { return lowerConv(rewriter, o, tiles, why); })
      .Case([&](PackedSparseOp o) { return lowerSparse(rewriter, o, tiles, why); })
      .Case([&](PackedWinogradOp o) { return lowerWinograd(rewriter, o, tiles, why); })
      .Case([&](PackedDepthwiseOp o) { return lowerDepthwise(rewriter, o, tiles, why); })
      .Case([&](PackedMatmulOp o) { return lowerMatmul(rewriter, o, tiles, why); })
      .Case([&](PackedPoolOp o) { return lowerPool(rewriter, o, tiles, why); })
      .Case([&](PackedMeanOp o) { return lowerMean(rewriter, o, tiles, why); })
      .Case([&](InterpolateOp o) { return lowerInterpolate(rewriter, o, tiles, why); })
      .Case([&](PackOp o) { return lowerPack(rewriter, o, tiles, why); })
      .Case([&](UnpackOp o) { return lowerUnpack(rewriter, o, tiles, why); })
      .Case([&](HaloOp o) { return lowerHalo(rewriter, o, tiles, why); })
      .Case([&](SplitOp o) { return lowerSplit(rewriter, o, tiles, why); })
      .Case([&](CropOp o) { return lowerCrop(rewriter, o, tiles, why); })
      .Default([](Operation *) { return failure(); });
}
