// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log and the last words of a failed check: both write to standard error.
#include "tessera/base/Log.h"
#include "tessera/base/Check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera {

bool logEnabled(LogLevel level) {
  static const int enabled = [] {
    const char *text = std::getenv("TESSERA_LOG");
    return text ? std::atoi(text) : 0;
  }();
  return enabled >= static_cast<int>(level);
}

void logLine(LogLevel, std::string_view text) {
  std::string line = "tessera: ";
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

detail::CheckFailure::CheckFailure(const char *file, int line, const char *condition) {
  text << file << ':' << line << ": internal check failed: " << condition << ": ";
}

detail::CheckFailure::~CheckFailure() {
  std::string line = text.str() + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::abort();
}

} // namespace tessera
