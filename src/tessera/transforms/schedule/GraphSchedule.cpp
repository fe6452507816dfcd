// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph stage's default: write a script, run it.
#include "tessera/transforms/schedule/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Passes.h"
#include "tessera/transforms/schedule/Script.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;
using namespace tessera::schedule;

namespace tessera::schedule {
#define GEN_PASS_DEF_GRAPHSCHEDULEPASS
#include "tessera/transforms/schedule/Passes.h.inc"
} // namespace tessera::schedule

namespace {
struct GraphSchedulePass : schedule::impl::GraphSchedulePassBase<GraphSchedulePass> {
  using GraphSchedulePassBase::GraphSchedulePassBase;

  void runOnOperation() override {
    GraphScriptOptions options;
    options.maxRecompute = maxRecompute;
    Script script = writeGraphScript(getOperation(), options);
    if (print)
      llvm::errs() << printScript(script, "default schedule of the graph");
    if (failed(applyScript(getOperation(), *script.module, options.sequence)))
      signalPassFailure();
  }
};
} // namespace
