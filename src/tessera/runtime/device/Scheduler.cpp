// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is kept from launch to launch; see Scheduler.h.
#include "tessera/runtime/device/Scheduler.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/device/DeviceLaunch.h"

namespace tessera {

Scheduler::Scheduler(Program &program) : program(program), rank(program.plan().nodes.size(), 0) {
  cpu = hostDevice();
  const auto &nodes = program.plan().nodes;
  for (size_t n = nodes.size(); n-- > 0;)
    for (int32_t successor : nodes[n].successors)
      rank[n] = std::max(rank[n], rank[static_cast<size_t>(successor)] + 1);
}

double Scheduler::cost(int32_t node, int32_t version, Device &device, double flops, double bytes,
                       double expected) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = measured.find({node, version, &device, flops + bytes});
    if (it != measured.end())
      return it->second;
  }
  if (expected >= 0)
    return expected;
  const DeviceInfo &info = device.info();
  if (flops >= 0 || bytes >= 0)
    return 1e9 * (info.launchLatency + std::max(std::max(flops, 0.0) / info.flopsPerSecond,
                                                std::max(bytes, 0.0) / info.bytesPerSecond));
  double hint = program.plan().nodes[static_cast<size_t>(node)].cost; // Microseconds; 0 when there is none.
  return 1e9 * info.launchLatency + (hint > 0 ? hint * 1e3 : 1e4);
}

void Scheduler::learn(int32_t node, int32_t version, Device &device, double flops, double bytes, double ns) {
  std::lock_guard<std::mutex> lock(mutex);
  if (measured.size() > 65536)
    measured.clear();
  auto [it, added] = measured.try_emplace({node, version, &device, flops + bytes}, ns);
  // A slow outlier must not scare the policy away for good, a fast one is true.
  if (!added)
    it->second = ns < it->second ? ns : it->second + (ns - it->second) * 0.25;
}

bool Scheduler::takesWhole(const WholeKey &key) {
  std::lock_guard<std::mutex> lock(mutex);
  if (wholes.size() >= 256 && !wholes.contains(key))
    wholes.clear();
  Whole &whole = wholes[key];
  return ++whole.launches > 1 && !whole.refused;
}

Result<std::shared_ptr<DeviceRecording>> Scheduler::recording(const WholeKey &key, Device &device,
                                                              std::span<const KernelLaunch> steps) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = wholes.find(key); it != wholes.end() && it->second.recording)
      return it->second.recording;
  }
  // Two launches may record the same at once; either will do.
  auto made = device.record(steps);
  if (!made.ok())
    return device.judge(made.status());
  std::lock_guard<std::mutex> lock(mutex);
  return wholes[key].recording = made.take();
}

void Scheduler::refuseWhole(const WholeKey &key) {
  std::lock_guard<std::mutex> lock(mutex);
  wholes[key].refused = true;
}

BufferRef Scheduler::constantBuffer(int32_t v) {
  std::lock_guard<std::mutex> lock(mutex);
  BufferRef &buffer = constants[v];
  if (!buffer) {
    const ValueInfo &info = program.plan().values[static_cast<size_t>(v)];
    auto made = Buffer::wrap(ElementType::I8, {static_cast<int64_t>(info.bytes)},
                             const_cast<std::byte *>(program.constant(v)), /*readOnly=*/true);
    if (made.ok())
      buffer = made.take();
  }
  return buffer;
}

Status Scheduler::launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs,
                         std::span<BufferRef> states) {
  auto launch = std::make_shared<DeviceLaunch>(*this, inputs, outputs, states);
  Status status = launch->run();
  launch->letGo();
  if (status.ok())
    program.setOwnNanoseconds(launch->ownNanoseconds());
  return status;
}

} // namespace tessera
