// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between the tasks of a section. Tasks run at the same time unless data flows from one to the other:
// an output of the first that is an input of the second, perhaps by way of other tasks.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

static const Listed *findListed(ArrayRef<Listed> list, const clang::ValueDecl *decl) {
  for (const Listed &listed : list)
    if (listed.size && listed.decl == decl)
      return &listed;
  return nullptr;
}

static bool flows(const Lists &from, const Lists &to) {
  return llvm::any_of(from.outputs, [&](const Listed &out) {
    return out.decl && findListed(to.inputs, out.decl) != nullptr;
  });
}

static std::string describe(const Lists &task) {
  return task.name.empty() ? "task" : "task '" + task.name + "'";
}

void GraphBuilder::checkSection(ArrayRef<Lists> tasks) {
  // Which tasks come before each, in the order of the text.
  std::vector<llvm::BitVector> before(tasks.size(), llvm::BitVector(tasks.size()));
  for (size_t second = 0; second < tasks.size(); ++second)
    for (size_t first = 0; first < second; ++first)
      if (flows(tasks[first], tasks[second])) {
        before[second].set(first);
        before[second] |= before[first];
      }
  for (size_t second = 0; second < tasks.size(); ++second)
    for (size_t first = 0; first < second; ++first) {
      if (before[second].test(first))
        continue;
      auto race = [&](const Listed &one, const Listed &other, bool firstWrites, bool secondWrites) {
        std::string name = one.decl->getNameAsString();
        diag.emitError(other.expr->getBeginLoc(),
                       "this " + describe(tasks[second]) + (secondWrites ? " writes '" : " reads '") + name +
                           "' while another " + (firstWrites ? "writes" : "reads") +
                           " it: nothing orders the two");
        diag.note(one.expr->getBeginLoc(), "the other one is here, " + describe(tasks[first]));
        diag.note(tasks[second].call->getBeginLoc(),
                  firstWrites
                      ? "list '" + name +
                            "' among the inputs of this task as well, so that it waits for the other, or "
                            "give each a buffer of its own"
                      : "make an output of the other task an input of this one, so that it waits, or write "
                        "to a buffer of its own");
        level.failed = true;
      };
      for (const Listed &one : tasks[first].outputs)
        if (one.size && one.decl)
          if (const Listed *other = findListed(tasks[second].outputs, one.decl))
            race(one, *other, true, true);
      for (const Listed &one : tasks[first].inputs)
        if (one.size && one.decl && !findListed(tasks[first].outputs, one.decl))
          if (const Listed *other = findListed(tasks[second].outputs, one.decl))
            race(one, *other, false, true);
    }
}
