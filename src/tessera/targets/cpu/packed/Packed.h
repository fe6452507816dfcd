// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From layers on blocked activations to loops over buffers: register tiles of vectors, tasks as one outermost
// scf.forall. What follows a layer element by element, and the halo at the end, becomes part of its stores.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/targets/cpu/packed/Tiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace tessera::cpu::packed {

/// What the shapes of tiles depend on.
struct Machine {
  int64_t lanes = 4;      ///< of f32 in a vector register
  int64_t registers = 16; ///< vector registers
  int64_t l1 = 32 << 10, l2 = 1 << 20;
  Dot bytes = Dot::Plain, halves = Dot::Plain; ///< for narrow operands
};

/// Rows or columns of what an operation takes or gives are known only when it runs.
bool hasOpenPlanes(Operation *op);
/// Says so, where a layer's kernel cannot have that.
LogicalResult refuseOpenPlanes(Operation *op, std::string &why);

/// The machine as an operation sees it: blocks that are wider than a register take several for each vector.
Machine forBlocks(Operation *op, Machine machine);

/// Gives an operation the numbers that it is to have whatever the machine, as the note cpu.tiles.
void setTiles(Operation *op, const Tiles &tiles);

/// Good numbers for an operation on a machine (those of its attribute when it has them), and in words what
/// they mean.
Tiles chooseTiles(Operation *op, const Machine &machine);
/// Numbers that may be better: the chosen ones first, then a few that differ in one respect each.
SmallVector<Tiles> tileCandidates(Operation *op, const Machine &machine);
std::string describe(Operation *op, const Tiles &tiles);

/// Operations that layers take into their stores.
using Taken = DenseSet<Operation *>;
/// What `lower` would take into the stores of one operation, where `taken` says what others have taken
/// already. Looks, and changes nothing.
FailureOr<SmallVector<Operation *>> findTaken(Operation *op, const Tiles &tiles, const Taken &taken,
                                              std::string &why);
/// Who asks a crop for an open extent asks what it takes its rows and columns from.
void answerCrop(RewriterBase &rewriter, CropOp op);
/// Rewrites one operation and what it takes into its stores. On failure nothing has changed, and `why` says
/// what stands against it.
LogicalResult lower(RewriterBase &rewriter, Operation *op, const Tiles &tiles, std::string &why);

/// The convolution with windows of one element that alone reads what comes of a depthwise one, if there is
/// such: the pair can run in strips of rows that stay in the cache.
PackedConvOp findPointwise(PackedDepthwiseOp op);
/// The pool that alone reads what comes of a convolution, if its windows lie side by side without padding:
/// then it is part of the convolution's stores.
PackedPoolOp findPool(Operation *op);
/// The product that alone makes an operation's scores, and what stands between element by element: each step
/// with the operand that the scores come along. Without a product the scores are memory.
struct ScoresOf {
  ProductOp product;
  SmallVector<std::pair<linalg::GenericOp, Value>> steps;
};
ScoresOf findScores(AttendOp op);
/// Good numbers for both of a pair: its strips are the second's tasks.
std::pair<DepthwiseTiles, ConvTiles> chooseSeparable(PackedDepthwiseOp first, PackedConvOp second,
                                                     const Machine &machine);
std::string describeSeparable(const DepthwiseTiles &first, const ConvTiles &second);
/// What lowerSeparable would take into the stores of a pair; looks, and changes nothing.
FailureOr<SmallVector<Operation *>> findTaken(PackedDepthwiseOp first, PackedConvOp second,
                                              const Taken &taken, std::string &why);
/// Rewrites a pair.
LogicalResult lowerSeparable(RewriterBase &rewriter, PackedDepthwiseOp first,
                             const DepthwiseTiles &firstTiles, PackedConvOp second,
                             const ConvTiles &secondTiles, std::string &why);

/// Layers by family.
LogicalResult lowerConv(RewriterBase &rewriter, PackedConvOp op, const ConvTiles &tiles, std::string &why);
LogicalResult lowerSparse(RewriterBase &rewriter, PackedSparseOp op, const SparseTiles &tiles,
                          std::string &why);
LogicalResult lowerWinograd(RewriterBase &rewriter, PackedWinogradOp op, const WinogradTiles &tiles,
                            std::string &why);
LogicalResult lowerDepthwise(RewriterBase &rewriter, PackedDepthwiseOp op, const DepthwiseTiles &tiles,
                             std::string &why);
LogicalResult lowerMatmul(RewriterBase &rewriter, PackedMatmulOp op, const MatmulTiles &tiles,
                          std::string &why);
LogicalResult lowerProduct(RewriterBase &rewriter, ProductOp op, const BatchTiles &tiles, std::string &why);
LogicalResult lowerAttend(RewriterBase &rewriter, AttendOp op, const BatchTiles &tiles, std::string &why);
LogicalResult lowerPool(RewriterBase &rewriter, PackedPoolOp op, std::string &why);
LogicalResult lowerMean(RewriterBase &rewriter, PackedMeanOp op, std::string &why);
LogicalResult lowerInterpolate(RewriterBase &rewriter, InterpolateOp op, std::string &why);
LogicalResult lowerPack(RewriterBase &rewriter, PackOp op, std::string &why);
LogicalResult lowerUnpack(RewriterBase &rewriter, UnpackOp op, std::string &why);
LogicalResult lowerHalo(RewriterBase &rewriter, HaloOp op, std::string &why);
LogicalResult lowerSplit(RewriterBase &rewriter, SplitOp op, std::string &why);
LogicalResult lowerCrop(RewriterBase &rewriter, CropOp op, std::string &why);

/// With `blocks` or `tiles` above zero: the best with these; with `inRows` for x that comes in rows.
ConvTiles chooseConv(PackedConvOp op, const Machine &machine, int64_t blocks = 0, bool inRows = false);
WinogradTiles chooseWinograd(PackedWinogradOp op, const Machine &machine, int64_t blocks = 0,
                             int64_t tiles = 0);
SparseTiles chooseSparse(PackedSparseOp op, const Machine &machine);
/// Windows of one element, one at each place.
bool isPointwise(PackedSparseOp op);
DepthwiseTiles chooseDepthwise(PackedDepthwiseOp op, const Machine &machine);
MatmulTiles chooseMatmul(PackedMatmulOp op, const Machine &machine);
BatchTiles chooseBatch(const Machine &machine);
/// Where there are twice the rows of a tile, tiles have twice the rows and half the blocks.
bool hasTallerTiles(PackedMatmulOp op, const MatmulTiles &tiles);

} // namespace tessera::cpu::packed
