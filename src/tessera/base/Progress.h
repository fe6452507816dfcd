// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a process is in its work, so that whoever ends it can say where it was. The notes can lie in memory
// that a parent shares with its child: what stops the child need not ask it.
#pragma once

#include <string_view>

namespace tessera {

/// Text of a fixed size: it is read while the writer may be anywhere, or dead.
struct Progress {
  char stage[32];
  char place[160]; ///< of the stage: a node, a pass
};

/// Where notes go from now on; null: nowhere, as at the start.
void setProgress(Progress *notes);

/// Begins a stage, at no place of it yet.
void noteStage(std::string_view stage);
/// The place in the stage, as `what` 'name'; an empty name is left out.
void notePlace(std::string_view what, std::string_view name);

} // namespace tessera
