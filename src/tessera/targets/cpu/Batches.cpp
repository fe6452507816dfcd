// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two computed operands, and attention, become operations that the CPU lowers itself
// (packed/BatchProduct.cpp, packed/Attention.cpp).
#include "tessera/targets/cpu/Networks.h"
#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/targets/cpu/layout/Fusion.h"
#include "tessera/transforms/nn/graph/Constants.h"
#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

static bool isF32(Value v) { return typeOf(v).getElementType().isF32(); }

// The same elements with these extents.
static Value reshaped(OpBuilder &b, Location loc, Value v, ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (OpFoldResult extent : extents) {
    std::optional<int64_t> known = getConstantIntValue(extent);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      dynamic.push_back(cast<Value>(extent));
  }
  return ReshapeOp::create(b, loc, RankedTensorType::get(shape, typeOf(v).getElementType()), v, dynamic);
}

static Value withRank(OpBuilder &b, Location loc, Value v, int64_t rank) {
  SmallVector<OpFoldResult> extents(rank - typeOf(v).getRank(), b.getIndexAttr(1));
  if (extents.empty())
    return v;
  llvm::append_range(extents, extentsOf(b, loc, v));
  return reshaped(b, loc, v, extents);
}

static Value exchanged(OpBuilder &b, Location loc, Value v) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(v).getRank()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return TransposeOp::create(b, loc, v, order);
}

// The leading extents of a product's result: those of the operands, of which one may be 1.
static SmallVector<OpFoldResult> leadOf(OpBuilder &b, Location loc, Value x, Value y) {
  SmallVector<OpFoldResult> lead;
  for (int64_t d = 0; d + 2 < typeOf(x).getRank(); ++d) {
    int64_t own = typeOf(x).getDimSize(d), other = typeOf(y).getDimSize(d);
    bool bothOpen = ShapedType::isDynamic(own) && ShapedType::isDynamic(other);
    if (!bothOpen || haveSameExtent(x, d, y, d)) {
      bool first = ShapedType::isDynamic(own) ? other == 1 || bothOpen : own != 1;
      lead.push_back(tensor::getMixedSize(b, loc, first ? x : y, d));
      continue;
    }
    Value a = tensor::DimOp::create(b, loc, x, d), c = tensor::DimOp::create(b, loc, y, d);
    Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, a, indexOf(b, loc, 1));
    lead.push_back(arith::SelectOp::create(b, loc, isOne, c, a).getResult());
  }
  return lead;
}

static Value product(OpBuilder &b, Location loc, Value x, Value y, bool transposeY) {
  SmallVector<OpFoldResult> extents = leadOf(b, loc, x, y);
  int64_t rank = typeOf(x).getRank();
  extents.push_back(tensor::getMixedSize(b, loc, x, rank - 2));
  extents.push_back(tensor::getMixedSize(b, loc, y, transposeY ? rank - 2 : rank - 1));
  return cpu::ProductOp::create(b, loc, x, y, emptyOf(b, loc, extents, b.getF32Type()), transposeY);
}

static Value attend(OpBuilder &b, Location loc, Value scores, Value values, bool zeros) {
  SmallVector<OpFoldResult> extents = leadOf(b, loc, scores, values);
  int64_t rank = typeOf(scores).getRank();
  extents.push_back(tensor::getMixedSize(b, loc, scores, rank - 2));
  extents.push_back(tensor::getMixedSize(b, loc, values, rank - 1));
  return cpu::AttendOp::create(b, loc, scores, values, emptyOf(b, loc, extents, b.getF32Type()), zeros);
}

