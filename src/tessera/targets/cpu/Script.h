// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of the default scheduler share: the script that they write together.
#pragma once

#include "tessera/transforms/leaf/Rewrites.h"
#include "tessera/transforms/schedule/ScriptBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::cpu {

/// The script of one node while its parts are written.
struct Writer {
  explicit Writer(MLIRContext *context) : script(context) {}

  schedule::ScriptBuilder script;
  schedule::Steps payload = script.addSequence("payload", schedule::Phase::Payload, "payload");
  schedule::Steps loops = script.addSequence("loops", schedule::Phase::Loops, "kernel");
};

/// The number by which a script finds an operation.
inline int64_t numberOf(Operation *op) {
  IntegerAttr number = SharedNotes::number.get(op);
  return number ? number.getInt() : -1;
}

/// The step that finds an operation of the payload by its number.
inline NamedAttribute numberedAs(Operation *op) {
  return {StringAttr::get(op->getContext(), SharedNotes::number.name), SharedNotes::number.get(op)};
}

/// Passes over the same rows (a softmax, a normalisation): one task for each row does all of them, so that
/// the row stays in the first cache. False, and nothing written, where the payload is something else.
bool writeRows(Writer &out, func::FuncOp payload);

} // namespace tessera::cpu
