// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Packed.h: which file is for which layer.
#include "tessera/targets/cpu/packed/Packed.h"

#include "tessera/targets/cpu/packed/Amx.h"
#include "tessera/targets/cpu/packed/KernelBuilder.h"
#include "tessera/targets/cpu/packed/Winograd.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

// What multiplies the operation's elements: the machine's instruction, if the weights stand as it wants them
// and its vectors are no wider than the machine's.
static Dot dotOf(Operation *op, const Machine &machine) {
  if (!isa<PackedConvOp, PackedMatmulOp>(op))
    return Dot::Plain;
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  Dot dot = element.isInteger(8) ? machine.bytes : element.isBF16() ? machine.halves : Dot::Plain;
  ArrayRef<int64_t> w = cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
  // Weights that may be too large for it stand in pairs.
  if (dot == Dot::MaddBytes && !cpu::Notes::smallWeights.isOn(op))
    dot = Dot::Madd;
  if (dot == Dot::Plain || w.back() != stepOf(dot))
    return Dot::Plain;
  int64_t lanes = w[w.size() - 2];
  if (isByTiles(dot) && hasOpenPlanes(op))
    dot = byVectors(dot);
  if (isByTiles(dot)) {
    // Rows that only divide into short parts are left to vectors, which have their own limits.
    bool divides = true;
    if (auto product = dyn_cast<PackedMatmulOp>(op)) {
      auto x = cast<RankedTensorType>(product.getX().getType());
      int64_t bytes = x.getShape().back() * x.getElementTypeBitWidth() / 8;
      divides = 2 * partOf(bytes) >= std::min<int64_t>(bytes, 64);
    }
    if (divides && machine.lanes == mostLanes && (lanes <= mostLanes || lanes % mostLanes == 0))
      return dot;
    dot = byVectors(dot);
  }
  bool known = lanes == 4 || (dot != Dot::Usdot && (lanes == 8 || lanes == 16));
  return known && lanes <= machine.lanes ? dot : Dot::Plain;
}

