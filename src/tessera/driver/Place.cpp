// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Place.h.
#include "tessera/driver/Place.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Progress.h"
#include "tessera/driver/Components.h"
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace tessera;

namespace {

/// Numbers of TargetList::asked(), in order.
using Targets = SmallVector<unsigned, 4>;

class Placer {
public:
  explicit Placer(const TargetList &targets) : targets(targets) {}
  void place(dfg::NodeOp node);

private:
  Targets allowedFor(dfg::NodeOp node) const;
  Targets supporting(Operation *op, const Targets &allowed) const;
  void setVersions(dfg::NodeOp node, const Targets &chosen) const;
  void placeNetwork(dfg::NodeOp node, const Targets &allowed) const;

  const TargetList &targets;
};

} // namespace

// Those that the node's hint names, or all.
Targets Placer::allowedFor(dfg::NodeOp node) const {
  SmallVector<StringRef> hints;
  if (ArrayAttr names = node.getTargetsAttr())
    for (StringRef hint : names.getAsValueRange<StringAttr>()) {
      // The program may have been compiled for another machine.
      if (!findTarget(hint)) {
        std::vector<std::string> built(getTargetNames());
        node.emitWarning() << unknownName("target", hint.str(), "built targets", built);
      }
      hints.push_back(hint);
    }
  Targets allowed;
  for (auto [i, choice] : llvm::enumerate(targets.asked()))
    if (hints.empty() || llvm::is_contained(hints, choice.name))
      allowed.push_back(i);
  return allowed;
}

Targets Placer::supporting(Operation *op, const Targets &allowed) const {
  Targets result;
  for (unsigned i : allowed) {
    const TargetChoice &choice = targets.asked()[i];
    if (choice.target->supports(op, choice.options))
      result.push_back(i);
  }
  return result;
}

void Placer::setVersions(dfg::NodeOp node, const Targets &chosen) const {
  SmallVector<Attribute> versions;
  auto add = [&](StringRef name) {
    // The program may say which script a version is to have.
    StringAttr script;
    if (ArrayAttr written = node.getVersionsAttr())
      for (auto version : written.getAsRange<dfg::VersionAttr>())
        if (version.getTarget() == name)
          script = version.getScript();
    versions.push_back(
        dfg::VersionAttr::get(node.getContext(), name, FlatSymbolRefAttr(), script, DictionaryAttr()));
  };
  for (unsigned i : chosen)
    add(targets.asked()[i].name);
  if (versions.empty()) {
    // A program that cannot run is of no use to anyone.
    StringRef host = targets.host().name;
    if (node.getTargetsAttr())
      node.emitWarning() << "none of the targets of " << dfg::describe(node)
                         << " is installed; it will run on the " << host;
    else
      node.emitWarning() << "none of the targets that were asked for can run " << dfg::describe(node)
                         << "; it will run on the " << host;
    node.removeTargetsAttr();
    add(host);
  }
  node.setVersionsAttr(ArrayAttr::get(node.getContext(), versions));
}

namespace {

/// The operations of a network by the targets that support them. A region is a connected part whose
/// operations have the same targets. Regions are numbered in *phases* so that none can wait for itself
/// through another: what reads a region of other targets, or wiring that does, comes in a later phase.
class Regions {
public:
  void add(Operation *op, const Targets &targets);
  /// Wiring belongs to no region.
  void addWiring(Operation *op);
  SmallVector<std::pair<Targets, SmallVector<Operation *>>> regions() const;

private:
  template <typename F> void forEachSource(Operation *op, F f) const;

  struct Member {
    unsigned phase = 0;
    Targets targets;
    bool wiring = false;
  };
  DenseMap<Operation *, Member> members;
  SmallVector<Operation *> order;
  llvm::EquivalenceClasses<Operation *> joined;
};

} // namespace

// Calls `f` for each operation of the leaf that makes something this one reads, also in its regions.
template <typename F> void Regions::forEachSource(Operation *op, F f) const {
  op->walk([&](Operation *nested) {
    for (Value v : nested->getOperands())
      if (auto it = members.find(v.getDefiningOp()); it != members.end() && it->first != op)
        f(it->first, it->second);
  });
}

void Regions::addWiring(Operation *op) {
  Member member;
  member.wiring = true;
  forEachSource(op, [&](Operation *, const Member &source) {
    member.phase = std::max(member.phase, source.phase + (source.wiring ? 0 : 1));
  });
  members[op] = member;
}

void Regions::add(Operation *op, const Targets &targets) {
  Member member;
  member.targets = targets;
  auto isSame = [&](const Member &source) { return !source.wiring && source.targets == targets; };
  forEachSource(op, [&](Operation *, const Member &source) {
    member.phase = std::max(member.phase, source.phase + (source.wiring || isSame(source) ? 0 : 1));
  });
  joined.insert(op);
  forEachSource(op, [&](Operation *from, const Member &source) {
    if (isSame(source) && source.phase == member.phase)
      joined.unionSets(from, op);
  });
  members[op] = member;
  order.push_back(op);
}

SmallVector<std::pair<Targets, SmallVector<Operation *>>> Regions::regions() const {
  llvm::MapVector<Operation *, SmallVector<Operation *>> parts;
  for (Operation *op : order)
    parts[joined.getLeaderValue(op)].push_back(op);
  SmallVector<std::pair<Targets, SmallVector<Operation *>>> result;
  for (auto &[leader, ops] : parts)
    result.push_back({members.lookup(leader).targets, ops});
  return result;
}

void Placer::placeNetwork(dfg::NodeOp node, const Targets &allowed) const {
  DenseMap<Operation *, Targets> support;
  std::optional<Targets> all;
  bool isUniform = true;
  for (Operation &op : node.getBodyBlock()->without_terminator())
    if (!dfg::isWiring(&op)) {
      Targets own = supporting(&op, allowed);
      isUniform &= !all || *all == own;
      all = support[&op] = own;
    }
  if (isUniform)
    return setVersions(node, all.value_or(allowed));
  // Extents come from where they are known, so that asking for one ties nothing together.
  nn::simplifyExtents(node);
  Regions found;
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    if (dfg::isWiring(&op))
      found.addWiring(&op);
    else
      found.add(&op, support[&op]);
  }
  SmallVector<SmallVector<Operation *>> parts;
  SmallVector<Targets> chosen;
  for (auto &[targets, ops] : found.regions()) {
    chosen.push_back(targets);
    parts.push_back(ops);
  }
  for (auto [leaf, targets] : llvm::zip(nn::cutNetwork(node, parts), chosen))
    if (leaf)
      setVersions(leaf, targets);
}

void Placer::place(dfg::NodeOp node) {
  notePlace("node", node.getName());
  Targets allowed = allowedFor(node);
  if (nn::isNetwork(node))
    placeNetwork(node, allowed);
  else
    setVersions(node, supporting(node, allowed));
}

void tessera::placeGraph(dfg::GraphOp graph, const TargetList &targets) {
  Placer placer(targets);
  for (auto node : llvm::to_vector(graph.getBodyBlock()->getOps<dfg::NodeOp>()))
    placer.place(node);
}

void tessera::placeNew(dfg::GraphOp graph, const TargetList &targets) {
  Placer placer(targets);
  for (auto node : llvm::to_vector(graph.getBodyBlock()->getOps<dfg::NodeOp>()))
    if (!node.getVersions())
      placer.place(node);
}
