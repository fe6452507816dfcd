// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf with barriers: its body is cut at them into phases, each a loop over all instances.
#include "tessera/transforms/leaf/Emit.h"

using namespace tessera;
using namespace tessera::leaf;

LogicalResult leaf::emitPhases(EmitContext &ctx) { return ctx.node.emitOpError("barriers are not lowered yet"); }
