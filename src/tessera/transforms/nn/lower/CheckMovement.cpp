// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of open extents (Checks.cpp): what moves elements, looks them up or shows them in another shape.
#include "tessera/transforms/nn/lower/Checks.h"

using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

void Checker::check(ConcatOp op) {
  for (int64_t d = 0; d < typeOf(op.getY()).getRank(); ++d) {
    SmallVector<Extent> extents;
    for (Value v : op.getInputs())
      extents.push_back({v, d});
    if (d != int64_t(op.getAxis()))
      equal(extents);
  }
}

void Checker::check(PadOp op) {
  for (auto [d, low, high] : llvm::enumerate(op.getLows(), op.getHighs())) {
    // What is cut off must be there, and what a border repeats.
    int64_t least = std::max({-low, -high, -low - high, int64_t(0)});
    if (op.getMode() != PadMode::constant && (low > 0 || high > 0))
      least = std::max<int64_t>(least, 1);
    if (least)
      atLeast({op.getX(), int64_t(d)}, index(least));
  }
}

void Checker::check(SliceOp op) {
  for (auto [d, start, step] : llvm::enumerate(op.getStarts(), op.getSteps()))
    if (int64_t count = typeOf(op.getY()).getDimSize(d); count > 0)
      atLeast({op.getX(), int64_t(d)}, index(1 + std::max(start, start + (count - 1) * step)));
}

void Checker::check(BroadcastOp op) {
  int64_t lead = typeOf(op.getY()).getRank() - typeOf(op.getX()).getRank();
  unsigned next = 0;
  for (int64_t d = 0; d < typeOf(op.getY()).getRank(); ++d) {
    bool computed = typeOf(op.getY()).isDynamicDim(d);
    Value target = computed ? op.getExtents()[next++] : index(typeOf(op.getY()).getDimSize(d));
    Extent x{op.getX(), d - lead};
    if (d < lead || (!isDynamic(x) && (!computed || typeOf(op.getX()).getDimSize(d - lead) == 1)))
      continue;
    Value have = read(x),
          one = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, have, index(1));
    require(arith::SelectOp::create(b, op.getLoc(), one, target, have), target, name(x));
  }
}

void Checker::check(ReshapeOp op) {
  SmallVector<Value> extents;
  unsigned next = 0;
  for (int64_t extent : typeOf(op.getY()).getShape())
    extents.push_back(ShapedType::isDynamic(extent) ? op.getExtents()[next++] : index(extent));
  sameCount(op.getX(), extents);
}

void Checker::check(ReverseSequenceOp op) {
  equal({{op.getX(), int64_t(op.getBatchAxis())}, {op.getLengths(), 0}});
}

//===----------------------------------------------------------------------===//
// Given places
//===----------------------------------------------------------------------===//

void Checker::check(GatherElementsOp op) {
  indexed(op.getX(), int64_t(op.getAxis()), op.getIndices());
  for (int64_t d = 0; d < typeOf(op.getX()).getRank(); ++d)
    if (d != int64_t(op.getAxis()))
      atMost({op.getIndices(), d}, read({op.getX(), d}));
}

void Checker::check(GatherNdOp op) {
  for (int64_t i = 0; i < typeOf(op.getIndices()).getShape().back(); ++i)
    indexed(op.getX(), int64_t(op.getBatchDims()) + i, op.getIndices());
  for (int64_t d = 0; d < int64_t(op.getBatchDims()); ++d)
    equal({{op.getX(), d}, {op.getIndices(), d}});
}

void Checker::check(ScatterElementsOp op) {
  indexed(op.getX(), int64_t(op.getAxis()), op.getIndices());
  for (int64_t d = 0; d < typeOf(op.getIndices()).getRank(); ++d) {
    equal({{op.getIndices(), d}, {op.getUpdates(), d}});
    if (d != int64_t(op.getAxis()))
      atMost({op.getIndices(), d}, read({op.getX(), d}));
  }
}

