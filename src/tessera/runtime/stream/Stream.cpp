// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams; see Stream.h. Fresh items are claimed from a ring by counting, without a
// lock; a lock is taken only where items have to be in order, and by several threads
// that push (or pop) at once. Sleeping is for when there is nothing to do.
#include "tessera/runtime/stream/Stream.h"
#include "tessera/base/FloatMode.h"
#include "tessera/runtime/device/Scheduler.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera {

// Handing an item to another thread moves a few cache lines there and back: below this many nanoseconds of
// work the thread that pushes does it itself.
static constexpr uint32_t handOverCost = 500;
// Up to this many nanoseconds, others who want to push may as well wait for the lock.
static constexpr uint32_t lockedCost = 20000;
// One item of so many is timed, and more of the first ones.
static bool isTimed(uint64_t item) { return item % 64 == 0 || (item % 8 == 0 && item < 64); }

static size_t streamCapacity(const ProgramPlan &plan) {
  std::vector<int64_t> path(plan.nodes.size(), 0);
  int64_t longest = 1;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    for (int32_t need : plan.nodes[n].needs)
      path[n] = std::max(path[n], path[static_cast<size_t>(need)]);
    path[n] += plan.nodes[n].depth;
    longest = std::max(longest, path[n]);
  }
  return static_cast<size_t>(std::min<int64_t>(longest, 1 << 16));
}

Stream::Stream(std::shared_ptr<Program> p)
    : program(std::move(p)), plan(program->plan()), limit(streamCapacity(plan)), slots(std::bit_ceil(limit)),
      lanes(program->threads()) {
  wholeProgram = plan.segments > 1 || !program->cpuOnly();
  const int32_t count = static_cast<int32_t>(plan.nodes.size());
  auto addSection = [&](std::vector<int32_t> states) {
    sections.push_back({std::move(states), 0, std::vector<uint8_t>(slots.size(), 0)});
  };
  int32_t at = 0;
  if (wholeProgram) {
    if (!plan.states.empty())
      addSection(plan.states);
    phases.push_back({0, count, plan.states.empty() ? -1 : 0});
  } else {
    for (SerialSection &section : findSerialSections(plan)) {
      int32_t first = std::max(section.firstNode, 0);
      if (first > at)
        phases.push_back({at, first, -1});
      phases.push_back({first, section.lastNode + 1, static_cast<int32_t>(sections.size())});
      addSection(std::move(section.states));
      at = section.lastNode + 1;
    }
    if (at < count || phases.empty())
      phases.push_back({at, count, -1});
  }
  gated = phases.size() > 1 || !sections.empty();
  resumed.reserve(slots.size());
  for (Slot &slot : slots) {
    slot.inputs.resize(plan.inputs.size());
    slot.outputs.resize(plan.outputs.size());
    slot.lastOutputs.resize(plan.outputs.size());
    slot.raw.resize(plan.inputs.size());
  }
  stateMemory.resize(plan.states.size(), nullptr);
  stateBytes.resize(plan.states.size(), 0);
  stateBlocks.resize(plan.states.size());
  stateBuffers.resize(plan.states.size());
}

Result<std::unique_ptr<Stream>> Stream::open(std::shared_ptr<Program> program) {
  std::unique_ptr<Stream> stream(new Stream(std::move(program)));
  unsigned threads = stream->program->threads();
  for (unsigned i = 1; i < threads; ++i)
    stream->workers.emplace_back([s = stream.get(), i] { s->workerLoop(s->lanes[i]); });
  return stream;
}

Stream::~Stream() {
  cancel();
  // Items that another thread still runs are finished by it; the rest is skipped here.
  close();
  stopping = true;
  {
    std::lock_guard<std::mutex> lock(sleepMutex);
    work.notify_all();
  }
  for (std::thread &worker : workers)
    worker.join();
  for (Lane &lane : lanes)
    spareFrames.emplace_back(lane.frame.load());
  spareFrames.push_back(std::move(hostFrame));
  // Frames that know nothing of this stream's states serve the program's next launches.
  if (plan.states.empty())
    for (std::unique_ptr<Frame> &frame : spareFrames)
      if (frame)
        program->giveFrame(std::move(frame));
}

//===- Waiting
//-------------------------------------------------------------------------------------------===//

struct Stream::Deadline {
  explicit Deadline(Timeout timeout) : endless(timeout == forever) {
    if (!endless)
      time = std::chrono::steady_clock::now() + timeout;
  }
  bool passed() const { return !endless && std::chrono::steady_clock::now() >= time; }
  bool endless;
  std::chrono::steady_clock::time_point time;
};

