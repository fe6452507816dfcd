// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile sizes that are worth measuring beside the chosen ones. Each differs from the choice in one respect
// that the model behind it knows least about: how many blocks share a load, how large tasks are, which loop
// is outermost.
#include "tessera/targets/cpu/packed/Amx.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

static void addMatrixConv(PackedConvOp op, const Machine &machine, const MatrixConvTiles &best,
                          SmallVector<Tiles> &out) {
  for (int64_t weights : {2, 4, 1})
    if (MatrixConvTiles t = chooseConvByTiles(op, machine, weights); t.weights && weights != best.weights) {
      t.dot = best.dot;
      out.push_back(t);
    }
  MatrixConvTiles t = best;
  t.task = 2 * best.task;
  out.push_back(t);
  t = best;
  t.split = !best.split;
  out.push_back(t);
}

static void addConv(PackedConvOp op, const Machine &machine, const ConvTiles &best, SmallVector<Tiles> &out) {
  int64_t blocksOfGroup = typeOf(op.getW()).getDimSize(0) / int64_t(op.getGroups());
  for (int64_t blocks : {1, 2, 4})
    if (blocks != best.blocks && blocksOfGroup % blocks == 0)
      out.push_back(chooseConv(op, machine, blocks));
  ConvTiles t = best;
  t.split = !best.split;
  out.push_back(t);
  t = best;
  t.task = 2 * best.task;
  out.push_back(t);
}

static void addWinograd(PackedWinogradOp op, const Machine &machine, const WinogradTiles &best,
                        SmallVector<Tiles> &out) {
  int64_t blocks = typeOf(op.getW()).getDimSize(0);
  for (int64_t times : {2, 4}) {
    WinogradTiles t = best;
    t.task = times * best.task;
    out.push_back(t);
  }
  if (best.task / best.tiles % 2 == 0) {
    WinogradTiles t = best;
    t.task = best.task / 2;
    out.push_back(t);
  }
  for (int64_t tiles : {8, 12, 14})
    if (tiles != best.tiles && tiles * best.blocks + best.blocks + 1 <= machine.registers)
      out.push_back(chooseWinograd(op, machine, best.blocks, tiles));
  if (blocks % (best.blocks * (3 - best.parts)) == 0 && best.parts <= 2) {
    WinogradTiles t = best;
    t.parts = 3 - best.parts;
    out.push_back(t);
  }
}

static void addDepthwise(PackedDepthwiseOp op, const DepthwiseTiles &best, SmallVector<Tiles> &out) {
  DepthwiseTiles t = best;
  t.rows = 3 - best.rows;
  t.columns = std::max<int64_t>(1, best.rows == 1 ? best.columns / 2 : 2 * best.columns);
  t.columns = std::min(t.columns, typeOf(op.getY()).getDimSize(3));
  if (t.rows >= 1 && t.rows <= typeOf(op.getY()).getDimSize(2))
    out.push_back(t);
  t = best;
  t.task = std::max<int64_t>(best.rows, best.task / 2);
  out.push_back(t);
}

static void addMatmul(PackedMatmulOp op, const Machine &machine, const MatmulTiles &best,
                      SmallVector<Tiles> &out) {
  int64_t panels = typeOf(op.getW()).getDimSize(0);
  for (int64_t blocks : {1, 2, 4})
    if (blocks != best.blocks && blocks <= panels) {
      MatmulTiles t = best;
      t.blocks = blocks;
      t.rows = std::min<int64_t>(8, std::max<int64_t>(1, (machine.registers - blocks - 1) / blocks));
      out.push_back(t);
    }
  MatmulTiles t = best;
  t.unroll = 2 * best.unroll;
  out.push_back(t);
}

SmallVector<Tiles> packed::tileCandidates(Operation *op, const Machine &given) {
  Machine machine = forBlocks(op, given);
  Tiles best = chooseTiles(op, given);
  SmallVector<Tiles> all = {best};
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PackedConvOp conv) {
        if (auto *t = std::get_if<MatrixConvTiles>(&best))
          addMatrixConv(conv, machine, *t, all);
        else
          addConv(conv, machine, get<ConvTiles>(best), all);
      })
      .Case([&](PackedWinogradOp conv) { addWinograd(conv, machine, get<WinogradTiles>(best), all); })
      .Case([&](PackedDepthwiseOp conv) { addDepthwise(conv, get<DepthwiseTiles>(best), all); })
      .Case([&](PackedMatmulOp product) { addMatmul(product, machine, get<MatmulTiles>(best), all); })
      .Default([](Operation *) {});
  SmallVector<Tiles> distinct;
  for (const Tiles &t : all)
    if (!llvm::is_contained(distinct, t))
      distinct.push_back(t);
  return distinct;
}
