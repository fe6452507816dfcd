// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of matrix products and of sums of products by equation.
#include "tessera/transforms/nn/lower/Loops.h"

using namespace tessera;
using namespace tessera::nn;

namespace {
/// A tensor and the letters of its dimensions.
struct Labelled {
  Value tensor;
  SmallVector<unsigned> labels;
};
} // namespace

// The extent that a label has: an operand's, unless that operand is broadcast.
static OpFoldResult extentOfLabel(OpBuilder &b, Location loc, ArrayRef<Labelled> operands, unsigned label) {
  OpFoldResult found;
  for (const Labelled &operand : operands)
    for (auto [d, l] : llvm::enumerate(operand.labels)) {
      if (l != label)
        continue;
      int64_t extent = typeOf(operand.tensor).getDimSize(d);
      // Static ones say more than dynamic ones, and those more than one that may be repeated.
      if (!ShapedType::isDynamic(extent) && extent != 1)
        return b.getIndexAttr(extent);
      if (ShapedType::isDynamic(extent) && (!found || isa<Attribute>(found)))
        found = tensor::getMixedSize(b, loc, operand.tensor, d);
      else if (!found)
        found = b.getIndexAttr(1);
    }
  return found;
}

// The operands such that each of the labels has one extent, unless it is known to be 1. Extents that nothing
// relates may be equal, or one of them 1, which is known when the program runs: such operands are repeated
// first.
static SmallVector<Labelled> withEqualExtents(OpBuilder &b, Location loc, ArrayRef<Labelled> given,
                                              ArrayRef<unsigned> labels) {
  SmallVector<Labelled> operands(given);
  SmallVector<SmallVector<OpFoldResult>> wanted;
  for (const Labelled &operand : operands)
    wanted.push_back(SmallVector<OpFoldResult>(operand.labels.size()));
  for (unsigned label : labels) {
    SmallVector<std::pair<unsigned, int64_t>> open; // operand and its dimension
    OpFoldResult extent;
    for (auto [i, operand] : llvm::enumerate(operands))
      for (auto [d, l] : llvm::enumerate(operand.labels)) {
        int64_t size = typeOf(operand.tensor).getDimSize(d);
        if (l == label && ShapedType::isDynamic(size))
          open.push_back({i, d});
        else if (l == label && size != 1)
          extent = b.getIndexAttr(size);
      }
    bool agree = llvm::all_of(open, [&](auto at) {
      return haveSameExtent(operands[at.first].tensor, at.second, operands[open[0].first].tensor,
                            open[0].second);
    });
    if (open.empty() || (agree && !extent))
      continue;
    if (!extent) {
      Value one = indexOf(b, loc, 1), widest;
      for (auto [i, d] : open) {
        Value size = tensor::DimOp::create(b, loc, operands[i].tensor, d);
        if (widest) {
          Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, widest, one);
          size = arith::SelectOp::create(b, loc, isOne, size, widest);
        }
        widest = size;
      }
      extent = widest;
    }
    for (auto [i, d] : open)
      wanted[i][d] = extent;
  }
  for (auto [operand, extents] : llvm::zip(operands, wanted)) {
    if (llvm::none_of(extents, [](OpFoldResult extent) { return bool(extent); }))
      continue;
    SmallVector<OpFoldResult> all = extentsOf(b, loc, operand.tensor);
    for (auto [to, extent] : llvm::zip(all, extents))
      if (extent)
        to = extent;
    operand.tensor = repeated(b, loc, operand.tensor, all);
  }
  return operands;
}

// The sum of the product of all operands over the labels that the result does not have. A matrix product
// keeps rows, columns and the reduction in this order, as schedules expect it; otherwise the innermost loop
// runs along the result's innermost dimension, which the code generator vectorises.
static Value contract(OpBuilder &b, Location loc, ArrayRef<Labelled> given, ArrayRef<unsigned> out) {
  SmallVector<Labelled> operands = withEqualExtents(b, loc, given, out);
  SmallVector<unsigned> summed, order;
  for (const Labelled &operand : operands)
    for (unsigned label : operand.labels)
      if (!llvm::is_contained(out, label) && !llvm::is_contained(summed, label))
        summed.push_back(label);
  bool matrices = operands.size() == 2 && out.size() == 2 && summed.size() == 1;
  order.assign(out.begin(), out.end());
  order.insert(order.end() - (!matrices && out.size() > 1 ? 1 : 0), summed.begin(), summed.end());
  LoopNest nest(b, loc, order.size());
  auto dimOf = [&](unsigned label) { return unsigned(llvm::find(order, label) - order.begin()); };
  for (unsigned label : summed)
    nest.reduce(dimOf(label));
  SmallVector<OpFoldResult> extents;
  for (unsigned label : out)
    extents.push_back(extentOfLabel(b, loc, operands, label));
  auto isOne = [](OpFoldResult v) { return getConstantIntValue(v) == std::optional<int64_t>(1); };
  for (const Labelled &operand : operands) {
    SmallVector<AffineExpr> at;
    for (auto [d, label] : llvm::enumerate(operand.labels)) {
      bool repeated =
          typeOf(operand.tensor).getDimSize(d) == 1 && !isOne(extentOfLabel(b, loc, operands, label));
      at.push_back(repeated ? nest.at(0) : nest.dim(dimOf(label)));
    }
    nest.read(operand.tensor, at);
  }
  Type element = typeOf(operands[0].tensor).getElementType(), sum = accumulatorOf(element);
  SmallVector<AffineExpr> outAt;
  for (unsigned label : out)
    outAt.push_back(nest.dim(dimOf(label)));
  nest.write(filledWith(b, loc, extents, constantOf(b, loc, sum, 0)), outAt);
  return nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    auto factor = [&](unsigned i) {
      return Term(b, loc, isa<FloatType>(sum) ? floatTo(b, loc, args[i], sum) : args[i]);
    };
    Term product = factor(0);
    for (unsigned i = 1; i < operands.size(); ++i)
      product = product * factor(i);
    return SmallVector<Value>{Term(b, loc, args.back()) + product};
  })[0];
}