// Spins until done() or some time has passed: a sleep and its wake-up cost more than a short stage.
template <typename F> static bool spinFor(F done) {
  for (int i = 0; i < 64; ++i) {
    if (done())
      return true;
    spinPause();
  }
  uint64_t until = nowNanoseconds() + 30000;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done())
        return true;
      spinPause();
    }
    // Who we wait for may have lost its processor to us.
    sched_yield();
  } while (nowNanoseconds() < until);
  return done();
}

// Counts up what others wait for; the counts of sleepers may be looked at afterwards.
inline void Stream::publish(std::atomic<uint64_t> &counter, uint64_t value) {
  if (asymmetric) [[likely]] {
    counter.store(value, std::memory_order_release);
    lightFence();
  } else {
    counter.exchange(value);
  }
}

void Stream::beforeSleep() {
  if (asymmetric)
    heavyFence();
}

void Stream::wakeWorker() {
  std::lock_guard<std::mutex> lock(sleepMutex);
  work.notify_one();
}

void Stream::wakeHosts() {
  std::lock_guard<std::mutex> lock(sleepMutex);
  changed.notify_all();
}

void Stream::workerLoop(Lane &lane) {
  setIeeeFloatMode();
  trace::nameThread("stream");
  auto called = [&] { return hasWork() || stopping.load(); };
  while (!stopping) {
    // Look a little longer before sleeping: the next item is often on its way.
    if (helpOnce(lane) || spinFor(called))
      continue;
    ++sleepingWorkers;
    beforeSleep();
    std::unique_lock<std::mutex> lock(sleepMutex);
    work.wait(lock, called);
    --sleepingWorkers;
  }
}

// Helps until done(); false when the deadline passes first.
template <typename F> bool Stream::waitFor(const Deadline &deadline, F done) {
  auto called = [&] { return done() || hasWork(); };
  while (!done()) {
    if (helpOnce(lanes.front()))
      continue;
    if (deadline.passed())
      return false;
    if (spinFor(called))
      continue;
    ++sleepingHosts;
    beforeSleep();
    std::unique_lock<std::mutex> lock(sleepMutex);
    if (deadline.endless)
      changed.wait(lock, called);
    else
      changed.wait_until(lock, deadline.time, called);
    --sleepingHosts;
  }
  return true;
}

//===- Running
//-------------------------------------------------------------------------------------------===//

bool Stream::hasWork() const { return resumedCount.load() != 0 || claimed.load() < pushed.load(); }

// An item that was parked goes before fresh ones: others wait behind it.
bool Stream::takeWork(uint64_t &item) {
  if (resumedCount.load(std::memory_order_relaxed)) {
    std::lock_guard<SpinMutex> lock(gateMutex);
    if (!resumed.empty()) {
      item = resumed.back();
      resumed.pop_back();
      resumedCount.store(static_cast<uint32_t>(resumed.size()), std::memory_order_relaxed);
      return true;
    }
  }
  item = claimed.load(std::memory_order_relaxed);
  while (item < pushed.load(std::memory_order_acquire))
    if (claimed.compare_exchange_weak(item, item + 1, std::memory_order_relaxed))
      return true;
  return false;
}

bool Stream::helpOnce(Lane &lane) {
  uint64_t item;
  if (!takeWork(item))
    return false;
  advance(item, lane);
  return true;
}

std::unique_ptr<Frame> Stream::takeFrame(Lane &lane) {
  if (Frame *frame = lane.frame.exchange(nullptr, std::memory_order_acquire))
    return std::unique_ptr<Frame>(frame);
  {
    std::lock_guard<SpinMutex> lock(frameMutex);
    if (!spareFrames.empty()) {
      std::unique_ptr<Frame> frame = std::move(spareFrames.back());
      spareFrames.pop_back();
      return frame;
    }
  }
  return plan.states.empty() ? program->takeFrame() : std::make_unique<Frame>(*program);
}

void Stream::giveFrame(Lane &lane, std::unique_ptr<Frame> frame) {
  std::unique_ptr<Frame> old(lane.frame.exchange(frame.release(), std::memory_order_acq_rel));
  if (!old)
    return;
  std::lock_guard<SpinMutex> lock(frameMutex);
  spareFrames.push_back(std::move(old));
}

