// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a schedule script, a module of the transform dialect, on a payload.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tessera::schedule {

/// A script that was built, as a module and as users see it.
struct Script {
  OwningOpRef<ModuleOp> module; ///< null when there is nothing to do
  std::string text;
  std::string note; ///< the first line of the text: in words what the script does
};

struct ScriptOptions {
  /// Check that no handle is used after its payload was changed: slow, for tests.
  bool expensiveChecks = false;
  /// Verify the payload afterwards.
  bool verify = true;
};

/// Applies the named sequence of a script to the payload. Reports errors at the script's lines; a payload
/// that does not verify afterwards is an error of the script too. The payload may be changed when it fails.
LogicalResult applyScript(Operation *payload, ModuleOp script, StringRef sequence,
                          const ScriptOptions &options = {});

/// Parses a script; `name` stands for its file in messages. Null, with errors emitted, when it is not one.
OwningOpRef<ModuleOp> parseScript(MLIRContext *context, StringRef text, StringRef name);

} // namespace tessera::schedule
