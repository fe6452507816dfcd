// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every program of ours that reads IR knows: all dialects, passes and schedule operations.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tessera {

/// Adds our dialects, the upstream ones that may stand in a program, and the transform dialect with our
/// extension.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers our passes and upstream's with the command line.
void registerPasses();

} // namespace tessera
