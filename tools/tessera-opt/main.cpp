// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-opt: mlir-opt with our dialects, passes and schedule operations. For development and tests.
#include "tessera/driver/Registry.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tessera::registerDialects(registry);
  tessera::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tessera pass driver\n", registry));
}
