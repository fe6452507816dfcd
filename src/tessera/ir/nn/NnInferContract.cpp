// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types and arithmetic of matrix products and convolutions.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

NN_INFER(MatmulOp) {
  NN_WHERE(MatmulOp);
  ArrayRef<int64_t> l = shapeOf(a.getA()), r = shapeOf(a.getB());
  if (failed(checkElement(where, a.getB(), "b", elementOf(a.getA()))))
    return failure();
  if (l.size() < 2 || r.size() < 2)
    return where.emitError("expected operands of rank 2 or more, but got shapes ", describe(l), " and ",
                           describe(r));
  int64_t m = l[l.size() - 2], k = l.back(), k2 = r[r.size() - 2], n = r.back();
  if (a.getTransposeA())
    std::swap(m, k);
  if (a.getTransposeB())
    std::swap(k2, n);
  if (!mayEqual(k, k2))
    return where.emitError("expected the same number of columns and rows, but got ", k, " and ", k2);
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(l.drop_back(2), r.drop_back(2));
  if (failed(shape))
    return where.emitError("expected leading extents that broadcast against each other, but got shapes ",
                           describe(l), " and ", describe(r));
  shape->append({m, n});
  results.push_back(RankedTensorType::get(*shape, elementOf(a.getA())));
  return success();
}
int64_t MatmulOp::getFlops() {
  ArrayRef<int64_t> l = shapeOf(getA());
  int64_t k = l[l.size() - (getTransposeA() ? 2 : 1)];
  return 2 * countElements(getY().getType()) * (ShapedType::isDynamic(k) ? 1 : k);
}

// Extents of all labels; fails with an error when operands disagree.
static FailureOr<std::map<char, int64_t>> labelExtents(Where where, StringRef equation, ValueRange inputs) {
  FailureOr<Einsum> einsum = parseEinsum(equation);
  if (failed(einsum))
    return where.emitError(
        "expected an equation of letters like 'ij,jk->ik' with distinct labels of operands "
        "behind the arrow, but got '",
        equation, "'");
  if (einsum->operands.size() != inputs.size())
    return where.emitError("expected ", einsum->operands.size(), " operands as the equation says, but got ",
                           inputs.size());
  std::map<char, int64_t> extents;
  for (auto [i, labels, input] : llvm::enumerate(einsum->operands, inputs)) {
    std::string what = "inputs[" + std::to_string(i) + "]";
    if (failed(checkRank(where, input, what, labels.size())) ||
        failed(checkElement(where, input, what, elementOf(inputs[0]))))
      return failure();
    std::map<char, int64_t> own;
    for (auto [label, extent] : llvm::zip(labels, shapeOf(input))) {
      // There is no diagonal of what is broadcast.
      if (auto [same, isNew] = own.try_emplace(label, extent); !isNew && !mayEqual(same->second, extent))
        return where.emitError("expected one extent for label '", std::string(1, label), "' of ", what,
                               ", but got ", same->second, " and ", extent);
      auto [it, isNew] = extents.try_emplace(label, extent);
      if (isNew || it->second == extent || extent == 1)
        continue;
      if (it->second != 1 && !mayEqual(it->second, extent))
        return where.emitError("expected one extent for label '", std::string(1, label), "', but got ",
                               it->second, " and ", extent);
      it->second = it->second == 1 ? extent : known(it->second, extent);
    }
  }
  return extents;
}

NN_INFER(EinsumOp) {
  NN_WHERE(EinsumOp);
  if (a.getInputs().empty())
    return where.emitError("expected at least one operand, but got none");
  FailureOr<std::map<char, int64_t>> extents = labelExtents(where, a.getEquation(), a.getInputs());
  if (failed(extents))
    return failure();
  SmallVector<int64_t> shape;
  for (char label : parseEinsum(a.getEquation())->result)
    shape.push_back(extents->at(label));
  results.push_back(RankedTensorType::get(shape, elementOf(a.getInputs()[0])));
  return success();
}
int64_t EinsumOp::getFlops() {
  int64_t flops = getInputs().size();
  FailureOr<std::map<char, int64_t>> extents =
      labelExtents({std::nullopt, getOperationName()}, getEquation(), getInputs());
  if (failed(extents))
    return 0;
  for (auto [label, extent] : *extents)
    flops *= ShapedType::isDynamic(extent) ? 1 : extent;
  return flops;
}

// What conv, conv_transpose and deform_conv share: ranks, lists and bias; `features` is the result's
// channels.
template <typename Adaptor> static LogicalResult checkConv(Where where, Adaptor a, int64_t features) {
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t spatial = static_cast<int64_t>(x.size()) - 2;
  if (failed(checkList(where, a.getStrides(), "strides", spatial, 1)) ||
      failed(checkList(where, a.getPads(), "pads", 2 * spatial, std::numeric_limits<int32_t>::min())) ||
      failed(checkList(where, a.getDilations(), "dilations", spatial, 1)) ||
      failed(checkElement(where, a.getW(), "w", elementOf(a.getX()))))
    return failure();
  if (!a.getBias())
    return success();
  return success(succeeded(checkElement(where, a.getBias(), "bias", elementOf(a.getX()))) &&
                 succeeded(checkRank(where, a.getBias(), "bias", 1)) &&
                 succeeded(checkExtent(where, a.getBias(), "bias", 0, features)));
}

static LogicalResult checkConvRanks(Where where, Value x, Value w, int64_t groups) {
  if (shapeOf(x).size() < 3)
    return where.emitError("expected 'x' to have rank 3 or more, but got ", x.getType());
  if (groups < 1)
    return where.emitError("expected at least one group, but got ", groups);
  if (!typeOf(w).hasStaticShape())
    return where.emitError("expected weights of static shape, but got ", w.getType());
  return checkRank(where, w, "w", shapeOf(x).size());
}

