// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a module says that its programs are to be checked wherever they are installed.
#pragma once

#include "tessera/ir/LLVM.h"

namespace tessera::dfg {

/// On a module, without a value: every access to memory is checked.
inline constexpr StringLiteral checkAccessesAttr = "dfg.check_accesses";

} // namespace tessera::dfg
