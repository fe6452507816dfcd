// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that are written over an operand. Kernels promise that no two of their arguments overlap, so both
// must be one argument.
#include "tessera/targets/cpu/Cpu.h"

#include "tessera/transforms/leaf/Payload.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace tessera;
using namespace tessera::cpu;

// The first and the last operation of the payload that touches the elements of a buffer, or of a view of it.
static std::pair<Operation *, Operation *> findUses(Value buffer, Block *entry) {
  Operation *first = nullptr, *last = nullptr;
  SmallVector<Value> work = {buffer};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<memref::DimOp>(user))
        continue;
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(work, user->getResults());
        continue;
      }
      Operation *top = entry->findAncestorOpInBlock(*user);
      if (!first || top->isBeforeInBlock(first))
        first = top;
      if (!last || last->isBeforeInBlock(top))
        last = top;
    }
  return {first, last};
}

void cpu::mergeInPlace(func::FuncOp payload, plan::Env &env) {
  Block *entry = &payload.getBody().front();
  for (BlockArgument result : entry->getArguments()) {
    IntegerAttr number = SharedNotes::inPlace.getOf(payload, result.getArgNumber());
    if (!number)
      continue;
    BlockArgument operand = entry->getArgument(number.getInt());
    Operation *firstWrite = findUses(result, entry).first, *lastRead = findUses(operand, entry).second;
    bool inOrder = !firstWrite || !lastRead || !firstWrite->isBeforeInBlock(lastRead);
    if (inOrder && result.getType() == operand.getType()) {
      result.replaceAllUsesWith(operand);
      continue;
    }
    plan::Value &value = env.program.values[env.values.lookup(result)];
    value.kind = ValueKind::Temp;
    value.of = -1;
  }
}
