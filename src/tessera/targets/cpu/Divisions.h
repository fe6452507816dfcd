// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pass over LLVM's IR that takes divisions out of loops.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::cpu {

/// Computes divisions whose operands do not change in a loop before the loop; runs right before the
/// vectoriser.
struct HoistDivisions : llvm::PassInfoMixin<HoistDivisions> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tessera::cpu