// Binds an item's buffers to a frame. States belong to the stream.
Status Stream::beginItem(Slot &slot, Lane &lane) {
  slot.frame = takeFrame(lane);
  if (slot.frame->rebind(slot.raw, slot.outputs))
    return Status();
  for (size_t i = 0; i < plan.states.size(); ++i)
    slot.frame->bindState(plan.states[i], stateMemory[i]);
  TESSERA_TRY(slot.frame->begin(slot.raw, slot.outputs, /*checked=*/true));
  for (size_t i = 0; i < plan.states.size(); ++i)
    if (slot.frame->bytes(plan.states[i]) != stateBytes[i])
      return fail(StatusCode::InvalidArgument, "this item's state has ", slot.frame->bytes(plan.states[i]),
                  " bytes, but the stream began with ", stateBytes[i],
                  "; open another stream for other shapes");
  return Status();
}

// After the last node of a serial section: the states take the content of their `next`.
void Stream::handOver(Slot &slot, const Section &section) {
  for (int32_t s : section.states) {
    int32_t next = plan.values[static_cast<size_t>(plan.values[static_cast<size_t>(s)].next)].root;
    if (next != s)
      std::memmove(slot.frame->memory(s), slot.frame->memory(next), slot.frame->bytes(s));
  }
}

Status Stream::runPhase(Slot &slot, const Phase &phase, Lane &lane, unsigned threads) {
  if (!program->cpuOnly())
    return program->scheduler().launch(
        slot.raw, slot.outputs, plan.states.empty() ? std::span<BufferRef>() : std::span(stateBuffers));
  if (!slot.began) {
    slot.began = true;
    TESSERA_TRY(beginItem(slot, lane));
  }
  if (wholeProgram) {
    TESSERA_TRY(slot.frame->run(threads));
  } else {
    slot.frame->runNodes(phase.first, phase.last, threads);
    // Nothing of what went wrong gets into a state.
    TESSERA_TRY(slot.frame->checkFaults());
  }
  if (phase.section >= 0)
    handOver(slot, sections[static_cast<size_t>(phase.section)]);
  return &phase == &phases.back() ? slot.frame->finish() : Status();
}

// True when it is the item's turn; otherwise the item is parked and belongs to whoever leaves the section.
bool Stream::enter(Section &section, uint64_t item) {
  std::lock_guard<SpinMutex> lock(gateMutex);
  if (section.turn == item)
    return true;
  section.parked[indexOf(item)] = 1;
  return false;
}

void Stream::leave(Section &section) {
  {
    std::lock_guard<SpinMutex> lock(gateMutex);
    uint64_t next = ++section.turn;
    uint8_t &parked = section.parked[indexOf(next)];
    if (!parked)
      return;
    parked = 0;
    resumed.push_back(next);
    resumedCount.store(static_cast<uint32_t>(resumed.size()));
  }
  if (sleepingWorkers.load())
    wakeWorker();
  else if (sleepingHosts.load())
    wakeHosts();
}

// Carries an item through its phases until it is done or has to wait for its turn.
void Stream::advance(uint64_t item, Lane &lane) {
  Slot &slot = slotOf(item);
  const bool timed = isTimed(item) && !gated;
  const uint64_t start = timed ? nowNanoseconds() : 0, mode = setIeeeFloatMode();
  while (slot.phase < phases.size()) {
    const Phase &phase = phases[slot.phase];
    Section *section = phase.section >= 0 ? &sections[static_cast<size_t>(phase.section)] : nullptr;
    if (section && !enter(*section, item)) {
      restoreFloatMode(mode);
      return;
    }
    if (slot.status.ok() && cancelled.load(std::memory_order_relaxed))
      slot.status = fail(StatusCode::Cancelled, "the stream was cancelled");
    if (slot.status.ok()) {
      // Alone, an item may use all threads; with company, items are the better parallelism.
      bool alone = pushed.load(std::memory_order_relaxed) - popped.load(std::memory_order_relaxed) == 1;
      slot.status = runPhase(slot, phase, lane, alone ? program->threads() : 1);
    }
    ++slot.phase;
    if (section)
      leave(*section);
  }
  if (slot.frame)
    giveFrame(lane, std::move(slot.frame));
  restoreFloatMode(mode);
  if (timed)
    learnCost(nowNanoseconds() - start);
  publish(slot.done, item + 1);
  if (sleepingHosts.load())
    wakeHosts();
}

// Kept by the program: its next stream need not find out again.
void Stream::learnCost(uint64_t ns) {
  std::atomic<uint32_t> &cost = program->streamItemNs;
  uint32_t sample = static_cast<uint32_t>(std::min<uint64_t>(ns, UINT32_MAX - 1));
  uint32_t old = cost.load(std::memory_order_relaxed);
  // What was slow once may have been disturbed; what was fast is possible.
  cost.store(sample < old ? sample : old + (sample - old) / 8, std::memory_order_relaxed);
}