static LogicalResult checkDivides(Where where, int64_t groups, int64_t channels, StringRef what) {
  if (!ShapedType::isDynamic(channels) && channels % groups)
    return where.emitError("expected the groups to divide the channels of '", what, "', but got ", groups,
                           " and ", channels);
  return success();
}

static LogicalResult inferConv(Where where, Value x, Value w, ArrayRef<Window> windows,
                               SmallVectorImpl<Type> &results) {
  SmallVector<int64_t> shape = {shapeOf(x)[0], shapeOf(w)[0]};
  for (auto [i, window] : llvm::enumerate(windows)) {
    int64_t places = window.places(shapeOf(x)[i + 2]);
    if (places < 1 && !ShapedType::isDynamic(places))
      return where.emitError("expected a kernel that fits, but got ", window.span(), " elements over ",
                             shapeOf(x)[i + 2] + window.low + window.high, " with pads");
    shape.push_back(places);
  }
  results.push_back(RankedTensorType::get(shape, elementOf(x)));
  return success();
}

NN_INFER(ConvOp) {
  NN_WHERE(ConvOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  int64_t groups = a.getGroups();
  if (failed(checkConvRanks(where, a.getX(), a.getW(), groups)) || failed(checkConv(where, a, w[0])) ||
      failed(checkDivides(where, groups, x[1], "x")) || failed(checkDivides(where, groups, w[0], "w")))
    return failure();
  if (!ShapedType::isDynamic(x[1]) && failed(checkExtent(where, a.getW(), "w", 1, x[1] / groups)))
    return failure();
  return inferConv(where, a.getX(), a.getW(),
                   makeWindows(w.drop_front(2), a.getStrides(), a.getPads(), a.getDilations()), results);
}
int64_t ConvOp::getFlops() {
  int64_t taps = countElements(getW().getType()) / std::max<int64_t>(1, std::abs(shapeOf(getW())[0]));
  return 2 * countElements(getY().getType()) * taps;
}

NN_INFER(ConvTransposeOp) {
  NN_WHERE(ConvTransposeOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  int64_t groups = a.getGroups();
  if (failed(checkConvRanks(where, a.getX(), a.getW(), groups)))
    return failure();
  int64_t features = mulExtents(w[1], groups);
  if (failed(checkConv(where, a, features)) ||
      failed(checkList(where, a.getOutputPadding(), "output_padding", x.size() - 2, 0)) ||
      failed(checkExtent(where, a.getW(), "w", 0, x[1])) || failed(checkDivides(where, groups, x[1], "x")))
    return failure();
  SmallVector<int64_t> shape = {x[0], features};
  SmallVector<Window> windows = makeWindows(w.drop_front(2), a.getStrides(), a.getPads(), a.getDilations());
  for (auto [i, window] : llvm::enumerate(windows)) {
    int64_t in = x[i + 2];
    if (ShapedType::isDynamic(in) || ShapedType::isDynamic(window.kernel)) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    shape.push_back((in - 1) * window.stride - window.low - window.high + window.span() +
                    a.getOutputPadding()[i]);
    if (shape.back() < 0)
      return where.emitError("expected pads that leave elements, but got extent ", shape.back());
  }
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}
int64_t ConvTransposeOp::getFlops() {
  int64_t taps = countElements(getW().getType()) / std::max<int64_t>(1, std::abs(shapeOf(getW())[0]));
  return 2 * countElements(getX().getType()) * taps;
}

NN_INFER(DeformConvOp) {
  NN_WHERE(DeformConvOp);
  if (failed(checkRank(where, a.getX(), "x", 4)) ||
      failed(checkConvRanks(where, a.getX(), a.getW(), a.getGroups())) ||
      failed(checkConv(where, a, shapeOf(a.getW())[0])) ||
      failed(checkRank(where, a.getOffset(), "offset", 4)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  int64_t groups = a.getGroups(), offsetGroups = a.getOffsetGroups();
  if (offsetGroups < 1)
    return where.emitError("expected at least one group of offsets, but got ", offsetGroups);
  if (failed(checkDivides(where, groups, w[0], "w")) ||
      failed(checkDivides(where, offsetGroups, x[1], "x")) ||
      (!ShapedType::isDynamic(x[1]) && failed(checkExtent(where, a.getW(), "w", 1, x[1] / groups))))
    return failure();
  SmallVector<Window> windows = makeWindows(w.drop_front(2), a.getStrides(), a.getPads(), a.getDilations());
  // Two coordinates and one weight for each tap at each place.
  bool hasTaps = !ShapedType::isDynamic(w[2]) && !ShapedType::isDynamic(w[3]);
  for (auto [value, what, each] : {std::tuple<Value, StringRef, int64_t>(a.getOffset(), "offset", 2),
                                   std::tuple<Value, StringRef, int64_t>(a.getMask(), "mask", 1)}) {
    if (!value)
      continue;
    if (failed(checkRank(where, value, what, 4)) || failed(checkExtent(where, value, what, 0, x[0])) ||
        (hasTaps && failed(checkExtent(where, value, what, 1, offsetGroups * each * w[2] * w[3]))) ||
        failed(checkExtent(where, value, what, 2, windows[0].places(x[2]))) ||
        failed(checkExtent(where, value, what, 3, windows[1].places(x[3]))))
      return failure();
  }
  return inferConv(where, a.getX(), a.getW(), windows, results);
}
