// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using llvm::APFloat;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;

static void batchNorm(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0), operands[4];
  double epsilon = c.attrFloat("epsilon", 1e-5f), momentum = c.attrFloat("momentum", 0.9f);
  if (c.rank(x) < 2) {
    c.fail("expected an operand with channels, but got " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  if (c.opset < 9 && c.attrInt("spatial", 1) == 0) {
    c.fail("spatial = 0 is not supported");
    return;
  }
  for (unsigned i = 0; i < 4; ++i)
    operands[i] = c.castTo(c.v(i + 1), c.type(i + 1), type);
  if (c.opset < 14 || !c.attrInt("training_mode", 0))
    return c.set(
        0, c.one<nn::BatchNormOp>(x, operands[0], operands[1], operands[2], operands[3], APFloat(epsilon)),
        type);
  // The batch's own statistics, and the running ones moved towards them.
  Ints axes = range(0, c.rank(x));
  axes.erase(axes.begin() + 1);
  Value mean = c.reduce(ReduceKind::mean, x, axes, false);
  Value centred = c.sub(x, c.along(mean, 1, c.rank(x)));
  Value variance = c.reduce(ReduceKind::mean, c.mul(centred, centred), axes, false);
  c.set(0,
        mean && variance
            ? c.one<nn::BatchNormOp>(x, operands[0], operands[1], mean, variance, APFloat(epsilon))
            : Value(),
        type);
  auto running = [&](Value old, Value now) {
    return c.add(c.mul(old, c.scalar(momentum, type)), c.mul(now, c.scalar(1 - momentum, type)));
  };
  if (c.wants(1))
    c.set(1, c.castTo(running(operands[2], mean), type, c.type(3)), c.type(3));
  if (c.wants(2))
    c.set(2, c.castTo(running(operands[3], variance), type, c.type(4)), c.type(4));
}

static void instanceNorm(NodeContext &c) {
  Value x = c.v(0), scale = c.v(1), bias = c.v(2);
  int64_t channels = c.dim(x, 1);
  if (ShapedType::isDynamic(channels))
    channels = c.dim(scale, 0);
  if (ShapedType::isDynamic(channels)) {
    c.fail("a dynamic number of channels is not supported");
    return;
  }
  c.set(0, c.one<nn::GroupNormOp>(x, scale, bias, uint64_t(channels), APFloat(c.attrFloat("epsilon", 1e-5f))),
        c.type(0));
}

static void groupNorm(NodeContext &c) {
  Value x = c.v(0), scale = c.v(1), bias = c.v(2);
  int64_t groups = c.attrInt("num_groups", 0), channels = c.dim(x, 1);
  if (!c.needStatic(x, 1, "the size of a group"))
    return;
  if (groups < 1 || channels % groups) {
    c.fail("expected 'num_groups' to divide the number of channels");
    return;
  }
  // Up to opset 20 there was one scale for each group.
  auto perChannel = [&](Value v) {
    if (c.opset >= 21 || groups == channels)
      return v;
    return c.reshape(c.broadcast(c.reshape(v, {Ext(groups), Ext(1)}), {Ext(groups), Ext(channels / groups)}),
                     {Ext(channels)});
  };
  c.set(0,
        c.one<nn::GroupNormOp>(x, perChannel(scale), perChannel(bias), uint64_t(groups),
                               APFloat(c.attrFloat("epsilon", 1e-5f))),
        c.type(0));
}

template <bool rms> static void layerNorm(NodeContext &c) {
  Value x = c.v(0), scale = c.optional(1), bias = rms ? Value() : c.optional(2);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(x));
  if (!axis || c.bad)
    return;
  // RMSNormalization may scale with another type, which is the result's.
  DataType type = c.type(0), result = rms && c.has(1) ? c.type(1) : type;
  if (result != type)
    x = c.castTo(x, type, result);
  Operation *op =
      c.make<nn::LayerNormOp>(x, scale, bias, uint64_t(*axis), APFloat(c.attrFloat("epsilon", 1e-5f)), rms);
  if (!op)
    return;
  c.set(0, op->getResult(0), result);
  DataType stash = c.elem(op->getResult(1)).isF64() ? DataType::F64 : DataType::F32;
  DataType wanted = c.attrInt("stash_type", 1) == 1 ? DataType::F32 : type;
  for (unsigned i : {1u, 2u})
    if (c.wants(i))
      c.set(i, c.castTo(op->getResult(i), stash, wanted), wanted);
}

static void lrn(NodeContext &c) {
  c.set(0,
        c.one<nn::LrnOp>(c.v(0), uint64_t(c.attrInt("size", 1)), APFloat(c.attrFloat("alpha", 1e-4f)),
                         APFloat(c.attrFloat("beta", 0.75)), APFloat(c.attrFloat("bias", 1))),
        c.type(0));
}

static void lpNorm(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(x));
  if (!axis)
    return;
  int64_t p = c.attrInt("p", 2);
  if (p != 1 && p != 2) {
    c.fail("expected p to be 1 or 2, but got " + Twine(p));
    return;
  }
  Value norm = c.reduce(p == 1 ? ReduceKind::l1 : ReduceKind::l2, x, {*axis}, true);
  // A vector of zeros stays one.
  Value none = c.binary(BinaryKind::eq, norm, c.scalar(0, type));
  c.set(0, c.div(x, c.select(none, c.scalar(1, type), norm)), type);
}

static void meanVarianceNorm(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0);
  Ints given = c.hasAttr("axes") ? c.attrInts("axes") : Ints{0, 2, 3};
  std::optional<Ints> axes = c.axes(given, c.rank(x));
  if (!axes)
    return;
  llvm::sort(*axes);
  Value centred = c.sub(x, c.reduce(ReduceKind::mean, x, *axes, true));
  Value deviation =
      c.unary(UnaryKind::sqrt, c.reduce(ReduceKind::mean, c.mul(centred, centred), *axes, true));
  c.set(0, c.div(centred, c.add(deviation, c.scalar(1e-9, type))), type);
}

ArrayRef<OperatorEntry> onnximport::normOperators() {
  static const OperatorEntry entries[] = {
      {"BatchNormalization", 1, lastOpset, batchNorm},
      {"InstanceNormalization", 1, lastOpset, instanceNorm},
      {"GroupNormalization", 18, lastOpset, groupNorm},
      // ONNX Runtime takes it in older opsets, too.
      {"LayerNormalization", 1, lastOpset, layerNorm<false>},
      {"RMSNormalization", 23, lastOpset, layerNorm<true>},
      {"LRN", 1, lastOpset, lrn},
      {"LpNormalization", 1, lastOpset, lpNorm},
      {"MeanVarianceNormalization", 9, lastOpset, meanVarianceNorm},
  };
  return entries;
}
