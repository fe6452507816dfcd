// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of the values that a node's instances yield, and how instances that meet at barriers take
// turns.
#pragma once

#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/oracle/Interpreter.h"

#include <ucontext.h>

namespace tessera::oracle {

/// The meaning of a named reduction.
Combine toCombine(dfg::ReductionKind kind);

/// A float sum or product is collected with more precision than its type has and rounded once at the end,
/// because back ends may regroup it: the bound on their results is stated relative to this one.
bool isPrecise(dfg::ReductionAttr reduction, const ElementInfo &info);
long double combinePrecise(dfg::ReductionKind kind, const ElementInfo &info, long double a, long double b);
Val roundPrecise(const ElementInfo &info, long double value);

/// Combines two values with these elements by a named reduction or a combiner; tensors element by element.
LogicalResult combineValues(Exec &x, const Inst &inst, dfg::ReductionAttr reduction, const ElementInfo &info,
                            const Val &a, const Val &b, Val &result);

/// Collects what the instances yield for one result, in row-major order of the instances.
class Collector {
public:
  Collector(dfg::NodeOp node, unsigned result, ArrayRef<int64_t> extents);

  LogicalResult add(Exec &x, const Inst &inst, ArrayRef<int64_t> ids, const Val &value);
  /// The result, after the last instance.
  LogicalResult finish(Exec &x, const Inst &inst, Val &result);

private:
  LogicalResult start(Exec &x, const Inst &inst, ArrayRef<int64_t> tile);
  LogicalResult addGathered(Exec &x, const Inst &inst, ArrayRef<int64_t> ids, const Val &value);
  LogicalResult addReduced(Exec &x, const Inst &inst, ArrayRef<int64_t> ids, const Val &value);
  LogicalResult identity(Exec &x, const Inst &inst, Val &value) const;

  dfg::NodeOp node;
  dfg::ResultAttr attr;
  Type type;
  ElementInfo info;
  SmallVector<int64_t, 3> extents;
  /// Of the grid, without the dimensions that are reduced.
  SmallVector<int64_t, 3> kept;
  SmallVector<int64_t, 4> tile;
  bool isStarted = false, isPreciseSum = false;
  /// Gathered elements; or, for a reduction, a partial value for each kept position.
  Val gathered;
  std::vector<Val> partial;
  std::vector<long double> precise;
};

/// What a knob on a node means (Dfg.md): rows that are left out, and results that are rounded or damaged.
class NodeKnob {
public:
  NodeKnob() = default;
  NodeKnob(dfg::NodeOp node, ArrayRef<int64_t> extents);
  /// The instance is not computed.
  bool skips(ArrayRef<int64_t> ids) const { return rows && !computed(ids[dim]); }
  /// All arithmetic of the body is in f16.
  bool isMath() const { return knob.precision == Knob::Precision::F16Math; }
  bool samples() const { return knob.structure == Knob::Structure::Sample; }
  /// Makes of an instance's value what a sum takes of it.
  void weigh(Val &value, dfg::NodeOp node, unsigned result) const;
  /// Fills in and rounds a gathered result, and puts errors into any.
  void approximate(Val &value, dfg::NodeOp node, unsigned result) const;

private:
  bool computed(int64_t row) const;
  /// The computed row that is number `steps` from a gap that holds `row`, counted away from it: -1 is the
  /// last one before, 1 the first one behind. Beyond the first and the last one it is that one.
  int64_t neighbour(int64_t row, int64_t steps) const;
  double round(double value) const;

  Knob knob;
  unsigned dim = 0;
  int64_t rows = 0;  ///< along that dimension; 0: none is left out
  int64_t count = 0; ///< of those that a sampled reduction takes
};

/// An instance of a leaf with barriers: a thread of control with its own stack, run in turn with the others.
struct Fiber {
  Fiber(const Exec &parent, const Code &code);
  ~Fiber();
  Fiber(const Fiber &) = delete;

  /// Runs until the next barrier or the end.
  void resume();
  /// Called by the instance: lets the others run.
  void wait(const Inst &barrier);

  Exec exec;
  const Code &code;
  std::vector<Val> frame;
  Vals args, results;
  /// The barrier it waits at; null before the first and after the end.
  const Inst *waiting = nullptr;
  bool isDone = false, isCancelled = false;
  LogicalResult status = success();

private:
  static void enter(unsigned high, unsigned low);

  ucontext_t context, scheduler;
  void *stack;
};

/// Runs all instances, phase by phase.
LogicalResult runPhases(Exec &x, const Inst &inst, LeafRun &leaf,
                        std::vector<std::unique_ptr<Fiber>> &fibers);

} // namespace tessera::oracle
