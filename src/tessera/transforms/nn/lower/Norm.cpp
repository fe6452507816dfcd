// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of normalisations.
#include "tessera/transforms/nn/lower/Support.h"

using namespace tessera;
using namespace tessera::nn;

void nn::populateNorm(RewritePatternSet &patterns) {}
