// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations of networks ask of extents that are known only when a program runs, written down before
// lowering forgets it: `cf.assert` on the equality of two extents, in the leaf. The plan takes them as checks
// of the node, so that kernels never see operands that do not fit. What inference asks of static extents is
// asked here of open ones, family by family.
#include "tessera/transforms/nn/lower/Checks.h"

#include "tessera/ir/nn/NnExtents.h"
#include "tessera/transforms/nn/lower/Steady.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::nn;

std::string Checker::name(const Extent &e) const {
  std::string text = "extent " + std::to_string(e.dim);
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == e.of)
      return text + " of operand " + std::to_string(operand.getOperandNumber()) + " of " +
             op->getName().stripDialect().str();
  return text;
}

void Checker::require(Value got, Value expected, const Twine &text) {
  if (got == expected)
    return;
  Value same = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, got, expected);
  cf::AssertOp::create(b, op->getLoc(), same, text.str());
}

void Checker::equal(ArrayRef<Extent> extents) {
  if (llvm::none_of(extents, [&](const Extent &e) { return isDynamic(e); }))
    return;
  // What is known already is what the others are held against.
  const Extent *first = llvm::find_if_not(extents, [&](const Extent &e) { return isDynamic(e); });
  if (first == extents.end())
    first = extents.begin();
  Value expected = read(*first);
  for (const Extent &e : extents)
    if (&e != first && isDynamic(e) && (e.of != first->of || e.dim != first->dim))
      require(read(e), expected, name(e));
}

void Checker::broadcast(ArrayRef<Extent> extents) {
  SmallVector<Extent> dynamic;
  Value common;
  for (const Extent &e : extents) {
    if (isDynamic(e))
      dynamic.push_back(e);
    else if (typeOf(e.of).getDimSize(e.dim) != 1)
      common = read(e);
  }
  if (dynamic.empty() || (!common && dynamic.size() == 1))
    return;
  Value one = index(1);
  auto isOne = [&](Value v) -> Value {
    return arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, v, one);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return x == y ? x : arith::SelectOp::create(b, op->getLoc(), condition, x, y).getResult();
  };
  SmallVector<Value> read;
  for (const Extent &e : dynamic)
    read.push_back(this->read(e));
  bool known = bool(common);
  if (!known)
    for (Value v : read)
      common = common ? select(isOne(common), v, common) : v;
  for (auto [v, e] : llvm::zip(read, dynamic))
    require(select(isOne(v), common, v), common, name(e));
}

SmallVector<SmallVector<Extent>> Checker::meeting(ValueRange operands, int64_t skip) {
  int64_t rank = 0;
  for (Value v : operands)
    rank = std::max(rank, typeOf(v).getRank());
  SmallVector<SmallVector<Extent>> all;
  for (int64_t d = skip; d < rank; ++d) {
    all.emplace_back();
    for (Value v : operands)
      if (int64_t own = typeOf(v).getRank(); d < own)
        all.back().push_back({v, own - 1 - d});
  }
  return all;
}

void Checker::broadcastAll(ValueRange operands, int64_t skip) {
  for (ArrayRef<Extent> extents : meeting(operands, skip))
    broadcast(extents);
}

bool Checker::forbidBroadcast() {
  bool any = false;
  for (SmallVector<Extent> &extents :
       meeting(llvm::to_vector(llvm::make_filter_range(
                   op->getOperands(), [](Value v) { return isa<RankedTensorType>(v.getType()); })),
               0)) {
    llvm::erase_if(extents, [&](const Extent &e) { return !isDynamic(e); });
    for (const Extent &e : llvm::drop_begin(extents, std::min<size_t>(1, extents.size())))
      if (!haveSameExtent(extents[0].of, extents[0].dim, e.of, e.dim)) {
        require(read(e), read(extents[0]), name(e));
        any = true;
      }
  }
  return any;
}

void Checker::atLeast(const Extent &e, Value least) {
  if (isDynamic(e) || !getConstantIntValue(least))
    require(arith::MinSIOp::create(b, op->getLoc(), read(e), least), least, name(e));
}

void Checker::exactly(const Extent &e, Value expected) {
  if (isDynamic(e) || !getConstantIntValue(expected))
    require(read(e), expected, name(e));
}

void Checker::atMost(const Extent &e, Value most) {
  if (isDynamic(e) || !getConstantIntValue(most))
    require(arith::MaxSIOp::create(b, op->getLoc(), read(e), most), most, name(e));
}

