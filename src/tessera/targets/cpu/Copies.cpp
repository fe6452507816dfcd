// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bufferisation leaves between the loops of a payload: copies and fills of whole buffers. Large ones
// become tasks, as if a schedule had tiled them.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::cpu;

/// Elements of one task, and what is too small to be shared. An extent that is not known counts as the third.
static constexpr int64_t taskElements = 16 << 10, smallest = 64 << 10, unknownExtent = 64;

// How many of each dimension one task takes; 0 for all of a dimension. Empty when it is better left alone.
static SmallVector<int64_t> chooseTiles(MemRefType type) {
  SmallVector<int64_t> inner(type.getRank() + 1, 1); // elements below each dimension
  for (int64_t d = type.getRank() - 1; d >= 0; --d)
    inner[d] = inner[d + 1] * (type.isDynamicDim(d) ? unknownExtent : type.getDimSize(d));
  if (inner[0] < smallest && type.hasStaticShape())
    return {};
  SmallVector<int64_t> tiles(type.getRank(), 0);
  for (int64_t d = 0; d < std::min<int64_t>(type.getRank(), 3); ++d) {
    tiles[d] = std::max<int64_t>(1, taskElements / inner[d + 1]);
    if (tiles[d] > 1)
      break;
  }
  return tiles;
}

// copy %a, %b → scf.forall over parts of both
static void share(Operation *op, Value from, Value to, ArrayRef<int64_t> tiles) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> extents = memref::getMixedSizes(b, loc, to), lows, ends, steps;
  for (auto [d, tile] : llvm::enumerate(tiles)) {
    if (!tile)
      continue;
    lows.push_back(b.getIndexAttr(0));
    ends.push_back(extents[d]);
    steps.push_back(b.getIndexAttr(tile));
  }
  auto forall = scf::ForallOp::create(b, loc, lows, ends, steps, ValueRange{}, std::nullopt);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<OpFoldResult> offsets(tiles.size(), b.getIndexAttr(0)),
      sizes = extents, strides(tiles.size(), b.getIndexAttr(1));
  AffineExpr at, extent;
  bindDims(b.getContext(), at, extent);
  unsigned next = 0;
  for (auto [d, tile] : llvm::enumerate(tiles)) {
    if (!tile)
      continue;
    Value id = forall.getInductionVar(next++);
    offsets[d] = id;
    auto rest = AffineMap::get(2, 0, {b.getAffineConstantExpr(tile), extent - at}, b.getContext());
    std::optional<int64_t> known = getConstantIntValue(extents[d]);
    sizes[d] = known && *known % tile == 0
                   ? OpFoldResult(b.getIndexAttr(tile))
                   : affine::makeComposedFoldedAffineMin(b, loc, rest, {id, extents[d]});
  }
  auto part = [&](Value v) -> Value { return memref::SubViewOp::create(b, loc, v, offsets, sizes, strides); };
  if (isa<MemRefType>(from.getType()))
    memref::CopyOp::create(b, loc, part(from), part(to));
  else
    linalg::FillOp::create(b, loc, ValueRange{from}, ValueRange{part(to)});
  op->erase();
}

void cpu::shareCopies(func::FuncOp payload) {
  for (Operation &op : llvm::make_early_inc_range(payload.getBody().front())) {
    Value from, to;
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      from = copy.getSource();
      to = copy.getTarget();
    } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      from = fill.value();
      to = fill.output();
    }
    auto type = to ? dyn_cast<MemRefType>(to.getType()) : MemRefType();
    SmallVector<int64_t> tiles = type ? chooseTiles(type) : SmallVector<int64_t>();
    if (!tiles.empty())
      share(&op, from, to, tiles);
  }
}
