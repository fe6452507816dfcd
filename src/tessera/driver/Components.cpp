// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Components.h.
#include "tessera/driver/Components.h"

#include "tessera/base/Check.h"
#include "tessera/targets/KnownNames.h"

#include "llvm/ADT/StringExtras.h"

namespace tessera {
#define TESSERA_FRONTEND(name) std::unique_ptr<Frontend> createFrontend_##name();
#include "tessera/driver/Frontends.inc"
#undef TESSERA_FRONTEND
#define TESSERA_TARGET(name) std::unique_ptr<Target> createTarget_##name();
#include "tessera/driver/Targets.inc"
#undef TESSERA_TARGET
} // namespace tessera

using namespace tessera;

ArrayRef<std::unique_ptr<Frontend>> tessera::getFrontends() {
  static const std::vector<std::unique_ptr<Frontend>> all = [] {
    std::vector<std::unique_ptr<Frontend>> list;
#define TESSERA_FRONTEND(name) list.push_back(createFrontend_##name());
#include "tessera/driver/Frontends.inc"
#undef TESSERA_FRONTEND
    for (auto &frontend : list)
      frontend->targets = knownTargetNames();
    return list;
  }();
  return all;
}

const Frontend *tessera::findFrontend(StringRef path) {
  for (auto &frontend : getFrontends())
    for (const std::string &ending : frontend->extensions())
      if (path.ends_with(ending))
        return frontend.get();
  return nullptr;
}

namespace {
struct Targets {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Target>> all;
  Targets() {
#define TESSERA_TARGET(name)                                                                                 \
  names.push_back(#name);                                                                                    \
  all.push_back(createTarget_##name());
#include "tessera/driver/Targets.inc"
#undef TESSERA_TARGET
  }
};
} // namespace

static const Targets &targets() {
  static const Targets all;
  return all;
}

ArrayRef<std::string> tessera::getTargetNames() { return targets().names; }

TargetNames tessera::knownTargetNames() {
  TargetNames names;
  names.host = {hostTargetName().str()};
  names.gpus.assign(std::begin(known::gpus), std::end(known::gpus));
  names.fpgas.assign(std::begin(known::fpgas), std::end(known::fpgas));
  names.built = getTargetNames().vec();
  return names;
}

const Target *tessera::findTarget(StringRef name) {
  for (auto [n, target] : llvm::zip(targets().names, targets().all))
    if (n == name)
      return target.get();
  return nullptr;
}

StringRef tessera::hostTargetName() {
  static const std::string name = [] {
    for (auto [name, target] : llvm::zip(targets().names, targets().all))
      if (target->isHost())
        return name;
    TESSERA_CHECK(false) << "a build without a target for the host";
    return std::string();
  }();
  return name;
}

const Target &tessera::hostTarget() { return *findTarget(hostTargetName()); }
