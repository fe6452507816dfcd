// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of open extents (Checks.cpp): products, windows, normalisations and sequences.
#include "tessera/transforms/nn/lower/Checks.h"

#include <map>

using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Products and windows
//===----------------------------------------------------------------------===//

void Checker::check(MatmulOp op) {
  int64_t x = typeOf(op.getA()).getRank(), y = typeOf(op.getB()).getRank();
  equal({{op.getA(), op.getTransposeA() ? x - 2 : x - 1}, {op.getB(), op.getTransposeB() ? y - 1 : y - 2}});
  broadcastAll(op->getOperands(), 2);
}

void Checker::check(EinsumOp op) {
  FailureOr<Einsum> parsed = parseEinsum(op.getEquation());
  std::map<char, SmallVector<Extent>> labels;
  for (auto [letters, input] : llvm::zip(parsed->operands, op.getInputs())) {
    // There is no diagonal of what is broadcast.
    std::map<char, SmallVector<Extent>> own;
    for (auto [d, letter] : llvm::enumerate(letters)) {
      labels[letter].push_back({input, int64_t(d)});
      own[letter].push_back({input, int64_t(d)});
    }
    for (auto &[letter, extents] : own)
      equal(extents);
  }
  for (auto &[letter, extents] : labels)
    broadcast(extents);
}

// Weights are static.
void Checker::check(ConvOp op) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  exactly({op.getX(), 1}, w[1] * int64_t(op.getGroups()));
  if (op.getBias())
    exactly({op.getBias(), 0}, w[0]);
  fit(op.getX(), makeWindows(w.drop_front(2), op.getStrides(), op.getPads(), op.getDilations()));
}

void Checker::check(ConvTransposeOp op) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  exactly({op.getX(), 1}, w[0]);
  if (op.getBias())
    exactly({op.getBias(), 0}, w[1] * int64_t(op.getGroups()));
  // Pads may cut off as much as there is: (in - 1) * stride + rest elements are left.
  for (auto [i, window] :
       llvm::enumerate(makeWindows(w.drop_front(2), op.getStrides(), op.getPads(), op.getDilations()))) {
    int64_t rest = window.span() - window.low - window.high + op.getOutputPadding()[i];
    if (int64_t least = 1 + llvm::divideCeilSigned(-rest, window.stride); least > 0)
      atLeast({op.getX(), int64_t(i) + 2}, index(least));
  }
}

void Checker::check(DeformConvOp op) {
  ArrayRef<int64_t> w = typeOf(op.getW()).getShape();
  exactly({op.getX(), 1}, w[1] * int64_t(op.getGroups()));
  if (op.getBias())
    exactly({op.getBias(), 0}, w[0]);
  SmallVector<Window> windows =
      makeWindows(w.drop_front(2), op.getStrides(), op.getPads(), op.getDilations());
  fit(op.getX(), windows);
  // Two coordinates and one weight for each tap at each place.
  for (auto [v, each] : {std::pair(Value(op.getOffset()), 2), std::pair(Value(op.getMask()), 1)}) {
    if (!v)
      continue;
    equal({{op.getX(), 0}, {v, 0}});
    exactly({v, 1}, int64_t(op.getOffsetGroups()) * each * w[2] * w[3]);
    for (auto [i, window] : llvm::enumerate(windows)) {
      Extent in{op.getX(), int64_t(i) + 2}, places{v, int64_t(i) + 2};
      if (!isDynamic(in) && !isDynamic(places))
        continue;
      Value room = b.createOrFold<arith::AddIOp>(op.getLoc(), read(in),
                                                 index(window.low + window.high - window.span()));
      Value count = b.createOrFold<arith::FloorDivSIOp>(op.getLoc(), room, index(window.stride));
      require(read(places), b.createOrFold<arith::AddIOp>(op.getLoc(), count, index(1)), name(places));
    }
  }
}

void Checker::check(PoolOp op) {
  fit(op.getX(), makeWindows(op.getKernel(), op.getStrides(), op.getPads(), op.getDilations(), op.getCeil()));
}
void Checker::check(MaxPoolIndicesOp op) {
  fit(op.getX(), makeWindows(op.getKernel(), op.getStrides(), op.getPads(), op.getDilations(), op.getCeil()));
}

