// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set of byte ranges [begin, end), kept sorted and merged. Buffers use one for each
// device to know which bytes of its copy are valid. Almost always there are 0 or 1.
#pragma once

#include <cstddef>
#include <vector>

namespace tessera {

struct ByteRange {
  size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  size_t size() const { return empty() ? 0 : end - begin; }
  bool operator==(const ByteRange &) const = default;
};

class IntervalSet {
public:
  IntervalSet() = default;
  explicit IntervalSet(ByteRange range) { add(range); }

  void add(ByteRange range);
  void remove(ByteRange range);
  void clear() { ranges.clear(); }
  bool empty() const { return ranges.empty(); }
  bool contains(ByteRange range) const;
  /// The parts of `range` that are not in the set.
  std::vector<ByteRange> missing(ByteRange range) const;
  /// The parts of `range` that are in the set.
  std::vector<ByteRange> common(ByteRange range) const;
  const std::vector<ByteRange> &all() const { return ranges; }

private:
  std::vector<ByteRange> ranges;
};

} // namespace tessera
