// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of a plan's integer expressions at launch, with every overflow caught.
#pragma once

#include "tessera/runtime/plan/Plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

/// Values of all expressions known so far. An error (overflow, division by zero) is kept with its expression
/// and only matters when the value is used, so that a `select` may guard a division.
class ExprValues {
public:
  /// Evaluates the expressions of segments 0 … `segment`. `dims` gives the extents of each input value
  /// (indexed by value), `loaded` the scalars of program.loads, as far as they are known.
  void evaluate(const ProgramPlan &program, int32_t segment, std::span<const std::span<const int64_t>> dims,
                std::span<const int64_t> loaded);

  bool known(int32_t expr) const { return states[static_cast<size_t>(expr)] == State::Known; }
  int64_t operator[](int32_t expr) const { return values[static_cast<size_t>(expr)]; }
  /// The value of `expr`, or why there is none.
  Result<int64_t> get(int32_t expr) const;
  /// The value of `expr` if it is known, else `otherwise`; for estimates.
  int64_t getOr(int32_t expr, int64_t otherwise) const {
    return expr >= 0 && known(expr) ? (*this)[expr] : otherwise;
  }
  /// The extents of a value that is not an input, checked to be not negative.
  Result<std::vector<int64_t>> shape(const ValueInfo &value) const;
  /// Fails when extents differ that views or nodes of this segment want equal: what is wrong with the inputs
  /// is said of the operation that takes them, before any memory is looked at.
  Status check(const ProgramPlan &program, int32_t segment) const;

private:
  Status check(const ExtentCheck &check, std::string_view name) const;

  enum class State : uint8_t { Known, Unknown, Overflow, DivisionByZero };
  std::vector<int64_t> values;
  std::vector<State> states;
};

} // namespace tessera
