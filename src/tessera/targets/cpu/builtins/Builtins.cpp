// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the embedded builtins of an architecture. The arrays themselves are written by embed.py during the
// build.
#include "tessera/targets/cpu/builtins/Builtins.h"

#define TESSERA_BUILTINS(arch)                                                                               \
  extern const unsigned long tesseraBuiltinsBitcode_##arch##Size, tesseraBuiltinsObject_##arch##Size;        \
  extern const unsigned char tesseraBuiltinsBitcode_##arch[], tesseraBuiltinsObject_##arch[];
TESSERA_BUILTINS(x86_64)
TESSERA_BUILTINS(aarch64)
TESSERA_BUILTINS(riscv64)
#undef TESSERA_BUILTINS

namespace tessera::cpu {

static std::string_view view(const unsigned char *data, unsigned long size) {
  return {reinterpret_cast<const char *>(data), size};
}

#define TESSERA_RETURN(kind, name)                                                                           \
  if (arch == #name)                                                                                         \
    return view(tesseraBuiltins##kind##_##name, tesseraBuiltins##kind##_##name##Size);

std::string_view builtinsBitcode(std::string_view arch) {
  TESSERA_RETURN(Bitcode, x86_64)
  TESSERA_RETURN(Bitcode, aarch64)
  TESSERA_RETURN(Bitcode, riscv64)
  return {};
}

std::string_view builtinsObject(std::string_view arch) {
  TESSERA_RETURN(Object, x86_64)
  TESSERA_RETURN(Object, aarch64)
  TESSERA_RETURN(Object, riscv64)
  return {};
}
#undef TESSERA_RETURN

} // namespace tessera::cpu
