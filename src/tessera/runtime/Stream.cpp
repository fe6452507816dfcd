// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams; see Stream.h. One mutex guards the bookkeeping, which is a few dozen
// instructions for each item and phase; kernels run outside of it.
#include "tessera/runtime/Stream.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/runtime/Scheduler.h"
#include "tessera/runtime/Trace.h"

#include <algorithm>
#include <cstring>

namespace tessera {

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

Stream::Stream(std::shared_ptr<Program> p) : program(std::move(p)), plan(program->plan()) {
  wholeProgram = plan.segments > 1 || !program->cpuOnly();
  const int32_t count = static_cast<int32_t>(plan.nodes.size());
  int32_t at = 0;
  if (wholeProgram) {
    if (!plan.states.empty())
      sections.push_back({plan.states, 0, 0});
    phases.push_back({0, count, plan.states.empty() ? -1 : 0});
  } else {
    for (SerialSection &section : findSerialSections(plan)) {
      int32_t first = std::max(section.firstNode, 0);
      if (first > at)
        phases.push_back({at, first, -1});
      phases.push_back({first, section.lastNode + 1, static_cast<int32_t>(sections.size())});
      sections.push_back({std::move(section.states), 0, phases.size() - 1});
      at = section.lastNode + 1;
    }
    if (at < count || phases.empty())
      phases.push_back({at, count, -1});
  }
  size_t capacity = streamCapacity(plan);
  slots = std::vector<Slot>(capacity);
  ready.resize(capacity);
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
    stream->workers.emplace_back([s = stream.get()] { s->workerLoop(); });
  return stream;
}

Stream::~Stream() {
  cancel();
  {
    std::unique_lock<SpinMutex> lock(mutex);
    // Items that a helping thread still runs are finished by it; the rest is skipped here.
    while (finished < pushed)
      if (!helpOnce(lock))
        changed.wait_for(lock, std::chrono::milliseconds(1));
    stopping = true;
    work.notify_all();
  }
  for (std::thread &worker : workers)
    worker.join();
  for (Slot &slot : slots)
    if (slot.frame)
      slot.frame.reset();
}

size_t Stream::size() const {
  std::lock_guard<SpinMutex> lock(mutex);
  return static_cast<size_t>(pushed - popped);
}

void Stream::pushReady(uint32_t slot, bool front) {
  if (front) {
    readyHead = (readyHead + ready.size() - 1) % ready.size();
    ready[readyHead] = slot;
  } else {
    ready[(readyHead + readyCount) % ready.size()] = slot;
  }
  ++readyCount;
  readyHint.store(static_cast<uint32_t>(readyCount), std::memory_order_relaxed);
  if (idleWorkers)
    work.notify_one();
  else if (hostWaiters)
    changed.notify_all();
}

bool Stream::takeReady(uint32_t &slot) {
  if (readyCount == 0)
    return false;
  slot = ready[readyHead];
  readyHead = (readyHead + 1) % ready.size();
  --readyCount;
  readyHint.store(static_cast<uint32_t>(readyCount), std::memory_order_relaxed);
  return true;
}

bool Stream::helpOnce(std::unique_lock<SpinMutex> &lock) {
  uint32_t index;
  if (!takeReady(index))
    return false;
  advance(index, lock);
  return true;
}

// Binds an item's buffers to its frame. States belong to the stream: their memory is made for the first item.
Status Stream::beginItem(Slot &slot) {
  if (!program->cpuOnly())
    return Status();
  if (!slot.frame)
    slot.frame = std::make_unique<Frame>(*program);
  for (size_t i = 0; i < plan.states.size(); ++i)
    if (stateMemory[i])
      slot.frame->bindState(plan.states[i], stateMemory[i]);
  TESSERA_TRY(slot.frame->begin(slot.raw, slot.outputs));
  for (size_t i = 0; i < plan.states.size(); ++i)
    if (slot.frame->bytes(plan.states[i]) != stateBytes[i])
      return fail(StatusCode::InvalidArgument, "this item's state has ", slot.frame->bytes(plan.states[i]),
                  " bytes, but the stream began with ", stateBytes[i],
                  "; open another stream for other shapes");
  return Status();
}

// After the last node of a serial section: the states take the content of their `next`.
Status Stream::handOver(Slot &slot, const Section &section) {
  if (!program->cpuOnly())
    return Status();
  for (int32_t s : section.states) {
    int32_t next = plan.values[static_cast<size_t>(plan.values[static_cast<size_t>(s)].next)].root;
    if (next != s)
      std::memmove(slot.frame->memory(s), slot.frame->memory(next), slot.frame->bytes(s));
  }
  return Status();
}

Status Stream::runPhase(Slot &slot, const Phase &phase, unsigned threads) {
  uint64_t mode = setIeeeFloatMode();
  Status status;
  if (!program->cpuOnly()) {
    status = program->scheduler().launch(
        slot.raw, slot.outputs, plan.states.empty() ? std::span<BufferRef>() : std::span(stateBuffers));
  } else {
    if (!slot.began)
      status = beginItem(slot);
    slot.began = true;
    if (status.ok()) {
      if (wholeProgram)
        status = slot.frame->run(threads);
      else
        slot.frame->runNodes(phase.first, phase.last, threads);
    }
    if (status.ok() && phase.section >= 0)
      status = handOver(slot, sections[static_cast<size_t>(phase.section)]);
    if (status.ok() && &phase == &phases.back())
      status = slot.frame->finish();
  }
  restoreFloatMode(mode);
  return status;
}

// Carries an item through its phases until it is done or has to wait for its turn. Called with the lock held.
void Stream::advance(uint32_t index, std::unique_lock<SpinMutex> &lock) {
  Slot &slot = slots[index];
  while (slot.phase < phases.size()) {
    const Phase &phase = phases[slot.phase];
    Section *section = phase.section >= 0 ? &sections[static_cast<size_t>(phase.section)] : nullptr;
    if (section && section->turn != slot.item) {
      slot.parked = true;
      return;
    }
    if (slot.status.ok() && cancelled)
      slot.status = fail(StatusCode::Cancelled, "the stream was cancelled");
    if (slot.status.ok()) {
      // Alone, an item may use all threads; with company, items are the better parallelism.
      unsigned threads = pushed - finished == 1 ? program->threads() : 1;
      lock.unlock();
      Status status = runPhase(slot, phase, threads);
      lock.lock();
      if (!status.ok())
        slot.status = std::move(status);
    }
    if (section) {
      ++section->turn;
      // The item behind may be waiting at this gate.
      if (section->turn < pushed) {
        Slot &next = slotOf(section->turn);
        if (next.item == section->turn && next.parked && next.phase == section->phase) {
          next.parked = false;
          pushReady(static_cast<uint32_t>(section->turn % slots.size()), /*front=*/true);
        }
      }
    }
    ++slot.phase;
  }
  slot.done = true;
  ++finished;
  progress.fetch_add(1, std::memory_order_relaxed);
  if (hostWaiters)
    changed.notify_all();
}

// Spins until done() or some time has passed: a sleep and its wake-up cost more than a short stage.
template <typename F> static void spinFor(F done) {
  uint64_t until = nowNanoseconds() + 30000;
  while (!done() && nowNanoseconds() < until)
    for (int i = 0; i < 16; ++i)
      spinPause();
}

void Stream::workerLoop() {
  setIeeeFloatMode();
  trace::nameThread("stream");
  std::unique_lock<SpinMutex> lock(mutex);
  for (;;) {
    if (helpOnce(lock))
      continue;
    if (stopping)
      return;
    // Look a little longer before sleeping: the next item is often on its way.
    lock.unlock();
    spinFor([&] { return readyHint.load(std::memory_order_relaxed) != 0; });
    lock.lock();
    if (readyCount || stopping)
      continue;
    ++idleWorkers;
    work.wait(lock, [&] { return readyCount || stopping; });
    --idleWorkers;
  }
}

template <typename F> bool Stream::waitFor(std::unique_lock<SpinMutex> &lock, Timeout timeout, F done) {
  auto deadline = timeout == forever ? std::chrono::steady_clock::time_point::max()
                                     : std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (helpOnce(lock))
      continue;
    if (timeout != forever && std::chrono::steady_clock::now() >= deadline)
      return false;
    uint32_t seen = progress.load(std::memory_order_relaxed);
    lock.unlock();
    spinFor([&] {
      return readyHint.load(std::memory_order_relaxed) != 0 ||
             progress.load(std::memory_order_relaxed) != seen;
    });
    lock.lock();
    if (done() || readyCount)
      continue;
    ++hostWaiters;
    auto stop = [&] { return done() || readyCount; };
    if (timeout == forever)
      changed.wait(lock, stop);
    else
      changed.wait_until(lock, deadline, stop);
    --hostWaiters;
  }
  return true;
}

