// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes of what a process is working on, so that a message about its end can name the place. The notes can
// lie in memory that a parent shares with its child, where the parent reads them after the child has died.
#pragma once

#include <string_view>

namespace tessera {

/// Text of a fixed size, because it is read while the writer runs or after it has died.
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
