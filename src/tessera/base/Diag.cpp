// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for messages; see Diag.h.
#include "tessera/base/Diag.h"
#include "tessera/base/Status.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace tessera {

// Levenshtein distance, where a swap of neighbours counts as one edit.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

std::string nearestName(std::string_view name, std::span<const std::string> names) {
  if (name.size() > 256)
    return "";
  std::string best;
  size_t bestDistance = std::max<size_t>(1, std::min<size_t>(3, name.size() / 2)) + 1;
  for (const std::string &candidate : names) {
    if (candidate.size() > 256)
      continue;
    size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string joinNames(std::span<const std::string> names, std::string_view separator) {
  std::string out;
  for (const std::string &name : names) {
    if (!out.empty())
      out += separator;
    out += name;
  }
  return out;
}

std::string unknownName(std::string_view kind, std::string_view name, std::string_view plural,
                        std::span<const std::string> names) {
  std::string text = concat("unknown ", kind, " '", name, "'");
  std::string near = nearestName(name, names);
  text += near.empty() ? "; " : concat("; did you mean '", near, "'? ");
  text += names.empty() ? concat("there are no ", plural) : concat(plural, ": ", joinNames(names));
  return text;
}

std::string formatShape(std::span<const int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string out;
  for (int64_t extent : shape) {
    if (!out.empty())
      out += 'x';
    out += extent < 0 ? std::string("?") : std::to_string(extent);
  }
  return out;
}

std::string formatFixed(double value, int digits) {
  char text[352]; // the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

static std::string formatScaled(double value, double step, std::span<const char *const> units) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text,
                value < 10    ? "%.2f %s"
                : value < 100 ? "%.1f %s"
                              : "%.0f %s",
                value, units[unit]);
  return text;
}

std::string formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return concat(bytes, " B");
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return formatScaled(static_cast<double>(bytes), 1024, units);
}

std::string formatNanoseconds(double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  return formatScaled(ns, 1000, units);
}

std::string formatJoules(double joules) {
  static const char *const units[] = {"nJ", "uJ", "mJ", "J"};
  return formatScaled(joules * 1e9, 1000, units);
}

// Characters, not bytes: notes may hold UTF-8.
static size_t displayWidth(const std::string &text) {
  size_t width = 0;
  for (unsigned char c : text)
    width += (c & 0xc0) != 0x80;
  return width;
}

std::string formatTable(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> width;
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= width.size())
        width.push_back(0);
      width[c] = std::max(width[c], displayWidth(row[c]));
    }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c) {
      line += rows[r][c];
      if (c + 1 < rows[r].size())
        line.append(width[c] - displayWidth(rows[r][c]) + 2, ' ');
    }
    out += line + '\n';
    if (r == 0) {
      for (size_t c = 0; c < width.size(); ++c)
        out += std::string(width[c], '-') + (c + 1 < width.size() ? "  " : "");
      out += '\n';
    }
  }
  return out;
}

std::string shortSource(std::string_view location) {
  const size_t column = location.rfind(':');
  const size_t line = column == std::string_view::npos ? column : location.rfind(':', column - 1);
  if (line == std::string_view::npos || location.substr(line, column - line) == ":0")
    return "";
  const size_t folder = location.rfind('/', line);
  return std::string(location.substr(0, column).substr(folder == std::string_view::npos ? 0 : folder + 1));
}

bool parseBytes(std::string_view text, uint64_t &bytes) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data())
    return false;
  std::string_view unit(end, text.data() + text.size() - end);
  int shift = 0;
  if (unit == "k" || unit == "K")
    shift = 10;
  else if (unit == "m" || unit == "M")
    shift = 20;
  else if (unit == "g" || unit == "G")
    shift = 30;
  else if (!unit.empty())
    return false;
  if (value > (UINT64_MAX >> shift))
    return false;
  bytes = value << shift;
  return true;
}

} // namespace tessera