Status Stream::push(std::span<const BufferRef> inputs, std::span<const BufferRef> outputs, Timeout timeout) {
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.inputs.size(),
                " inputs and ", plan.outputs.size(), " outputs, but got ", inputs.size(), " and ",
                outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    TESSERA_TRY(checkInput(plan, i, inputs[i].get()));
  for (const BufferRef &input : inputs)
    if (!input->aligned()) {
      std::vector<BufferRef> copies(inputs.begin(), inputs.end());
      for (BufferRef &copy : copies)
        if (!copy->aligned()) {
          TESSERA_ASSIGN(copy, alignedCopy(*copy));
        }
      return push(copies, outputs, timeout);
    }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] && !outputs[i]->aligned())
      return fail(StatusCode::InvalidArgument, "output '", plan.outputs[i].name,
                  "': a stream needs memory aligned to 64 bytes; let the stream make the buffer");
  std::unique_lock<SpinMutex> lock(mutex);
  if (!waitFor(lock, timeout, [&] { return closed || pushed - popped < slots.size(); }))
    return fail(StatusCode::Timeout, "the stream is full: ", slots.size(), " items wait; pop some");
  if (closed)
    return fail(StatusCode::Closed, "the stream is closed");
  uint32_t index = static_cast<uint32_t>(pushed % slots.size());
  Slot &slot = slots[index];
  slot.shapes.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    slot.inputs[i] = inputs[i];
    slot.raw[i] = inputs[i].get();
    slot.shapes.insert(slot.shapes.end(), inputs[i]->shape().begin(), inputs[i]->shape().end());
  }
  // An output made for an earlier item of the same shapes and dropped by its reader serves again.
  bool sameShapes = plan.segments == 1 && plan.loads.empty() && slot.shapes == slot.lastShapes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    slot.outputs[i] = outputs[i];
    if (!outputs[i] && sameShapes && slot.lastOutputs[i] && slot.lastOutputs[i].use_count() == 1)
      slot.outputs[i] = slot.lastOutputs[i];
    slot.lastOutputs[i].reset();
  }
  slot.lastShapes.swap(slot.shapes);
  slot.status = Status();
  slot.item = pushed;
  slot.phase = 0;
  slot.done = slot.parked = slot.began = false;
  if (pushed == 0 && !plan.states.empty() && program->cpuOnly()) {
    // The first item fixes the sizes of the states and fills them.
    slot.frame = std::make_unique<Frame>(*program);
    TESSERA_TRY(slot.frame->begin(slot.raw, slot.outputs));
    for (size_t i = 0; i < plan.states.size(); ++i) {
      stateBytes[i] = slot.frame->bytes(plan.states[i]);
      if (!stateBlocks[i].reserve(stateBytes[i]))
        return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", stateBytes[i],
                    " bytes for a state");
      stateMemory[i] = stateBlocks[i].data();
      std::memcpy(stateMemory[i], slot.frame->memory(plan.states[i]), stateBytes[i]);
    }
  }
  ++pushed;
  pushReady(index, /*front=*/false);
  return Status();
}

