// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph stage's default: write a script, run it.
#include "tessera/transforms/graph/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Passes.h"
#include "tessera/transforms/schedule/Script.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace tessera::schedule {
#define GEN_PASS_DEF_GRAPHSCHEDULEPASS
#include "tessera/transforms/schedule/Passes.h.inc"
} // namespace tessera::schedule

namespace {
struct GraphSchedulePass : schedule::impl::GraphSchedulePassBase<GraphSchedulePass> {
  using GraphSchedulePassBase::GraphSchedulePassBase;

  void runOnOperation() override {
    graph::GraphScriptOptions options;
    options.maxRecompute = maxRecompute;
    std::string text = graph::writeGraphScript(getOperation(), options);
    if (print)
      llvm::errs() << text;
    OwningOpRef<ModuleOp> script = schedule::parseScript(&getContext(), text, "default graph script");
    if (!script || failed(schedule::applyScript(getOperation(), *script, options.sequence)))
      signalPassFailure();
  }
};
} // namespace
