// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera run --target oracle`.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

/// Interprets a graph of a portable object or source file on arrays from files. Returns the exit status.
int runOracle(const std::string &path, const std::string &program, const std::vector<std::string> &inputs,
              const std::vector<std::string> &outputs);

} // namespace tessera::cli
