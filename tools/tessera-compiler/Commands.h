// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of `tessera` that need the compiler. Each adds itself to the command line and returns an
// exit status when it was chosen.
#pragma once

#include "tessera/base/Sandbox.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tessera::cli {

inline constexpr const char *modeHelp =
    "fast (default), or strict: no contraction of float operations; ',unchecked' leaves out the checks of "
    "indices and divisors in the data: wrong data then gives undefined results";
inline constexpr const char *checkHelp = "check every memory access and every division, and report the place "
                                         "of a mistake instead of crashing; slow, for debugging";

/// Runs the chosen subcommand; set by the subcommand's callback.
using Action = std::function<int()>;

void addCompile(CLI::App &app, Action &action);
void addCalibrate(CLI::App &app, Action &action);
void addInstall(CLI::App &app, Action &action);
/// run and bench.
void addRun(CLI::App &app, Action &action);
void addExplain(CLI::App &app, Action &action);
void addTune(CLI::App &app, Action &action);
/// Whether `install` was given an executable, not a portable object.
bool isExecutable(const std::string &path);
/// Specialises the graphs that an executable carries, into the cache where it looks for them.
int installExecutable(const std::string &path);

/// `tessera cc`: takes all its arguments as a C++ compiler does.
int runCc(std::vector<std::string> args);

/// Prints "error: text" and returns 1.
int fail(const std::string &text);

/// The folder of this executable, where its siblings are.
std::string executableFolder();

/// Reports what `work` returns; when it dies of a signal or of its limits, says so. The work runs in a child
/// process that may do what `allowed` says and no more: the readers of MLIR were not made for hostile input.
/// `interrupted` is said when a signal ended it.
int supervise(const Confinement &allowed, const std::function<int()> &work,
              const std::string &interrupted = "interrupted; nothing was written");

/// What `supervise` allows a command that writes `files` (empty names are left out) and starts no program.
Confinement mayWrite(std::vector<std::string> files);

/// While it lives, the process may use only so much processor time: for reading untrusted files, and,
/// when TESSERA_TIME_LIMIT is set, for installing.
struct TimeLimit {
  enum Of { Reading, Installing };
  explicit TimeLimit(Of of);
  ~TimeLimit();
};

} // namespace tessera::cli