void Checker::check(ScatterNdOp op) {
  int64_t tuples = typeOf(op.getIndices()).getRank() - 1, width = typeOf(op.getIndices()).getDimSize(tuples);
  for (int64_t i = 0; i < width; ++i)
    indexed(op.getX(), i, op.getIndices());
  for (int64_t d = 0; d < typeOf(op.getUpdates()).getRank(); ++d)
    equal({d < tuples ? Extent{op.getIndices(), d} : Extent{op.getX(), width + d - tuples},
           {op.getUpdates(), d}});
}

void Checker::check(OneHotOp op) { exactly({op.getValues(), 0}, 2); }

void Checker::check(TopKOp op) { atLeast({op.getX(), int64_t(op.getAxis())}, index(int64_t(op.getK()))); }

// There is an extreme for each element of the result.
void Checker::check(ArgReduceOp op) {
  int64_t axis = int64_t(op.getAxis());
  Value least = index(1);
  for (int64_t d = 0; d < typeOf(op.getX()).getRank(); ++d)
    if (d != axis && (isDynamic({op.getX(), d}) || typeOf(op.getX()).getDimSize(d) == 0))
      least = arith::MinSIOp::create(b, op->getLoc(), least, read({op.getX(), d}));
  atLeast({op.getX(), axis}, least);
}

void Checker::checkScale(Value x, Value scale, Value zero, int64_t axis, int64_t block) {
  int64_t rank = typeOf(scale).getRank();
  if (zero)
    for (int64_t d = 0; d < rank && d < typeOf(zero).getRank(); ++d)
      equal({{scale, d}, {zero, d}});
  bool single = typeOf(scale).hasStaticShape() && typeOf(scale).getNumElements() == 1;
  if (!block && !single && rank == 1)
    equal({{x, axis}, {scale, 0}});
  for (int64_t d = 0; block && d < rank; ++d) {
    if (d != axis)
      equal({{x, d}, {scale, d}});
    else if (isDynamic({x, d}) || isDynamic({scale, d}))
      require(read({scale, d}), arith::CeilDivSIOp::create(b, op->getLoc(), read({x, d}), index(block)),
              name({scale, d}));
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

void Checker::check(tensor::ExtractSliceOp op) {
  for (int64_t d = 0; d < typeOf(op.getSource()).getRank(); ++d) {
    Value from = getValueOrCreateConstantIndexOp(b, op.getLoc(), op.getMixedOffsets()[d]),
          size = getValueOrCreateConstantIndexOp(b, op.getLoc(), op.getMixedSizes()[d]),
          stride = getValueOrCreateConstantIndexOp(b, op.getLoc(), op.getMixedStrides()[d]);
    // Behind the last one, if there is any.
    Value last = b.createOrFold<arith::SubIOp>(op.getLoc(), size, index(1));
    last = b.createOrFold<arith::MulIOp>(op.getLoc(), last, stride);
    Value end = b.createOrFold<arith::AddIOp>(op.getLoc(), from, last);
    atLeast({op.getSource(), d}, b.createOrFold<arith::AddIOp>(op.getLoc(), end, index(1)));
    if (isa<Value>(op.getMixedOffsets()[d]))
      require(b.createOrFold<arith::MaxSIOp>(op.getLoc(), from, index(0)), from,
              "offset in dimension " + Twine(d) + " of slice");
  }
}

void Checker::check(tensor::ExpandShapeOp op) {
  SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value whole = index(1);
    for (int64_t g : group)
      whole = b.createOrFold<arith::MulIOp>(op.getLoc(), whole,
                                            getValueOrCreateConstantIndexOp(b, op.getLoc(), shape[g]));
    exactly({op.getSrc(), int64_t(d)}, whole);
  }
}

// An open extent that becomes a known one.
void Checker::check(tensor::CastOp op) {
  auto to = dyn_cast<RankedTensorType>(op.getType()),
       from = dyn_cast<RankedTensorType>(op.getSource().getType());
  for (int64_t d = 0; to && from && d < to.getRank(); ++d)
    if (from.isDynamicDim(d) && !to.isDynamicDim(d))
      exactly({op.getSource(), d}, to.getDimSize(d));
}
