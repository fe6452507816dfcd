// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/driver/Schedule.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tessera;

FailureOr<std::string> tessera::scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                                             const TargetOptions &options) {
  MLIRContext *ctx = lowering.payload.getContext();
  OwningOpRef<ModuleOp> own;
  ModuleOp module = scripts;
  transform::NamedSequenceOp entry;
  if (scripts)
    entry = scripts.lookupSymbol<transform::NamedSequenceOp>(lowering.node.getName());
  std::string text;
  if (!entry) {
    text = target.writeSchedule(lowering.payload, options);
    if (text.empty())
      return text;
    own = parseSourceString<ModuleOp>(text, ParserConfig(ctx), "default-schedule");
    if (!own)
      return failure();
    module = *own;
    entry = module.lookupSymbol<transform::NamedSequenceOp>("schedule");
  } else {
    llvm::raw_string_ostream(text) << entry;
  }
  transform::TransformOptions transformOptions;
  if (failed(transform::applyTransformNamedSequence(lowering.payload, entry, module, transformOptions)) ||
      failed(verify(lowering.payload)))
    return failure();
  return text;
}