Status Stream::pop(std::span<BufferRef> outputs, Timeout timeout) {
  if (outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.outputs.size(),
                " outputs, but got ", outputs.size());
  std::unique_lock<SpinMutex> lock(mutex);
  auto there = [&] { return (popped < pushed && slotOf(popped).done) || (closed && popped == pushed); };
  if (!waitFor(lock, timeout, there))
    return fail(StatusCode::Timeout, "no item was done in time");
  if (popped == pushed)
    return fail(StatusCode::Closed, "the stream is closed and empty");
  Slot &slot = slotOf(popped);
  Status status = std::move(slot.status);
  slot.status = Status();
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = slot.outputs[i];
    slot.lastOutputs[i] = std::move(slot.outputs[i]);
  }
  for (BufferRef &input : slot.inputs)
    input.reset();
  ++popped;
  progress.fetch_add(1, std::memory_order_relaxed);
  if (hostWaiters)
    changed.notify_all();
  return status;
}

void Stream::close() {
  std::unique_lock<SpinMutex> lock(mutex);
  closed = true;
  progress.fetch_add(1, std::memory_order_relaxed);
  changed.notify_all();
  waitFor(lock, forever, [&] { return finished == pushed; });
}

void Stream::cancel() {
  std::lock_guard<SpinMutex> lock(mutex);
  closed = cancelled = true;
  progress.fetch_add(1, std::memory_order_relaxed);
  changed.notify_all();
}

} // namespace tessera