// A tensor of an operation with open planes; null when there is none.
static Value findOpen(Operation *op) {
  SmallVector<Value> all(op->getOperands());
  all.append(op->result_begin(), op->result_end());
  for (Value v : all)
    if (auto type = dyn_cast<RankedTensorType>(v.getType());
        type && type.getRank() >= 4 && llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
      return v;
  return {};
}

bool packed::hasOpenPlanes(Operation *op) { return bool(findOpen(op)); }

LogicalResult packed::refuseOpenPlanes(Operation *op, std::string &why) {
  Value open = findOpen(op);
  if (!open)
    return success();
  llvm::raw_string_ostream(why = "") << "the rows and columns of its planes must be static, but it takes or "
                                        "gives "
                                     << open.getType();
  return failure();
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

void packed::setTiles(Operation *op, const Tiles &tiles) {
  const Numbers n = numbersOf(tiles);
  cpu::Notes::tiles.set(op, {n.rows, n.columns, n.blocks, n.unroll, n.task, n.split});
}

Tiles packed::chooseTiles(Operation *op, const Machine &given) {
  const Dot dot = dotOf(op, given);
  if (DenseI64ArrayAttr set = cpu::Notes::tiles.get(op))
    return tilesFor(op, {set[0], set[1], set[2], set[3], set[4], set[5], dot});
  Machine machine = forBlocks(op, given);
  // Without an instruction for them, narrow elements take so many of others that large tiles are only large
  // code.
  bool plain = isa<PackedConvOp, PackedMatmulOp>(op) && isNarrow(op) && dot == Dot::Plain;
  if (plain)
    machine.registers = std::min<int64_t>(machine.registers, 8);
  return llvm::TypeSwitch<Operation *, Tiles>(op)
      .Case([&](PackedConvOp conv) -> Tiles {
        if (isByTiles(dot)) {
          MatrixConvTiles tiles = chooseConvByTiles(conv, machine);
          tiles.dot = dot;
          return tiles;
        }
        ConvTiles tiles = chooseConv(conv, machine);
        tiles.dot = dot;
        if (plain)
          tiles.unroll = 1;
        return tiles;
      })
      .Case([&](PackedWinogradOp conv) { return chooseWinograd(conv, machine); })
      .Case([&](PackedSparseOp product) { return chooseSparse(product, machine); })
      .Case([&](PackedDepthwiseOp conv) { return chooseDepthwise(conv, machine); })
      .Case([&](PackedMatmulOp product) {
        MatmulTiles tiles = chooseMatmul(product, machine);
        tiles.dot = dot;
        if (plain)
          tiles.unroll = 1;
        return tiles;
      })
      .Case<ProductOp, AttendOp>([&](Operation *) { return chooseBatch(given); })
      .Default([](Operation *) { return NoTiles(); });
}

static std::string text(int64_t v) { return std::to_string(v); }
static std::string by(Dot dot) {
  return dot == Dot::Plain ? std::string() : " by " + stringifyDot(dot).str();
}

static std::string describeSparse(PackedSparseOp product, const SparseTiles &t) {
  ArrayRef<int64_t> x = cast<RankedTensorType>(product.getX().getType()).getShape();
  int64_t rows = cast<RankedTensorType>(product.getValues().getType()).getDimSize(0),
          all = (cast<RankedTensorType>(product.getStarts().getType()).getDimSize(0) - 1) *
                (x.size() == 2 ? x[1] : x[1] * x[4] * product.getKernel()[0] * product.getKernel()[1]);
  return std::string(isPointwise(product) ? "product" : "convolution") + " with sparse weights, " +
         text(100 * rows / all) + " % of their rows are there, " + text(t.places) + " places in registers";
}

static std::string describeBatch(const BatchTiles &t) {
  return text(t.rows) + "x" + text(t.vectors * t.lanes) + " in registers, " + text(t.task) + " rows as tasks";
}

std::string packed::describe(Operation *op, const Tiles &tiles) {
  std::string pooled;
  if (PackedPoolOp pool = findPool(op))
    pooled = ", pooled " + text(pool.getKernel()[0]) + "x" + text(pool.getKernel()[1]);
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](PackedConvOp) {
        if (auto *t = std::get_if<MatrixConvTiles>(&tiles))
          return "direct convolution" + by(t->dot) + ", " + text(t->rows * t->beside) + "x" +
                 text(t->places) + " places of " + text(t->weights) + " tiles of channels in registers";
        const ConvTiles &t = get<ConvTiles>(tiles);
        return "direct convolution" + by(t.dot) + ", " + text(t.rows) + "x" + text(t.columns) +
               " places of " + text(t.blocks) + " blocks in registers" + pooled;
      })
      .Case([&](PackedWinogradOp conv) {
        const WinogradTiles &t = get<WinogradTiles>(tiles);
        std::string tile = text(conv.getTile());
        ArrayRef<int64_t> w = cast<RankedTensorType>(conv.getW().getType()).getShape();
        std::string window = text(winogradWindow(conv.getTile(), w[1]));
        return "Winograd F(" + tile + "x" + tile + ", " + window + "x" + window + "), " + text(t.tiles) +
               " tiles of " + text(t.blocks) + " blocks in registers, " + text(t.task) + " tiles as tasks" +
               pooled;
      })
      .Case([&](PackedSparseOp product) { return describeSparse(product, get<SparseTiles>(tiles)); })
      .Case([&](PackedDepthwiseOp) {
        const DepthwiseTiles &t = get<DepthwiseTiles>(tiles);
        return "depthwise convolution, " + text(t.rows) + "x" + text(t.columns) + " places in registers";
      })
      .Case([&](PackedMatmulOp product) {
        const MatmulTiles &t = get<MatmulTiles>(tiles);
        std::string taller = text(2 * t.rows) + " rows of " + text(t.blocks / 2) + " or ";
        return "product with packed weights" + by(t.dot) + ", " + (hasTallerTiles(product, t) ? taller : "") +
               text(t.rows) + " rows of " + text(t.blocks) + " blocks in registers";
      })
      .Case([&](ProductOp) { return "product, " + describeBatch(get<BatchTiles>(tiles)); })
      .Case([&](AttendOp attend) {
        const BatchTiles &t = get<BatchTiles>(tiles);
        return std::string(findScores(attend).product ? "attention" : "softmax and product") +
               " by blocks of " + text(2 * t.vectors * t.lanes) + " keys, " + describeBatch(t);
      })
      .Case([](PackedPoolOp) { return "pool on blocks"; })
      .Case([](PackedMeanOp) { return "mean of planes"; })
      .Case([](InterpolateOp) { return "rows and columns put together, others between them"; })
      .Default([](Operation *) { return "copy between layouts"; });
}

