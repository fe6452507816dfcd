// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that installing has compiled before, for this user and this build of the compiler.
#pragma once

#include "tessera/base/Store.h"

namespace tessera::cli {

/// Opens the store, at most as large as TESSERA_STORE says. It is made before the child that uses it is
/// confined to its folder. One that cannot be used is a warning: kernels are compiled then.
Result<Store *> openKernelStore();

} // namespace tessera::cli
