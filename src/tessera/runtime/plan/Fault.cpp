// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of faults.
#include "tessera/runtime/plan/Fault.h"
#include "tessera/runtime/plan/Plan.h"

#include <cstring>

namespace tessera {

static constexpr std::string_view kindNames[] = {"index", "offset", "length", "divisor", "access"};

std::optional<FaultKind> parseFaultKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kindNames); ++i)
    if (kindNames[i] == name)
      return static_cast<FaultKind>(i);
  return std::nullopt;
}

std::string_view faultKindName(FaultKind kind) { return kindNames[static_cast<size_t>(kind)]; }

static std::string describe(const FaultSite &site, int64_t value, int64_t limit) {
  switch (site.kind) {
  case FaultKind::Index:
  case FaultKind::Offset:
    if (limit <= 0)
      return concat("index ", value, " of ", site.what, ", which has no elements");
    return concat("expected an index of ", site.what, " from ", site.kind == FaultKind::Index ? -limit : 0,
                  " to ", limit - 1, ", but got ", value);
  case FaultKind::Length:
    return concat("expected a length of ", site.what, " from 0 to ", limit, ", but got ", value);
  case FaultKind::Divisor:
    return value == 0 ? concat(site.what, " divides by zero")
                      : concat(site.what, " overflows: the smallest number is divided by ", value);
  case FaultKind::Access:
    break;
  }
  return concat(site.what, " at ", value, " of ", limit, " elements");
}

Status readFaults(const Node &node, const std::vector<FaultSite> &sites, const void *cells) {
  for (size_t i = 0; i < sites.size(); ++i) {
    FaultCell cell;
    std::memcpy(&cell, static_cast<const std::byte *>(cells) + i * sizeof cell, sizeof cell);
    if (cell.worst == 0) [[likely]]
      continue;
    const FaultSite &site = sites[i];
    // A model's node is named by its place.
    const bool named = site.loc.find("node '") != std::string::npos;
    return fail(StatusCode::InvalidArgument, site.loc, site.loc.empty() ? "" : ": ",
                named ? "" : "node '" + node.name + "': ",
                describe(site, static_cast<int64_t>(cell.worst) >> 1, cell.limit));
  }
  return Status();
}

} // namespace tessera
