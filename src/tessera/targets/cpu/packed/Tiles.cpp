// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Tiles.h: words for instructions, and numbers as scripts spell them.
#include "tessera/targets/cpu/packed/Tiles.h"

#include "llvm/ADT/STLExtras.h"
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

Numbers packed::numbersOf(const Tiles &tiles) {
  struct {
    Numbers operator()(const NoTiles &) const { return {}; }
    Numbers operator()(const ConvTiles &t) const {
      return {t.rows, t.columns, t.blocks, t.unroll, t.task, t.split, t.dot};
    }
    Numbers operator()(const MatrixConvTiles &t) const {
      return {t.rows, t.places, t.weights, t.beside, t.task, t.split, t.dot};
    }
    Numbers operator()(const WinogradTiles &t) const {
      return {t.rest, t.tiles, t.blocks, t.unroll, t.task, t.parts, Dot::Plain};
    }
    Numbers operator()(const SparseTiles &t) const { return {0, t.places, 0, 0, t.task, 0, Dot::Plain}; }
    Numbers operator()(const DepthwiseTiles &t) const {
      return {t.rows, t.columns, 0, 0, t.task, 0, Dot::Plain};
    }
    Numbers operator()(const BatchTiles &t) const {
      return {t.rows, t.lanes, t.vectors, t.unroll, t.task, 0, Dot::Plain};
    }
    Numbers operator()(const MatmulTiles &t) const { return {t.rows, 0, t.blocks, t.unroll, 0, 0, t.dot}; }
  } spell;
  return std::visit(spell, tiles);
}

Tiles packed::tilesFor(Operation *op, const Numbers &n) {
  return llvm::TypeSwitch<Operation *, Tiles>(op)
      .Case([&](PackedConvOp) -> Tiles {
        if (isByTiles(n.dot))
          return MatrixConvTiles{n.columns, n.rows, n.unroll, n.blocks, n.task, n.split, n.dot};
        return ConvTiles{n.rows, n.columns, n.blocks, n.unroll, n.task, n.split, n.dot};
      })
      .Case([&](PackedWinogradOp) -> Tiles {
        return WinogradTiles{n.columns, n.rows, n.blocks, n.unroll, n.task, n.split};
      })
      .Case([&](PackedSparseOp) -> Tiles { return SparseTiles{n.columns, n.task}; })
      .Case([&](PackedDepthwiseOp) -> Tiles { return DepthwiseTiles{n.rows, n.columns, n.task}; })
      .Case([&](PackedMatmulOp) -> Tiles { return MatmulTiles{n.rows, n.blocks, n.unroll, n.dot}; })
      .Case<ProductOp, AttendOp>(
          [&](Operation *) -> Tiles { return BatchTiles{n.rows, n.blocks, n.columns, n.unroll, n.task}; })
      .Default([](Operation *) { return NoTiles(); });
}

std::string packed::spellNumbers(const Tiles &tiles) {
  const Numbers t = numbersOf(tiles);
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
