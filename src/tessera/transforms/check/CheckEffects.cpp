// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules dfg-e1 to dfg-e6: what memory ports declare against what bodies do.
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/transforms/check/MemoryUses.h"
#include "tessera/transforms/check/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKEFFECTSPASS
#include "tessera/transforms/check/Passes.h.inc"
} // namespace tessera

using namespace tessera;
using namespace tessera::check;

// In the innermost block that holds both, `first` or what it stands in comes before `second`. A write under a
// branch counts: whether it is taken is not decided here.
static bool comesBefore(Operation *first, Operation *second) {
  for (Operation *a = first; a; a = a->getParentOp())
    if (Operation *b = a->getBlock() ? a->getBlock()->findAncestorOpInBlock(*second) : nullptr)
      return a != b && a->isBeforeInBlock(b);
  return false;
}

static void noteInner(InFlightDiagnostic &diag, const MemoryUse &use, StringRef what) {
  if (use.inner != use.op)
    diag.attachNote(use.inner->getLoc()) << "the " << what << " inside is here";
}

namespace {
struct CheckEffects : tessera::impl::CheckEffectsPassBase<CheckEffects> {
  void runOnOperation() override {
    bool failed = false;
    getOperation().walk<WalkOrder::PreOrder>([&](dfg::NodeOp node) {
      for (unsigned i = 0; i < node.getInputs().size(); ++i)
        if (node.getPort(i).isMemory())
          failed |= !checkPort(node, i);
      if (!node.isInternal())
        node.getBody().walk([&](memref::GetGlobalOp global) { failed |= !checkGlobal(node, global); });
    });
    getOperation().walk([](dfg::BufferOp buffer) { checkBuffer(buffer); });
    if (failed)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  // Memory that a program writes comes in 'inout': what counts is its first access.
  static void checkFirstUse(dfg::NodeOp node, Value memory) {
    for (auto [input, arg] : llvm::zip(node.getInputs(), node.getInputArgs())) {
      SmallVector<MemoryUse> uses;
      if (input == memory)
        uses = collectMemoryUses(arg);
      if (uses.empty() || !uses.front().reads)
        continue;
      auto diag = emitWarning(uses.front().op->getLoc())
                  << describeMemory(node, arg) << " is read in " << dfg::describe(node)
                  << " before anything is written there (dfg-e6)";
      diag.attachNote(arg.getLoc()) << "it is made anew for each item, without content; write it first, or "
                                       "list it as an output of the stream";
    }
  }

  // The first node that takes a buffer without a fill value must not look at what is there.
  static void checkBuffer(dfg::BufferOp buffer) {
    SmallVector<MemoryUse> uses = collectMemoryUses(buffer.getMemory());
    if (buffer.getFill() || uses.empty() || !uses.front().reads)
      return;
    auto node = dyn_cast<dfg::NodeOp>(uses.front().op);
    if (node && isFromSource(node))
      return checkFirstUse(node, buffer.getMemory());
    auto diag = uses.front().op->emitWarning()
                << "the content of a buffer is undefined where it is first read (dfg-e6)";
    diag.attachNote(buffer.getLoc())
        << "the buffer is here; give it a 'fill', or write it through an 'out' port first";
  }

  bool checkPort(dfg::NodeOp node, unsigned i) {
    dfg::PortMode mode = node.getPort(i).getMode();
    BlockArgument arg = node.getInputArgs()[i];
    StringRef declared = stringifyPortMode(mode);
    SmallVector<MemoryUse> uses = collectMemoryUses(arg);
    bool written = false, unknown = false;
    for (const MemoryUse &use : uses) {
      written |= use.writes;
      unknown |= use.unknown;
      if (use.unknown) {
        auto diag = use.op->emitRemark()
                    << "could not decide whether '" << use.inner->getName() << "' reads or writes the '"
                    << declared << "' port #" << i << " of node '" << node.getName() << "' (dfg-e5)";
        diag.attachNote(arg.getLoc()) << "the port is here";
        continue;
      }
      if (use.writes && mode == dfg::PortMode::In) {
        auto diag = use.op->emitOpError() << "expected no write through the 'in' port #" << i << " of node '"
                                          << node.getName() << "', but got one (dfg-e1)";
        noteInner(diag, use, "write");
        diag.attachNote(arg.getLoc())
            << "the port is here; declare it 'inout' to read and write, 'out' to write";
        return false;
      }
      auto wroteBefore = [&](const MemoryUse &other) {
        return (other.writes || other.unknown) && comesBefore(other.op, use.op);
      };
      if (use.reads && mode == dfg::PortMode::Out && llvm::none_of(uses, wroteBefore)) {
        auto diag = use.op->emitOpError()
                    << "expected the 'out' port #" << i << " of node '" << node.getName()
                    << "' to be written before it is read, but got a read first (dfg-e2)";
        noteInner(diag, use, "read");
        diag.attachNote(arg.getLoc()) << "the port is here; declare it 'inout' to read what was there before";
        return false;
      }
    }
    if (node.getPort(i).isWritable() && !written && !unknown) {
      auto diag = node.emitWarning() << "'" << declared << "' port #" << i << " of node '" << node.getName()
                                     << "' is never written (dfg-e4)";
      diag.attachNote(arg.getLoc()) << "the port is here; declare it 'in', or leave it out";
    }
    return true;
  }

  bool checkGlobal(dfg::NodeOp node, memref::GetGlobalOp global) {
    for (const MemoryUse &use : collectMemoryUses(global.getResult())) {
      if (!use.writes || !node->isProperAncestor(use.op))
        continue;
      auto diag = use.op->emitOpError()
                  << "expected node '" << node.getName()
                  << "' to write only through its ports, but got a write to the global '" << global.getName()
                  << "' (dfg-e3)";
      noteInner(diag, use, "write");
      diag.attachNote(node.getLoc()) << "the node is here; pass the memory through an 'inout' port";
      return false;
    }
    return true;
  }
};
} // namespace
