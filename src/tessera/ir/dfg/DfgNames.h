// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What messages call memory and nodes. The author of a graph wrote nodes and ports; the author of a C++
// program wrote loops, tasks and variables. A front end of a language says so by the locations of a body's
// arguments: their name is the variable's, with "[]" behind it where elements have subscripts.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// Whether the body of a node is written in another language than graphs.
bool isFromSource(NodeOp node);

/// "loop 'x'" and "task 'x'", or "node 'x'".
std::string describe(NodeOp node);

/// The variable that a piece of memory is; empty where it is a port.
StringRef getVariable(Value memory);

/// "x[3]", "'x'" where the subscripts are not the author's, or "element [3] of port #0 of node 'n'".
std::string describeElement(NodeOp leaf, Value memory, ArrayRef<int64_t> subscripts);

/// "'x'" or "port #0 of node 'n'".
std::string describeMemory(NodeOp leaf, Value memory);

} // namespace tessera::dfg
