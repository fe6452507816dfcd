// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that every command makes of its output: no output file is also an input, and all that was printed
// has been written.
#pragma once

#include "tessera/base/Status.h"

#include <string>
#include <vector>

namespace tessera {

/// Fails when an output is the same file as an input, also by another path or through links, or as another
/// output. Empty names and "-" are none; devices and pipes may be named twice.
Status checkOutputs(const std::vector<std::string> &inputs, const std::vector<std::string> &outputs);

/// Fails when something that was printed to standard output (stdio's or the stream's) could not be written.
Status flushStandardOutput();

} // namespace tessera
