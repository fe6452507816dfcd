// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that kernels may call: mathematics, memory, 16-bit floats, 128-bit integers. A kernel links
// no other library. README.md lists them with their accuracy and says how the two forms are used.
#pragma once

#include <string_view>

namespace tessera::cpu {

/// LLVM bitcode to link into a module of kernels before optimisation, so that calls of `expf` and its like
/// are inlined and vectorised. `arch` is "x86_64", "aarch64" or "riscv64"; empty for any other. It is aligned
/// to 16.
std::string_view builtinsBitcode(std::string_view arch);

/// The same functions as a relocatable ELF object, for the names that code generation itself introduces.
std::string_view builtinsObject(std::string_view arch);

} // namespace tessera::cpu
