// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole way from a module to results on a device, in one process: what conformance tests compare with the oracle.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/oracle/Oracle.h"

namespace tessera::conformance {

struct BackendOptions {
  bool strict = true;       ///< no contraction: results without float reductions are bit for bit the oracle's
  unsigned threads = 2;
  std::string device = "cpu";
  bool graphScript = true;  ///< fuse as the default schedule says
};

/// Compiles, installs, loads and runs one graph. Emits diagnostics, or prints the runtime's error, on failure.
FailureOr<std::vector<oracle::Array>> runInstalled(Session &session, ModuleOp module, StringRef graph,
                                                   ArrayRef<oracle::Array> inputs, const BackendOptions &options);

} // namespace tessera::conformance
