// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the subcommands of `tessera` share.
#pragma once

#include "tessera/base/Json.h"
#include "tessera/base/Npy.h"
#include "tessera/runtime/program/Program.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::tool {

/// Options of every command that opens a program.
struct OpenOptions {
  std::string file, program, configuration, policy = "static", devices;
  unsigned threads = 0;
  void add(CLI::App &app);
  Result<std::shared_ptr<Program>> open(bool profile) const;
};

/// Inputs of a program: from files, or random by seed.
class Inputs {
public:
  std::vector<std::string> files; ///< "name=f.npy", or a .npz whose arrays have the names.
  std::vector<std::string> dims;  ///< "name:0=512", for random inputs.
  uint64_t seed = 1;
  void add(CLI::App &app, bool random);
  /// Buffers in the plan's order. Without `random`, every input must be given.
  Result<std::vector<BufferRef>> load(const ProgramPlan &plan, bool random);

private:
  std::vector<NpyArray> keep;
};

/// Reads "name=value"; a failed Status names the option.
Result<std::pair<std::string, std::string>> splitPair(const std::string &text, const char *option);
std::vector<std::string> splitList(const std::string &text);
/// The files of "name=file" or "file", after `more`.
std::vector<std::string> fileNames(std::span<const std::string> texts, std::vector<std::string> more);
/// Calls of a command: reports a failure on standard error and gives the exit status.
int finish(const Status &status);

/// Arithmetic operations and bytes of memory of one launch, as the plan estimates them.
struct Work {
  double flops = 0, bytes = 0;
};
/// Those of the latest launch of a program that was opened with `profile`.
Work workOf(Program &program);

/// Prints what the section `meta` says of the portfolio of `program` ("": of all); nothing when it was not
/// measured.
void printPortfolio(const std::string &meta, const std::string &program);

/// Subcommands: each adds itself to the application and sets `action` when chosen.
using Action = std::function<Status()>;
void addRun(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addEval(CLI::App &app, Action &action);
void addCompare(CLI::App &app, Action &action);
void addVerify(CLI::App &app, Action &action);
void addExplain(CLI::App &app, Action &action);
void addReport(CLI::App &app, Action &action);
void addMachine(CLI::App &app, Action &action);
void addSign(CLI::App &app, Action &action);

/// Where tessera-compiler is, or "" when it is not installed.
std::string compilerPath();
/// Replaces this process by tessera-compiler with the same arguments; returns only when that fails.
Status forwardToCompiler(int argc, char **argv);

} // namespace tessera::tool
