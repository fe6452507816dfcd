// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-lsp: the MLIR language server with our dialects, for editors.
#include "tessera/driver/Registry.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tessera::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
