// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that a program goes through, in order. The same names are used by --stop-after, in the names of
// dumped files, in documentation and in tests.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

enum class Stage { Import, Graph, Place, Schedule, Lower, Emit, Link };

struct StageInfo {
  Stage stage;
  const char *name;
  const char *summary;
};

inline constexpr std::array<StageInfo, 7> stageTable = {{
    {Stage::Import, "import", "the source file as graphs"},
    {Stage::Graph, "graph", "graphs checked, flattened and simplified: what a portable object holds"},
    {Stage::Place, "place", "each node with the targets it may run on"},
    {Stage::Schedule, "schedule", "one function for each node, rewritten by its schedule script"},
    {Stage::Lower, "lower", "kernels in the target's own form"},
    {Stage::Emit, "emit", "machine code and device images"},
    {Stage::Link, "link", "the installed program"},
}};

inline std::optional<Stage> parseStage(std::string_view name) {
  for (const StageInfo &info : stageTable)
    if (name == info.name)
      return info.stage;
  return std::nullopt;
}

inline const StageInfo &getInfo(Stage stage) { return stageTable[static_cast<size_t>(stage)]; }

} // namespace tessera
