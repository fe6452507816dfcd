// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations of networks ask of extents that are known only when a program runs, written down before
// lowering forgets it: `cf.assert` on the equality of two extents, in the leaf. The plan takes them as checks
// of the node, so that kernels never see operands that do not fit.
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/nn/lower/Steady.h"
#include "tessera/transforms/nn/lower/Support.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>

using namespace tessera;
using namespace tessera::nn;

namespace {

/// One extent of an operand.
struct Extent {
  Value of;
  int64_t dim;
};

class Checker {
public:
  explicit Checker(Operation *op) : op(op), b(op) {}
  void run();
  /// Of an elementwise operation: dynamic extents that meet are equal, and nothing is broadcast along them.
  /// False when none do.
  bool forbidBroadcast();

private:
  bool isDynamic(const Extent &e) const { return typeOf(e.of).isDynamicDim(e.dim); }
  Value index(int64_t n) { return arith::ConstantIndexOp::create(b, op->getLoc(), n); }
  Value read(const Extent &e) {
    return isDynamic(e) ? Value(tensor::DimOp::create(b, op->getLoc(), e.of, e.dim))
                        : index(typeOf(e.of).getDimSize(e.dim));
  }
  std::string name(const Extent &e) const;
  void require(Value got, Value expected, const Twine &text);
  /// The extents are equal.
  void equal(ArrayRef<Extent> extents);
  /// They are equal, or 1.
  void broadcast(ArrayRef<Extent> extents);
  /// The extents that meet in dimensions of all operands, from the last one on, `skip` of them left out.
  SmallVector<SmallVector<Extent>> meeting(ValueRange operands, int64_t skip);
  /// They broadcast.
  void broadcastAll(ValueRange operands, int64_t skip);
  /// The extent is at least so much.
  void atLeast(const Extent &e, Value least);

  Operation *op;
  OpBuilder b;
};

} // namespace

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
  if (isDynamic(e))
    require(arith::MinSIOp::create(b, op->getLoc(), read(e), least), least, name(e));
}

void Checker::run() {
  SmallVector<Value> tensors;
  for (Value v : op->getOperands())
    if (isa<RankedTensorType>(v.getType()))
      tensors.push_back(v);
  if (tensors.empty())
    return;
  if (auto product = dyn_cast<MatmulOp>(op)) {
    int64_t x = typeOf(product.getA()).getRank(), y = typeOf(product.getB()).getRank();
    equal({{product.getA(), product.getTransposeA() ? x - 2 : x - 1},
           {product.getB(), product.getTransposeB() ? y - 1 : y - 2}});
    broadcastAll(tensors, 2);
  } else if (auto einsum = dyn_cast<EinsumOp>(op)) {
    FailureOr<Einsum> parsed = parseEinsum(einsum.getEquation());
    std::map<char, SmallVector<Extent>> labels;
    for (auto [letters, input] : llvm::zip(parsed->operands, einsum.getInputs()))
      for (auto [d, letter] : llvm::enumerate(letters))
        labels[letter].push_back({input, int64_t(d)});
    for (auto &[letter, extents] : labels)
      broadcast(extents);
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (int64_t d = 0; d < typeOf(tensors[0]).getRank(); ++d) {
      SmallVector<Extent> extents;
      for (Value v : tensors)
        extents.push_back({v, d});
      if (d != int64_t(concat.getAxis()))
        equal(extents);
    }
  } else if (auto layer = dyn_cast<RecurrentOp>(op)) {
    SmallVector<Extent> batches = {{layer.getX(), 1}};
    if (layer.getLengths())
      batches.push_back({layer.getLengths(), 0});
    for (Value state : {layer.getInitialH(), layer.getInitialC()})
      if (state)
        batches.push_back({state, 1});
    equal(batches);
  } else if (auto conv = dyn_cast<ConvOp>(op)) {
    Extent x{conv.getX(), 1}, w{conv.getW(), 1};
    if (isDynamic(x) || isDynamic(w))
      require(read(x), b.createOrFold<arith::MulIOp>(op->getLoc(), read(w), index(int64_t(conv.getGroups()))),
              name(x));
  } else if (auto scatter = dyn_cast<ScatterElementsOp>(op)) {
    for (int64_t d = 0; d < typeOf(scatter.getIndices()).getRank(); ++d)
      equal({{scatter.getIndices(), d}, {scatter.getUpdates(), d}});
  } else if (auto scatter = dyn_cast<ScatterNdOp>(op)) {
    for (int64_t d = 0; d + 1 < typeOf(scatter.getIndices()).getRank(); ++d)
      equal({{scatter.getIndices(), d}, {scatter.getUpdates(), d}});
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [d, start, step] : llvm::enumerate(slice.getStarts(), slice.getSteps()))
      if (int64_t count = typeOf(slice.getY()).getDimSize(d); count > 0)
        atLeast({slice.getX(), int64_t(d)}, index(1 + std::max(start, start + (count - 1) * step)));
  } else if (auto part = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (int64_t d = 0; d < typeOf(part.getSource()).getRank(); ++d) {
      Value from = getValueOrCreateConstantIndexOp(b, op->getLoc(), part.getMixedOffsets()[d]),
            size = getValueOrCreateConstantIndexOp(b, op->getLoc(), part.getMixedSizes()[d]);
      atLeast({part.getSource(), d}, b.createOrFold<arith::AddIOp>(op->getLoc(), from, size));
      if (isa<Value>(part.getMixedOffsets()[d]))
        require(arith::MaxSIOp::create(b, op->getLoc(), from, index(0)), from,
                "offset in dimension " + Twine(d) + " of slice");
    }
  } else if (auto wide = dyn_cast<BroadcastOp>(op)) {
    int64_t lead = typeOf(wide.getY()).getRank() - typeOf(wide.getX()).getRank();
    unsigned next = 0;
    for (int64_t d = 0; d < typeOf(wide.getY()).getRank(); ++d) {
      bool computed = typeOf(wide.getY()).isDynamicDim(d);
      Value target = computed ? wide.getExtents()[next++] : index(typeOf(wide.getY()).getDimSize(d));
      Extent x{wide.getX(), d - lead};
      if (d < lead || (!isDynamic(x) && (!computed || typeOf(wide.getX()).getDimSize(d - lead) == 1)))
        continue;
      Value have = read(x),
            one = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, have, index(1));
      require(arith::SelectOp::create(b, op->getLoc(), one, target, have), target, name(x));
    }
  } else if (auto nnOp = dyn_cast<NnOp>(op); nnOp && nnOp.getOpClass() == OpClass::Elementwise) {
    broadcastAll(tensors, 0);
  }
}

void nn::addExtentChecks(dfg::NodeOp node) {
  SmallVector<Operation *> ops;
  node.getBody().walk([&](Operation *op) {
    if (isa<NnOp, tensor::ExtractSliceOp>(op))
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
