// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `graph`: what every program goes through before it becomes a portable object.
#include "tessera/driver/Compiler.h"
#include "tessera/driver/Networks.h"

#include "tessera/transforms/check/Passes.h"
#include "tessera/transforms/graph/LowerMasks.h"
#include "tessera/transforms/graph/Rewrites.h"
#include "tessera/transforms/nn/knobs/Knobs.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;

LogicalResult tessera::runGraphStage(ModuleOp module) {
  // The checks come first: they speak of the program as its author wrote it.
  PassManager checks(module.getContext());
  checks.addPass(createCheckDimsPass());
  checks.addPass(createCheckEffectsPass());
  checks.addPass(createCheckRacesPass());
  checks.addPass(createCheckApproximatePass());
  checks.addPass(createCheckDeadPass());
  if (failed(checks.run(module)))
    return failure();
  if (failed(graph::lowerMasks(module)))
    return failure();
  IRRewriter rewriter(module.getContext());
  graph::Refusal no;
  if (failed(graph::flattenAll(rewriter, module, no)))
    return no.emit();
  if (failed(simplifyNetworks(module)))
    return failure();
  graph::simplify(rewriter, module);
  PassManager tidy(module.getContext());
  tidy.addPass(createCanonicalizerPass());
  tidy.addPass(createCSEPass());
  // Folding may have found an index.
  tidy.addPass(createCheckDimsPass());
  if (failed(tidy.run(module)))
    return failure();
  // Last, when nothing merges or replaces operations any more.
  nn::nameTunableOps(module);
  return verify(module);
}
