// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts the knobs of nodes into effect, and configurations onto nodes.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "llvm/ADT/SetVector.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// Operations that filling in may add to an instance: about two dozen elements of a window.
static constexpr double mostFilling = 800;

SmallVector<NodeOp> graph::tunableNodes(Operation *root) {
  SmallVector<NodeOp> nodes;
  root->walk([&](NodeOp node) {
    if (isa<GraphOp>(node->getParentOp()) && listKnobs(node).size() > 1)
      nodes.push_back(node);
  });
  return nodes;
}

double graph::instanceCost(NodeOp node) { return bodyCost(node.getBodyBlock()); }

static double countInstances(NodeOp node) {
  double count = 1;
  for (Value extent : node.getGrid())
    count *= static_cast<double>(getConstantIntValue(extent).value_or(unknownTrips));
  return std::max(count, 1.0);
}

double graph::knobCost(NodeOp node, const Knob &knob) {
  if (knob.structure == Knob::Structure::Version) {
    double sum = 0;
    auto version = SymbolTable::lookupNearestSymbolFrom<GraphOp>(node, versionOf(node, knob.value));
    for (NodeOp part : version.getOps<NodeOp>())
      sum += instanceCost(part) * countInstances(part);
    return sum / countInstances(node);
  }
  const double left = knob.rate ? static_cast<double>(knob.skip) / static_cast<double>(knob.rate) : 0;
  // Rows that are left out are filled in by about five operations.
  return (1 - left) * instanceCost(node) + (knob.skipsRows() ? 5 : 0);
}

// What is left out of one node is filled in where another one reads it that is perforated itself: it reads
// few rows, so that storing all of them would cost more than computing some of them twice.
static void fuseFills(RewriterBase &rewriter, MutableArrayRef<PerforatedNode> perforated) {
  auto findSome = [&](Operation *op) {
    return llvm::find_if(perforated, [&](const PerforatedNode &node) { return node.some == op; });
  };
  for (const PerforatedNode &node : perforated) {
    llvm::SetVector<Operation *> readers(node.fill->getUsers().begin(), node.fill->getUsers().end());
    if (!llvm::all_of(readers, [&](Operation *op) { return findSome(op) != perforated.end(); }))
      continue;
    for (Operation *reader : readers) {
      Refusal no; // one that cannot take it reads what is stored
      auto *entry = findSome(reader);
      FailureOr<NodeOp> fused =
          fuseProducer(rewriter, node.fill, entry->some, FuseOptions{true, mostFilling}, no);
      if (succeeded(fused))
        entry->some = *fused;
    }
  }
}

// A version may hold nodes that are to be another version themselves; none leads back to itself.
static LogicalResult substituteVersions(RewriterBase &rewriter, Operation *root, Refusal &no) {
  while (true) {
    NodeOp next;
    root->walk([&](NodeOp node) {
      if (knobOf(node).structure == Knob::Structure::Version)
        next = node;
      return WalkResult(failure(next != nullptr));
    });
    if (!next)
      return success();
    if (failed(substituteVersion(rewriter, next, knobOf(next).value, no)))
      return failure();
  }
}

static FloatType storedAs(Operation *root, const Knob &knob) {
  if (knob.precision == Knob::Precision::BF16)
    return BFloat16Type::get(root->getContext());
  return Float16Type::get(root->getContext());
}

LogicalResult graph::applyNodeKnobs(RewriterBase &rewriter, Operation *root, Refusal &no) {
  if (failed(substituteVersions(rewriter, root, no)))
    return failure();
  SmallVector<NodeOp> nodes;
  root->walk([&](NodeOp node) {
    if (dfg::Notes::knob.isOn(node))
      nodes.push_back(node);
  });
  SmallVector<PerforatedNode> perforated;
  DenseMap<Value, Value> halves;
  for (NodeOp node : nodes) {
    Knob knob = knobOf(node);
    if (!knob.isExact() && storesOf(node))
      node = liftStores(rewriter, node);
    dfg::Notes::knob.remove(node);
    switch (knob.structure) {
    case Knob::Structure::Reuse:
      reuseResults(rewriter, node, {knob.rate, knob.skip, knob.offset});
      continue;
    case Knob::Structure::Sample:
      sampleReduction(rewriter, node, knob.rate, knob.offset);
      continue;
    case Knob::Structure::Stale:
      if (failed(delayResults(rewriter, node, knob.value, no)))
        return failure();
      continue;
    case Knob::Structure::BitErrors:
      addBitErrors(rewriter, node, knob.share);
      continue;
    default:
      break;
    }
    SmallVector<NodeOp> parts = {node};
    auto narrowParts = [&] {
      for (NodeOp &part : parts) {
        FailureOr<NodeOp> made = narrowResults(rewriter, part, storedAs(root, knob), no);
        if (failed(made))
          return failure();
        part = *made;
      }
      return success();
    };
    const bool isMath = knob.precision == Knob::Precision::F16Math;
    const bool isCubic = knob.structure == Knob::Structure::CubicRows;
    if (isMath)
      computeInHalf(rewriter, node, halves);
    // What lies between rows is computed in f16 too; cubics are not.
    const bool narrowsFirst = isMath && !isCubic;
    if (narrowsFirst && failed(narrowParts()))
      return failure();
    if (knob.skipsRows()) {
      FailureOr<PerforatedNode> made =
          perforateGrid(rewriter, parts[0], {0, knob.rate, knob.skip, knob.offset, isCubic}, no);
      if (failed(made))
        return failure();
      parts = {made->some, made->fill};
    }
    if (!narrowsFirst && knob.precision != Knob::Precision::F32 && failed(narrowParts()))
      return failure();
    if (parts.size() == 2)
      perforated.push_back({parts[0], parts[1]});
  }
  fuseFills(rewriter, perforated);
  // What knobs were chosen by has served.
  root->walk([](NodeOp node) {
    dfg::Notes::versions.remove(node);
    dfg::Notes::approximate.remove(node);
    dfg::Notes::first.remove(node);
  });
  return success();
}

static void setKnob(NodeOp node, const Knob &knob) {
  if (knob.isExact())
    dfg::Notes::knob.remove(node);
  else
    dfg::Notes::knob.set(node, knob.str());
}

Result<KnobMap> graph::setNodeKnobs(Operation *root, const KnobMap &knobs) {
  SmallVector<NodeOp> nodes = tunableNodes(root);
  KnobMap others;
  for (const auto &[name, text] : knobs) {
    Result<Knob> knob = Knob::parse(text);
    if (!knob.ok())
      return knob.status();
    bool found = false, set = false;
    for (NodeOp node : nodes) {
      if (name != "all" && node.getName() != name)
        continue;
      found = true;
      if (!offersKnob(node, *knob))
        continue;
      // A name goes over "all", which the map's order may bring later.
      if (name != "all" || !knobs.count(node.getName().str()))
        setKnob(node, *knob);
      set = true;
    }
    if (found && !set && name != "all")
      return fail(StatusCode::InvalidArgument, "the node '", name, "' does not have the knob '", text,
                  "'; 'tessera explain --knobs' lists what it has");
    if (!set)
      others[name] = text;
  }
  return others;
}
