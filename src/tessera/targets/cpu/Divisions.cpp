// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions in loops that do not depend on the round. LLVM's vectoriser makes one of such a division under a
// condition, and asks the condition of the first lane only (seen in LLVM 22: `if (i == 13) x = a[14 % n]`
// reads anywhere). So they are computed before the loop, with a divisor that cannot trap.
#include "tessera/targets/cpu/Divisions.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

static bool isDivision(const Instruction &op) {
  switch (op.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return true;
  default:
    return false;
  }
}

// Where the program divides, the divisor is as it was; elsewhere nobody looks at the result.
static Value *buildBefore(BinaryOperator &op, Instruction *end) {
  IRBuilder<> b(end);
  Type *type = op.getType();
  bool isSigned = op.getOpcode() == Instruction::SDiv || op.getOpcode() == Instruction::SRem;
  Value *dividend = b.CreateFreeze(op.getOperand(0)), *divisor = b.CreateFreeze(op.getOperand(1));
  Value *traps = b.CreateICmpEQ(divisor, Constant::getNullValue(type));
  if (isSigned) {
    APInt least = APInt::getSignedMinValue(type->getScalarSizeInBits());
    traps = b.CreateOr(traps, b.CreateAnd(b.CreateICmpEQ(dividend, ConstantInt::get(type, least)),
                                          b.CreateICmpEQ(divisor, Constant::getAllOnesValue(type))));
  }
  divisor = b.CreateSelect(traps, ConstantInt::get(type, 1), divisor);
  return b.CreateBinOp(op.getOpcode(), dividend, divisor, op.getName());
}

PreservedAnalyses tessera::cpu::HoistDivisions::run(Function &function, FunctionAnalysisManager &analyses) {
  bool changed = false;
  // Inner loops first: what leaves one may leave the next.
  SmallVector<Loop *> loops = analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder();
  for (Loop *loop : reverse(loops)) {
    BasicBlock *before = loop->getLoopPreheader();
    if (!before)
      continue;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &op : make_early_inc_range(*block)) {
        if (!isDivision(op) || !loop->hasLoopInvariantOperands(&op))
          continue;
        op.replaceAllUsesWith(buildBefore(cast<BinaryOperator>(op), before->getTerminator()));
        op.eraseFromParent();
        changed = true;
      }
  }
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
