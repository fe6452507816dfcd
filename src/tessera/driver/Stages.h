// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that a program goes through, in order. The same names are used by --stop-after, in the names of
// dumped files, in documentation and in tests.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

enum class Stage {
  Import,
  Graph,
  Knobs,
  Place,
  Prepare,
  GraphSchedule,
  Payload,
  Schedule,
  Lower,
  Emit,
  Link
};

struct StageInfo {
  Stage stage;
  const char *name;
  const char *summary;
};

inline constexpr std::array<StageInfo, 11> stageTable = {{
    {Stage::Import, "import", "the source file as graphs"},
    {Stage::Graph, "graph", "graphs checked, flattened and simplified: what a portable object holds"},
    {Stage::Knobs, "knobs", "operations that compute less, where knobs say so"},
    {Stage::Place, "place", "each node, and each region of a network, with the targets it may run on"},
    {Stage::Prepare, "prepare",
     "regions of networks as nodes: laid out, fused, cut and packed by their targets"},
    {Stage::GraphSchedule, "graph-schedule", "the graph rewritten by its schedule script"},
    {Stage::Payload, "payload", "one function for each node and target"},
    {Stage::Schedule, "schedule", "those functions rewritten by the schedule scripts of the nodes"},
    {Stage::Lower, "lower", "kernels in the target's own form"},
    {Stage::Emit, "emit", "machine code and device images"},
    {Stage::Link, "link", "the installed program"},
}};
/// What `install` begins with; the stages before it belong to `compile`.
inline constexpr Stage firstInstallStage = Stage::Knobs;

inline std::optional<Stage> parseStage(std::string_view name) {
  for (const StageInfo &info : stageTable)
    if (name == info.name)
      return info.stage;
  return std::nullopt;
}

inline const StageInfo &getInfo(Stage stage) { return stageTable[static_cast<size_t>(stage)]; }

} // namespace tessera