static void lowerMatmul(MatmulOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t rank = std::max(typeOf(op.getA()).getRank(), typeOf(op.getB()).getRank());
  Value x = op.getA(), y = op.getB(), z;
  bool transposeY = op.getTransposeB();
  auto softmax = x.getDefiningOp<SoftmaxOp>();
  if (softmax && softmax->getBlock() == op->getBlock() && cpu::isAttention(softmax)) {
    if (transposeY)
      y = exchanged(b, loc, y);
    z = attend(b, loc, withRank(b, loc, softmax.getX(), rank), withRank(b, loc, y, rank), false);
  } else {
    if (op.getTransposeA())
      x = exchanged(b, loc, x);
    z = product(b, loc, withRank(b, loc, x, rank), withRank(b, loc, y, rank), transposeY);
  }
  op.replaceAllUsesWith(castTo(b, loc, z, op.getY().getType()));
  op.erase();
  if (softmax && softmax.use_empty())
    softmax.erase();
}

static void lowerAttention(AttentionOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value q = op.getQ(), k = op.getK(), v = op.getV(), bias = op.getBias();
  int64_t heads = typeOf(q).getDimSize(1), shared = typeOf(k).getDimSize(1), group = heads / shared;
  SmallVector<OpFoldResult> result = {tensor::getMixedSize(b, loc, q, 0), b.getIndexAttr(heads),
                                      tensor::getMixedSize(b, loc, q, 2), tensor::getMixedSize(b, loc, v, 3)};
  // Heads that share keys are a dimension of their own.
  auto split = [&](Value x, int64_t dim, int64_t outer, int64_t inner) {
    SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
    extents[dim] = b.getIndexAttr(inner);
    extents.insert(extents.begin() + dim, b.getIndexAttr(outer));
    return reshaped(b, loc, x, extents);
  };
  if (group > 1) {
    q = split(q, 1, shared, group);
    k = split(k, 1, shared, 1);
    v = split(v, 1, shared, 1);
    if (int64_t at = bias ? typeOf(bias).getRank() - 3 : -1; at >= 0)
      bias = typeOf(bias).getDimSize(at) == 1 ? split(bias, at, 1, 1) : split(bias, at, shared, group);
  }
  Value scores = product(b, loc, q, k, true);
  auto number = [&](double x) {
    return makeConstant(b, loc, makeElements<float>(RankedTensorType::get({}, b.getF32Type()), float(x)));
  };
  auto apply = [&](BinaryKind kind, Value x, Value y) -> Value {
    return BinaryOp::create(b, loc, kind, x, y);
  };
  scores = apply(BinaryKind::mul, scores, number(op.getScale().convertToDouble()));
  if (double cap = op.getSoftCap().convertToDouble(); cap > 0) {
    scores = apply(BinaryKind::div, scores, number(cap));
    scores = apply(BinaryKind::mul, UnaryOp::create(b, loc, UnaryKind::tanh, scores), number(cap));
  }
  if (bias)
    scores = apply(BinaryKind::add, scores, bias);
  Value z = attend(b, loc, scores, v, true);
  if (group > 1)
    z = reshaped(b, loc, z, result);
  op.replaceAllUsesWith(castTo(b, loc, z, op.getY().getType()));
  op.erase();
}

// The loops of the general lowering take all else.
static bool isOwnAttention(AttentionOp op) {
  SmallVector<Value> operands = {op.getQ(), op.getK(), op.getV()};
  if (op.getBias())
    operands.push_back(op.getBias());
  bool heads = !typeOf(op.getQ()).isDynamicDim(1) && !typeOf(op.getK()).isDynamicDim(1) &&
               (!op.getBias() || typeOf(op.getBias()).getRank() < 3 ||
                !typeOf(op.getBias()).isDynamicDim(typeOf(op.getBias()).getRank() - 3));
  return heads && llvm::all_of(operands, isF32) && !typeOf(op.getV()).isDynamicDim(3) && isF32(op.getY());
}

LogicalResult cpu::lowerNetwork(dfg::NodeOp node) {
  for (Operation &op : llvm::make_early_inc_range(*node.getBodyBlock())) {
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && cpu::isBatchProduct(matmul))
      lowerMatmul(matmul);
    else if (auto attention = dyn_cast<AttentionOp>(op); attention && isOwnAttention(attention))
      lowerAttention(attention);
  }
  return lowerToLinalg(node);
}
