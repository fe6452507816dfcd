// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our extension of the transform dialect: the schedule operations of all families.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tessera::schedule {

/// Makes `transform.tessera.*` known wherever the transform dialect is loaded.
void registerScheduleExtension(mlir::DialectRegistry &registry);

} // namespace tessera::schedule
