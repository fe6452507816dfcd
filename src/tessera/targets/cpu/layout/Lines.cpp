// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers along lines (N C T) as layers on planes of one row (N C 1 T), which is all that blocks are made for.
// What stands between them follows; anything else reads the line, which is the same memory.
#include "tessera/targets/cpu/layout/Layout.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

namespace {

class Widener {
public:
  explicit Widener(const LayoutOptions &options, MLIRContext *context) : options(options), b(context) {}
  void visit(Operation *op);

private:
  Value makeConv(ConvOp op);
  Value makePool(PoolOp op);
  Value makeMean(ReduceOp op);
  Value makeElementwise(NnOp op);
  Value makeConcat(ConcatOp op);
  /// A line as a plane of one row.
  Value planeOf(Value line);
  bool isPlane(Value line) const { return planes.contains(line); }

  const LayoutOptions &options;
  OpBuilder b;
  DenseMap<Value, Value> planes;
};

} // namespace

static bool isLine(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && type.getRank() == 3 && !type.isDynamicDim(1) && !elementsOf(v);
}

static RankedTensorType planeType(RankedTensorType line) {
  ArrayRef<int64_t> s = line.getShape();
  return RankedTensorType::get({s[0], s[1], 1, s[2]}, line.getElementType());
}

// The same elements with a dimension of one in front of the last, or without it. Open extents stay.
static Value reshaped(OpBuilder &b, Value v, RankedTensorType type) {
  SmallVector<Value> extents;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d)) {
      int64_t from = d + 1 == type.getRank() ? typeOf(v).getRank() - 1 : d;
      extents.push_back(tensor::DimOp::create(b, v.getLoc(), v, from));
    }
  return ReshapeOp::create(b, v.getLoc(), type, v, extents);
}

// A constant with a dimension of one in front of its last.
static Value widened(OpBuilder &b, Value constant) {
  SmallVector<int64_t> shape(typeOf(constant).getShape());
  shape.insert(shape.end() - 1, 1);
  Bytes bytes(elementsOf(constant));
  ArrayRef<char> all = bytes.as<char>();
  return makeConstant(b, constant.getLoc(),
                      makeElements(typeOf(constant).clone(shape), std::vector<char>(all.begin(), all.end())));
}

Value Widener::planeOf(Value line) {
  Value &plane = planes[line];
  if (!plane) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(line);
    plane = reshaped(b, line, planeType(typeOf(line)));
  }
  return plane;
}

Value Widener::makeConv(ConvOp op) {
  if (!isLine(op.getX()) || !isLine(op.getY()) || !elementsOf(op.getW()) ||
      !typeOf(op.getW()).getElementType().isF32())
    return {};
  ArrayRef<int64_t> pads = op.getPads();
  const bool known = isPlane(op.getX());
  auto conv = ConvOp::create(b, op.getLoc(), planeType(typeOf(op.getY())), planeOf(op.getX()),
                             widened(b, op.getW()), op.getBias(), ArrayRef<int64_t>{1, op.getStrides()[0]},
                             ArrayRef<int64_t>{0, pads[0], 0, pads[1]},
                             ArrayRef<int64_t>{1, op.getDilations()[0]}, op.getGroups());
  if (classifyConv(conv, options) != ConvKind::None)
    return conv.getY();
  conv->erase();
  if (!known)
    planes.erase(op.getX());
  return {};
}

Value Widener::makePool(PoolOp op) {
  if (!isPlane(op.getX()) || !isLine(op.getY()))
    return {};
  ArrayRef<int64_t> pads = op.getPads();
  auto pool = cast<PoolOp>(b.clone(*op));
  pool.getXMutable().assign(planeOf(op.getX()));
  pool.setKernel({1, op.getKernel()[0]});
  pool.setStrides({1, op.getStrides()[0]});
  pool.setPads({0, pads[0], 0, pads[1]});
  pool.setDilations({1, op.getDilations()[0]});
  pool.getY().setType(planeType(typeOf(op.getY())));
  return pool.getY();
}

// The mean of each line: what it gives has no line any more.
Value Widener::makeMean(ReduceOp op) {
  if (!isPlane(op.getX()) || op.getKind() != ReduceKind::mean || op.getAxes() != ArrayRef<int64_t>({2}))
    return {};
  auto mean = cast<ReduceOp>(b.clone(*op));
  mean.getXMutable().assign(planeOf(op.getX()));
  mean.setAxes({2, 3});
  if (op.getKeep())
    mean.getY().setType(planeType(typeOf(op.getY())));
  return mean.getY();
}

Value Widener::makeElementwise(NnOp op) {
  if (op.getOpClass() != OpClass::Elementwise || op->getNumResults() != 1 || !isLine(op->getResult(0)) ||
      llvm::none_of(op->getOperands(), [&](Value v) { return isPlane(v); }))
    return {};
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type)
      return {};
    bool isConstant = bool(elementsOf(v));
    // Others broadcast along what they do not have.
    if (isConstant && type.getRank() >= 2)
      operands.push_back(widened(b, v));
    else if (isConstant && type.getNumElements() == 1)
      operands.push_back(v);
    else if (isLine(v))
      operands.push_back(planeOf(v));
    else
      return {};
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(planeType(typeOf(op->getResult(0))));
  return copy->getResult(0);
}

Value Widener::makeConcat(ConcatOp op) {
  if (op.getAxis() != 1 || !isLine(op.getY()) || !llvm::all_of(op.getInputs(), isLine) ||
      llvm::none_of(op.getInputs(), [&](Value v) { return isPlane(v); }))
    return {};
  SmallVector<Value> inputs;
  for (Value v : op.getInputs())
    inputs.push_back(planeOf(v));
  return ConcatOp::create(b, op.getLoc(), inputs, 1);
}

void Widener::visit(Operation *op) {
  b.setInsertionPoint(op);
  Value plane;
  if (auto conv = dyn_cast<ConvOp>(op))
    plane = makeConv(conv);
  else if (auto pool = dyn_cast<PoolOp>(op))
    plane = makePool(pool);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    plane = makeMean(reduce);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    plane = makeConcat(concat);
  else if (auto own = dyn_cast<NnOp>(op))
    plane = makeElementwise(own);
  if (!plane)
    return;
  plane.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value y = op->getResult(0), line = plane;
  if (plane.getType() != y.getType())
    line = reshaped(b, plane, typeOf(y));
  if (isLine(line) && line != plane)
    planes[line] = plane;
  y.replaceAllUsesWith(line);
  op->erase();
}

void cpu::widenLines(dfg::NodeOp node, const LayoutOptions &options) {
  SmallVector<Operation *> ops;
  for (Operation &op : *node.getBodyBlock())
    ops.push_back(&op);
  Widener widener(options, node.getContext());
  for (Operation *op : ops)
    widener.visit(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*node.getBodyBlock())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
