// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Script.h.
#include "tessera/transforms/schedule/Script.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tessera;

LogicalResult schedule::applyScript(Operation *payload, ModuleOp script, StringRef sequence,
                                    const ScriptOptions &options) {
  auto entry = script.lookupSymbol<transform::NamedSequenceOp>(sequence);
  if (!entry) {
    std::string names;
    for (auto other : script.getOps<transform::NamedSequenceOp>())
      names += (names.empty() ? "'" : ", '") + other.getSymName().str() + "'";
    return script.emitError() << "expected a sequence '" << sequence << "' in the script, but got "
                              << (names.empty() ? "none" : names);
  }
  return applySequence(payload, entry, options);
}

LogicalResult schedule::applySequence(Operation *payload, Operation *sequence, const ScriptOptions &options) {
  auto entry = cast<transform::NamedSequenceOp>(sequence);
  auto script = entry->getParentOfType<ModuleOp>();
  StringRef name = entry.getSymName();
  if (entry.isExternal())
    return entry.emitError() << "expected sequence '" << name << "' to have a body";
  transform::TransformOptions interpreter;
  interpreter.enableExpensiveChecks(options.expensiveChecks);
  if (failed(transform::applyTransformNamedSequence(payload, entry, script, interpreter)))
    return failure();
  if (!options.verify || succeeded(verify(payload)))
    return success();
  return entry.emitError() << "sequence '" << name << "' left a program that is not valid";
}

OwningOpRef<ModuleOp> schedule::parseScript(MLIRContext *context, StringRef text, StringRef name) {
  return parseSourceString<ModuleOp>(text, ParserConfig(context), name);
}
