// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/transforms/nn/lower/Support.h"

using namespace tessera;
using namespace tessera::nn;

void nn::populateCast(RewritePatternSet &patterns) {}