void Checker::check(ColumnsToImageOp op) {
  ArrayRef<int64_t> y = typeOf(op.getY()).getShape();
  int64_t taps = 1, places = 1;
  for (auto [extent, window] : llvm::zip(
           y.drop_front(2), makeWindows(op.getKernel(), op.getStrides(), op.getPads(), op.getDilations()))) {
    taps *= window.kernel;
    places *= window.places(extent);
  }
  if (!ShapedType::isDynamic(y[0]))
    exactly({op.getX(), 0}, y[0]);
  // Where the channels are open they are as many as there are columns for.
  Extent columns{op.getX(), 1};
  if (!ShapedType::isDynamic(y[1]))
    exactly(columns, y[1] * taps);
  else if (isDynamic(columns))
    require(product(arith::FloorDivSIOp::create(b, op.getLoc(), read(columns), index(taps)), taps),
            read(columns), name(columns));
  exactly({op.getX(), 2}, places);
}

void Checker::check(MaxUnpoolOp op) {
  for (int64_t d = 0; d < typeOf(op.getX()).getRank(); ++d)
    equal({{op.getX(), d}, {op.getIndices(), d}});
}

void Checker::check(GridSampleOp op) {
  int64_t rank = typeOf(op.getX()).getRank();
  equal({{op.getX(), 0}, {op.getGrid(), 0}});
  exactly({op.getGrid(), rank - 1}, rank - 2);
  // Places outside are moved to the border: there must be one.
  for (int64_t d = 2; d < rank; ++d)
    atLeast({op.getX(), d}, index(1));
}

void Checker::check(RoiAlignOp op) {
  exactly({op.getRois(), 1}, 4);
  equal({{op.getRois(), 0}, {op.getBatch(), 0}});
}

void Checker::check(InterpolateOp op) {
  SmallVector<Extent> batches;
  for (Value part : op.getParts())
    batches.push_back({part, 0});
  equal(batches);
}

//===----------------------------------------------------------------------===//
// Normalisations and sequences
//===----------------------------------------------------------------------===//

void Checker::check(BatchNormOp op) {
  equal({{op.getX(), 1}, {op.getScale(), 0}, {op.getBias(), 0}, {op.getMean(), 0}, {op.getVariance(), 0}});
}

void Checker::check(GroupNormOp op) { equal({{op.getX(), 1}, {op.getScale(), 0}, {op.getBias(), 0}}); }

void Checker::check(LayerNormOp op) {
  for (Value v : {op.getScale(), op.getBias()})
    if (v)
      broadcastTo(v, op.getX());
}

void Checker::check(RecurrentOp op) {
  Value x = op.getX();
  int64_t hidden = typeOf(op.getR()).getDimSize(2);
  int64_t directions = op.getDirection() == "bidirectional" ? 2 : 1;
  int64_t rows = hidden * (op.getKind() == CellKind::lstm ? 4 : op.getKind() == CellKind::gru ? 3 : 1);
  equal({{x, 2}, {op.getW(), 2}});
  SmallVector<Extent> batches = {{x, 1}};
  if (op.getLengths())
    batches.push_back({op.getLengths(), 0});
  for (Value state : {op.getInitialH(), op.getInitialC()})
    if (state) {
      batches.push_back({state, 1});
      exactly({state, 2}, hidden);
    }
  equal(batches);
  for (Value v : {op.getW(), op.getR(), op.getBias(), op.getInitialH(), op.getInitialC(), op.getPeephole()})
    if (v)
      exactly({v, 0}, directions);
  for (Value v : {op.getW(), op.getR()})
    exactly({v, 1}, rows);
  if (op.getBias())
    exactly({op.getBias(), 1}, 2 * rows);
  if (op.getPeephole())
    exactly({op.getPeephole(), 1}, 3 * hidden);
}

void Checker::check(AttentionOp op) {
  Value q = op.getQ(), k = op.getK(), v = op.getV();
  equal({{q, 0}, {k, 0}, {v, 0}});
  equal({{q, 3}, {k, 3}});
  equal({{k, 1}, {v, 1}});
  equal({{k, 2}, {v, 2}});
  if (!op.getBias())
    return;
  // To the scores: item, head, query, key.
  SmallVector<Extent> scores = {{q, 0}, {q, 1}, {q, 2}, {k, 2}};
  int64_t rank = typeOf(op.getBias()).getRank();
  for (int64_t d = 0; d < rank; ++d) {
    Extent own{op.getBias(), d}, whole = scores[4 - rank + d];
    if (!isDynamic(own) && (!isDynamic(whole) || typeOf(op.getBias()).getDimSize(d) == 1))
      continue;
    Value have = read(own), target = read(whole),
          one = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, have, index(1));
    require(arith::SelectOp::create(b, op.getLoc(), one, target, have), target, name(own));
  }
}
