// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile-time half of the null target. The null device has memory of its own but no code of its own, so
// the compiler asks nothing more of it than where nodes may run. For a target that makes code see
// docs/add/target.md.
#include "tessera/targets/Target.h"

#include "tessera/base/Check.h"

using namespace tessera;

namespace {

class NullTarget : public Target {
public:
  TargetInfo info(const TargetOptions &) const override {
    return {.name = "null", .summary = "a pretend device with memory of its own, for tests"};
  }

  // Placement gives a node a version for this target only where this is true.
  bool supports(Operation *, const TargetOptions &) const override { return true; }

  bool runsHostCode() const override { return true; }

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
