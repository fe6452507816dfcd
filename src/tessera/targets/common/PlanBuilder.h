// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of the plan while it is being made. What it is made of is the runtime's (runtime/plan/Plan.h);
// here are the ways to add to it.
#pragma once

#include "tessera/runtime/plan/Plan.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace tessera::plan {

/// An index into the program's exprs.
using ExprId = int32_t;

using tessera::Expected;
using tessera::ExtentCheck;
using tessera::FaultSite;
using tessera::Node;
using tessera::Step;
using tessera::Version;
using Value = tessera::ValueInfo;

/// One slot of a kernel's arguments.
inline StepArg valueArg(int32_t value) { return {/*isValue=*/true, value}; }
inline StepArg exprArg(ExprId expr) { return {/*isValue=*/false, expr}; }

/// Exprs are folded and shared as they are added.
class Program : public ProgramPlan {
public:
  ExprId constant(int64_t value);
  std::optional<int64_t> getConstant(ExprId e) const;
  /// Extent `d` of a value: read at launch for an input, otherwise its expr.
  ExprId dim(int value, unsigned d);
  /// The integer stored in a value of rank 0.
  ExprId load(int value);
  ExprId binary(ExprOp op, ExprId a, ExprId b);
  ExprId select(ExprId condition, ExprId a, ExprId b);
  int addValue(Value value);
  /// A value of kind fault for so many sites; and another number of them for one that there is.
  int addFaults(size_t sites);
  void resizeFaults(int value, size_t sites);
  /// The number of bytes of a value's elements.
  ExprId sizeOf(int value, unsigned elementBytes);

private:
  using Key = std::tuple<ExprOp, int64_t, int32_t, int32_t, int32_t>;
  std::map<Key, ExprId> known;
  ExprId add(Expr expr);
};

} // namespace tessera::plan
