// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See DfgNames.h.
#include "tessera/ir/dfg/DfgNames.h"

using namespace tessera;
using namespace tessera::dfg;

static NameLoc getName(Value value) { return dyn_cast<NameLoc>(value.getLoc()); }

bool dfg::isFromSource(NodeOp node) {
  return llvm::any_of(node.getBodyBlock()->getArguments(),
                      [](BlockArgument arg) { return getName(arg) != nullptr; });
}

std::string dfg::describe(NodeOp node) {
  StringRef kind = !isFromSource(node) ? "node" : node.getRank() ? "loop" : "task";
  return (kind + " '" + node.getName() + "'").str();
}

StringRef dfg::getVariable(Value memory) {
  NameLoc name = getName(memory);
  return name ? name.getName().getValue() : StringRef();
}

std::string dfg::describeMemory(NodeOp leaf, Value memory) {
  StringRef variable = getVariable(memory);
  variable.consume_back("[]");
  if (!variable.empty())
    return ("'" + variable + "'").str();
  auto arg = dyn_cast<BlockArgument>(memory);
  return (arg ? "port #" + std::to_string(arg.getArgNumber() - leaf.getRank()) : "scratch memory") + " of " +
         describe(leaf);
}

std::string dfg::describeElement(NodeOp leaf, Value memory, ArrayRef<int64_t> subscripts) {
  std::string list;
  llvm::raw_string_ostream os(list);
  llvm::interleaveComma(subscripts, os);
  StringRef variable = getVariable(memory);
  if (variable.consume_back("[]"))
    return (variable + "[" + list + "]").str();
  return (variable.empty() ? "element [" + list + "] of " : "") + describeMemory(leaf, memory);
}
