// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs that change weights: sampled and pruned filters, low rank.
#include "tessera/base/Weights.h"
#include "tessera/transforms/nn/graph/Constants.h"
#include "tessera/transforms/nn/knobs/Apply.h"
#include "tessera/transforms/nn/knobs/Matrix.h"

using namespace tessera;
using namespace tessera::nn;

Matrix nn::readMatrix(TunableOp op) {
  Value weights = op.getWeights();
  Bytes bytes(elementsOf(weights));
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weights.getType()).getShape();
  ArrayRef<float> data = bytes.as<float>();
  Matrix matrix;
  matrix.data.assign(data.begin(), data.end());
  auto product = dyn_cast<MatmulOp>(op.getOperation());
  if (!product) {
    int64_t taps = 1;
    for (int64_t extent : shape.drop_front(2))
      taps *= extent;
    matrix.shape = {shape[0], shape[1], taps, shape.back()};
    return matrix;
  }
  matrix.isTransposed = !product.getTransposeB();
  matrix.shape = matrix.isTransposed ? WeightShape{shape[1], shape[0]} : WeightShape{shape[0], shape[1]};
  if (matrix.isTransposed)
    for (int64_t r = 0; r < matrix.shape.rows; ++r)
      for (int64_t c = 0; c < matrix.shape.columns(); ++c)
        matrix.data[r * matrix.shape.columns() + c] = data[c * matrix.shape.rows + r];
  return matrix;
}

Value nn::writeMatrix(OpBuilder &b, Location loc, const Matrix &matrix, ArrayRef<int64_t> shape) {
  std::vector<float> data = matrix.data;
  int64_t rows = matrix.shape.rows, columns = static_cast<int64_t>(data.size()) / rows;
  if (matrix.isTransposed)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        data[c * rows + r] = matrix.data[r * columns + c];
  return makeConstant(b, loc, makeElements<float>(RankedTensorType::get(shape, b.getF32Type()), data));
}

// A product without the columns of its weights that are left out, and of its operand alike.
static LogicalResult dropColumns(RewriterBase &rewriter, MatmulOp op, const Knob &knob,
                                 const Matrix &matrix) {
  std::vector<int64_t> kept;
  for (int64_t c = 0; c < matrix.shape.columns(); ++c)
    if (!isSampledOut(c, matrix.shape, knob))
      kept.push_back(c);
  auto count = static_cast<int64_t>(kept.size());
  Matrix smaller = matrix;
  smaller.shape.channels = count;
  smaller.data.clear();
  for (int64_t r = 0; r < matrix.shape.rows; ++r)
    for (int64_t c : kept)
      smaller.data.push_back(matrix.data[r * matrix.shape.columns() + c]);
  Location loc = op.getLoc();
  int64_t axis = cast<RankedTensorType>(op.getA().getType()).getRank() - (op.getTransposeA() ? 2 : 1);
  auto type = RankedTensorType::get({count}, rewriter.getI64Type());
  Value at = makeConstant(rewriter, loc, makeElements<int64_t>(type, kept));
  Value a = GatherOp::create(rewriter, loc, op.getA(), at, axis);
  SmallVector<int64_t> shape = {smaller.shape.rows, count};
  if (smaller.isTransposed)
    std::swap(shape[0], shape[1]);
  Value b = writeMatrix(rewriter, loc, smaller, shape);
  auto product = MatmulOp::create(rewriter, loc, a, b, op.getTransposeA(), op.getTransposeB());
  keepPrecision(product, knob, op);
  rewriter.replaceOp(op, product);
  return success();
}

LogicalResult nn::applyWeights(RewriterBase &rewriter, TunableOp op, const Knob &knob) {
  Matrix matrix = readMatrix(op);
  changeWeights(matrix.data, matrix.shape, knob);
  if (auto product = dyn_cast<MatmulOp>(op.getOperation());
      product && knob.structure == Knob::Structure::SampleFilter)
    return dropColumns(rewriter, product, knob, matrix);
  Value weights = op.getWeights();
  Value changed =
      writeMatrix(rewriter, weights.getLoc(), matrix, cast<RankedTensorType>(weights.getType()).getShape());
  op->setOperand(1, changed);
  // What int4 does has been done.
  keepPrecision(op, knob.precision == Knob::Precision::Int4 ? Knob() : knob, op);
  return success();
}

LogicalResult nn::applyLowRank(RewriterBase &rewriter, TunableOp op, const Knob &knob) {
  Matrix matrix = readMatrix(op), left = matrix, right = matrix;
  int64_t rank = knob.value;
  factorise(matrix.data, matrix.shape.rows, matrix.shape.columns(), rank, left.data, right.data);
  right.shape.rows = rank;
  Location loc = op->getLoc();
  if (auto conv = dyn_cast<ConvOp>(op.getOperation())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(conv.getW().getType()).getShape());
    size_t spatial = shape.size() - 2;
    shape[0] = rank;
    auto first = ConvOp::create(rewriter, loc, conv.getX(), writeMatrix(rewriter, loc, right, shape), Value(),
                                conv.getStrides(), conv.getPads(), conv.getDilations(), 1);
    shape.assign(shape.size(), 1);
    shape[0] = matrix.shape.rows;
    shape[1] = rank;
    SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
    auto second = ConvOp::create(rewriter, loc, first.getY(), writeMatrix(rewriter, loc, left, shape),
                                 conv.getBias(), ones, zeros, ones, 1);
    for (Operation *made : {first.getOperation(), second.getOperation()})
      keepPrecision(made, knob, op);
    rewriter.replaceOp(op, second);
    return success();
  }
  auto product = cast<MatmulOp>(op.getOperation());
  auto shapeOf = [&](const Matrix &m, int64_t rows, int64_t columns) {
    return m.isTransposed ? SmallVector<int64_t>{columns, rows} : SmallVector<int64_t>{rows, columns};
  };
  auto first =
      MatmulOp::create(rewriter, loc, product.getA(),
                       writeMatrix(rewriter, loc, right, shapeOf(right, rank, matrix.shape.columns())),
                       product.getTransposeA(), product.getTransposeB());
  auto second = MatmulOp::create(rewriter, loc, first.getY(),
                                 writeMatrix(rewriter, loc, left, shapeOf(left, matrix.shape.rows, rank)),
                                 false, product.getTransposeB());
  for (Operation *made : {first.getOperation(), second.getOperation()})
    keepPrecision(made, knob, op);
  rewriter.replaceOp(op, second);
  return success();
}
