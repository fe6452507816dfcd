// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal kernels are stored once. Two kernels are equal when their functions read the same but for their own
// names: shapes that are static, constants and schedules are part of the code, so equal text is equal
// meaning.
#include "tessera/base/Sha256.h"
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace tessera;
using namespace tessera::cpu;

// The text of a kernel with its own name replaced; kernels call nothing that is named after them but their
// body.
static std::string fingerprint(ModuleOp module, StringRef kernel, StringRef bodyName) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (StringRef name : {kernel, bodyName})
    if (auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
      func->print(os, OpPrintingFlags().useLocalScope());
      os << "\n";
    }
  std::string own = ("@" + kernel).str(), neutral;
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
      std::string body = step.kernel + kernelBodySuffix.str();
      auto [it, isNew] = known.try_emplace(fingerprint(kernels, step.kernel, body), step.kernel);
      if (isNew)
        continue;
      for (const std::string &name : {step.kernel, body})
        if (Operation *func = kernels.lookupSymbol(name))
          func->erase();
      step.kernel = it->second;
    }
}
