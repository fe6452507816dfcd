// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel as LLVM IR → machine code, and the machine code of all of them → one image.
#pragma once

#include "tessera/targets/cpu/Cpu.h"

#include "llvm/Target/TargetMachine.h"

namespace tessera::cpu {

using Object = SmallVector<char, 0>;

/// LLVM's code generator for a machine; null, and why, when there is none.
std::unique_ptr<llvm::TargetMachine> createMachine(const Machine &machine, std::string &error);

/// Names this build of the compiler and of LLVM, for keys of what they have made.
std::string compilerBuild();

/// The object file of a module, of which only the function `kernel` is seen from outside.
Object compileObject(llvm::Module &module, const Machine &machine, StringRef kernel);

/// A name that the image gives to a function of one of its objects.
struct Alias {
  StringRef name, of;
};

/// One ELF image of object files, in which the aliases are the names to be found. What code generation calls
/// on its own comes from the builtins' object.
FailureOr<std::string> linkImage(ArrayRef<StringRef> objects, ArrayRef<Alias> names, Location loc);

} // namespace tessera::cpu
