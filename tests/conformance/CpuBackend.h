// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole way from a module to results on a device: what conformance tests compare with the oracle. In one
// process for this machine; through files and a command for others.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/oracle/Oracle.h"
#include "tessera/runtime.h"

namespace tessera::conformance {

struct BackendOptions {
  bool strict = true; ///< no contraction: results without float reductions are bit for bit the oracle's
  unsigned threads = 2;
  std::string device = "cpu";    ///< which nodes run on first; the CPU stands behind it
  std::string policy = "static"; ///< how a node's device is chosen
  TargetOptions machine;         ///< triple, CPU and features; empty means this machine
  std::string runner;            ///< a command that is `tessera` on another machine, e.g. under an emulator
};

/// Compiles and installs a module that has not been through the stage `graph`. Returns the file's content.
FailureOr<std::string> installModule(Session &session, ModuleOp module, const BackendOptions &options);

/// An installed program that was opened in this process: may be launched many times.
class OpenProgram {
public:
  OpenProgram() = default;
  OpenProgram(const OpenProgram &) = delete;
  ~OpenProgram();
  /// Both return "" or the runtime's error.
  std::string open(const std::string &installed, dfg::GraphOp graph, const BackendOptions &options);
  std::string run(ArrayRef<oracle::Array> inputs, std::vector<oracle::Array> &results);

private:
  tsr_module *module = nullptr;
  tsr_program *program = nullptr;
  SmallVector<Type> types;
};

/// Runs one graph of an installed program. Prints the runtime's error on failure. `stopped` becomes true when
/// an emulator met a fault of its own (QEMU 7.2 asserts on RISC-V's vector conversions with a static rounding
/// mode).
FailureOr<std::vector<oracle::Array>> runProgram(const std::string &installed, dfg::GraphOp graph,
                                                 ArrayRef<oracle::Array> inputs,
                                                 const BackendOptions &options, bool *stopped = nullptr);

/// Compiles, installs, loads and runs one graph. Emits diagnostics, or prints the runtime's error, on
/// failure.
FailureOr<std::vector<oracle::Array>> runInstalled(Session &session, ModuleOp module, StringRef graph,
                                                   ArrayRef<oracle::Array> inputs,
                                                   const BackendOptions &options);

} // namespace tessera::conformance
