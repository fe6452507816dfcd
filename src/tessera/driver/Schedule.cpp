// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/driver/Schedule.h"

#include "tessera/transforms/graph/DefaultGraphScript.h"
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
    text = graph::writeGraphScript(program);
    own.push_back(schedule::parseScript(program.getContext(), text, "default schedule of the graph"));
    if (!own.back())
      return failure();
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
    std::string text = target.writeSchedule(lowering.payload, options);
    if (text.empty())
      return success();
    lowering.version.script = text;
    // The first line says in words what the script does.
    lowering.version.note = StringRef(text).split('\n').first.ltrim("/ ").str();
    own.push_back(
        schedule::parseScript(lowering.payload.getContext(), text, "default schedule of '" + name + "'"));
    if (!own.back())
      return failure();
    lowering.script = *own.back();
    lowering.sequence = "schedule";
  }
  return schedule::applyScript(lowering.payload, lowering.script, lowering.sequence);
}
