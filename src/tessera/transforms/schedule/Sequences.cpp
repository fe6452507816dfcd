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
  IntegerAttr version = SharedNotes::version.get(script);
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

// What says for what a sequence is; all but the first say where.
static const Note<StringAttr> *const notes[] = {&SharedNotes::phase, &SharedNotes::node, &SharedNotes::script,
                                                &SharedNotes::graph, &SharedNotes::target};

static StringRef textOf(Operation *op, const Note<StringAttr> &note) {
  StringAttr text = note.get(op);
  return text ? text.getValue() : StringRef();
}

// None for a sequence that others include.
static std::optional<Key> keyOf(NamedSequenceOp sequence, int64_t version) {
  StringRef name = sequence.getSymName();
  if (version > 1) {
    StringRef word = textOf(sequence, SharedNotes::phase);
    for (Phase phase : phases)
      if (word == stringify(phase))
        return Key{phase, textOf(sequence, SharedNotes::node), textOf(sequence, SharedNotes::script),
                   textOf(sequence, SharedNotes::graph), textOf(sequence, SharedNotes::target)};
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
  int64_t version = versionOf(script);
  if (version < 1)
    return script.emitError() << "expected '" << SharedNotes::version.name
                              << "' to be a number from 1, but got " << version;
  if (version > scriptVersion)
    return script.emitError() << "the script has version " << version
                              << ", but this tessera reads scripts up to version " << scriptVersion
                              << "; use a newer tessera";
  return success();
}

// What the verifier of notes cannot know: the script's version, and which words may be empty.
static LogicalResult checkNotes(NamedSequenceOp sequence, int64_t version) {
  for (const Note<StringAttr> *note : notes) {
    if (!note->isOn(sequence))
      continue;
    if (version < 2)
      return sequence.emitError() << "'" << note->name << "' needs a script of version 2; write '"
                                  << SharedNotes::version.name
                                  << " = 2 : i64' among the attributes of its module";
    if (textOf(sequence, *note).empty())
      return sequence.emitError() << "expected '" << note->name << "' to be a name in quotes, but got \"\"";
  }
  return success();
}

static LogicalResult checkKey(NamedSequenceOp sequence) {
  StringRef phase = textOf(sequence, SharedNotes::phase);
  if (phase.empty()) {
    for (const Note<StringAttr> *place : ArrayRef(notes).drop_front())
      if (place->isOn(sequence))
        return sequence.emitError() << "expected '" << SharedNotes::phase.name << "' beside '" << place->name
                                    << "'";
    return success();
  }
  std::vector<std::string> words;
  for (Phase each : phases)
    words.push_back(stringify(each).str());
  if (!llvm::is_contained(words, phase))
    return sequence.emitError() << unknownName("phase", phase.str(), "phases", words);
  if (phase == stringify(Phase::Graph)) {
    for (const Note<StringAttr> *place : ArrayRef(notes).drop_front())
      if (place->isOn(sequence))
        return sequence.emitError() << "a sequence of the phase 'graph' is for the whole program, but has '"
                                    << place->name
                                    << "'; find its graph with 'transform.tessera.match_graph'";
    return success();
  }
  if (SharedNotes::node.isOn(sequence) == SharedNotes::script.isOn(sequence))
    return sequence.emitError() << "expected a sequence of the phase '" << phase << "' to have one of '"
                                << SharedNotes::node.name << "' and '" << SharedNotes::script.name
                                << "', but got " << (SharedNotes::node.isOn(sequence) ? "both" : "none");
  return success();
}

LogicalResult schedule::checkSequences(ModuleOp script) {
  if (failed(checkVersion(script)))
    return failure();
  int64_t version = versionOf(script);
  SmallVector<std::pair<Key, NamedSequenceOp>> seen;
  for (auto sequence : script.getOps<NamedSequenceOp>()) {
    if (failed(checkNotes(sequence, version)) || (version > 1 && failed(checkKey(sequence))))
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
    return script.emitError() << "expected a sequence with '" << SharedNotes::phase.name
                              << "' in the script, but got none";
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
  ArrayAttr parts = SharedNotes::schedules.get(node);
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
                            << "', but the script has no sequence with '" << SharedNotes::script.name
                            << " = \"" << wanted << "\"'";
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
    if (names.contains(node.getName()) && !SharedNotes::schedules.isOn(node))
      SharedNotes::schedules.set(node, ArrayAttr::get(node.getContext(), node.getNameAttr()));
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
