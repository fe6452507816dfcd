// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What running kernels find wrong with their data (docs/formats.md, "faults"): a step has a cell for each
// place that checks something, kernels raise it, and the launch that finds one raised fails.
#pragma once

#include "tessera/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct Node;

/// What a kernel wants of a number.
enum class FaultKind : uint8_t {
  Index,   ///< within [-limit, limit)
  Offset,  ///< within [0, limit)
  Length,  ///< within [0, limit]
  Divisor, ///< not 0, nor -1 where that overflows
  Access,  ///< an index of memory, within [0, limit)
};

/// Names: "index", "offset", "length", "divisor", "access".
std::optional<FaultKind> parseFaultKind(std::string_view name);
std::string_view faultKindName(FaultKind kind);

/// A place in a kernel that checks.
struct FaultSite {
  FaultKind kind = FaultKind::Index;
  std::string what, loc; ///< What is looked at, and where the program says so; `loc` may be empty.
};

/// A kernel keeps the largest of what it finds, which is the same in whatever order tasks run: zero is
/// nothing, otherwise twice the number and one, as an unsigned number.
struct FaultCell {
  uint64_t worst;
  int64_t limit;
};
static_assert(sizeof(FaultCell) == 16);

/// The failure behind the first cell that is raised; success when none is. `cells` holds one for each site.
Status readFaults(const Node &node, const std::vector<FaultSite> &sites, const void *cells);

} // namespace tessera
