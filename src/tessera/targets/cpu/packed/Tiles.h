// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of kernels on blocked activations, for each family of layers its own. They change how fast a
// kernel is, never what it computes, up to rounding.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"

#include <variant>

namespace tessera::cpu::packed {

/// The instruction that multiplies narrow elements and adds them into wide ones.
enum class Dot {
  Plain,     ///< none: elements are widened first
  Vnni,      ///< x86: four bytes
  Bf16,      ///< x86: two bf16
  Madd,      ///< x86: two bytes, widened to 16 bits
  MaddBytes, ///< x86: four bytes whose products fit 16 bits in pairs (fitsPairs)
  Usdot,     ///< Arm: four bytes
  AmxBytes,  ///< x86: matrices of bytes, four together
  AmxHalves, ///< x86: matrices of bf16, two together
};
/// How many elements it takes together.
int64_t stepOf(Dot dot);
/// Whether it multiplies matrices; and what the same machine multiplies vectors with.
inline bool isByTiles(Dot dot) { return dot == Dot::AmxBytes || dot == Dot::AmxHalves; }
inline Dot byVectors(Dot dot) {
  return dot == Dot::AmxBytes ? Dot::Vnni : dot == Dot::AmxHalves ? Dot::Bf16 : dot;
}
/// Channels that one of its steps takes at most.
inline int64_t channelsOf(Dot dot) { return dot == Dot::AmxBytes ? 64 : dot == Dot::AmxHalves ? 32 : 0; }
/// The largest part of a row of so many bytes that a tile holds: whole steps of four bytes, and it divides
/// the row.
int64_t partOf(int64_t bytes);
StringRef stringifyDot(Dot dot);
std::optional<Dot> parseDot(StringRef word);

/// A convolution as it stands.
struct ConvTiles {
  int64_t rows = 0, columns = 0; ///< places of the result in registers
  int64_t blocks = 0;            ///< of channels of the result in registers
  int64_t unroll = 0;            ///< steps of the innermost reduction loop in one go
  int64_t task = 0;              ///< rows of one task; tiles where all places are one long row
  int64_t split = 0; ///< 1: channels are the outermost tasks, so that weights stay in the cache; 2: those of
                     ///< one image
  Dot dot = Dot::Plain;
  bool operator==(const ConvTiles &) const = default;
};

/// The same by instructions that multiply matrices.
struct MatrixConvTiles {
  int64_t places = 0;           ///< of one tile
  int64_t rows = 0, beside = 0; ///< tiles of places in registers: below and beside each other
  int64_t weights = 0;          ///< tiles of weights in registers
  int64_t task = 0, split = 0;  ///< as in ConvTiles
  Dot dot = Dot::Plain;
  bool operator==(const MatrixConvTiles &) const = default;
};

struct WinogradTiles {
  int64_t tiles = 0;  ///< of places in registers
  int64_t rest = 0;   ///< the same for what whole ones leave
  int64_t blocks = 0; ///< of channels of the result in registers
  int64_t unroll = 0; ///< steps of the innermost reduction loop in one go
  int64_t task = 0;   ///< tiles that are transformed together
  int64_t parts = 0;  ///< of the channels, each tasks of its own
  bool operator==(const WinogradTiles &) const = default;
};

struct SparseTiles {
  int64_t places = 0; ///< of the result in registers
  int64_t task = 0;   ///< tiles of one task where all places are one long row
  bool operator==(const SparseTiles &) const = default;
};

struct DepthwiseTiles {
  int64_t rows = 0, columns = 0; ///< places of the result in registers
  int64_t task = 0;              ///< rows of one task
  bool operator==(const DepthwiseTiles &) const = default;
};

struct MatmulTiles {
  int64_t rows = 0;   ///< of x in registers
  int64_t blocks = 0; ///< of columns of the result in registers
  int64_t unroll = 0; ///< steps of the reduction in one go
  Dot dot = Dot::Plain;
  bool operator==(const MatmulTiles &) const = default;
};

/// Products of two computed operands, and attention.
struct BatchTiles {
  int64_t rows = 0, vectors = 0; ///< of the result in registers
  int64_t lanes = 0;             ///< of a vector
  int64_t unroll = 0;            ///< steps of the reduction in one go
  int64_t task = 0;              ///< rows of one task
  bool operator==(const BatchTiles &) const = default;
};

/// Layers that leave no choice.
struct NoTiles {
  bool operator==(const NoTiles &) const = default;
};

using Tiles = std::variant<NoTiles, ConvTiles, MatrixConvTiles, WinogradTiles, SparseTiles, DepthwiseTiles,
                           MatmulTiles, BatchTiles>;

/// The numbers as scripts, attributes and reports spell them: what one means depends on the family. Zero
/// where a family has no such number.
struct Numbers {
  int64_t rows = 0, columns = 0, blocks = 0, unroll = 0, task = 0, split = 0;
  Dot dot = Dot::Plain;
};
Numbers numbersOf(const Tiles &tiles);
/// As the family of `op` reads them.
Tiles tilesFor(Operation *op, const Numbers &numbers);
/// Those that are given: " rows 4 columns 6".
std::string spellNumbers(const Tiles &tiles);

} // namespace tessera::cpu::packed
