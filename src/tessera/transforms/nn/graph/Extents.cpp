// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of what operations compute, as extents of what they take: an extent must not keep a value alive,
// nor make anyone wait for it.
#include "tessera/ir/nn/NnExtents.h"
#include "tessera/ir/nn/NnTypes.h"
#include "tessera/transforms/nn/graph/Patterns.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

/// Where an extent comes from: dimension `dim` of a tensor, or a number (`dim` is -1).
struct Source {
  Value value;
  int64_t dim = 0;
  bool operator==(const Source &other) const { return value == other.value && dim == other.dim; }
};

class Extents {
public:
  /// The first value with this extent, as far as operations say so.
  Source resolve(Value v, int64_t d);

private:
  Source resolveOnce(Value v, int64_t d);
  std::optional<Source> ofElementwise(Operation *op, int64_t d);
  DenseMap<std::pair<Value, int64_t>, Source>
      known; // networks join and part: without it, paths would be counted
};

} // namespace

// A dynamic extent is that of the only operand that has it, or of all when they have it from one place.
// Otherwise one of them may be 1.
std::optional<Source> Extents::ofElementwise(Operation *op, int64_t d) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  std::optional<Source> found;
  for (Value v : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    int64_t own = type ? d - (rank - type.getRank()) : -1;
    if (own < 0 || !type.isDynamicDim(own))
      continue;
    Source source = resolve(v, own);
    if (found && !(*found == source))
      return std::nullopt;
    found = source;
  }
  return found;
}

std::optional<std::pair<Value, int64_t>> nn::sourceOfExtent(Operation *op, int64_t d) {
  auto type = typeOf(op->getResult(0));
  // A result has the extents of the operand that it is written over.
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return std::pair(dps.getDpsInits()[0], d);
  // The batch of windows and of what normalises.
  if (d == 0 && (isPacked(op) || isa<ConvOp, ConvTransposeOp, PoolOp, InterpolateOp, SplitOp>(op)))
    return std::pair(op->getOperand(0), d);
  if (isa<SoftmaxOp, LayerNormOp, GroupNormOp, LrnOp>(op))
    return std::pair(op->getOperand(0), d);
  if (auto matmul = dyn_cast<MatmulOp>(op); matmul && type.getRank() == 2) {
    if (d == 0)
      return std::pair(matmul.getA(), int64_t(matmul.getTransposeA()));
    return std::pair(matmul.getB(), int64_t(!matmul.getTransposeB()));
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return std::pair(transpose.getX(), transpose.getPermutation()[d]);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t at = d;
    if (!reduce.getKeep())
      for (int64_t axis = 0; axis <= at; ++axis)
        at += llvm::is_contained(reduce.getAxes(), axis);
    return std::pair(reduce.getX(), at);
  }
  if (auto pad = dyn_cast<PadOp>(op); pad && !pad.getLows()[d] && !pad.getHighs()[d])
    return std::pair(pad.getX(), d);
  if (auto slice = dyn_cast<SliceOp>(op))
    return std::pair(slice.getX(), d);
  if (auto concat = dyn_cast<ConcatOp>(op); concat && int64_t(concat.getAxis()) != d)
    return std::pair(concat.getInputs()[0], d);
  if (std::optional<ExtentRule> rule = ruleOfExtent(op, d); rule && rule->isSame())
    return std::pair(rule->operand, rule->dim);
  return std::nullopt;
}

Source Extents::resolve(Value v, int64_t d) {
  auto key = std::make_pair(v, d);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Source source = resolveOnce(v, d);
  return known[key] = source;
}

Source Extents::resolveOnce(Value v, int64_t d) {
  Operation *def = v.getDefiningOp();
  Source own{v, d};
  if (!def || cast<OpResult>(v).getResultNumber() != 0 || !typeOf(v).isDynamicDim(d))
    return own;
  auto nthDynamic = [&](ValueRange extents) -> Source {
    unsigned index = 0;
    for (int64_t i = 0; i < d; ++i)
      index += typeOf(v).isDynamicDim(i);
    auto dim = extents[index].getDefiningOp<tensor::DimOp>();
    if (dim && dim.getConstantIndex())
      return resolve(dim.getSource(), *dim.getConstantIndex());
    return {extents[index], -1};
  };
  if (auto reshape = dyn_cast<ReshapeOp>(def))
    return nthDynamic(reshape.getExtents());
  if (auto broadcast = dyn_cast<BroadcastOp>(def))
    return nthDynamic(broadcast.getExtents());
  if (auto iota = dyn_cast<IotaOp>(def))
    return nthDynamic(iota.getExtents());
  if (auto empty = dyn_cast<tensor::EmptyOp>(def))
    return nthDynamic(empty.getDynamicSizes());
  // A result has the extents of the operand that it is written over.
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(def))
    return resolve(dps.getTiedOpOperand(cast<OpResult>(v))->get(), d);
  if (auto nnOp = dyn_cast<NnOp>(def); nnOp && nnOp.getOpClass() == OpClass::Elementwise)
    return ofElementwise(def, d).value_or(own);
  if (auto same = sourceOfExtent(def, d))
    return resolve(same->first, same->second);
  return own;
}

void nn::simplifyExtents(dfg::NodeOp node) {
  SmallVector<tensor::DimOp> dims;
  node.getBody().walk([&](tensor::DimOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (op.getConstantIndex() && type && *op.getConstantIndex() < type.getRank() &&
        type.isDynamicDim(*op.getConstantIndex()))
      dims.push_back(op);
  });
  Extents extents;
  for (tensor::DimOp op : dims) {
    Source source = extents.resolve(op.getSource(), *op.getConstantIndex());
    if (source.value == op.getSource())
      continue;
    OpBuilder b(op);
    Value extent =
        source.dim < 0 ? source.value : b.createOrFold<tensor::DimOp>(op.getLoc(), source.value, source.dim);
    op.replaceAllUsesWith(extent);
  }
  // What was found may name one that goes now, so they go last.
  for (tensor::DimOp op : llvm::reverse(dims))
    if (op->use_empty())
      op.erase();
}
