// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of a reduction kind on a sequence of numbers, for reductions and pools.
#pragma once

#include "tessera/oracle/nn/Nn.h"

namespace tessera::oracle {

/// Collects numbers one by one. Integers are collected as such where the kind allows it; a mean, root or
/// logarithm of integers is computed in double and truncated.
template <typename T> class Fold {
public:
  /// `power` is the exponent of kind l2.
  Fold(nn::ReduceKind kind, bool isUnsigned, unsigned width, int64_t power = 2)
      : kind(kind), isUnsigned(isUnsigned), power(power) {
    if (kind == nn::ReduceKind::prod)
      whole = 1;
    else if (kind == nn::ReduceKind::max || kind == nn::ReduceKind::min ||
             kind == nn::ReduceKind::log_sum_exp)
      whole = limit(kind == nn::ReduceKind::min, width);
  }

  /// How often the sequence must be seen.
  static int passes(nn::ReduceKind kind) { return kind == nn::ReduceKind::log_sum_exp ? 2 : 1; }

  void add(T value, int pass = 0) {
    ++count;
    auto number = static_cast<double>(value);
    if (isUnsigned && std::is_same_v<T, int64_t>)
      number = static_cast<double>(static_cast<uint64_t>(value));
    switch (kind) {
    case nn::ReduceKind::sum:
      whole = multiplyAdd(value, T(1), whole);
      break;
    case nn::ReduceKind::l1:
      whole = multiplyAdd(value < 0 && !isUnsigned ? T(-1) : T(1), value, whole);
      break;
    case nn::ReduceKind::sum_square:
      whole = multiplyAdd(value, value, whole);
      break;
    case nn::ReduceKind::prod:
      whole = multiplyAdd(value, whole, T(0));
      break;
    case nn::ReduceKind::max:
      whole = isLess(whole, value) ? value : whole;
      break;
    case nn::ReduceKind::min:
      whole = isLess(value, whole) ? value : whole;
      break;
    case nn::ReduceKind::mean:
    case nn::ReduceKind::log_sum:
      precise += number;
      break;
    case nn::ReduceKind::l2:
      precise += power == 2 ? number * number : std::pow(std::fabs(number), static_cast<double>(power));
      break;
    case nn::ReduceKind::log_sum_exp:
      if (pass == 0)
        whole = isLess(whole, value) ? value : whole;
      else if (std::isinf(most()))
        precise = most() > 0 ? HUGE_VAL : 0;
      else
        precise += std::exp(number - most());
      break;
    }
  }

  /// `divisor` replaces the count of a mean when it is not 0.
  T finish(int64_t divisor = 0) const {
    switch (kind) {
    case nn::ReduceKind::mean:
      return convert(precise / static_cast<double>(divisor ? divisor : count));
    case nn::ReduceKind::l2:
      return convert(power == 2 ? std::sqrt(precise) : std::pow(precise, 1 / static_cast<double>(power)));
    case nn::ReduceKind::log_sum:
      return convert(std::log(precise));
    case nn::ReduceKind::log_sum_exp:
      return convert(std::isinf(most()) || count == 0 ? most() : most() + std::log(precise));
    default:
      return whole;
    }
  }

private:
  // Whether b replaces a as the largest: NaN does, and nothing replaces it.
  bool isLess(T a, T b) const {
    if constexpr (std::is_same_v<T, int64_t>)
      if (isUnsigned)
        return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
    if (kind == nn::ReduceKind::min)
      return a != a ? b == b : a < b;
    return b != b ? a == a : a < b;
  }
  static T convert(double value) {
    if constexpr (std::is_same_v<T, double>)
      return value;
    else
      return toInteger(value);
  }
  double most() const { return static_cast<double>(whole); }
  T limit(bool isMost, unsigned width) const {
    if constexpr (std::is_same_v<T, double>)
      return isMost ? HUGE_VAL : -HUGE_VAL;
    if (isUnsigned)
      return isMost ? static_cast<T>(width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1) : T(0);
    T high = static_cast<T>((uint64_t(1) << (width - 1)) - 1);
    return isMost ? high : -high - 1;
  }

  nn::ReduceKind kind;
  bool isUnsigned;
  int64_t power, count = 0;
  T whole = 0;
  double precise = 0;
};

} // namespace tessera::oracle
