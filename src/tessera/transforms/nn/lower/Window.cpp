// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of windowed reductions and resampling.
#include "tessera/transforms/nn/lower/Support.h"

using namespace tessera;
using namespace tessera::nn;

void nn::populateWindow(RewritePatternSet &patterns) {}
