// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Apply.h: which file is for which knob.
#include "tessera/transforms/nn/knobs/Apply.h"

using namespace tessera;
using namespace tessera::nn;

LogicalResult nn::applyKnobs(dfg::NodeOp node) {
  for (TunableOp op : tunableOps(node))
    if (Knob knob = knobOf(op); !knob.isExact())
      return op->emitOpError("the knob '") << knob.str() << "' has no code for this target";
  return success();
}
