// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of a module, ready to be launched any number of times, also from several
// threads at once. Programs that run on the CPU alone take a static path (Frame.h);
// others go through the scheduler (Scheduler.h).
#pragma once

#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/program/Module.h"
#include "tessera/runtime/program/Prepared.h"
#include "tessera/runtime/trace/Profile.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tessera {

class Frame;
class Scheduler;

/// How a node's version and device are chosen.
enum class Policy : uint8_t {
  Static, ///< The first version of the list for which there is a device.
  Eft,    ///< Earliest finish time: measured or estimated cost, plus the copies it needs now.
  Energy, ///< Least energy by the devices' figures.
};

/// Names: "static", "eft", "energy".
std::string_view policyName(Policy policy);
Result<Policy> parsePolicy(std::string_view name);

struct ProgramOptions {
  unsigned threads = 0; ///< 0: one for each processor.
  Policy policy = Policy::Static;
  std::vector<std::string> devices; ///< Empty: all but the null devices.
  bool profile = false;
};

class Program : public std::enable_shared_from_this<Program> {
public:
  /// Opens the program called `name`; "" is the only one of the file.
  static Result<std::shared_ptr<Program>> open(std::shared_ptr<const Module> module, std::string_view name,
                                               const ProgramOptions &options);
  ~Program();

  const ProgramPlan &plan() const { return *programPlan; }
  const Module &module() const { return *programModule; }
  const std::shared_ptr<const Module> &sharedModule() const { return programModule; }
  const ProgramOptions &options() const { return programOptions; }
  unsigned threads() const { return threadCount; }
  /// Launches from now on use no more threads than this. A process that may use fewer processors than it has
  /// threads is stopped in the middle of a batch, when its share is used up.
  void limitThreads(unsigned most) { threadLimit.store(most, std::memory_order_relaxed); }
  std::span<Device *const> devices() const { return programDevices; }
  /// True when a version for `target` may run on `device`. What a device in use that shares the host's memory
  /// can run, no other borrows: a node whose hint asks for the CPU stays there.
  bool mayRun(const Device &device, std::string_view target) const;
  /// Handles of the kernels of a node's version on `device`, one for each step. Only of programs that do not
  /// take the static path; null when the device does not run the version.
  void *const *handles(int32_t node, int32_t version, Device &device) const;
  /// True when launches take the static path.
  bool cpuOnly() const { return staticPath; }
  /// Per node: the version that the static policy chooses.
  std::span<const int32_t> staticVersions() const { return versions; }

  /// Runs the program once. `inputs` are in the plan's order. An output that is null is created; one that is
  /// given must have the right type and shape.
  Status launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);

  /// The time of the last launch that ended well, when some device of it has a time of its own: the sum of
  /// its nodes' times, each by its device's own or else by the clock. 0 when the clock alone counts.
  uint64_t ownNanoseconds() const { return ownNs.load(std::memory_order_relaxed); }
  void setOwnNanoseconds(uint64_t ns) { ownNs.store(ns, std::memory_order_relaxed); }

  /// Bytes of the temporaries of a launch, of the shapes with most of those seen so far.
  uint64_t arenaBytes();

  /// The null profile when the program was not opened with `profile`.
  Profile *profile() { return programProfile.get(); }

  /// Memory of the const value `v`.
  const std::byte *constant(int32_t v) const {
    return module().constants() + plan().values[static_cast<size_t>(v)].offset;
  }

  // For Frame and Stream.
  std::unique_ptr<Frame> takeFrame();
  void giveFrame(std::unique_ptr<Frame> frame);
  Result<std::shared_ptr<Prepared>> findPrepared(int32_t segment, const std::shared_ptr<Prepared> &previous,
                                                 std::span<const int64_t> key,
                                                 std::span<const std::span<const int64_t>> dims,
                                                 std::span<const int64_t> loaded);
  Scheduler &scheduler();
  /// Nanoseconds an item of a stream takes, measured now and then.
  std::atomic<uint32_t> streamItemNs{UINT32_MAX};

private:
  Program() = default;
  Status chooseDevices();
  Status loadKernels();
  Status launchAligned(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);
  Status launchUnaligned(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);

  std::shared_ptr<const Module> programModule;
  const ProgramPlan *programPlan = nullptr;
  ProgramOptions programOptions;
  unsigned threadCount = 1;
  std::atomic<unsigned> threadLimit{UINT32_MAX};
  std::atomic<uint64_t> ownNs{0};
  std::vector<Device *> programDevices;
  std::vector<int32_t> versions;
  std::vector<uint8_t> breakBefore;
  bool staticPath = true;
  std::map<std::tuple<int32_t, int32_t, Device *>, std::vector<void *>> kernelHandles;
  std::unique_ptr<Profile> programProfile;

  std::mutex mutex;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::shared_ptr<Prepared>> cache;
  std::unique_ptr<Scheduler> programScheduler;
};

/// A new buffer with the content of `buffer`, aligned as the kernel ABI asks.
Result<BufferRef> alignedCopy(Buffer &buffer);

/// Per node: 1 where a stream's serial section begins or ends, so that no wave crosses it. Empty without
/// states.
struct SerialSection {
  int32_t firstNode = 0, lastNode = -1; ///< Nodes between which activations take turns.
  std::vector<int32_t> states;
};
std::vector<SerialSection> findSerialSections(const ProgramPlan &plan);

} // namespace tessera
