// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Status and Result: how every fallible function of the half without LLVM answers.
// A Status is a code and one line of text for a person; no exception crosses an API.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tessera {

/// What kind of failure a Status reports. The numbers are part of the C API.
enum class StatusCode : uint8_t {
  Ok = 0,
  InvalidArgument = 1, ///< The caller's mistake: wrong shape, unknown name.
  NotFound = 2,        ///< A file, program or device that is not there.
  Corrupt = 3,         ///< A file that is damaged or was never ours.
  Unsupported = 4,     ///< A version, machine or feature we do not handle.
  OutOfMemory = 5,     ///< Memory of the host or of a device is used up.
  Io = 6,              ///< The operating system refused to read or write.
  DeviceFailed = 7,    ///< A device failed while it copied or computed.
  Cancelled = 8,       ///< The stream or launch was cancelled.
  Timeout = 9,         ///< A bounded wait ended without an answer.
  Closed = 10,         ///< A stream that is closed and has nothing left.
  Internal = 11,       ///< Our own mistake.
  DeviceLost = 12,     ///< A device answers no more, or nothing it says counts; what only it held is gone.
};

/// The name of `code` in lower case ("invalid argument").
std::string_view statusCodeName(StatusCode code);

/// Success, or a code and a message in plain words (lower case, no final period).
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(const Status &other) : rep(other.rep ? new Rep(*other.rep) : nullptr) {}
  Status(Status &&) = default;
  Status &operator=(const Status &other) {
    if (this != &other)
      rep.reset(other.rep ? new Rep(*other.rep) : nullptr);
    return *this;
  }
  Status &operator=(Status &&) = default;

  static Status success() { return Status(); }
  static Status error(StatusCode code, std::string text) {
    Status s;
    s.rep.reset(new Rep{code, std::move(text)});
    return s;
  }

  bool ok() const { return !rep; }
  explicit operator bool() const { return ok(); }
  StatusCode code() const { return rep ? rep->code : StatusCode::Ok; }
  const std::string &message() const;

  /// The same failure with `prefix` and ": " before its text.
  Status withContext(std::string_view prefix) const;

private:
  struct Rep {
    StatusCode code;
    std::string text;
  };
  std::unique_ptr<Rep> rep;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : stored(std::move(value)) {}
  Result(Status failure) : failure(std::move(failure)) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U &&, T> &&
                                                    !std::is_same_v<std::decay_t<U>, Status> &&
                                                    !std::is_same_v<std::decay_t<U>, Result>>>
  Result(U &&value) : stored(T(std::forward<U>(value))) {}

  bool ok() const { return stored.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return failure; }
  T &operator*() { return *stored; }
  const T &operator*() const { return *stored; }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }
  T take() { return std::move(*stored); }

private:
  std::optional<T> stored;
  Status failure;
};

namespace detail {
inline void appendOne(std::string &out, std::string_view text) { out += text; }
inline void appendOne(std::string &out, const char *text) { out += text; }
inline void appendOne(std::string &out, const std::string &text) { out += text; }
inline void appendOne(std::string &out, char c) { out += c; }
template <typename T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>)
void appendOne(std::string &out, T value) {
  out += std::to_string(value);
}
} // namespace detail

/// All arguments (text and numbers) one after the other.
template <typename... Ts> std::string concat(const Ts &...parts) {
  std::string out;
  (detail::appendOne(out, parts), ...);
  return out;
}

/// A failed Status whose text is the concatenation of `parts`.
template <typename... Ts> Status fail(StatusCode code, const Ts &...parts) {
  return Status::error(code, concat(parts...));
}

} // namespace tessera

/// Returns from the function when `expr` (a Status) failed.
#define TESSERA_TRY(expr)                                                                                    \
  do {                                                                                                       \
    if (::tessera::Status tesseraStatus = (expr); !tesseraStatus.ok())                                       \
      return tesseraStatus;                                                                                  \
  } while (false)

#define TESSERA_CONCAT2(a, b) a##b
#define TESSERA_CONCAT(a, b) TESSERA_CONCAT2(a, b)
#define TESSERA_ASSIGN_IMPL(tmp, lhs, expr)                                                                  \
  auto tmp = (expr);                                                                                         \
  if (!tmp.ok())                                                                                             \
    return tmp.status();                                                                                     \
  lhs = tmp.take()
/// `lhs = value of expr` (a Result), or returns its Status.
#define TESSERA_ASSIGN(lhs, expr) TESSERA_ASSIGN_IMPL(TESSERA_CONCAT(tesseraResult, __LINE__), lhs, expr)
