// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Confines a process that reads untrusted programs: it may not write elsewhere, use the network or reach
// other processes. Landlock limits writing, seccomp the system calls; neither can be undone.
#pragma once

#include "tessera/base/Status.h"

#include <string>
#include <vector>

namespace tessera {

struct Confinement {
  /// Files and folders that may be written, with all below them; what does not exist yet stands for its
  /// folder. Everything may be read.
  std::vector<std::string> writable;
  /// Whether files may be written anywhere: a compiler's flags name more outputs than anyone can list.
  bool anyFile = false;
  /// Whether other programs may be started.
  bool programs = false;
};

/// The parts that the kernel supports, for 'tessera doctor' ("Landlock 4, seccomp"); empty when none.
std::string describeSandbox();

/// Confines this process and all that it starts. $TESSERA_SANDBOX: "off" leaves it as it is, "require" makes
/// it an error when the kernel lacks a part; otherwise a missing part is left out.
Status confine(const Confinement &confinement);

} // namespace tessera
