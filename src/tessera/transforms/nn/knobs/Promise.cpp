// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PROMISE's model: operands on levels of their ranges, noise on the activation. For measuring errors; nothing
// gets faster.
#include "tessera/base/Weights.h"
#include "tessera/ir/nn/NnTypes.h"
#include "tessera/transforms/nn/knobs/Apply.h"
#include "tessera/transforms/nn/knobs/Emit.h"

using namespace tessera;
using namespace tessera::nn;

LogicalResult nn::applyPromise(RewriterBase &rewriter, TunableOp op, const Knob &knob) {
  Location loc = op->getLoc();
  auto [low, high] = *rangeOf(op);
  // x on 256 levels of its range, then noise.
  Value x = op->getOperand(0);
  if (low == high) {
    x = binary(rewriter, loc, BinaryKind::add,
               binary(rewriter, loc, BinaryKind::mul, x, scalar(rewriter, loc, 0)),
               scalar(rewriter, loc, low));
  } else {
    float step = (high - low) / 255;
    x = binary(rewriter, loc, BinaryKind::sub, x, scalar(rewriter, loc, low));
    x = binary(rewriter, loc, BinaryKind::div, x, scalar(rewriter, loc, step));
    x = nearest(rewriter, loc, x, 0, 255);
    x = binary(rewriter, loc, BinaryKind::mul, x, scalar(rewriter, loc, step));
    x = binary(rewriter, loc, BinaryKind::add, x, scalar(rewriter, loc, low));
  }
  x = NoiseOp::create(rewriter, loc, x, rewriter.getF64FloatAttr(promiseSigma(knob.value)),
                      rewriter.getI64IntegerAttr(noiseKey(nameOf(op))));
  op->setOperand(0, x);
  auto level = [&](Value v) {
    Bytes bytes(elementsOf(v));
    std::vector<float> data(bytes.as<float>());
    auto [least, most] = std::minmax_element(data.begin(), data.end());
    float from = *least, to = *most;
    for (float &each : data)
      each = promiseLevel(each, from, to);
    return makeConstant(rewriter, v.getLoc(), makeElements<float>(typeOf(v), data));
  };
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (Bytes(elementsOf(op->getOperand(i))))
      op->setOperand(i, level(op->getOperand(i)));
  nn::Notes::knob.remove(op);
  return success();
}
