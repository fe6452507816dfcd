// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic of leaves as linear forms: what an instance's ids, loops and branches make of a subscript,
// over variables that a Presburger solver can be asked about. Values that no linear form describes become
// free variables, and the state says why, so that an answer built on them is not taken for a proof.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

namespace tessera::check {

/// A sum of variables with coefficients, and a constant.
struct Linear {
  std::map<unsigned, int64_t> terms;
  int64_t constant = 0;

  Linear() = default;
  Linear(int64_t constant) : constant(constant) {}
  static Linear of(unsigned variable) {
    Linear form;
    form.terms[variable] = 1;
    return form;
  }
  bool isConstant() const { return terms.empty(); }
  Linear &add(const Linear &other, int64_t factor = 1);
  Linear plus(const Linear &other) const { return Linear(*this).add(other); }
  Linear minus(const Linear &other) const { return Linear(*this).add(other, -1); }
  Linear times(int64_t factor) const { return Linear().add(*this, factor); }
};

/// `form` is zero (or not negative).
struct Constraint {
  Linear form;
  bool equality = false;
};

/// What is known on one way through the code: constraints, and why they do not say everything.
struct State {
  struct Loop {
    Linear lower, upper;
    int64_t step;
  };
  std::vector<Constraint> constraints;
  /// Empty when the constraints are exact.
  std::string inexact;
  std::map<Operation *, Loop> loops;
  /// Id and extent of each grid dimension around, outermost first.
  std::vector<std::pair<unsigned, Linear>> grid;

  void atLeastZero(Linear form) { constraints.push_back({std::move(form), false}); }
  void isZero(Linear form) { constraints.push_back({std::move(form), true}); }
  void blame(const Twine &why) {
    if (inexact.empty())
      inexact = why.str();
  }
};

struct Case {
  Linear value;
  State state;
};

/// The variables of one question. Ids, loop counters and values that are not known belong to one instance;
/// extents and other values of the graph are the same for both.
class Variables {
public:
  unsigned ofInstance(Value value, unsigned part = 0) { return get(value, part, /*shared=*/false); }
  unsigned ofGraph(Value value, unsigned part) { return get(value, part, /*shared=*/true); }
  bool isShared(unsigned variable) const { return shared[variable]; }
  unsigned size() const { return shared.size(); }

private:
  unsigned get(Value value, unsigned part, bool isShared) {
    auto [it, inserted] = numbers.try_emplace({value.getAsOpaquePointer(), part, isShared}, shared.size());
    if (inserted)
      shared.push_back(isShared);
    return it->second;
  }
  std::map<std::tuple<void *, unsigned, bool>, unsigned> numbers;
  std::vector<bool> shared;
};

/// Turns values into linear forms. A minimum, a selection or a quotient of unknown sign splits a way in two,
/// so all functions answer with the list of ways.
class AffineReader {
public:
  explicit AffineReader(Variables &variables) : variables(variables) {}

  SmallVector<Case> read(Value value, const State &state);
  /// The extent of one dimension of a tensor or memref.
  SmallVector<Case> readExtent(Value shaped, int64_t dim, const State &state);
  SmallVector<State> assume(Value condition, bool truth, const State &state);
  /// All ways on which `op` of a leaf is reached: ids within their grids, loops within their bounds, branches
  /// taken.
  SmallVector<State> reach(Operation *op);
  /// The operation, leaf or group, that a value enters a node from, seen from the node's body; or the value
  /// itself.
  static Value outside(Value value);

private:
  SmallVector<Case> free(Value value, const State &state, const Twine &why);
  SmallVector<Case> combine(Value lhs, Value rhs, const State &state,
                            function_ref<void(Case &, const Linear &)> merge);
  SmallVector<Case> extremum(ArrayRef<Case> lhs, Value rhs, bool maximum);
  SmallVector<Case> divide(Value result, Value lhs, int64_t divisor, bool remainder, bool roundsToZero,
                           const State &state);
  SmallVector<Case> divideBy(Value result, Value lhs, Value divisor, bool remainder, bool roundsToZero,
                             const State &state);
  SmallVector<Case> readMap(Value result, AffineExpr expr, unsigned numDims, ValueRange operands,
                            const State &state, unsigned &part);
  SmallVector<State> enter(Operation *around, Operation *from, const State &state);

  /// One step of the answer to a question from outside.
  class Step;
  Variables &variables;
  unsigned depth = 0, steps = 0;
};

} // namespace tessera::check
