// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/driver/Schedule.h"

#include "tessera/transforms/schedule/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Legality.h"
#include "tessera/transforms/schedule/Script.h"
#include "tessera/transforms/schedule/Sequences.h"

using namespace tessera;
using schedule::Phase;
using transform::NamedSequenceOp;

static std::string print(ArrayRef<Operation *> sequences) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Operation *sequence : sequences)
    if (sequence)
      schedule::printSequence(sequence, os);
  return text;
}

LogicalResult tessera::adoptScripts(ModuleOp program, ModuleOp scripts) {
  if (!scripts)
    return success();
  if (failed(schedule::checkSequences(scripts)) || failed(schedule::checkSteps(scripts)))
    return failure();
  schedule::markNodes(program, scripts);
  return success();
}

FailureOr<std::string> tessera::scheduleGraph(ModuleOp program, ModuleOp scripts,
                                              std::vector<OwningOpRef<ModuleOp>> &own) {
  // The file may come from an older compiler, or from anyone.
  if (failed(adoptScripts(program, scripts)))
    return failure();
  if (scripts)
    schedule::addStepChecks(scripts);
  FailureOr<NamedSequenceOp> sequence = schedule::findSequence(scripts, Phase::Graph);
  if (failed(sequence))
    return failure();
  std::string text;
  if (*sequence) {
    text = print({*sequence});
  } else {
    schedule::Script script = schedule::writeGraphScript(program);
    text = schedule::printScript(script, "default schedule of the graph");
    *sequence = *script.module->getOps<NamedSequenceOp>().begin();
    own.push_back(std::move(script.module));
  }
  if (failed(schedule::applySequence(program, *sequence)))
    return failure();
  if (scripts)
    schedule::warnOfUnused(program, scripts);
  return text;
}

// The sequence of a target's own script for a phase.
static Operation *sequenceOf(ModuleOp script, Phase phase) {
  for (auto sequence : script.getOps<NamedSequenceOp>())
    if (StringAttr word = SharedNotes::phase.get(sequence);
        word && word.getValue() == schedule::stringify(phase))
      return sequence;
  return nullptr;
}

LogicalResult tessera::scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                                    std::vector<OwningOpRef<ModuleOp>> &own, const TargetOptions &options) {
  StringRef name = lowering.node.getName(), device = lowering.version.target;
  FailureOr<NamedSequenceOp> payload = schedule::findSequence(scripts, Phase::Payload, lowering.node, device),
                             loops = schedule::findSequence(scripts, Phase::Loops, lowering.node, device);
  if (failed(payload) || failed(loops))
    return failure();
  lowering.script = *payload;
  lowering.loops = *loops;
  if (*payload) {
    lowering.version.note = "the user's schedule";
    lowering.scriptText = print({lowering.script, lowering.loops});
  } else if (schedule::Script script = target.writeSchedule(lowering.payload, options); script.module) {
    StringAttr key = lowering.node.getNameAttr();
    for (auto sequence : script.module->getOps<NamedSequenceOp>())
      SharedNotes::node.set(sequence, key);
    lowering.script = sequenceOf(*script.module, Phase::Payload);
    Operation *written = sequenceOf(*script.module, Phase::Loops);
    if (lowering.loops && written) {
      script.note += "; the user's schedule for loops";
      written->erase();
    } else {
      lowering.loops = written ? written : lowering.loops;
    }
    lowering.scriptText = schedule::printScript(script, ("default schedule of '" + name + "'").str()) +
                          (*loops ? print({*loops}) : "");
    lowering.version.note = std::move(script.note);
    own.push_back(std::move(script.module));
  }
  return lowering.script ? schedule::applySequence(lowering.payload, lowering.script) : success();
}
