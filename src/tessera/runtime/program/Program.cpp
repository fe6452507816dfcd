// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a program, the cache of prepared shapes, and launches.
#include "tessera/runtime/program/Program.h"
#include "tessera/base/Diag.h"
#include "tessera/base/FloatMode.h"
#include "tessera/runtime/device/Scheduler.h"
#include "tessera/runtime/program/Frame.h"

#include <algorithm>
#include <cstring>

namespace tessera {

static constexpr size_t maxPrepared = 64;

std::string_view policyName(Policy policy) {
  return policy == Policy::Static ? "static" : policy == Policy::Eft ? "eft" : "energy";
}

Result<Policy> parsePolicy(std::string_view name) {
  static const std::string names[] = {"static", "eft", "energy"};
  for (size_t i = 0; i < 3; ++i)
    if (names[i] == name)
      return static_cast<Policy>(i);
  return Status::error(StatusCode::InvalidArgument, unknownName("policy", name, "policies", names));
}

std::vector<SerialSection> findSerialSections(const ProgramPlan &plan) {
  std::vector<SerialSection> sections;
  for (int32_t s : plan.states) {
    const ValueInfo &state = plan.values[static_cast<size_t>(s)];
    int32_t nextRoot = plan.values[static_cast<size_t>(state.next)].root;
    SerialSection section{INT32_MAX, -1, {s}};
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      bool touches = false;
      for (const std::vector<int32_t> *list : {&plan.nodes[n].reads, &plan.nodes[n].writes})
        for (int32_t v : *list) {
          int32_t root = plan.values[static_cast<size_t>(v)].root;
          touches = touches || root == s || (list == &plan.nodes[n].writes && root == nextRoot);
        }
      if (touches) {
        section.firstNode = std::min(section.firstNode, static_cast<int32_t>(n));
        section.lastNode = std::max(section.lastNode, static_cast<int32_t>(n));
      }
    }
    if (section.lastNode < 0) // Nobody looks at it between two activations; the hand-over alone takes a turn.
      section.firstNode = section.lastNode = static_cast<int32_t>(plan.nodes.size()) - 1;
    sections.push_back(std::move(section));
  }
  // Sections that overlap become one: an activation is inside at most one at a time.
  std::sort(sections.begin(), sections.end(),
            [](const SerialSection &a, const SerialSection &b) { return a.firstNode < b.firstNode; });
  std::vector<SerialSection> merged;
  for (SerialSection &section : sections) {
    if (!merged.empty() && section.firstNode <= merged.back().lastNode) {
      merged.back().lastNode = std::max(merged.back().lastNode, section.lastNode);
      merged.back().states.push_back(section.states[0]);
    } else {
      merged.push_back(std::move(section));
    }
  }
  return merged;
}

Result<std::shared_ptr<Program>> Program::open(std::shared_ptr<const Module> module, std::string_view name,
                                               const ProgramOptions &options) {
  std::shared_ptr<Program> program(new Program);
  const Plan &plan = module->plan();
  if (name.empty() && plan.find(module->meta().defaultProgram) >= 0)
    name = module->meta().defaultProgram;
  int32_t index = plan.find(name);
  std::vector<std::string> names;
  for (const ProgramPlan &p : plan.programs)
    names.push_back(p.name);
  if (name.empty() && plan.programs.size() == 1)
    index = 0;
  else if (name.empty())
    return fail(StatusCode::InvalidArgument, "'", module->name(),
                "' holds several programs; choose one of: ", joinNames(names));
  else if (index < 0)
    return Status::error(StatusCode::NotFound, unknownName("program", name, "programs", names));
  program->programModule = module;
  program->programPlan = &plan.programs[static_cast<size_t>(index)];
  program->programOptions = options;
  program->threadCount = std::min(256u, options.threads ? options.threads : ThreadPool::defaultThreads());
  TESSERA_TRY(program->chooseDevices());
  if (!program->staticPath)
    TESSERA_TRY(program->loadKernels());
  if (options.profile)
    program->programProfile = std::make_unique<Profile>(program->plan().nodes.size());
  auto sections = findSerialSections(program->plan());
  if (!sections.empty()) {
    program->breakBefore.assign(program->plan().nodes.size() + 1, 0);
    for (const SerialSection &section : sections)
      if (section.lastNode >= 0) {
        program->breakBefore[static_cast<size_t>(section.firstNode)] = 1;
        program->breakBefore[static_cast<size_t>(section.lastNode) + 1] = 1;
      }
  }
  return program;
}

