// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the iterations of a parallel loop combine: the parts that reductions of memory (Reductions.cpp) and of
// variables (ScalarReductions.cpp) share, and truths in numbers (LogicalReductions.cpp).
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/IR/PatternMatch.h"

namespace tessera::heterocpp {

dfg::ReductionAttr getNamed(dfg::ReductionKind kind, MLIRContext *context);
/// The operation that combines `old` with something else; null for others.
dfg::ReductionAttr getCombination(Operation *op, Value old, Value &other);
/// The same of `condition ? yes : no`, a minimum or maximum.
dfg::ReductionAttr getChosen(Value condition, Value yes, Value no, Value old, Value &other);
/// Whether a truth is `v != 0`, which nothing else asks.
bool isTestOf(Value truth, Value v);

/// Of a number whose truth iterations combine: r = r || x, r = r && x.
enum class Logic { None, Or, And };

/// `left || right` or `left && right`, where both may be computed; of `c ? false : x`, the left side is not
/// c.
struct Logical {
  Logic logic;
  OpOperand *left, *right;
  bool isNegated = false;
};
std::optional<Logical> matchLogical(Value truth);
/// Moves what a branch computes in front of it.
void runBothSides(Operation *op, RewriterBase &rewriter);
/// What an iteration finds for such a number of this type, to be gathered by '|'.
Value buildFinding(OpBuilder &b, Location loc, Logic logic, Value truth, Type type);
/// The number after all iterations.
Value buildJoined(OpBuilder &b, Location loc, Logic logic, Value old, Value found);

/// How iterations combine a variable; no kind where they do something else with it, or look at it on the way.
struct ScalarReduction {
  dfg::ReductionAttr kind;
  Logic logic = Logic::None;
};
/// Given what the variable holds before an iteration and after it. `last` changes with what computes it.
ScalarReduction findScalarReduction(Value &last, Value first);

} // namespace tessera::heterocpp
