// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knob `split`: f32 by three products of bf16. x = h + l and w = h + l, each part rounded to bf16, so
// that x w is x_h w_h + x_h w_l + x_l w_h but for 2^-16 of it. One convolution of three times the channels
// adds them up, as products of matrices where the machine has them; elsewhere the layer stays as it is.
#include "tessera/base/Weights.h"
#include "tessera/targets/cpu/layout/NarrowLayers.h"
#include "tessera/transforms/nn/graph/Constants.h"

using namespace tessera;
using namespace tessera::cpu;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

static bool isSplit(ConvOp op, const LayoutOptions &options) {
  return knobOf(op).structure == Knob::Structure::Split && isActivation(op.getX()) &&
         isActivation(op.getY()) && !hasOpenPlane(op.getX()) && (!op.getBias() || elementsOf(op.getBias())) &&
         typeOf(op.getW()).getDimSize(1) % options.tileHalves == 0;
}

// F x C x … of f32 → F x 3C x …: the parts that those of x are multiplied with.
static Value splitWeights(OpBuilder &b, Value w) {
  std::vector<float> from = floatsOf(w), to(3 * from.size());
  SmallVector<int64_t> shape(typeOf(w).getShape());
  const size_t each = from.size() / size_t(shape[0]);
  for (size_t i = 0; i < from.size(); ++i) {
    const float high = roundTo(Knob::Precision::BF16, from[i]),
                low = roundTo(Knob::Precision::BF16, from[i] - high);
    const size_t row = i / each * 3 * each, at = row + i % each;
    to[at] = high;
    to[at + each] = low;
    to[at + 2 * each] = high;
  }
  shape[1] *= 3;
  return makeConstant(b, w.getLoc(), makeElements<float>(RankedTensorType::get(shape, b.getF32Type()), to));
}

void cpu::splitLayers(dfg::NodeOp node, const LayoutOptions &options) {
  if (!options.tileHalves)
    return;
  DenseMap<Value, Value> parts;
  for (auto op : llvm::to_vector(node.getBodyBlock()->getOps<ConvOp>())) {
    if (!isSplit(op, options))
      continue;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value &x = parts[op.getX()];
    if (!x) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(op.getX());
      Value split = SplitOp::create(b, op.getX().getLoc(), op.getX());
      x = CastOp::create(b, op.getX().getLoc(),
                         RankedTensorType::get(typeOf(split).getShape(), b.getF32Type()), split,
                         Format::plain, Format::plain, false, "nearest");
    }
    auto conv = ConvOp::create(b, loc, op.getY().getType(), x, splitWeights(b, op.getW()), op.getBias(),
                               op.getStrides(), op.getPads(), op.getDilations(), op.getGroups());
    conv->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    nn::Notes::knob.remove(conv);
    op.getY().replaceAllUsesWith(conv.getY());
    op->erase();
  }
}
