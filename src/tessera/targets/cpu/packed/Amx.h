// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products in the tile registers of x86's AMX: eight matrices of up to 16 rows of 64 bytes. Only this
// folder's sources include this.
#pragma once

#include "tessera/targets/cpu/packed/KernelBuilder.h"

namespace tessera::cpu::packed {

/// Places and channels of the result that one tile of sums holds at most.
inline constexpr int64_t mostPlaces = 16, mostLanes = 16;

/// Whether an instruction on tiles takes these elements, as the weights have them.
bool canMultiply(Dot dot, Value x, Value w);

/// `xs` tiles of places of x times `ws` tiles of weights; each pair has a tile of sums. The shape of a
/// register is set once for a task, so all tiles of a kind have one.
struct TileProduct {
  Dot dot = Dot::AmxBytes;
  int64_t places = 1; ///< rows of tiles of x and of sums
  int64_t bytes = 4;  ///< of x in a row, at one step; a fourth of it are the rows of weights
  int64_t lanes = 1;  ///< columns of sums
  int64_t xs = 1, ws = 1;

  /// All sums, the tiles of the operand that has fewer, and one of the other.
  bool fits() const { return xs * ws + std::min(xs, ws) + 1 <= 8; }
  /// Lanes of all sums of a place.
  int64_t width() const { return ws * lanes; }

  /// Sets the registers up, unless they are; `rows` replaces `places` where it is given. They are released at
  /// the end of the kernel (targets/cpu/Lower.cpp).
  void configure(Gen &g, Value rows = {}) const;
  /// The first `used` tiles of x have sums that start with the width() elements at `bias`, or with zero.
  void begin(Gen &g, int64_t used, Value bias) const;
  /// Adds the products of tiles at these pointers, whose rows are so many bytes apart. Weights that are
  /// `prefetched` bytes further on are asked for.
  void step(Gen &g, ValueRange x, int64_t xStride, ValueRange w, int64_t wStride,
            int64_t prefetched = 0) const;
  /// Memory for the sums of a task: xs x 16 places x width(); and their way there.
  Memory allocateSums(Gen &g, Type wide) const;
  void collect(Gen &g, int64_t used, const Memory &sums) const;

private:
  int64_t sum(int64_t i, int64_t k) const { return i * ws + k; }
  int64_t xTile(int64_t i) const { return xs * ws + (xs < ws ? i : 0); }
  int64_t wTile(int64_t k) const { return xs * ws + (xs < ws ? xs : 1 + k); }
};

/// Where a buffer begins, and the place so many bytes behind a pointer.
Value pointerTo(Gen &g, const Memory &memory);
Value pointerBehind(Gen &g, Value pointer, Value bytes);
Value pointerBehind(Gen &g, Value pointer, int64_t bytes);

/// The layers by tiles; Packed.h has those by vectors, which call these.
LogicalResult lowerConvByTiles(RewriterBase &rewriter, PackedConvOp op, const MatrixConvTiles &tiles,
                               std::string &why);
/// With `blocks` above zero: the best with these, or none.
MatrixConvTiles chooseConvByTiles(PackedConvOp op, const Machine &machine, int64_t blocks = 0);

/// Fewer rows of a matrix are no faster than by vectors.
inline constexpr int64_t leastRows = 4;
struct MatmulByTiles {
  Memory x, w, bias;
  const Output &out;
  Dot dot;
  /// All rows of x times `blocks` panels of weights from `panel` on, of which `valid` columns are wanted.
  void rows(Gen &g, Value batch, Value panel, int64_t blocks, int64_t valid) const;
};

} // namespace tessera::cpu::packed
