// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A segment of a program, prepared for one set of shapes: sizes evaluated, arena laid
// out, kernels and their arguments in flat tables. Made once for each signature; a
// launch with known shapes only patches the pointers that changed.
#pragma once

#include "tessera/runtime/plan/Expr.h"
#include "tessera/runtime/plan/Plan.h"
#include "tessera/runtime/program/Run.h"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace tessera {

struct Prepared {
  /// What this was prepared for: the extents and scalars it depends on.
  std::vector<int64_t> key;
  int32_t segment = 0;
  std::shared_ptr<const Prepared> previous; ///< Of the segment before, which owns the arena of older values.

  ExprValues exprs;

  struct Call {
    KernelFunction function;
    uint32_t args; ///< Offset into the argument table.
  };
  struct Group {
    uint32_t firstCall, calls;
    int64_t grid[3];
    int64_t tasks;
    int32_t node;
    double flops, bytes; ///< Estimates; negative when the plan has none.
  };
  /// Groups that may run at the same time.
  struct Wave {
    uint32_t firstGroup, groups;
    int32_t firstNode; ///< Waves are in the order of nodes.
  };
  /// Where kernels report what they find.
  struct Faults {
    const Node *node;
    const Step *step;
    int32_t root;
  };
  std::vector<Faults> faults;
  std::vector<Call> calls;
  std::vector<Group> groups;
  std::vector<Wave> waves;
  /// Serial nanoseconds of each group: an estimate first, measured in the first launches.
  std::unique_ptr<std::atomic<float>[]> cost;
  mutable std::atomic<uint32_t> measured{0};

  std::vector<uint64_t> args; ///< All arguments; slots of values are filled in by the frame.
  struct Patch {
    int32_t root;
    uint32_t firstSlot, slots;
  };
  std::vector<Patch> external; ///< Memory that a launch may bind differently each time.
  std::vector<Patch> local;    ///< Memory in the arena of this or an earlier segment.
  std::vector<uint32_t> slots;

  struct Placement {
    int32_t root;
    uint64_t offset;
  };
  std::vector<Placement> arena;
  uint64_t arenaBytes = 0, scratchBytes = 0;

  std::vector<uint64_t> rootBytes;               ///< Per value; of roots whose size is known.
  std::vector<std::vector<int64_t>> outputShape; ///< Per output known in this segment.
  std::vector<uint64_t> outputBytes;
  std::vector<uint8_t> outputKnown;  ///< 1 from the segment in which the shape is known.
  std::vector<uint8_t> outputDirect; ///< 1 when the output's buffer is the memory of its root.
};

/// Which nodes start a new wave for another reason than dependences (the gates of a stream).
struct PrepareOptions {
  std::span<const int32_t> versions;    ///< Per node: the version that runs.
  std::span<const uint8_t> breakBefore; ///< Per node, or empty.
};

/// Prepares `segment` of `program`. `dims` holds the extents of input values, `loaded` the scalars of
/// program.loads known so far.
Result<std::shared_ptr<Prepared>> prepare(const ProgramPlan &program, int32_t segment,
                                          std::shared_ptr<const Prepared> previous,
                                          std::span<const std::span<const int64_t>> dims,
                                          std::span<const int64_t> loaded, const PrepareOptions &options);

/// Nanoseconds one thread of an ordinary CPU needs for this work, for decisions before anything was measured.
double estimateNanoseconds(double flops, double bytes);

} // namespace tessera
