// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets of one installation, with the machine that each was asked for.
#pragma once

#include "tessera/targets/Target.h"

namespace tessera {

struct TargetChoice {
  const Target *target;
  std::string name;
  TargetOptions options;
};

/// `cuda:sm_90a` → the target's name and its machine, which may be empty.
std::pair<std::string, std::string> splitTarget(StringRef text);

class TargetList {
public:
  /// Reads "name" or "name:machine", in order of preference. Emits a diagnostic when a target was not built,
  /// stands there twice or does not know its machine. `common` holds for all of them.
  static FailureOr<TargetList> parse(ArrayRef<std::string> texts, const TargetOptions &common, Location loc);

  ArrayRef<TargetChoice> asked() const { return ArrayRef(choices).take_front(count); }
  /// The one for the machine that loads the program; it has code there whether it was asked for or not.
  const TargetChoice &host() const { return *hostChoice; }
  /// The one of that name, which must be there.
  const TargetChoice &choiceOf(StringRef name) const;
  /// Who makes the code for a target's versions.
  const TargetChoice &makerOf(StringRef target) const;
  /// Those who make code for the versions of a node that was placed, each once.
  SmallVector<const TargetChoice *> makersOf(dfg::NodeOp node) const;

private:
  const TargetChoice *find(StringRef name) const;

  std::vector<TargetChoice> choices; ///< the host last, where nobody asked for it
  size_t count = 0;
  const TargetChoice *hostChoice = nullptr;
};

} // namespace tessera
