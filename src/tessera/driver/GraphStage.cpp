// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `graph`: what every program goes through before it becomes a portable object.
#include "tessera/driver/Compiler.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;

LogicalResult tessera::runGraphStage(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return failure(failed(pm.run(module)) || failed(verify(module)));
}
