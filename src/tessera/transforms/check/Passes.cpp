// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Passes.h.
#include "tessera/transforms/check/Passes.h"

void tessera::registerCheckPasses() { registerTesseraCheckPasses(); }