//===- The host's side
//-----------------------------------------------------------------------------------===//

bool Stream::runsAtOnce() const {
  return workers.empty() || program->streamItemNs.load(std::memory_order_relaxed) < handOverCost;
}

Status Stream::push(std::span<const BufferRef> inputs, std::span<const BufferRef> outputs, Timeout timeout) {
  std::vector<const BufferRef *> pointers;
  for (const BufferRef &input : inputs)
    pointers.push_back(&input);
  for (const BufferRef &output : outputs)
    pointers.push_back(&output);
  std::span<const BufferRef *const> all(pointers);
  return pushRefs(all.first(inputs.size()), all.subspan(inputs.size()), timeout);
}

Status Stream::pushCopies(std::span<const BufferRef *const> inputs, std::span<const BufferRef *const> outputs,
                          Timeout timeout) {
  std::vector<BufferRef> in, out;
  for (const BufferRef *input : inputs) {
    in.push_back(*input);
    if (!in.back()->aligned(plan.align)) {
      TESSERA_ASSIGN(in.back(), alignedCopy(**input));
    }
  }
  for (const BufferRef *output : outputs)
    out.push_back(output ? *output : nullptr);
  return push(in, out, timeout);
}

void Stream::fill(Slot &slot, std::span<const BufferRef *const> inputs,
                  std::span<const BufferRef *const> outputs) {
  slot.phase = 0;
  slot.began = slot.keepOutputs = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    slot.raw[i] = inputs[i]->get();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i])
      slot.outputs[i] = *outputs[i];
    slot.keepOutputs = slot.keepOutputs || !slot.outputs[i];
  }
  if (slot.keepOutputs)
    reuseOutputs(slot);
}

void Stream::reuseOutputs(Slot &slot) {
  slot.shapes.clear();
  for (const Buffer *input : slot.raw)
    slot.shapes.insert(slot.shapes.end(), input->shape().begin(), input->shape().end());
  // An output made for an earlier item of the same shapes and dropped by its reader serves again.
  bool sameShapes = plan.segments == 1 && plan.loads.empty() && slot.shapes == slot.lastShapes;
  for (size_t i = 0; i < slot.outputs.size(); ++i) {
    if (!slot.outputs[i] && sameShapes && slot.lastOutputs[i] && slot.lastOutputs[i].use_count() == 1)
      slot.outputs[i] = slot.lastOutputs[i];
    slot.lastOutputs[i].reset();
  }
  slot.lastShapes.swap(slot.shapes);
}

// A short item without gates, under pushMutex: no word is said to other threads.
void Stream::runAtOnce(uint64_t item) {
  Slot &slot = slotOf(item);
  const bool timed = isTimed(item);
  const uint64_t start = timed ? nowNanoseconds() : 0, mode = setIeeeFloatMode();
  if (!hostFrame)
    hostFrame = program->takeFrame();
  if (hostFrame->rebind(slot.raw, slot.outputs)) [[likely]] {
    slot.status = hostFrame->runHere();
  } else {
    slot.status = hostFrame->begin(slot.raw, slot.outputs, /*checked=*/true);
    if (slot.status.ok())
      slot.status = hostFrame->runHere();
    if (slot.status.ok())
      slot.status = hostFrame->finish();
  }
  restoreFloatMode(mode);
  if (timed)
    learnCost(nowNanoseconds() - start);
}

// The first item fixes the sizes of the states and fills them.
Status Stream::startStates(Slot &slot) {
  auto frame = std::make_unique<Frame>(*program);
  TESSERA_TRY(frame->begin(slot.raw, slot.outputs, /*checked=*/true));
  for (size_t i = 0; i < plan.states.size(); ++i) {
    stateBytes[i] = frame->bytes(plan.states[i]);
    if (!stateBlocks[i].reserve(stateBytes[i]))
      return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", stateBytes[i],
                  " bytes for a state");
    stateMemory[i] = stateBlocks[i].data();
    std::memcpy(stateMemory[i], frame->memory(plan.states[i]), stateBytes[i]);
  }
  return Status();
}

