// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the small text files of /proc and /sys, where "cannot be read" is an ordinary answer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace tessera {

/// The whole file, or nothing when it is not there or may not be read.
inline std::optional<std::string> readSystemFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return std::nullopt;
  std::string text;
  char part[4096];
  while (size_t count = std::fread(part, 1, sizeof part, file))
    text.append(part, count);
  std::fclose(file);
  if (text.empty())
    return std::nullopt;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

/// The number that the file begins with.
inline std::optional<double> readSystemNumber(const std::string &path) {
  std::optional<std::string> text = readSystemFile(path);
  if (!text)
    return std::nullopt;
  char *end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  return end == text->c_str() ? std::nullopt : std::optional(value);
}

} // namespace tessera
