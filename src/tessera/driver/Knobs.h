// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs on the command line and for tuners: configurations read, operations listed.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/tune/tuner/Network.h"

#include <nlohmann/json_fwd.hpp>

namespace tessera {

/// A configuration: "conv1=int8,conv2=bf16", the name of a JSON file {"conv1": "int8", …}, which may also
/// hold it as the member "knobs", or "net.tsr:c3", one that tuning left in a portable object.
Result<KnobMap> readKnobs(const std::string &text);

/// Puts a configuration onto the networks and nodes of a module.
Status applyKnobMap(ModuleOp module, const KnobMap &knobs);

/// Whether one of the patterns stands for the knob: spellings, in which '*' is any characters.
bool matchesAny(const Knob &knob, ArrayRef<std::string> patterns);

/// A copy of a program, whose only public graph gets this name.
Portable copyAs(const Portable &program, const std::string &name);

/// The nodes of graphs that have knobs which the patterns stand for, and those.
std::vector<tune::TunableNode> describeNodes(ModuleOp module, ArrayRef<std::string> patterns);
/// The same of the operations of networks, but for sums. Without the range of its activation an operation
/// does not have the knobs that need it.
std::vector<tune::TunableNode> describeOperations(ModuleOp module, ArrayRef<std::string> patterns);

/// The operations that have knobs: [{"name", "kind", "shape", "flops", "knob", "range"?, "knobs": {knob:
/// cost}}], where a cost is arithmetic in units of f32 and `kind` the mnemonic ("depthwise" for such
/// convolutions).
nlohmann::json listTunable(ModuleOp module);

/// The same for people.
std::string explainKnobs(ModuleOp module);

} // namespace tessera