Program::~Program() = default;

bool Program::mayRun(const Device &device, std::string_view target) const {
  if (!device.runs(target))
    return false;
  return device.sharesHostMemory() ||
         std::none_of(programDevices.begin(), programDevices.end(),
                      [&](Device *other) { return other->sharesHostMemory() && other->runs(target); });
}

Status Program::chooseDevices() {
  std::vector<std::string> names;
  for (Device *device : allDevices())
    names.emplace_back(device->shortName());
  if (programOptions.devices.empty()) {
    for (Device *device : allDevices())
      if (!device->info().isPretend && !device->lost())
        programDevices.push_back(device);
  } else {
    for (const std::string &name : programOptions.devices) {
      Device *device = findDevice(name);
      if (!device)
        return Status::error(StatusCode::NotFound, unknownName("device", name, "devices", names));
      if (device->lost())
        return fail(StatusCode::DeviceLost, "device '", device->name(), "' was lost: ", device->lossReason());
      if (std::find(programDevices.begin(), programDevices.end(), device) == programDevices.end())
        programDevices.push_back(device);
    }
  }
  versions.assign(plan().nodes.size(), -1);
  std::vector<std::string> chosen;
  for (Device *device : programDevices)
    chosen.push_back(device->name());
  bool others = false;
  for (size_t n = 0; n < plan().nodes.size(); ++n) {
    const Node &node = plan().nodes[n];
    std::vector<std::string> targets;
    for (size_t v = 0; v < node.versions.size(); ++v) {
      targets.push_back(node.versions[v].target);
      for (Device *device : programDevices)
        if (mayRun(*device, node.versions[v].target)) {
          if (versions[n] < 0) {
            versions[n] = static_cast<int32_t>(v);
            staticPath = staticPath && device->sharesHostMemory() && device->runsHostCode() &&
                         !programModule->hasOwnImage(node.versions[v].target);
          }
          others = others || !device->sharesHostMemory();
        }
    }
    if (versions[n] < 0)
      return fail(StatusCode::Unsupported, "node '", node.name, "' has versions for ", joinNames(targets),
                  ", but the devices in use are ", joinNames(chosen));
  }
  if (programOptions.policy != Policy::Static && others)
    staticPath = false;
  return Status();
}

// For the devices in use, and for the host, which runs again what fails elsewhere.
Status Program::loadKernels() {
  std::vector<Device *> all = programDevices;
  if (Device *host = hostDevice(); host && std::ranges::find(all, host) == all.end())
    all.push_back(host);
  for (size_t n = 0; n < plan().nodes.size(); ++n)
    for (size_t v = 0; v < plan().nodes[n].versions.size(); ++v)
      for (Device *device : all) {
        const Node &node = plan().nodes[n];
        if (!device->runs(node.versions[v].target))
          continue;
        TESSERA_ASSIGN(kernelHandles[std::tuple(static_cast<int32_t>(n), static_cast<int32_t>(v), device)],
                       programModule->handles(node, node.versions[v], *device));
      }
  return Status();
}

void *const *Program::handles(int32_t node, int32_t version, Device &device) const {
  auto it = kernelHandles.find({node, version, &device});
  return it == kernelHandles.end() ? nullptr : it->second.data();
}

std::unique_ptr<Frame> Program::takeFrame() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!frames.empty()) {
      std::unique_ptr<Frame> frame = std::move(frames.back());
      frames.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(*this);
}

void Program::giveFrame(std::unique_ptr<Frame> frame) {
  std::lock_guard<std::mutex> lock(mutex);
  frames.push_back(std::move(frame));
}

Result<std::shared_ptr<Prepared>> Program::findPrepared(int32_t segment,
                                                        const std::shared_ptr<Prepared> &previous,
                                                        std::span<const int64_t> key,
                                                        std::span<const std::span<const int64_t>> dims,
                                                        std::span<const int64_t> loaded) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const std::shared_ptr<Prepared> &entry : cache)
      if (entry->segment == segment && entry->previous == previous && std::ranges::equal(entry->key, key))
        return entry;
  }
  auto made = prepare(plan(), segment, previous, dims, loaded, {versions, breakBefore});
  if (!made.ok())
    return made.status();
  (*made)->key.assign(key.begin(), key.end());
  std::lock_guard<std::mutex> lock(mutex);
  // Frames hold what they use, so the oldest may go.
  if (cache.size() >= maxPrepared)
    cache.erase(cache.begin());
  cache.push_back(*made);
  return made;
}

