// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a network in front of each operation that has knobs, for the tuner: programs for the pieces, one for
// each knob, that together are the network.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/tune/tuner/Network.h"

namespace tessera {

/// What the tuner has to know of the only network of a program. Fails (with a diagnostic) when the program is
/// not one network with one input and one output. `patterns` say which knobs are of interest: spellings, in
/// which '*' stands for any characters.
FailureOr<tune::Network> describeNetwork(Portable &program, ArrayRef<std::string> patterns);

/// Pieces as graphs of one module, called tune::Network::programName(segment, index). The same `patterns`.
FailureOr<Portable> cutNetwork(Portable &program, ArrayRef<std::string> patterns,
                               ArrayRef<tune::PieceName> pieces, const tune::Ranges &ranges);

} // namespace tessera
