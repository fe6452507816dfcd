// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Sequences.h.
#include "tessera/transforms/schedule/Sequences.h"

#include "tessera/base/Diag.h"
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/schedule/Legality.h"

using namespace tessera;
using namespace tessera::schedule;
using transform::NamedSequenceOp;

static constexpr Phase phases[] = {Phase::Graph, Phase::Payload, Phase::Loops};
static constexpr llvm::StringLiteral loopsEnding = "_loops";

StringRef schedule::stringify(Phase phase) {
  switch (phase) {
  case Phase::Graph:
    return "graph";
  case Phase::Payload:
    return "payload";
  case Phase::Loops:
    return "loops";
  }
  llvm_unreachable("unknown phase");
}

static int64_t versionOf(ModuleOp script) {
  auto version = script->getAttrOfType<IntegerAttr>(versionAttr);
  return version ? version.getInt() : 1;
}

namespace {
/// What one sequence is for. Empty names mean any.
struct Key {
  Phase phase;
  StringRef node, script, graph, target;

  bool operator==(const Key &) const = default;
};
} // namespace

static StringRef textOf(Operation *op, StringRef name) {
  auto text = op->getAttrOfType<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

// None for a sequence that others include.
static std::optional<Key> keyOf(NamedSequenceOp sequence, int64_t version) {
  StringRef name = sequence.getSymName();
  if (version > 1) {
    StringRef word = textOf(sequence, phaseAttr);
    for (Phase phase : phases)
      if (word == stringify(phase))
        return Key{phase, textOf(sequence, nodeAttr), textOf(sequence, scriptAttr),
                   textOf(sequence, graphAttr), textOf(sequence, targetAttr)};
    return {};
  }
  if (name == stringify(Phase::Graph))
    return Key{Phase::Graph, {}, {}, {}, {}};
  StringRef stem = name;
  if (stem.consume_back(loopsEnding) &&
      SymbolTable::lookupNearestSymbolFrom(sequence, StringAttr::get(sequence.getContext(), stem)))
    return Key{Phase::Loops, stem, {}, {}, {}};
  return Key{Phase::Payload, name, {}, {}, {}};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult checkVersion(ModuleOp script) {
  Attribute attribute = script->getAttr(versionAttr);
  if (!attribute)
    return success();
  auto version = dyn_cast<IntegerAttr>(attribute);
  if (!version || version.getInt() < 1)
    return script.emitError() << "expected '" << versionAttr << "' to be a number from 1, but got "
                              << attribute;
  if (version.getInt() > scriptVersion)
    return script.emitError() << "the script has version " << version.getInt()
                              << ", but this tessera reads scripts up to version " << scriptVersion
                              << "; use a newer tessera";
  return success();
}

// The names of attributes, and the kinds of their values.
static LogicalResult checkAttributes(NamedSequenceOp sequence, int64_t version) {
  static const std::vector<std::string> known = {phaseAttr.str(), nodeAttr.str(),   scriptAttr.str(),
                                                 graphAttr.str(), targetAttr.str(), unsafeAttr.str()};
  for (NamedAttribute attribute : sequence->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (!name.starts_with("tessera."))
      continue;
    if (name == unsafeAttr) {
      if (!isa<UnitAttr>(attribute.getValue()))
        return sequence.emitError() << "expected '" << name << "' without a value, but got "
                                    << attribute.getValue();
      continue;
    }
    if (version < 2)
      return sequence.emitError() << "'" << name << "' needs a script of version 2; write '" << versionAttr
                                  << " = 2 : i64' among the attributes of its module";
    if (!llvm::is_contained(known, name))
      return sequence.emitError() << unknownName("attribute", name.str(), "attributes of a sequence", known);
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    if (!text || text.empty())
      return sequence.emitError() << "expected '" << name << "' to be a name in quotes, but got "
                                  << attribute.getValue();
  }
  return success();
}

static LogicalResult checkKey(NamedSequenceOp sequence) {
  StringRef phase = textOf(sequence, phaseAttr);
  if (phase.empty()) {
    for (StringRef name : {nodeAttr, scriptAttr, graphAttr, targetAttr})
      if (sequence->hasAttr(name))
        return sequence.emitError() << "expected '" << phaseAttr << "' beside '" << name << "'";
    return success();
  }
  std::vector<std::string> words;
  for (Phase each : phases)
    words.push_back(stringify(each).str());
  if (!llvm::is_contained(words, phase))
    return sequence.emitError() << unknownName("phase", phase.str(), "phases", words);
  if (phase == stringify(Phase::Graph)) {
    for (StringRef name : {nodeAttr, scriptAttr, graphAttr, targetAttr})
      if (sequence->hasAttr(name))
        return sequence.emitError() << "a sequence of the phase 'graph' is for the whole program, but has '"
                                    << name << "'; find its graph with 'transform.tessera.match_graph'";
    return success();
  }
  if (sequence->hasAttr(nodeAttr) == sequence->hasAttr(scriptAttr))
    return sequence.emitError() << "expected a sequence of the phase '" << phase << "' to have one of '"
                                << nodeAttr << "' and '" << scriptAttr << "', but got "
                                << (sequence->hasAttr(nodeAttr) ? "both" : "none");
  return success();
}

LogicalResult schedule::checkSequences(ModuleOp script) {
  if (failed(checkVersion(script)))
    return failure();
  int64_t version = versionOf(script);
  SmallVector<std::pair<Key, NamedSequenceOp>> seen;
  for (auto sequence : script.getOps<NamedSequenceOp>()) {
    if (failed(checkAttributes(sequence, version)) || (version > 1 && failed(checkKey(sequence))))
      return failure();
    std::optional<Key> key = keyOf(sequence, version);
    for (auto &[other, first] : seen)
      if (key && other == *key) {
        auto diag = sequence.emitError() << "sequence '" << sequence.getSymName() << "' is for the same as '"
                                         << first.getSymName() << "'";
        diag.attachNote(first.getLoc()) << "which is here";
        return diag;
      }
    if (key)
      seen.push_back({*key, sequence});
  }
  if (seen.empty())
    return script.emitError() << "expected a sequence with '" << phaseAttr << "' in the script, but got none";
  return success();
}

//===----------------------------------------------------------------------===//
// Sequences for nodes
//===----------------------------------------------------------------------===//

// How well a sequence fits a node; none when it does not. The node's own name counts more than those of its
// parts, and those more than all else.
static std::optional<unsigned> fit(const Key &key, dfg::NodeOp node, StringRef target, StringRef wanted) {
  auto graph = node->getParentOfType<dfg::GraphOp>();
  if ((!key.graph.empty() && (!graph || key.graph != graph.getSymName())) ||
      (!key.target.empty() && !target.empty() && key.target != target))
    return {};
  unsigned places = !key.graph.empty() + !key.target.empty();
  // Who names a script means this one.
  if (!wanted.empty() || !key.script.empty())
    return key.script == wanted ? std::optional(places) : std::nullopt;
  if (key.node == node.getName())
    return 4 + places;
  auto parts = node->getAttrOfType<ArrayAttr>(graph::scheduleAttr);
  if (parts && llvm::is_contained(parts.getAsValueRange<StringAttr>(), key.node))
    return places;
  return {};
}

static StringRef wantedScript(dfg::NodeOp node, StringRef target) {
  if (auto versions = node.getVersionsAttr())
    for (auto version : versions.getAsRange<dfg::VersionAttr>())
      if (version.getTarget() == target && version.getScript())
        return version.getScript().getValue();
  return {};
}

FailureOr<NamedSequenceOp> schedule::findSequence(ModuleOp script, Phase phase, dfg::NodeOp node,
                                                  StringRef target) {
  NamedSequenceOp best, rival;
  unsigned bestFit = 0;
  StringRef wanted = node ? wantedScript(node, target) : StringRef();
  bool isKnown = wanted.empty();
  for (auto sequence :
       script ? llvm::to_vector(script.getOps<NamedSequenceOp>()) : SmallVector<NamedSequenceOp>()) {
    std::optional<Key> key = keyOf(sequence, versionOf(script));
    isKnown |= key && key->script == wanted;
    if (!key || key->phase != phase)
      continue;
    std::optional<unsigned> own = node ? fit(*key, node, target, wanted) : 0;
    if (!own || (best && *own < bestFit))
      continue;
    rival = best && *own == bestFit ? best : NamedSequenceOp();
    best = sequence;
    bestFit = *own;
  }
  if (!isKnown)
    return node.emitError() << "node '" << node.getName() << "' asks for the schedule '" << wanted
                            << "', but the script has no sequence with '" << scriptAttr << " = \"" << wanted
                            << "\"'";
  if (!rival)
    return best;
  auto diag = node.emitError() << "two sequences of the phase '" << stringify(phase) << "' are for node '"
                               << node.getName() << "': '" << rival.getSymName() << "' and '"
                               << best.getSymName() << "'";
  diag.attachNote(rival.getLoc()) << "the first is here";
  diag.attachNote(best.getLoc()) << "the second is here; write one for '" << node.getName() << "' itself";
  return diag;
}

void schedule::markNodes(ModuleOp program, ModuleOp script) {
  if (!script)
    return;
  llvm::SmallDenseSet<StringRef> names;
  for (auto sequence : script.getOps<NamedSequenceOp>())
    if (std::optional<Key> key = keyOf(sequence, versionOf(script)); key && !key->node.empty())
      names.insert(key->node);
  program->walk([&](dfg::NodeOp node) {
    if (names.contains(node.getName()) && !node->hasAttr(graph::scheduleAttr))
      node->setAttr(graph::scheduleAttr, ArrayAttr::get(node.getContext(), node.getNameAttr()));
  });
}

void schedule::warnOfUnused(ModuleOp program, ModuleOp script) {
  if (!script)
    return;
  for (auto sequence : script.getOps<NamedSequenceOp>()) {
    std::optional<Key> key = keyOf(sequence, versionOf(script));
    if (!key || key->node.empty())
      continue;
    // Before version 2, one that others include looks as if it were for a node.
    if (std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(sequence, script);
        uses && !uses->empty())
      continue;
    bool isUsed = false;
    SmallVector<StringRef> names;
    graph::walkNodes(program, [&](dfg::NodeOp node) {
      isUsed |= fit(*key, node, key->target, {}).has_value();
      names.push_back(node.getName());
    });
    if (isUsed)
      continue;
    auto diag = sequence.emitWarning()
                << "sequence '" << sequence.getSymName() << "' is not used: there is "
                << "no node '" << key->node << "'" << (key->graph.empty() ? "" : " in its graph");
    diag.attachNote() << "nodes when the graph has been scheduled: " << llvm::join(names, ", ");
  }
}
