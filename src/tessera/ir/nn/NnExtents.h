// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of results as arithmetic on extents of operands: what windows, borders and layouts make of them.
#pragma once

#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/DialectInterface.h"

namespace tessera::nn {

/// An extent that follows from one of an operand: (extent + add) floordiv divisor + offset.
struct ExtentRule {
  Value operand;
  int64_t dim = 0;
  int64_t add = 0, divisor = 1, offset = 0;
  bool mayBeZero = false; ///< a result without elements along it is computed like any other

  /// Of `windows` over a dimension of x.
  static ExtentRule ofWindow(Value x, int64_t dim, const Window &window) {
    return {x, dim, window.low + window.high - window.span(), window.stride, 1};
  }
  /// The two are equal.
  bool isSame() const { return divisor == 1 && add + offset == 0; }
  int64_t apply(int64_t extent) const;
  /// The smallest extent of the operand with which the result has an element.
  int64_t least() const { return divisor * (1 - offset) - add; }
};

/// A dialect besides `nn` tells the rules of its operations.
class ExtentRules : public DialectInterface::Base<ExtentRules> {
public:
  explicit ExtentRules(Dialect *dialect) : Base(dialect) {}
  /// For extent `dim` of the first result; none where there is no such rule.
  virtual std::optional<ExtentRule> ruleOf(Operation *op, int64_t dim) const = 0;
};

/// The rule for an extent of an operation's first result.
std::optional<ExtentRule> ruleOfExtent(Operation *op, int64_t dim);

} // namespace tessera::nn
