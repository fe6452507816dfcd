// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one object of libtessera.so: it names every function of the C interface, so that
// the linker takes what they need out of the static libraries.
#include "tessera/runtime/capi/CApi.cpp"
#include "tessera/runtime/hetero/Hetero.cpp"
#include "tessera/runtime/hetero/HeteroPack.cpp"
