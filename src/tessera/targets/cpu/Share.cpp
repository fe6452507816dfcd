// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal kernels are compiled once. Two kernels are equal when their functions read the same but for their own
// names, and the same is still to be done to their loops: shapes that are static, constants and schedules are
// part of the code, so equal text is equal meaning.
#include "tessera/base/Sha256.h"
#include "tessera/targets/cpu/Cpu.h"

using namespace tessera;
using namespace tessera::cpu;

// The steps of a sequence, whatever it is called and for whatever node it is.
static void printSteps(Operation *sequence, llvm::raw_ostream &os) {
  Operation *copy = sequence->clone();
  copy->setDiscardableAttrs(DictionaryAttr::get(copy->getContext()));
  SymbolTable::setSymbolName(copy, "loops");
  os << *copy << "\n";
  copy->destroy();
}

// The text of a kernel with its own name replaced.
static std::string fingerprint(func::FuncOp kernel, Operation *script) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (script)
    printSteps(script, os);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  std::string own = ("@" + kernel.getName()).str(), neutral;
  for (size_t at = 0; at < text.size();) {
    size_t next = text.find(own, at);
    neutral.append(text, at, next - at);
    if (next == std::string::npos)
      break;
    neutral += "@";
    at = next + own.size();
  }
  Sha256Digest digest = sha256({reinterpret_cast<const std::byte *>(neutral.data()), neutral.size()});
  return std::string(reinterpret_cast<const char *>(digest.data()), digest.size());
}

void cpu::shareKernels(ModuleOp kernels, MutableArrayRef<NodeLowering> nodes) {
  llvm::StringMap<std::string> known; // fingerprint → the kernel that is kept
  for (NodeLowering &node : nodes)
    for (plan::Step &step : node.version.steps) {
      auto kernel = kernels.lookupSymbol<func::FuncOp>(step.kernel);
      auto [it, isNew] = known.try_emplace(fingerprint(kernel, node.loops), step.kernel);
      if (isNew)
        continue;
      kernel.erase();
      step.kernel = it->second;
    }
}
