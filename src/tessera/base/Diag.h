// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small helpers for messages to people: nearest names, lists, shapes, sizes, times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The element of `names` closest to `name`, or "" when none is close enough to suggest.
std::string nearestName(std::string_view name, std::span<const std::string> names);

/// "unknown KIND 'NAME'; did you mean 'X'? PLURAL: a, b, c" for a name that is not in `names`.
std::string unknownName(std::string_view kind, std::string_view name, std::string_view plural,
                        std::span<const std::string> names);

/// The names with ", " between.
std::string joinNames(std::span<const std::string> names, std::string_view separator = ", ");

/// "3x4"; "?" for negative extents; "scalar" for rank 0.
std::string formatShape(std::span<const int64_t> shape);

/// "1.50" with two digits behind the point.
std::string formatFixed(double value, int digits);

/// "512 B", "1.5 MiB".
std::string formatBytes(uint64_t bytes);

/// "1.23 us", "4.5 ms" from nanoseconds.
std::string formatNanoseconds(double ns);

/// "3.4 uJ", "1.2 J" from joules.
std::string formatJoules(double joules);

/// The rows in columns, the first as a heading.
std::string formatTable(const std::vector<std::vector<std::string>> &rows);

/// "blur.cpp:12" of "src/blur.cpp:12:3"; empty when there is no line.
std::string shortSource(std::string_view location);

/// Reads "64M", "2G", "512k" or a plain number of bytes; false when it is none of these.
bool parseBytes(std::string_view text, uint64_t &bytes);

} // namespace tessera
