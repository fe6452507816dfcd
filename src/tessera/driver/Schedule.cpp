// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/driver/Schedule.h"

#include "tessera/transforms/schedule/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Script.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"

using namespace tessera;

FailureOr<std::string> tessera::scheduleGraph(ModuleOp program, ModuleOp scripts,
                                              std::vector<OwningOpRef<ModuleOp>> &own) {
  std::string text;
  ModuleOp script = scripts;
  if (scripts && scripts.lookupSymbol<transform::NamedSequenceOp>("graph")) {
    llvm::raw_string_ostream(text) << *scripts.lookupSymbol("graph");
  } else {
    schedule::Script written = schedule::writeGraphScript(program);
    text = std::move(written.text);
    own.push_back(std::move(written.module));
    script = *own.back();
  }
  if (failed(schedule::applyScript(program, script, "graph")))
    return failure();
  return text;
}

LogicalResult tessera::scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                                    std::vector<OwningOpRef<ModuleOp>> &own, const TargetOptions &options) {
  std::string name = lowering.node.getName().str();
  if (scripts && scripts.lookupSymbol<transform::NamedSequenceOp>(name)) {
    lowering.script = scripts;
    lowering.version.note = "the user's schedule";
    lowering.sequence = name;
    llvm::raw_string_ostream os(lowering.version.script);
    for (const std::string &sequence : {name, name + "_loops"})
      if (Operation *op = scripts.lookupSymbol(sequence))
        os << *op << "\n";
  } else {
    schedule::Script script = target.writeSchedule(lowering.payload, options);
    if (!script.module)
      return success();
    lowering.version.script = std::move(script.text);
    lowering.version.note = std::move(script.note);
    own.push_back(std::move(script.module));
    lowering.script = *own.back();
    lowering.sequence = "schedule";
  }
  return schedule::applyScript(lowering.payload, lowering.script, lowering.sequence);
}