uint64_t Program::arenaBytes() {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t most = 0;
  for (const std::shared_ptr<Prepared> &entry : cache) {
    uint64_t sum = 0;
    for (const Prepared *p = entry.get(); p; p = p->previous.get())
      sum += p->arenaBytes;
    most = std::max(most, sum);
  }
  return most;
}

Scheduler &Program::scheduler() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!programScheduler)
    programScheduler = std::make_unique<Scheduler>(*this);
  return *programScheduler;
}

Result<BufferRef> alignedCopy(Buffer &buffer) {
  TESSERA_ASSIGN(BufferRef copy, Buffer::create(buffer.type(), buffer.shape()));
  TESSERA_ASSIGN(std::byte * from, buffer.hostRead());
  TESSERA_ASSIGN(std::byte * to, copy->hostWrite());
  if (buffer.bytes())
    std::memcpy(to, from, buffer.bytes());
  return copy;
}

Status Program::launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs) {
  bool aligned = true;
  const uint64_t align = plan().align;
  for (Buffer *input : inputs)
    aligned = aligned && (!input || input->aligned(align));
  for (BufferRef &output : outputs)
    aligned = aligned && (!output || output->aligned(align));
  return aligned ? launchAligned(inputs, outputs) : launchUnaligned(inputs, outputs);
}

// Kernels may rely on 64 bytes, so memory of the caller that has less goes through copies.
Status Program::launchUnaligned(std::span<Buffer *const> inputs, std::span<BufferRef> outputs) {
  std::vector<Buffer *> in(inputs.begin(), inputs.end());
  std::vector<BufferRef> out(outputs.begin(), outputs.end()), copies(inputs.size());
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] && !in[i]->aligned()) {
      TESSERA_ASSIGN(copies[i], alignedCopy(*in[i]));
      in[i] = copies[i].get();
    }
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] && !out[i]->aligned()) {
      if (out[i]->readOnly())
        return fail(StatusCode::InvalidArgument, "output '", plan().outputs[i].name,
                    "': the buffer is read-only");
      TESSERA_ASSIGN(out[i], Buffer::create(out[i]->type(), out[i]->shape()));
    }
  TESSERA_TRY(launchAligned(in, out));
  auto copyBack = [](Buffer &from, Buffer &to) -> Status {
    TESSERA_ASSIGN(std::byte * source, from.hostRead());
    TESSERA_ASSIGN(std::byte * target, to.hostWrite());
    if (to.bytes())
      std::memcpy(target, source, to.bytes());
    return Status();
  };
  for (size_t i = 0; i < copies.size(); ++i)
    if (copies[i] && i < plan().inputs.size() && plan().inputs[i].written) {
      if (inputs[i]->readOnly())
        return fail(StatusCode::InvalidArgument, "input '", plan().inputs[i].name,
                    "' is changed by the program, but the buffer is read-only; give it a copy");
      TESSERA_TRY(copyBack(*copies[i], *inputs[i]));
    }
  for (size_t i = 0; i < out.size(); ++i) {
    if (outputs[i] && outputs[i] != out[i])
      TESSERA_TRY(copyBack(*out[i], *outputs[i]));
    else
      outputs[i] = out[i];
  }
  return Status();
}

Status Program::launchAligned(std::span<Buffer *const> inputs, std::span<BufferRef> outputs) {
  if (!staticPath)
    return scheduler().launch(inputs, outputs);
  std::unique_ptr<Frame> frame = takeFrame();
  uint64_t mode = setIeeeFloatMode();
  Status status = frame->begin(inputs, outputs);
  if (status.ok())
    status = frame->run(std::clamp(threadLimit.load(std::memory_order_relaxed), 1u, threadCount));
  if (status.ok())
    status = frame->finish();
  restoreFloatMode(mode);
  giveFrame(std::move(frame));
  return status;
}

} // namespace tessera