void Checker::broadcastTo(Value v, Value x) {
  int64_t lead = typeOf(x).getRank() - typeOf(v).getRank();
  for (int64_t d = 0; d < typeOf(v).getRank(); ++d) {
    Extent own{v, d}, whole{x, lead + d};
    if (!isDynamic(own) && (!isDynamic(whole) || typeOf(v).getDimSize(d) == 1))
      continue;
    Value have = read(own), target = read(whole),
          one = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, have, index(1));
    require(arith::SelectOp::create(b, op->getLoc(), one, target, have), target, name(own));
  }
}

void Checker::sameCount(Value x, ArrayRef<Value> extents) {
  Value have = index(1), want = index(1);
  for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
    have = b.createOrFold<arith::MulIOp>(op->getLoc(), have, read({x, d}));
  for (Value extent : extents)
    want = b.createOrFold<arith::MulIOp>(op->getLoc(), want, extent);
  if (!getConstantIntValue(have) || !getConstantIntValue(want))
    require(have, want, "number of elements of " + op->getName().stripDialect());
}

// The kernel finds out too, but it reads the element at 0 in place of one that there is not.
void Checker::indexed(Value x, int64_t dim, Value indices) {
  Extent e{x, dim};
  if (typeOf(x).getDimSize(dim) > 0 || llvm::is_contained(typeOf(indices).getShape(), 0))
    return;
  Value least = index(1);
  for (int64_t d = 0; d < typeOf(indices).getRank(); ++d)
    if (Extent count{indices, d}; isDynamic(count))
      least = arith::MinSIOp::create(b, op->getLoc(), least, read(count));
  Value got = arith::MinSIOp::create(b, op->getLoc(), read(e), least);
  Value same = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, got, least);
  SharedNotes::ifKnown.set(cf::AssertOp::create(b, op->getLoc(), same, name(e)));
}

void Checker::fit(Value x, ArrayRef<Window> windows) {
  for (auto [i, window] : llvm::enumerate(windows))
    if (int64_t least = window.span() - window.low - window.high - (window.ceil ? window.stride - 1 : 0);
        least > 0)
      atLeast({x, int64_t(i) + 2}, index(least));
}

void Checker::fitRules() {
  for (int64_t d = 0; d < typeOf(op->getResult(0)).getRank(); ++d)
    if (std::optional<ExtentRule> rule = ruleOfExtent(op, d); rule && !rule->mayBeZero && rule->least() > 0)
      if (Extent e{rule->operand, rule->dim}; isDynamic(e))
        atLeast(e, index(rule->least()));
}

void Checker::run() {
  llvm::TypeSwitch<Operation *>(op)
      .Case<MatmulOp, EinsumOp, ConvOp, ConvTransposeOp, DeformConvOp, PoolOp, MaxPoolIndicesOp, BatchNormOp,
            GroupNormOp, LayerNormOp, RecurrentOp, AttentionOp, ConcatOp, PadOp, SliceOp, BroadcastOp,
            ReshapeOp, ReverseSequenceOp, GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp,
            ScatterNdOp, OneHotOp, TopKOp, ArgReduceOp, ColumnsToImageOp, MaxUnpoolOp, GridSampleOp,
            RoiAlignOp, InterpolateOp, QuantizeOp, DequantizeOp, tensor::ExtractSliceOp,
            tensor::ExpandShapeOp, tensor::CastOp>([&](auto own) { check(own); })
      .Default([&](Operation *) {
        auto own = dyn_cast<NnOp>(op);
        if (own && own.getOpClass() == OpClass::Elementwise)
          broadcastAll(llvm::to_vector(llvm::make_filter_range(
                           op->getOperands(), [](Value v) { return isa<RankedTensorType>(v.getType()); })),
                       0);
        else if (own && isPacked(op))
          fitRules();
      });
}

void nn::addExtentChecks(dfg::NodeOp node) {
  SmallVector<Operation *> ops;
  node.getBody().walk([&](Operation *op) {
    if (isa<NnOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    Checker(op).run();
}

bool nn::assumeEqual(dfg::NodeOp node) {
  SmallVector<Operation *> ops;
  node.getBody().walk([&](NnOp op) {
    // What a branch asks is only asked when it is taken.
    if (op.getOpClass() == OpClass::Elementwise && op->getParentOfType<scf::WhileOp>() &&
        !op->getParentOfType<scf::IfOp>())
      ops.push_back(op);
  });
  bool any = false;
  for (Operation *op : ops)
    any |= Checker(op).forbidBroadcast();
  return any;
}
