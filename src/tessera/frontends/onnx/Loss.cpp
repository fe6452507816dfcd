// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses, written as compositions.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::ReduceKind;

// -weight[target] * logProbability[target], for each place; then reduced.
static Value negativeLogLikelihood(NodeContext &c, Value x, unsigned targetInput, unsigned weightInput) {
  DataType type = c.type(0);
  Value target = c.castTo(c.v(targetInput), c.type(targetInput), DataType::I64);
  if (!x || !target)
    return {};
  if (c.rank(x) < 1 || c.rank(target) != c.rank(x) - 1)
    return c.fail("expected a target of " + Twine(c.rank(x) - 1) + " dimensions, but got " +
                  Twine(c.rank(target))),
           Value();
  int64_t classAxis = c.rank(x) == 1 ? 0 : 1;
  Value kept;
  if (c.hasAttr("ignore_index")) {
    kept = c.binary(BinaryKind::ne, target, c.scalar(c.attrInt("ignore_index", 0), DataType::I64));
    target = c.select(kept, target, c.scalar(0, DataType::I64));
  }
  Value picked = target
                     ? c.one<nn::GatherElementsOp>(x, c.unsqueeze(target, {classAxis}), uint64_t(classAxis))
                     : Value();
  Value loss = c.unary(nn::UnaryKind::neg, c.squeeze(picked, {classAxis}));
  Value weight;
  if (c.has(weightInput))
    weight = c.gather(c.v(weightInput), target, 0);
  if (kept) {
    Value mask = c.castTo(kept, DataType::Bool, type);
    weight = weight ? c.mul(weight, mask) : mask;
  }
  // What is ignored may be anything, also infinite.
  if (kept)
    loss = c.select(kept, loss, c.scalar(0, type));
  if (weight)
    loss = c.mul(loss, weight);
  std::string how = c.attrString("reduction", "mean");
  if (how == "none" || !loss)
    return loss;
  Ints all = range(0, c.rank(loss));
  if (how == "sum")
    return c.reduce(ReduceKind::sum, loss, all, false);
  if (how != "mean")
    return c.fail("reduction '" + ::tessera::onnx::printable(how) + "' is not supported"), Value();
  if (!weight)
    return c.reduce(ReduceKind::mean, loss, all, false);
  return c.div(c.reduce(ReduceKind::sum, loss, all, false), c.reduce(ReduceKind::sum, weight, all, false));
}

static void nllLoss(NodeContext &c) { c.set(0, negativeLogLikelihood(c, c.v(0), 1, 2), c.type(0)); }

static void softmaxCrossEntropy(NodeContext &c) {
  Value logs = c.softmax(c.v(0), 1, true);
  c.set(0, negativeLogLikelihood(c, logs, 1, 2), c.type(0));
  if (c.wants(1))
    c.set(1, logs, c.type(0));
}

ArrayRef<OperatorEntry> onnximport::lossOperators() {
  static const OperatorEntry entries[] = {
      {"NegativeLogLikelihoodLoss", 12, lastOpset, nllLoss},
      {"SoftmaxCrossEntropyLoss", 12, lastOpset, softmaxCrossEntropy},
  };
  return entries;
}