FailureOr<SmallVector<Operation *>> packed::findTaken(Operation *op, const Tiles &tiles, const Taken &taken,
                                                      std::string &why) {
  // What stands in front of it, and nothing behind it.
  if (auto attend = dyn_cast<AttendOp>(op)) {
    ScoresOf scores = findScores(attend);
    SmallVector<Operation *> own;
    if (scores.product)
      own.push_back(scores.product);
    for (auto [step, along] : scores.steps)
      own.push_back(step);
    return own;
  }
  if (isa<ProductOp>(op))
    return SmallVector<Operation *>();
  const bool byTiles =
      isa<PackedWinogradOp>(op) || (isa<PackedConvOp>(op) && std::holds_alternative<ConvTiles>(tiles));
  FailureOr<Output> output = Output::find(op, why, byTiles, &taken);
  if (failed(output))
    return failure();
  return output->taken();
}

LogicalResult packed::lower(RewriterBase &rewriter, Operation *op, const Tiles &tiles, std::string &why) {
  why = "it is not a packed layer";
  if (auto crop = dyn_cast<CropOp>(op))
    answerCrop(rewriter, crop);
  // What others have read through, or made part of their stores.
  if (isPacked(op) && op->use_empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](PackedConvOp o) {
        if (auto *t = std::get_if<MatrixConvTiles>(&tiles))
          return lowerConvByTiles(rewriter, o, *t, why);
        return lowerConv(rewriter, o, get<ConvTiles>(tiles), why);
      })
      .Case([&](PackedSparseOp o) { return lowerSparse(rewriter, o, get<SparseTiles>(tiles), why); })
      .Case([&](PackedWinogradOp o) { return lowerWinograd(rewriter, o, get<WinogradTiles>(tiles), why); })
      .Case([&](PackedDepthwiseOp o) { return lowerDepthwise(rewriter, o, get<DepthwiseTiles>(tiles), why); })
      .Case([&](PackedMatmulOp o) { return lowerMatmul(rewriter, o, get<MatmulTiles>(tiles), why); })
      .Case([&](ProductOp o) { return lowerProduct(rewriter, o, get<BatchTiles>(tiles), why); })
      .Case([&](AttendOp o) { return lowerAttend(rewriter, o, get<BatchTiles>(tiles), why); })
      .Case([&](PackedPoolOp o) { return lowerPool(rewriter, o, why); })
      .Case([&](PackedMeanOp o) { return lowerMean(rewriter, o, why); })
      .Case([&](InterpolateOp o) { return lowerInterpolate(rewriter, o, why); })
      .Case([&](PackOp o) { return lowerPack(rewriter, o, why); })
      .Case([&](UnpackOp o) { return lowerUnpack(rewriter, o, why); })
      .Case([&](HaloOp o) { return lowerHalo(rewriter, o, why); })
      .Case([&](SplitOp o) { return lowerSplit(rewriter, o, why); })
      .Case([&](CropOp o) { return lowerCrop(rewriter, o, why); })
      .Default([](Operation *) { return failure(); });
}
