// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hierarchical dataflow graph. This file only gathers the families.
#ifndef TESSERA_IR_DFG_DFG_TD
#define TESSERA_IR_DFG_DFG_TD

include "tessera/ir/dfg/DfgBase.td"
include "tessera/ir/dfg/DfgGraph.td"
include "tessera/ir/dfg/DfgNode.td"
include "tessera/ir/dfg/DfgHost.td"

#endif
