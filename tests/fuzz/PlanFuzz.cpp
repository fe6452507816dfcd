// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the plan reader, and prepares accepted plans for shapes: sizes, grids and
// arena offsets of a hostile plan must end in a message too.
#include "Fuzz.h"
#include "tessera/runtime/plan/Plan.h"
#include "tessera/runtime/program/Prepared.h"

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto plan = parsePlan({reinterpret_cast<const char *>(data), size}, 64);
  if (!plan.ok())
    return 0;
  for (const ProgramPlan &program : plan->programs) {
    std::vector<std::vector<int64_t>> extents(program.values.size());
    std::vector<std::span<const int64_t>> dims(program.values.size());
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].kind == ValueKind::Input) {
        for (int64_t extent : program.values[v].shape)
          extents[v].push_back(extent < 0 ? 7 : extent);
        dims[v] = extents[v];
      }
    std::vector<int64_t> loaded(program.loads.size(), 3);
    std::vector<int32_t> versions(program.nodes.size(), 0);
    std::shared_ptr<Prepared> previous;
    for (int32_t s = 0; s < program.segments; ++s) {
      auto prepared = prepare(program, s, previous, dims, loaded, {versions, {}});
      if (!prepared.ok())
        break;
      previous = prepared.take();
    }
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() { return {fuzzPlan, fuzzDevicePlan}; }
