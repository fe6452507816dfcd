// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See TargetList.h.
#include "tessera/driver/TargetList.h"

#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"
#include "tessera/driver/Components.h"

using namespace tessera;

std::pair<std::string, std::string> tessera::splitTarget(StringRef text) {
  auto [name, machine] = text.split(':');
  return {name.str(), machine.str()};
}

FailureOr<TargetList> TargetList::parse(ArrayRef<std::string> texts, const TargetOptions &common,
                                        Location loc) {
  TargetList list;
  auto add = [&](const std::string &name, const std::string &machine) {
    TargetChoice choice{findTarget(name), name, common};
    choice.options.machine = machine;
    // What the host is made for is nobody else's business: others read what stands behind their colon.
    if (!choice.target->isHost())
      choice.options.triple = choice.options.cpu = choice.options.features = "";
    list.choices.push_back(std::move(choice));
  };
  for (const std::string &text : texts) {
    auto [name, machine] = splitTarget(text);
    if (!findTarget(name)) {
      std::vector<std::string> names(getTargetNames());
      return emitError(loc) << unknownName("target", name, "built targets", names);
    }
    if (list.find(name))
      return emitError(loc) << "target '" << name
                            << "' is given twice; a program has code for one machine of each target";
    add(name, machine);
  }
  list.count = list.choices.size();
  if (!list.find(hostTargetName()))
    add(hostTargetName().str(), "");
  for (const TargetChoice &choice : list.choices)
    if (!choice.target->runsHostCode() && failed(choice.target->check(choice.options, loc)))
      return failure();
  list.hostChoice = list.find(hostTargetName());
  return list;
}

const TargetChoice *TargetList::find(StringRef name) const {
  for (const TargetChoice &choice : choices)
    if (choice.name == name)
      return &choice;
  return nullptr;
}

const TargetChoice &TargetList::choiceOf(StringRef name) const {
  const TargetChoice *choice = find(name);
  TESSERA_CHECK(choice) << "a version for '" << name.str() << "', which is none of the targets";
  return *choice;
}

const TargetChoice &TargetList::makerOf(StringRef target) const {
  const TargetChoice &choice = choiceOf(target);
  return choice.target->runsHostCode() ? host() : choice;
}

SmallVector<const TargetChoice *> TargetList::makersOf(dfg::NodeOp node) const {
  SmallVector<const TargetChoice *> makers;
  for (auto version : node.getVersionsAttr().getAsRange<dfg::VersionAttr>())
    if (const TargetChoice *maker = &makerOf(version.getTarget()); !llvm::is_contained(makers, maker))
      makers.push_back(maker);
  return makers;
}
