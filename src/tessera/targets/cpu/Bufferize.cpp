// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Payload functions take their inputs and outputs as buffers already; what is left are the tensors between.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;

LogicalResult cpu::bufferize(ModuleOp payloads) {
  PassManager pm(payloads.getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // A tensor.empty that ends in an output becomes that output: no copy.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = true;
  options.bufferAlignment = 64;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return pm.run(payloads);
}
