// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches over several devices: each ready node gets a version and a device from the
// policy, its inputs are brought there, and it runs on the device's queue. A node that
// fails on a device is run again on the CPU when it has a version for it; one whose device
// is lost, or does not answer in time, on any other device that can run it.
#pragma once

#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/program/Program.h"

#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

namespace tessera {

class Scheduler {
public:
  explicit Scheduler(Program &program);

  /// As Program::launch. Outputs stay where they were computed until the host reads them.
  /// `states`, one for each state of the plan, are kept from launch to launch by a stream: null ones are made
  /// and filled from `init`; afterwards each has the content of its `next`. Without them states are the
  /// launch's own.
  Status launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs,
                std::span<BufferRef> states = {});

private:
  friend class DeviceLaunch;
  /// Nanoseconds of a node's version on a device: measured for this amount of work, else what the installer
  /// `expected`, where that is not negative, else an estimate by the device's figures.
  double cost(int32_t node, int32_t version, Device &device, double flops, double bytes, double expected);
  void learn(int32_t node, int32_t version, Device &device, double flops, double bytes, double ns);
  BufferRef constantBuffer(int32_t value);

  /// What is known of a segment whose nodes all run on one device that records, for shapes and scalars.
  struct Whole {
    uint32_t launches = 0; ///< Recorded the second time: shapes that come once are not worth it.
    bool refused = false;  ///< It went wrong; the nodes run one by one.
    std::shared_ptr<DeviceRecording> recording;
  };
  using WholeKey = std::vector<int64_t>;
  /// True when the segment is to run as a whole this time.
  bool takesWhole(const WholeKey &key);
  Result<std::shared_ptr<DeviceRecording>> recording(const WholeKey &key, Device &device,
                                                     std::span<const KernelLaunch> steps);
  void refuseWhole(const WholeKey &key);

  Program &program;
  Device *cpu = nullptr;
  std::vector<int32_t> rank; ///< Per node: length of the longest path to the end.
  std::mutex mutex;
  std::map<std::tuple<int32_t, int32_t, Device *, double>, double> measured;
  std::map<int32_t, BufferRef> constants;
  std::map<WholeKey, Whole> wholes;
};

} // namespace tessera
