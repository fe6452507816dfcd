// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the verifiers of the dialect share: the types an edge may have, the contents of a graph, the life of a
// memref. Only DfgVerify*.cpp include this; other folders ask the questions in Dfg.h.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// Rules dfg-t1 and dfg-m2: `type` may stand on an edge. `what` names its place in the message.
LogicalResult verifyEdgeType(Operation *op, Type type, const Twine &what);

/// Rules dfg-g4, dfg-m4 and dfg-m5: a graph's or internal node's block holds only what may stand there, and
/// no memref is used after it was consumed.
LogicalResult verifyGraphBlock(Operation *op, Block &block);

/// Rules dfg-r3 and dfg-r4: a named reduction fits the element type and has an identity there.
LogicalResult verifyReductionKind(Operation *op, ReductionAttr reduction, Type element, const Twine &what);

/// Rule dfg-r5: a combiner is there and combines elements of this type.
LogicalResult verifyCombinerUse(Operation *op, ReductionAttr reduction, Type element,
                                SymbolTableCollection &symbols);

/// Rules dfg-v3 and dfg-c4: the versions of a node are graphs of its type, none of which leads back to it.
LogicalResult verifyVersions(NodeOp node, SymbolTableCollection &symbols);

/// Rule dfg-b2: no barrier of this leaf stands where control may diverge.
LogicalResult verifyBarriers(NodeOp leaf);

/// Rule dfg-h1: host operations stand outside graphs.
LogicalResult verifyOnHost(Operation *op);

} // namespace tessera::dfg
