// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a graph says of its inputs and outputs beyond their types, for those who fill and read them.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// Operations know themselves how they take integers; those of a port may be unsigned.
inline bool isUnsigned(GraphOp graph, StringRef port) {
  ArrayAttr names = Notes::unsignedPorts.get(graph);
  return names && llvm::is_contained(names.getAsValueRange<StringAttr>(), port);
}

/// The table of the strings that an output of strings has places in; empty for outputs of numbers.
inline std::vector<std::string> wordsOf(GraphOp graph, StringRef port) {
  std::vector<std::string> words;
  DictionaryAttr tables = Notes::words.get(graph);
  if (auto table = tables ? tables.getAs<ArrayAttr>(port) : ArrayAttr())
    for (StringRef word : table.getAsValueRange<StringAttr>())
      words.push_back(word.str());
  return words;
}

} // namespace tessera::dfg
