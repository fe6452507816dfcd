// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device is told to run: steps with numbers and memory.
#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/device/DeviceLaunch.h"

namespace tessera {

// Three exprs and their product, which are all 1 where the plan has none.
Status DeviceLaunch::extents(const Step &step, std::string_view what, const std::array<int32_t, 3> &from,
                             int64_t least, int64_t *to, int64_t &product) const {
  __int128 all = 1;
  for (size_t d = 0; d < 3; ++d) {
    if (from[d] >= 0) {
      TESSERA_ASSIGN(to[d], exprs.get(from[d]));
    }
    if (to[d] < least || (all *= to[d]) > INT64_MAX)
      return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': ", what,
                  least ? " is not positive or too large" : " is negative or too large");
  }
  product = static_cast<int64_t>(all);
  return Status();
}

Status DeviceLaunch::byteCount(const Step &step, std::string_view what, int32_t from, uint64_t &to) const {
  if (from < 0)
    return Status();
  TESSERA_ASSIGN(int64_t bytes, exprs.get(from));
  if (bytes < 0 || bytes > (int64_t(1) << 40))
    return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': ", what, " of ", bytes,
                " bytes is not possible");
  to = static_cast<uint64_t>(bytes);
  return Status();
}

// The arguments are those of the steps, one after the other: what has no tasks has none.
Status DeviceLaunch::makeSteps(Attempt &running) {
  size_t most = 0;
  for (size_t i = 0; i < running.nodes.size(); ++i)
    for (const Step &step : versionOf(running, i).steps)
      most += step.args.size();
  running.args.reserve(most); // Steps point into it.
  for (size_t i = 0; i < running.nodes.size(); ++i) {
    const int32_t n = running.nodes[i];
    const Version &version = versionOf(running, i);
    void *const *handles = program.handles(n, running.versions[i], *running.choice.device);
    TESSERA_CHECK(handles || version.steps.empty()) << "a node on a device whose kernels were never loaded";
    for (size_t s = 0; s < version.steps.size(); ++s)
      TESSERA_TRY(makeStep(running, n, version.steps[s], handles[s]));
  }
  return Status();
}

Status DeviceLaunch::makeStep(Attempt &running, int32_t n, const Step &step, void *handle) {
  KernelLaunch launch;
  launch.node = plan.nodes[static_cast<size_t>(n)].name;
  launch.kernel = step.kernel;
  launch.handle = handle;
  launch.args = running.args.data() + running.args.size();
  launch.argCount = step.args.size();
  launch.chain = step.chain;
  launch.kinds = step.args;
  launch.own = step.own;
  int64_t tasks = 0, threads = 0, members = 0;
  TESSERA_TRY(extents(step, "grid", step.grid, 0, launch.grid, tasks));
  TESSERA_TRY(extents(step, "block", step.block, 1, launch.block, threads));
  TESSERA_TRY(extents(step, "cluster", step.cluster, 1, launch.cluster, members));
  TESSERA_TRY(byteCount(step, "scratch", step.scratch, launch.scratch));
  TESSERA_TRY(byteCount(step, "shared memory", step.shared, launch.shared));
  for (const StepArg &arg : step.args) {
    int64_t number = 0;
    if (!arg.isValue) {
      TESSERA_ASSIGN(number, exprs.get(arg.index));
    }
    if (tasks > 0)
      running.args.push_back(arg.isValue
                                 ? reinterpret_cast<uint64_t>(running.use(value(arg.index).root)->data())
                                 : static_cast<uint64_t>(number));
  }
  if (tasks > 0)
    running.steps.push_back(launch);
  return Status();
}

} // namespace tessera
