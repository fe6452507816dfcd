// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A log for developers and curious users, on standard error, one line at a time.
// Off unless TESSERA_LOG is 1 (info) or 2 (debug). Not a way to report errors.
#pragma once

#include <string_view>

namespace tessera {

enum class LogLevel { Info = 1, Debug = 2 };

/// True when lines of `level` are written.
bool logEnabled(LogLevel level);

/// Writes "tessera: text" to standard error in one piece.
void logLine(LogLevel level, std::string_view text);

} // namespace tessera

/// Logs concat(parts...) without evaluating the parts when the level is off.
#define TESSERA_LOG(level, ...)                                                                              \
  do {                                                                                                       \
    if (::tessera::logEnabled(::tessera::LogLevel::level))                                                   \
      ::tessera::logLine(::tessera::LogLevel::level, ::tessera::concat(__VA_ARGS__));                        \
  } while (false)
