// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Set operations on sorted, disjoint byte ranges.
#include "tessera/runtime/memory/IntervalSet.h"

#include <algorithm>

namespace tessera {

void IntervalSet::add(ByteRange range) {
  if (range.empty())
    return;
  std::vector<ByteRange> result;
  for (const ByteRange &r : ranges) {
    // Touching ranges merge, so that the set stays as short as it can be.
    if (r.end < range.begin || range.end < r.begin)
      result.push_back(r);
    else
      range = {std::min(r.begin, range.begin), std::max(r.end, range.end)};
  }
  result.insert(std::upper_bound(result.begin(), result.end(), range,
                                 [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; }),
                range);
  ranges.swap(result);
}

void IntervalSet::remove(ByteRange range) {
  if (range.empty())
    return;
  std::vector<ByteRange> result;
  for (const ByteRange &r : ranges) {
    if (r.begin < range.begin)
      result.push_back({r.begin, std::min(r.end, range.begin)});
    if (r.end > range.end)
      result.push_back({std::max(r.begin, range.end), r.end});
  }
  ranges.swap(result);
}

bool IntervalSet::contains(ByteRange range) const {
  if (range.empty())
    return true;
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const ByteRange &r) { return r.begin <= range.begin && range.end <= r.end; });
}

std::vector<ByteRange> IntervalSet::missing(ByteRange range) const {
  std::vector<ByteRange> result;
  size_t at = range.begin;
  for (const ByteRange &r : ranges) {
    if (r.end <= at)
      continue;
    if (r.begin >= range.end)
      break;
    if (r.begin > at)
      result.push_back({at, r.begin});
    at = r.end;
  }
  if (at < range.end)
    result.push_back({at, range.end});
  return result;
}

std::vector<ByteRange> IntervalSet::common(ByteRange range) const {
  std::vector<ByteRange> result;
  for (const ByteRange &r : ranges) {
    ByteRange part{std::max(r.begin, range.begin), std::min(r.end, range.end)};
    if (!part.empty())
      result.push_back(part);
  }
  return result;
}

} // namespace tessera
