// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a graph says of its inputs and outputs beyond their types, for those who fill and read them.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// On a graph: the names of the inputs and outputs whose integers are unsigned. Types have no sign;
/// operations know themselves how they take their operands.
inline constexpr StringLiteral unsignedAttr = "dfg.unsigned";

inline bool isUnsigned(GraphOp graph, StringRef port) {
  auto names = graph->getAttrOfType<ArrayAttr>(unsignedAttr);
  return names && llvm::is_contained(names.getAsValueRange<StringAttr>(), port);
}

} // namespace tessera::dfg
