// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default scheduler of graphs: decides which nodes to fuse, and writes that down as a schedule script.
// The decision is tried on a copy of the program; running the script on the program itself does the same
// steps.
#pragma once

#include "tessera/transforms/schedule/Script.h"

namespace tessera::schedule {

struct GraphScriptOptions {
  /// The most operations that recomputation may add to one instance of a consumer.
  double maxRecompute = 16;
  /// Fuse independent nodes that read the same elements.
  bool siblings = true;
  /// The sequence's name.
  std::string sequence = "graph";
};

/// The script, with a comment for each step in its text.
Script writeGraphScript(ModuleOp program, const GraphScriptOptions &options = {});

} // namespace tessera::schedule
