// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs for differential tests: valid dfg modules that are free of undefined behaviour by
// construction (indices are clamped or wrapped, divisors positive, shifts in range, floats bounded and never
// NaN), with inputs to run them on.
#pragma once

#include "tessera/oracle/Oracle.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::conformance {

/// What a program may contain. Back ends in the making switch off what they cannot do yet.
struct RandomOptions {
  unsigned maxNodes = 12;
  bool memoryPorts = true;
  bool accumulate = true;
  bool barriers = true;
  bool hierarchy = true;
  bool calls = true;
  bool dynamicExtents = true;
  bool dataDependentExtents = true;
  bool halfTypes = true;
  bool controlFlow = true;
  bool linalg = true;
  bool vectors = true;
  bool atomics = true;
  bool combiners = true;
  /// Float reductions whose order is free; their results are only compared within a bound.
  bool floatReductions = true;
};

/// A module with one public graph, @main, as text; and its inputs in order.
struct RandomProgram {
  std::string text;
  std::vector<oracle::Array> inputs;
};

/// The same seed and options give the same program on every machine.
RandomProgram makeRandomProgram(MLIRContext &context, uint64_t seed, const RandomOptions &options = {});

/// Runs graph @main of a module.
using Backend = std::function<FailureOr<std::vector<oracle::Array>>(ModuleOp, ArrayRef<oracle::Array>)>;

/// The oracle as a back end.
FailureOr<std::vector<oracle::Array>> runOracle(ModuleOp module, ArrayRef<oracle::Array> inputs);

/// What differs first, or nothing. Integers and floats are compared bit for bit, NaN with any NaN.
///
/// A float reduction in free order named `s` comes with `s_abs`, the sum of the magnitudes, and `s_count`,
/// the number of terms, both from the same grid. Any order of n-1 additions in a type with unit roundoff u,
/// each rounded to nearest, is within (n-1) u / (1 - (n-1) u) of the sum of magnitudes from the exact sum
/// (Higham, Accuracy and Stability, 4.2); the oracle's own sum is rounded once more. So |actual - expected|
/// <= 1.1 n u s_abs + the smallest subnormal, where 1.1 covers the second-order term and the rounding of
/// s_abs. Where n u exceeds 0.09 the estimate is void and only finiteness is asked for.
std::optional<std::string> compareOutputs(dfg::GraphOp graph, ArrayRef<oracle::Array> expected,
                                          ArrayRef<oracle::Array> actual);

} // namespace tessera::conformance
