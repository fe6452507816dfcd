// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TESSERA_CHECK: a check of our own invariants that NDEBUG does not silence. Never
// for a user's input: that is a Status.
#pragma once

#include <sstream>

namespace tessera::detail {

/// Collects the message of a failed check; its destructor prints it and aborts.
class CheckFailure {
public:
  CheckFailure(const char *file, int line, const char *condition);
  [[noreturn]] ~CheckFailure();
  std::ostream &stream() { return text; }

private:
  std::ostringstream text;
};

/// Gives the failing branch of TESSERA_CHECK the type void.
struct CheckVoid {
  void operator&(std::ostream &) const {}
};

} // namespace tessera::detail

/// Aborts with file, line and the streamed text when `condition` is false.
#define TESSERA_CHECK(condition)                                                                             \
  (__builtin_expect(static_cast<bool>(condition), 1))                                                        \
      ? (void)0                                                                                              \
      : ::tessera::detail::CheckVoid() &                                                                     \
            ::tessera::detail::CheckFailure(__FILE__, __LINE__, #condition).stream()
