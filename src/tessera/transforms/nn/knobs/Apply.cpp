// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Apply.h: which file is for which knob.
#include "tessera/transforms/nn/knobs/Apply.h"

#include "tessera/transforms/nn/knobs/Quantise.h"

using namespace tessera;
using namespace tessera::nn;

LogicalResult nn::applyKnobs(dfg::NodeOp node) {
  PrecisionRewriter precision;
  for (TunableOp op : tunableOps(node)) {
    Knob knob = knobOf(op);
    if (knob.isExact())
      continue;
    if (knob.structure != Knob::Structure::None || knob.precision == Knob::Precision::Int4)
      return op->emitOpError("the knob '") << knob.str() << "' has no code for this target";
    if (failed(precision.apply(op)))
      return failure();
  }
  return success();
}
