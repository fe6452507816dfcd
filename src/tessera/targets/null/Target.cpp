// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile-time half of the null target: the skeleton to copy for a new back end, with each answer in its
// shortest form. The null device has memory of its own but no code of its own, so the compiler asks nothing
// more of it than where nodes may run; a real target returns false from runsHostCode() and fills the last
// three.
#include "tessera/targets/Target.h"

#include "tessera/base/Check.h"

using namespace tessera;

namespace {

class NullTarget : public Target {
public:
  TargetInfo info(const TargetOptions &) const override {
    TargetInfo info;
    info.name = "null";
    info.summary = "a pretend device with memory of its own, for tests";
    info.measured = false;
    return info;
  }

  // Placement gives a node a version for this target only where this is true.
  bool supports(dfg::NodeOp) const override { return true; }

  bool runsHostCode() const override { return true; }

  // A new target begins without a schedule: the payload is lowered as it was written.
  std::string writeSchedule(func::FuncOp, const TargetOptions &) const override { return {}; }

  // One function for each node → the target's own form, and for each kernel a step in `node.version`.
  LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering>, const TargetOptions &) const override {
    TESSERA_CHECK(false) << "never asked of a target that runs the host's code";
    return failure();
  }

  FailureOr<TargetCode> emit(ModuleOp module, const TargetOptions &) const override {
    TESSERA_CHECK(false) << "never asked of a target that runs the host's code";
    return failure();
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Target> createTarget_null() { return std::make_unique<NullTarget>(); }
} // namespace tessera