Status Stream::pushRefs(std::span<const BufferRef *const> inputs, std::span<const BufferRef *const> outputs,
                        Timeout timeout) {
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.inputs.size(),
                " inputs and ", plan.outputs.size(), " outputs, but got ", inputs.size(), " and ",
                outputs.size());
  bool aligned = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer *input = inputs[i] ? inputs[i]->get() : nullptr;
    if (!fitsInput(plan, i, input)) [[unlikely]]
      return checkInput(plan, i, input);
    aligned = aligned && input->aligned(plan.align);
  }
  if (!aligned)
    return pushCopies(inputs, outputs, timeout);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] && *outputs[i] && !(*outputs[i])->aligned(plan.align))
      return fail(StatusCode::InvalidArgument, "output '", plan.outputs[i].name,
                  "': a stream needs memory aligned to 64 bytes; let the stream make the buffer");
  auto full = [&] { return pushed.load() - popped.load() >= limit; };
  std::unique_lock<BiasedMutex> lock(pushMutex);
  if (full() && !closed) {
    Deadline deadline(timeout);
    do {
      lock.unlock();
      if (!waitFor(deadline, [&] { return closed || !full(); }))
        return fail(StatusCode::Timeout, "the stream is full: ", limit, " items wait; pop some");
      lock.lock();
    } while (full() && !closed);
  }
  if (closed)
    return fail(StatusCode::Closed, "the stream is closed");
  const uint64_t item = pushed.load(std::memory_order_relaxed);
  Slot &slot = slotOf(item);
  const bool atOnce = runsAtOnce() && claimed.load(std::memory_order_relaxed) == item;
  fill(slot, inputs, outputs);
  // What is done before we return needs no references to its inputs, and no word to other threads.
  if (atOnce && !gated && !wholeProgram &&
      program->streamItemNs.load(std::memory_order_relaxed) < lockedCost) {
    runAtOnce(item);
    claimed.store(item + 1, std::memory_order_relaxed);
    pushed.store(item + 1, std::memory_order_release);
    publish(slot.done, item + 1);
    const bool sleepers = sleepingHosts.load() != 0;
    lock.unlock();
    if (sleepers)
      wakeHosts();
    return Status();
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    slot.inputs[i] = *inputs[i];
  if (item == 0 && !plan.states.empty() && program->cpuOnly())
    if (Status status = startStates(slot); !status.ok()) {
      std::ranges::fill(slot.inputs, nullptr);
      std::ranges::fill(slot.outputs, nullptr);
      return status;
    }
  // Claimed before it can be seen, the item is ours: nobody else counts up `claimed` while it is equal to
  // `pushed`.
  if (atOnce) {
    claimed.store(item + 1, std::memory_order_relaxed);
    pushed.store(item + 1, std::memory_order_release);
    lock.unlock();
    advance(item, lanes.front());
    return Status();
  }
  publish(pushed, item + 1);
  lock.unlock();
  if (sleepingWorkers.load())
    wakeWorker();
  else if (workers.empty() && sleepingHosts.load())
    wakeHosts();
  return Status();
}

Status Stream::pop(std::span<BufferRef> outputs, Timeout timeout) {
  if (outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.outputs.size(),
                " outputs, but got ", outputs.size());
  auto ended = [&] { return closed && popped.load() == pushed.load(); };
  std::unique_lock<BiasedMutex> lock(popMutex);
  if (!isDone(popped)) {
    Deadline deadline(timeout);
    do {
      lock.unlock();
      if (!waitFor(deadline, [&] { return isDone(popped) || ended(); }))
        return fail(StatusCode::Timeout, "no item was done in time");
      lock.lock();
    } while (!isDone(popped) && !ended());
  }
  const uint64_t item = popped.load(std::memory_order_relaxed);
  if (!isDone(item))
    return fail(StatusCode::Closed, "the stream is closed and empty");
  Slot &slot = slotOf(item);
  Status status = std::move(slot.status);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (slot.keepOutputs)
      slot.lastOutputs[i] = slot.outputs[i];
    outputs[i] = std::move(slot.outputs[i]);
  }
  for (BufferRef &input : slot.inputs)
    input.reset();
  publish(popped, item + 1);
  const bool sleepers = sleepingHosts.load() != 0;
  lock.unlock();
  if (sleepers)
    wakeHosts();
  return status;
}

void Stream::close() {
  uint64_t last;
  {
    std::lock_guard<BiasedMutex> lock(pushMutex);
    closed = true;
    last = pushed;
  }
  wakeHosts();
  for (uint64_t item = popped; item < last; ++item)
    waitFor(Deadline(forever), [&] { return isDone(item); });
}

void Stream::cancel() {
  {
    std::lock_guard<BiasedMutex> lock(pushMutex);
    closed = cancelled = true;
  }
  wakeHosts();
}

} // namespace tessera
