// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers. Each instance of a leaf that has one is a fiber; all of them run to the barrier, then all go on.
#include "tessera/oracle/Nodes.h"

#include <sys/mman.h>

using namespace tessera;
using namespace tessera::oracle;

// Pages are used only as far as an instance really nests.
static constexpr size_t stackSize = size_t(512) << 10;

Fiber::Fiber(const Exec &parent, const Code &code) : exec(parent), code(code), frame(code.slots) {
  exec.frame = frame.data();
  exec.fiber = this;
  stack = mmap(nullptr, stackSize, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED)
    llvm::report_fatal_error("out of memory for the stack of an instance");
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = stackSize;
  context.uc_link = &scheduler;
  // makecontext passes ints only.
  auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
}

Fiber::~Fiber() { munmap(stack, stackSize); }

void Fiber::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<Fiber *>(static_cast<uintptr_t>(high) << 32 | low);
  self->status = self->exec.run(self->code.region, self->args, self->results);
  self->isDone = true;
  self->waiting = nullptr;
}

void Fiber::resume() { swapcontext(&scheduler, &context); }

void Fiber::wait(const Inst &barrier) {
  waiting = &barrier;
  swapcontext(&context, &scheduler);
}

// Lets fibers that will never be needed again leave their functions, so that what these own is freed.
static void cancel(std::vector<std::unique_ptr<Fiber>> &fibers) {
  for (std::unique_ptr<Fiber> &fiber : fibers)
    if (fiber->waiting) {
      fiber->isCancelled = true;
      fiber->resume();
    }
}

LogicalResult oracle::runPhases(Exec &x, const Inst &inst, LeafRun &leaf,
                                std::vector<std::unique_ptr<Fiber>> &fibers) {
  while (true) {
    uint64_t epoch = x.interpreter.nextEpoch();
    const Fiber *waiting = nullptr, *finished = nullptr, *elsewhere = nullptr;
    for (std::unique_ptr<Fiber> &fiber : fibers) {
      if (leaf.level < fiber->exec.levels.size())
        fiber->exec.levels[leaf.level].epoch = epoch;
      fiber->resume();
      if (failed(fiber->status)) {
        cancel(fibers);
        return failure();
      }
      if (fiber->isDone)
        finished = fiber.get();
      else if (waiting && waiting->waiting != fiber->waiting)
        elsewhere = fiber.get();
      else
        waiting = fiber.get();
    }
    if (!waiting)
      return success();
    const Fiber *other = finished ? finished : elsewhere;
    if (!other)
      continue;
    const Level &level = other->exec.levels[leaf.level];
    std::string who = level.describe(level.instance);
    (void)waiting->exec.error(*waiting->waiting,
                              "is not reached by all instances: instance " + who + " of node '" +
                                  leaf.node.getName() + "' " +
                                  (finished ? "has finished" : "waits at another barrier"));
    cancel(fibers);
    return failure();
  }
}
