// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks. This file only gathers the families.
#ifndef TESSERA_IR_NN_NN_TD
#define TESSERA_IR_NN_NN_TD

include "tessera/ir/nn/NnElementwise.td"
include "tessera/ir/nn/NnReduce.td"
include "tessera/ir/nn/NnContract.td"
include "tessera/ir/nn/NnWindow.td"
include "tessera/ir/nn/NnNorm.td"
include "tessera/ir/nn/NnMove.td"
include "tessera/ir/nn/NnSequence.td"
include "tessera/ir/nn/NnApprox.td"

#endif
