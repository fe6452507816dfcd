// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From layers on blocked activations to loops over buffers: register tiles of vectors, tasks as one outermost
// scf.forall. What follows a layer element by element, and the halo at the end, becomes part of its stores.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

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

/// What the shapes of tiles depend on.
struct Machine {
  int64_t lanes = 4;      ///< of f32 in a vector register
  int64_t registers = 16; ///< vector registers
  int64_t l1 = 32 << 10, l2 = 1 << 20;
  Dot bytes = Dot::Plain, halves = Dot::Plain; ///< for narrow operands
};

/// The numbers of one kernel. They change how fast it is, never what it computes, up to rounding. What a
/// number means depends on the layer; zero lets the layer choose.
struct Tiles {
  int64_t rows = 0;    ///< of the result in registers (Winograd: unused; products: rows of x)
  int64_t columns = 0; ///< of the result in registers (Winograd: tiles)
  int64_t blocks = 0;  ///< of channels of the result in registers
  int64_t unroll = 0;  ///< steps of the innermost reduction loop in one go
  int64_t task = 0;    ///< rows of one task (Winograd: tiles; products: nothing)
  int64_t split = 0;   ///< 1: channels are the outermost tasks, so that weights stay in the cache; 2: those
                       ///< of one image; Winograd: parts of the channels
  Dot dot = Dot::Plain;
  bool operator==(const Tiles &) const = default;
};

/// The machine as an operation sees it: blocks that are wider than a register take several for each vector.
Machine forBlocks(Operation *op, Machine machine);

/// Gives an operation the numbers that it is to have whatever the machine, as the attribute nn.tiles.
void setTiles(Operation *op, const Tiles &tiles);

/// Good numbers for an operation on a machine (those of its attribute when it has them), and in words what
/// they mean.
Tiles chooseTiles(Operation *op, const Machine &machine);
/// Numbers that may be better: the chosen ones first, then a few that differ in one respect each.
SmallVector<Tiles> tileCandidates(Operation *op, const Machine &machine);
std::string describe(Operation *op, const Tiles &tiles);
/// The numbers that are given, as a script spells them: " rows 4 columns 6".
std::string spellNumbers(const Tiles &tiles);

/// Rewrites one operation and what it takes into its stores. On failure nothing has changed, and `why` says
/// what stands against it.
LogicalResult lower(RewriterBase &rewriter, Operation *op, const Tiles &tiles, std::string &why);

/// The convolution with windows of one element that alone reads what comes of a depthwise one, if there is
/// such: the pair can run in strips of rows that stay in the cache.
PackedConvOp findPointwise(PackedDepthwiseOp op);
/// The pool that alone reads what comes of a convolution, if its windows lie side by side without padding:
/// then it is part of the convolution's stores.
PackedPoolOp findPool(Operation *op);
/// Good numbers for both of a pair: its strips are the second's tasks.
std::pair<Tiles, Tiles> chooseSeparable(PackedDepthwiseOp first, PackedConvOp second, const Machine &machine);
std::string describeSeparable(const Tiles &first, const Tiles &second);
/// Rewrites a pair.
LogicalResult lowerSeparable(RewriterBase &rewriter, PackedDepthwiseOp first, const Tiles &firstTiles,
                             PackedConvOp second, const Tiles &secondTiles, std::string &why);

/// Layers by family.
LogicalResult lowerConv(RewriterBase &rewriter, PackedConvOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerSparse(RewriterBase &rewriter, PackedSparseOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerWinograd(RewriterBase &rewriter, PackedWinogradOp op, const Tiles &tiles,
                            std::string &why);
LogicalResult lowerDepthwise(RewriterBase &rewriter, PackedDepthwiseOp op, const Tiles &tiles,
                             std::string &why);
LogicalResult lowerMatmul(RewriterBase &rewriter, PackedMatmulOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerPool(RewriterBase &rewriter, PackedPoolOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerMean(RewriterBase &rewriter, PackedMeanOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerInterpolate(RewriterBase &rewriter, InterpolateOp op, const Tiles &tiles,
                               std::string &why);
LogicalResult lowerPack(RewriterBase &rewriter, PackOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerUnpack(RewriterBase &rewriter, UnpackOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerHalo(RewriterBase &rewriter, HaloOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerSplit(RewriterBase &rewriter, SplitOp op, const Tiles &tiles, std::string &why);
LogicalResult lowerCrop(RewriterBase &rewriter, CropOp op, const Tiles &tiles, std::string &why);

/// With `blocks` or `columns` above zero: the best with these; with `inRows` for x that comes in rows.
Tiles chooseConv(PackedConvOp op, const Machine &machine, int64_t blocks = 0, bool inRows = false);
Tiles chooseWinograd(PackedWinogradOp op, const Machine &machine, int64_t blocks = 0, int64_t columns = 0);
Tiles chooseSparse(PackedSparseOp op, const Machine &machine);
/// Windows of one element, one at each place.
bool isPointwise(PackedSparseOp op);
Tiles chooseDepthwise(PackedDepthwiseOp op, const Machine &machine);
Tiles chooseMatmul(PackedMatmulOp op, const Machine &machine);
/// Where there are twice the rows of a tile, tiles have twice the rows and half the blocks.
bool hasTallerTiles(PackedMatmulOp op, const Tiles &tiles);

} // namespace tessera::cpu::packed
