// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Registry.h.
#include "tessera/driver/Registry.h"

#include "tessera/driver/Components.h"
#include "tessera/ir/dfg/Dfg.h"
#include "tessera/ir/fault/Fault.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/check/Passes.h"
#include "tessera/transforms/graph/Passes.h"
#include "tessera/transforms/nn/graph/Passes.h"
#include "tessera/transforms/nn/lower/Passes.h"
#include "tessera/transforms/schedule/Extension.h"
#include "tessera/transforms/schedule/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

using namespace tessera;

void tessera::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<TesseraDialect, dfg::DfgDialect, fault::FaultDialect, nn::NnDialect>();
  schedule::registerScheduleExtension(registry);
  for (const std::string &name : getTargetNames())
    findTarget(name)->registerDialects(registry);
}

void tessera::registerPasses() {
  registerAllPasses();
  registerCheckPasses();
  graph::registerTesseraGraphPasses();
  nn::registerTesseraNnPasses();
  nn::registerTesseraNnLowerPasses();
  schedule::registerTesseraSchedulePasses();
  for (const std::string &name : getTargetNames())
    findTarget(name)->registerPasses();
}
