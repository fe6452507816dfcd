// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types of normalisations and of layers over sequences.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

// A vector with one entry for each channel of x.
static LogicalResult checkChannels(Where where, Value x, Value value, StringRef what) {
  return success(succeeded(checkFloat(where, value, what)) && succeeded(checkRank(where, value, what, 1)) &&
                 succeeded(checkExtent(where, value, what, 0, shapeOf(x)[1])));
}

static LogicalResult checkHasChannels(Where where, Value x) {
  if (shapeOf(x).size() < 2)
    return where.emitError("expected 'x' with a batch and channels, but got ", x.getType());
  return checkFloat(where, x, "x");
}

NN_INFER(BatchNormOp) {
  NN_WHERE(BatchNormOp);
  if (failed(checkHasChannels(where, a.getX())) ||
      failed(checkChannels(where, a.getX(), a.getScale(), "scale")) ||
      failed(checkChannels(where, a.getX(), a.getBias(), "bias")) ||
      failed(checkChannels(where, a.getX(), a.getMean(), "mean")) ||
      failed(checkChannels(where, a.getX(), a.getVariance(), "variance")))
    return failure();
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(LayerNormOp) {
  NN_WHERE(LayerNormOp);
  SmallVector<int64_t> shape(shapeOf(a.getX()));
  if (failed(checkFloat(where, a.getX(), "x")) || failed(checkAxis(where, a.getAxis(), shape.size())))
    return failure();
  for (auto [value, what] : {std::pair(a.getScale(), "scale"), std::pair(a.getBias(), "bias")})
    if (value &&
        (failed(checkFloat(where, value, what)) || failed(checkBroadcast(where, value, what, shape))))
      return failure();
  results.push_back(a.getX().getType());
  std::fill(shape.begin() + a.getAxis(), shape.end(), 1);
  // Statistics have the type that they are computed in.
  Type element = elementOf(a.getX());
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(context);
  results.append(2, RankedTensorType::get(shape, element));
  return success();
}

NN_INFER(GroupNormOp) {
  NN_WHERE(GroupNormOp);
  if (failed(checkHasChannels(where, a.getX())) ||
      failed(checkChannels(where, a.getX(), a.getScale(), "scale")) ||
      failed(checkChannels(where, a.getX(), a.getBias(), "bias")))
    return failure();
  int64_t channels = known(known(shapeOf(a.getX())[1], shapeOf(a.getScale())[0]), shapeOf(a.getBias())[0]),
          groups = a.getGroups();
  if (ShapedType::isDynamic(channels))
    return where.emitError("expected a static number of channels, but got ", a.getX().getType());
  if (groups < 1 || channels % groups)
    return where.emitError("expected a number of groups that divides the channels ", channels, ", but got ",
                           groups);
  results.push_back(a.getX().getType());
  return success();
}

static int64_t gatesOf(CellKind kind) { return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1; }
static int64_t functionsOf(CellKind kind) {
  return kind == CellKind::lstm ? 3 : kind == CellKind::gru ? 2 : 1;
}

// A value of rank `expected.size()` whose extents may be these.
static LogicalResult checkShape(Where where, Value value, StringRef what, ArrayRef<int64_t> expected) {
  if (failed(checkRank(where, value, what, expected.size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(expected))
    if (failed(checkExtent(where, value, what, dim, extent)))
      return failure();
  return success();
}

NN_INFER(RecurrentOp) {
  NN_WHERE(RecurrentOp);
  if (failed(checkWord(where, a.getDirection(), "direction", {"forward", "reverse", "bidirectional"})) ||
      failed(checkFloat(where, a.getX(), "x")) || failed(checkRank(where, a.getX(), "x", 3)) ||
      failed(checkRank(where, a.getR(), "r", 3)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t directions = a.getDirection() == "bidirectional" ? 2 : 1;
  int64_t gates = gatesOf(a.getKind()), hidden = shapeOf(a.getR())[2], functions = functionsOf(a.getKind());
  if (ShapedType::isDynamic(hidden))
    return where.emitError("expected a static number of hidden values, but got ", a.getR().getType());
  if (failed(checkShape(where, a.getW(), "w", {directions, gates * hidden, x[2]})) ||
      failed(checkShape(where, a.getR(), "r", {directions, gates * hidden, hidden})))
    return failure();
  for (Value weights : {a.getW(), a.getR()})
    if (ShapedType::isDynamic(shapeOf(weights)[0]) || ShapedType::isDynamic(shapeOf(weights)[1]))
      return where.emitError("expected weights that are open along the input's width at most, but got ",
                             weights.getType());
  struct {
    Value value;
    StringRef what;
    SmallVector<int64_t> shape;
  } optional[] = {{a.getBias(), "bias", {directions, 2 * gates * hidden}},
                  {a.getInitialH(), "initial_h", {directions, x[1], hidden}},
                  {a.getInitialC(), "initial_c", {directions, x[1], hidden}},
                  {a.getPeephole(), "peephole", {directions, 3 * hidden}}};
  for (auto &[value, what, shape] : optional)
    if (value && (failed(checkShape(where, value, what, shape)) ||
                  failed(checkElement(where, value, what, elementOf(a.getX())))))
      return failure();
  if (a.getLengths() && (failed(checkShape(where, a.getLengths(), "lengths", {x[1]})) ||
                         failed(checkInteger(where, a.getLengths(), "lengths"))))
    return failure();
  int64_t entries = directions * functions;
  if (static_cast<int64_t>(a.getActivations().size()) != entries ||
      static_cast<int64_t>(a.getAlphas().size()) != entries ||
      static_cast<int64_t>(a.getBetas().size()) != entries)
    return where.emitError("expected ", entries, " activations, alphas and betas, but got ",
                           a.getActivations().size(), ", ", a.getAlphas().size(), " and ",
                           a.getBetas().size());
  for (StringRef word : a.getActivations().getAsValueRange<StringAttr>())
    if (failed(checkWord(where, word, "activations",
                         {"relu", "tanh", "sigmoid", "affine", "leakyrelu", "thresholdedrelu", "scaledtanh",
                          "hardsigmoid", "elu", "softsign", "softplus"})))
      return failure();
  results.push_back(RankedTensorType::get({x[0], directions, x[1], hidden}, elementOf(a.getX())));
  results.append(2, RankedTensorType::get({directions, x[1], hidden}, elementOf(a.getX())));
  return success();
}
int64_t RecurrentOp::getFlops() {
  auto at = [](Value v, int64_t dim) { return std::max<int64_t>(1, shapeOf(v)[dim]); };
  int64_t weights = countElements(getW().getType()) + countElements(getR().getType());
  return 2 * at(getX(), 0) * at(getX(), 1) * weights;
}

NN_INFER(AttentionOp) {
  NN_WHERE(AttentionOp);
  if (failed(checkFloat(where, a.getQ(), "q")) || failed(checkRank(where, a.getQ(), "q", 4)) ||
      failed(checkRank(where, a.getK(), "k", 4)) || failed(checkRank(where, a.getV(), "v", 4)))
    return failure();
  ArrayRef<int64_t> q = shapeOf(a.getQ()), k = shapeOf(a.getK()), v = shapeOf(a.getV());
  if (failed(checkElement(where, a.getK(), "k", elementOf(a.getQ()))) ||
      failed(checkElement(where, a.getV(), "v", elementOf(a.getQ()))) ||
      failed(checkExtent(where, a.getK(), "k", 0, q[0])) ||
      failed(checkExtent(where, a.getK(), "k", 3, q[3])) ||
      failed(checkExtent(where, a.getV(), "v", 0, q[0])) ||
      failed(checkExtent(where, a.getV(), "v", 1, k[1])) ||
      failed(checkExtent(where, a.getV(), "v", 2, k[2])))
    return failure();
  if (!ShapedType::isDynamic(q[1]) && !ShapedType::isDynamic(k[1]) && (k[1] == 0 || q[1] % k[1]))
    return where.emitError("expected the heads of 'k' to divide those of 'q', but got ", k[1], " and ", q[1]);
  if (a.getBias() &&
      (failed(checkElement(where, a.getBias(), "bias", elementOf(a.getQ()))) ||
       failed(checkBroadcast(where, a.getBias(), "bias", {q[0], q[1], q[2], known(k[2], v[2])}))))
    return failure();
  results.push_back(
      RankedTensorType::get({known(q[0], known(k[0], v[0])), q[1], q[2], v[3]}, elementOf(a.getQ())));
  return success();
}
int64_t AttentionOp::getFlops() {
  auto at = [](Value v, int64_t dim) { return std::max<int64_t>(1, shapeOf(v)[dim]); };
  int64_t rows = at(getQ(), 0) * at(getQ(), 1) * at(getQ(), 2);
  return 2 * rows * at(getK(), 2) * (at(getQ(), 3) + at(getV(), 3));
}
