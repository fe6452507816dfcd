// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `dfg` dialect as C++ classes: the dialect, its types, attributes and operations, and the few
// questions about reductions that every user of the graph asks.
#pragma once

#include "tessera/ir/LLVM.h"
#include "tessera/ir/note/Notes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tessera::dfg {

/// Where notes may stand, and what their values must be beyond their types.
bool isOfGraph(Operation *op);
LogicalResult verifyKnob(Operation *op, Attribute knob);
LogicalResult verifyVersions(Operation *op, Attribute versions);
LogicalResult verifyFirst(Operation *op, Attribute first);
LogicalResult verifyUnsigned(Operation *op, Attribute names);

} // namespace tessera::dfg

#include "tessera/ir/dfg/DfgDialect.h.inc"
#include "tessera/ir/dfg/DfgEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tessera/ir/dfg/DfgTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tessera/ir/dfg/DfgAttrs.h.inc"

namespace tessera::dfg {
class YieldOp;
using Notes = DfgDialect::Notes;
} // namespace tessera::dfg

#define GET_OP_CLASSES
#include "tessera/ir/dfg/Dfg.h.inc"

namespace tessera::dfg {

/// The kind combines floats (otherwise integers or index).
bool isFloatReduction(ReductionKind kind);

/// The kind's identity for an element of this type: 0 for a sum, -inf for a maximum.
TypedAttr getIdentity(ReductionKind kind, Type type);

/// The identity of a named reduction or of a combiner looked up from `from`; null when there is none.
TypedAttr getIdentity(ReductionAttr reduction, Type type, Operation *from);

/// Builds the combination of two scalars by a named kind. A float sum or product gets the fast-math flags
/// given.
Value buildCombine(OpBuilder &b, Location loc, ReductionKind kind, Value lhs, Value rhs,
                   arith::FastMathFlags flags = arith::FastMathFlags::none);

/// The same for a named kind or a combiner, whose body is copied in place.
Value buildCombine(OpBuilder &b, Location loc, ReductionAttr reduction, Value lhs, Value rhs, Operation *from,
                   arith::FastMathFlags flags = arith::FastMathFlags::none);

/// Operations that may stand in a graph or an internal node beside nodes, calls, buffers and states: they
/// compute extents, make views or constants, and have no effect.
bool isWiring(Operation *op);

/// The leaf that an operation of a leaf's body belongs to; null outside a leaf.
NodeOp getEnclosingLeaf(Operation *op);

} // namespace tessera::dfg
