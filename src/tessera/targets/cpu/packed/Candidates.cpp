// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile sizes that are worth measuring beside the chosen ones. Each differs from the choice in one respect
// that the model behind it knows least about: how many blocks share a load, how large tasks are, which loop
// is outermost.
#include "tessera/targets/cpu/packed/Amx.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

static void addConv(PackedConvOp op, const Machine &machine, const Tiles &best, SmallVector<Tiles> &out) {
  if (isByTiles(best.dot)) {
    for (int64_t blocks : {2, 4, 1})
      if (Tiles t = chooseConvByTiles(op, machine, blocks); t.blocks && blocks != best.blocks) {
        t.dot = best.dot;
        out.push_back(t);
      }
    Tiles t = best;
    t.task = 2 * best.task;
    out.push_back(t);
    t = best;
    t.split = !best.split;
    out.push_back(t);
    return;
  }
  int64_t blocksOfGroup = typeOf(op.getW()).getDimSize(0) / int64_t(op.getGroups());
  for (int64_t blocks : {1, 2, 4})
    if (blocks != best.blocks && blocksOfGroup % blocks == 0)
      out.push_back(chooseConv(op, machine, blocks));
  Tiles t = best;
  t.split = !best.split;
  out.push_back(t);
  t = best;
  t.task = 2 * best.task;
  out.push_back(t);
}

static void addWinograd(PackedWinogradOp op, const Machine &machine, const Tiles &best,
                        SmallVector<Tiles> &out) {
  int64_t blocks = typeOf(op.getW()).getDimSize(0);
  for (int64_t times : {2, 4}) {
    Tiles t = best;
    t.task = times * best.task;
    out.push_back(t);
  }
  if (best.task / best.columns % 2 == 0) {
    Tiles t = best;
    t.task = best.task / 2;
    out.push_back(t);
  }
  for (int64_t columns : {8, 12, 14})
    if (columns != best.columns && columns * best.blocks + best.blocks + 1 <= machine.registers)
      out.push_back(chooseWinograd(op, machine, best.blocks, columns));
  if (blocks % (best.blocks * (3 - best.split)) == 0 && best.split <= 2) {
    Tiles t = best;
    t.split = 3 - best.split;
    out.push_back(t);
  }
}

static void addDepthwise(PackedDepthwiseOp op, const Tiles &best, SmallVector<Tiles> &out) {
  Tiles t = best;
  t.rows = 3 - best.rows;
  t.columns = std::max<int64_t>(1, best.rows == 1 ? best.columns / 2 : 2 * best.columns);
  t.columns = std::min(t.columns, typeOf(op.getY()).getDimSize(3));
  if (t.rows >= 1 && t.rows <= typeOf(op.getY()).getDimSize(2))
    out.push_back(t);
  t = best;
  t.task = std::max<int64_t>(best.rows, best.task / 2);
  out.push_back(t);
}

static void addMatmul(PackedMatmulOp op, const Machine &machine, const Tiles &best, SmallVector<Tiles> &out) {
  int64_t panels = typeOf(op.getW()).getDimSize(0);
  for (int64_t blocks : {1, 2, 4})
    if (blocks != best.blocks && blocks <= panels) {
      Tiles t = best;
      t.blocks = blocks;
      t.rows = std::min<int64_t>(8, std::max<int64_t>(1, (machine.registers - blocks - 1) / blocks));
      out.push_back(t);
    }
  Tiles t = best;
  t.unroll = 2 * best.unroll;
  out.push_back(t);
}

SmallVector<Tiles> packed::tileCandidates(Operation *op, const Machine &given) {
  Machine machine = forBlocks(op, given);
  Tiles best = chooseTiles(op, given);
  SmallVector<Tiles> all = {best};
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PackedConvOp conv) { addConv(conv, machine, best, all); })
      .Case([&](PackedWinogradOp conv) { addWinograd(conv, machine, best, all); })
      .Case([&](PackedDepthwiseOp conv) { addDepthwise(conv, best, all); })
      .Case([&](PackedMatmulOp product) { addMatmul(product, machine, best, all); })
      .Default([](Operation *) {});
  SmallVector<Tiles> distinct;
  for (const Tiles &t : all)
    if (!llvm::is_contained(distinct, t))
      distinct.push_back(t);
  return distinct;
}
