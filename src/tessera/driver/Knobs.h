// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs on the command line and for tuners: configurations read, operations listed.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"
#include <nlohmann/json_fwd.hpp>

namespace tessera {

/// A configuration: "conv1=int8,conv2=bf16" or the name of a JSON file {"conv1": "int8", …}, which may also
/// hold it as the member "knobs".
Result<KnobMap> readKnobs(const std::string &text);

/// Puts a configuration onto the networks of a module.
Status applyKnobMap(ModuleOp module, const KnobMap &knobs);

/// The operations that have knobs: [{"name", "kind", "shape", "flops", "knob", "range"?, "knobs": {knob:
/// cost}}], where a cost is arithmetic in units of f32 and `kind` the mnemonic ("depthwise" for such
/// convolutions).
nlohmann::json listTunable(ModuleOp module);

/// The same for people.
std::string explainKnobs(ModuleOp module);

} // namespace tessera
