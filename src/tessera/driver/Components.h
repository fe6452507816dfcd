// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets and front ends that were built in. Each is a folder; the lists are written by CMake.
#pragma once

#include "tessera/frontends/Frontend.h"
#include "tessera/targets/Target.h"

namespace tessera {

/// All front ends, made once.
ArrayRef<std::unique_ptr<Frontend>> getFrontends();
/// The front end that reads a file of this name; null when none does.
const Frontend *findFrontend(StringRef path);

/// The names of all targets.
ArrayRef<std::string> getTargetNames();
/// The names that programs may use for targets: those of all targets, and those of devices that other builds
/// have.
TargetNames knownTargetNames();
/// A target by name; null when it was not built.
const Target *findTarget(StringRef name);
/// The target whose code the program's own process runs, and its name.
const Target &hostTarget();
StringRef hostTargetName();

} // namespace tessera
