// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a graph says of its inputs and outputs beyond their types, for those who fill and read them.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// On a graph: the names of the inputs and outputs whose integers are unsigned. Types have no sign;
/// operations know themselves how they take their operands.
inline constexpr StringLiteral unsignedAttr = "dfg.unsigned";

/// On a graph: for outputs that are strings, by name, the table that their elements (i64) are places in.
inline constexpr StringLiteral wordsAttr = "dfg.words";

inline bool isUnsigned(GraphOp graph, StringRef port) {
  auto names = graph->getAttrOfType<ArrayAttr>(unsignedAttr);
  return names && llvm::is_contained(names.getAsValueRange<StringAttr>(), port);
}

/// That table; empty for outputs of numbers.
inline std::vector<std::string> wordsOf(GraphOp graph, StringRef port) {
  std::vector<std::string> words;
  auto tables = graph->getAttrOfType<DictionaryAttr>(wordsAttr);
  if (auto table = tables ? tables.getAs<ArrayAttr>(port) : ArrayAttr())
    for (StringRef word : table.getAsValueRange<StringAttr>())
      words.push_back(word.str());
  return words;
}

} // namespace tessera::dfg
