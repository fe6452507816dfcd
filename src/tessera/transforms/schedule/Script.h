// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a schedule script, a module of the transform dialect, on a payload.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace tessera::schedule {

/// A script that was built.
struct Script {
  OwningOpRef<ModuleOp> module;                ///< null when there is nothing to do
  std::string note;                            ///< in words what the script does
  std::map<Operation *, std::string> comments; ///< of steps
};

/// The script as users see it: the note and the comments are lines between the steps. Messages about a step
/// will name its line, with `file` for the text.
std::string printScript(const Script &script, StringRef file);

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
/// The same for a sequence in a script.
LogicalResult applySequence(Operation *payload, Operation *sequence, const ScriptOptions &options = {});

/// Parses a script; `name` stands for its file in messages. Null, with errors emitted, when it is not one.
OwningOpRef<ModuleOp> parseScript(MLIRContext *context, StringRef text, StringRef name);

} // namespace tessera::schedule