Value nn::product(OpBuilder &b, Location loc, Value x, Value y, bool transposeX, bool transposeY) {
  // Columns side by side: what is read by lanes is then one piece of memory.
  if (transposeY) {
    SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(y).getRank()));
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    y = transposed(b, loc, y, swapped);
  }
  unsigned rankX = typeOf(x).getRank(), rankY = typeOf(y).getRank();
  // One matrix for all: the leading dimensions of x are rows. Only one of them may be dynamic: views that
  // split a dimension into two dynamic ones are not lowered by MLIR 22 (ExpandStridedMetadata).
  if (rankX > 2 && rankY == 2 && !transposeX &&
      llvm::count(typeOf(x).getShape().drop_back(), ShapedType::kDynamic) < 2) {
    SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
    SmallVector<SmallVector<int64_t, 2>> groups(2);
    for (unsigned d = 0; d + 1 < rankX; ++d)
      groups[0].push_back(d);
    groups[1] = {rankX - 1};
    Value rows = collapse(b, loc, x, groups);
    Value flat = contract(b, loc, {{rows, {0, 2}}, {y, {2, 1}}}, {0, 1});
    extents.back() = tensor::getMixedSize(b, loc, y, 1);
    return expand(b, loc, flat, groups, extents);
  }
  unsigned batch = std::max(rankX, rankY) - 2, i = batch, j = batch + 1, k = batch + 2;
  Labelled left{x, {}}, right{y, {}};
  SmallVector<unsigned> out;
  for (unsigned d = 0; d < batch; ++d) {
    if (d + rankX >= batch + 2)
      left.labels.push_back(d);
    if (d + rankY >= batch + 2)
      right.labels.push_back(d);
    out.push_back(d);
  }
  left.labels.append(transposeX ? std::initializer_list<unsigned>{k, i}
                                : std::initializer_list<unsigned>{i, k});
  right.labels.append({k, j});
  out.append({i, j});
  return contract(b, loc, {left, right}, out);
}

static SmallVector<Value> lowerMatmul(OpBuilder &b, MatmulOp op) {
  Value y = product(b, op.getLoc(), op.getA(), op.getB(), op.getTransposeA(), op.getTransposeB());
  return {tensorTo(b, op.getLoc(), y, typeOf(op.getY()).getElementType())};
}

static SmallVector<Value> lowerEinsum(OpBuilder &b, EinsumOp op) {
  auto [left, right] = op.getEquation().split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  auto labelsOf = [](StringRef text) {
    SmallVector<unsigned> labels;
    for (char c : text)
      if (isalpha(c))
        labels.push_back(c);
    return labels;
  };
  SmallVector<Labelled> operands;
  for (auto [input, text] : llvm::zip_equal(op.getInputs(), parts))
    operands.push_back({input, labelsOf(text)});
  SmallVector<unsigned> out = labelsOf(right), all;
  // A label that is summed over may be 1 in one operand, too.
  for (const Labelled &operand : operands)
    for (unsigned label : operand.labels)
      if (!llvm::is_contained(all, label))
        all.push_back(label);
  operands = withEqualExtents(b, op.getLoc(), operands, all);
  // Two at a time, keeping what is needed later: fewer operations than all at once.
  while (operands.size() > 2) {
    SmallVector<unsigned> keep;
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned label : operands[i].labels) {
        bool later = llvm::is_contained(out, label) ||
                     llvm::any_of(ArrayRef(operands).drop_front(2),
                                  [&](const Labelled &o) { return llvm::is_contained(o.labels, label); });
        if (later && !llvm::is_contained(keep, label))
          keep.push_back(label);
      }
    Value joined = contract(b, op.getLoc(), {operands[0], operands[1]}, keep);
    operands.erase(operands.begin());
    operands[0] = {joined, keep};
  }
  Value y = contract(b, op.getLoc(), operands, out);
  return {tensorTo(b, op.getLoc(), y, typeOf(op.getY()).getElementType())};
}

void nn::populateContract(RewritePatternSet &patterns) {
  addBuilder<MatmulOp>(patterns, lowerMatmul);
  addBuilder<EinsumOp>(patterns, lowerEinsum);
  populateConvolution(patterns);
}
