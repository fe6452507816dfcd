// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See DefaultGraphScript.h.
#include "tessera/transforms/schedule/DefaultGraphScript.h"

#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Rewrites.h"
#include "tessera/transforms/schedule/GraphOps.h"
#include "tessera/transforms/schedule/ScriptBuilder.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::schedule;
using graph::FuseOptions;
using graph::Refusal;

namespace {
// The script of one graph while it is decided.
class Writer {
public:
  Writer(GraphOp graph, const GraphScriptOptions &options, ScriptBuilder &script, Steps &steps)
      : graph(graph), options(options), script(script), steps(steps), rewriter(graph.getContext()) {}

  void run() {
    fuseEdges(graph.getBody(), /*recompute=*/false);
    do
      fuseEdges(graph.getBody(), /*recompute=*/true);
    while (fuseSiblings(graph.getBody()));
    if (graphHandle)
      steps.add<SimplifyOp>("", graphHandle.value());
  }

private:
  Handle<GraphOp> findGraph() {
    if (!graphHandle)
      graphHandle = Handle<GraphOp>(steps
                                        .add<MatchGraphOp>("graph", Handle<GraphOp>::type(graph.getContext()),
                                                           graph.getSymName(), steps.root().value())
                                        .getGraph());
    return graphHandle;
  }

  // The handle of a node: what an earlier step made of it, or a match by name.
  Handle<NodeOp> handleOf(StringRef name) {
    if (auto it = handles.find(name); it != handles.end())
      return it->second;
    Value root = findGraph().value();
    StringAttr attr = StringAttr::get(graph.getContext(), name);
    return Handle<NodeOp>(steps.add<MatchNodeOp>(name, nodeType, attr, root).getNodes());
  }

  // Adds a step that makes one node of two.
  template <typename StepOp, typename... Args>
  void record(const Twine &comment, StringRef first, StringRef second, StringRef fused, Args... args) {
    Value a = handleOf(first).value(), b = handleOf(second).value();
    auto step = steps.add<StepOp>(fused, nodeType, a, b, args...);
    script.comment(step, comment);
    handles.erase(first);
    handles.erase(second);
    handles[fused] = Handle<NodeOp>(step.getFused());
  }

  // The first of a node's edges that is worth fusing; null when none is.
  NodeOp fuseEdge(NodeOp consumer, bool recompute) {
    for (Value input : consumer.getInputs())
      if (auto producer = input.getDefiningOp<NodeOp>())
        if (NodeOp fused = recompute ? tryRecompute(producer, consumer) : tryDirect(producer, consumer))
          return fused;
    return {};
  }

  // All edges that are worth fusing, in the graph's order. What is fused takes its consumer's place, so that
  // going on from there misses nothing: nothing before it has changed.
  void fuseEdges(Region &region, bool recompute) {
    for (Block &block : region)
      for (Operation *op = block.empty() ? nullptr : &block.front(); op; op = op->getNextNode()) {
        for (Region &inner : op->getRegions())
          if (auto node = dyn_cast<NodeOp>(op); node && node.isInternal())
            fuseEdges(inner, recompute);
        for (auto node = dyn_cast<NodeOp>(op); node;) {
          op = node;
          node = fuseEdge(node, /*recompute=*/false);
          if (!node && recompute)
            node = fuseEdge(cast<NodeOp>(op), /*recompute=*/true);
        }
      }
  }

  // Layers of a network: what belongs together has been decided for the whole of it.
  static bool isLayer(NodeOp node) {
    return node.getRank() == 0 && llvm::any_of(*node.getBodyBlock(), llvm::IsaPred<nn::NnOp>);
  }

  // Beyond so many operations one pass over memory less is worth little, and each of the compiler's steps
  // would have to cope with a kernel of any size.
  static bool tooLarge(NodeOp a, NodeOp b) {
    constexpr unsigned mostOps = 512;
    unsigned count = 0;
    for (NodeOp node : {a, b})
      node.getBody().walk(
          [&](Operation *) { return ++count > mostOps ? WalkResult::interrupt() : WalkResult::advance(); });
    return count > mostOps;
  }

  NodeOp tryDirect(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer) || tooLarge(producer, consumer))
      return {};
    std::string from = producer.getName().str(), into = consumer.getName().str();
    bool reduces = llvm::any_of(consumer.getYields().getAsRange<ResultAttr>(),
                                [](ResultAttr yield) { return yield.isReduction(); });
    Refusal no;
    FailureOr<NodeOp> fused = graph::fuseProducer(rewriter, producer, consumer, FuseOptions(), no);
    if (failed(fused))
      return {};
    record<FuseNodesOp>("'" + Twine(into) + "' " + (reduces ? "reduces" : "reads only its own element of") +
                            " what '" + from + "' makes",
                        from, into, fused->getName(), UnitAttr(),
                        rewriter.getF64FloatAttr(FuseOptions().maxRecompute), ValueRange());
    return *fused;
  }

  NodeOp tryRecompute(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer) || tooLarge(producer, consumer))
      return {};
    std::string from = producer.getName().str(), into = consumer.getName().str();
    Refusal no;
    FailureOr<double> cost = graph::recomputeCost(producer, consumer, no);
    if (failed(cost) || *cost > options.maxRecompute)
      return {};
    FailureOr<NodeOp> fused =
        graph::fuseProducer(rewriter, producer, consumer, FuseOptions{true, options.maxRecompute}, no);
    if (failed(fused))
      return {};
    record<FuseNodesOp>("computing '" + Twine(from) + "' again adds " + Twine(int64_t(*cost)) +
                            " operations to an instance of '" + into + "'",
                        from, into, fused->getName(), rewriter.getUnitAttr(),
                        rewriter.getF64FloatAttr(options.maxRecompute), ValueRange());
    return *fused;
  }

  // Both read the same tensor element by element, so one pass over it serves both.
  static bool shareElements(NodeOp a, NodeOp b) {
    for (unsigned i = 0; i < a.getInputs().size(); ++i)
      for (unsigned k = 0; k < b.getInputs().size(); ++k)
        if (a.getInputs()[i] == b.getInputs()[k] && a.getPort(i).getMode() == PortMode::Each &&
            b.getPort(k).getMode() == PortMode::Each)
          return true;
    return false;
  }

  // The nodes behind this one that read the same elements: the nearest few, for a tensor may have readers
  // without end.
  static SmallVector<NodeOp> siblingsOf(NodeOp first) {
    constexpr unsigned mostSiblings = 16, mostReaders = 256;
    llvm::SmallSetVector<Operation *, 8> found;
    for (unsigned i = 0; i < first.getInputs().size(); ++i) {
      if (first.getPort(i).getMode() != PortMode::Each)
        continue;
      for (auto [count, user] : llvm::enumerate(first.getInputs()[i].getUsers())) {
        if (count == mostReaders)
          break;
        if (auto second = dyn_cast<NodeOp>(user); second && user->getBlock() == first->getBlock() &&
                                                  first->isBeforeInBlock(user) &&
                                                  shareElements(first, second))
          found.insert(user);
      }
    }
    SmallVector<NodeOp> siblings;
    for (Operation *op : found)
      siblings.push_back(cast<NodeOp>(op));
    llvm::sort(siblings, [](NodeOp a, NodeOp b) { return a->isBeforeInBlock(b); });
    siblings.truncate(std::min<size_t>(siblings.size(), mostSiblings));
    return siblings;
  }

  bool fuseSiblings(Region &region) {
    if (!options.siblings)
      return false;
    bool any = false;
    for (Block &block : region)
      for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
        auto first = dyn_cast<NodeOp>(op);
        // What is fused stands where the second did.
        Operation *next = op->getNextNode();
        if (first && first.isInternal())
          for (Region &inner : op->getRegions())
            any |= fuseSiblings(inner);
        for (NodeOp second : first ? siblingsOf(first) : SmallVector<NodeOp>()) {
          if (tooLarge(first, second))
            continue;
          std::string a = first.getName().str(), b = second.getName().str();
          bool isNext = second == next;
          Refusal no;
          FailureOr<NodeOp> fused = graph::fuseSiblings(rewriter, first, second, no);
          if (failed(fused))
            continue;
          record<FuseSiblingsOp>("'" + Twine(a) + "' and '" + b + "' read the same elements", a, b,
                                 fused->getName());
          any = true;
          if (isNext)
            next = *fused;
          break;
        }
        op = next;
      }
    return any;
  }

  GraphOp graph;
  const GraphScriptOptions &options;
  ScriptBuilder &script;
  Steps &steps;
  IRRewriter rewriter;
  Type nodeType = Handle<NodeOp>::type(graph.getContext());
  Handle<GraphOp> graphHandle;
  llvm::StringMap<Handle<NodeOp>> handles;
};
} // namespace

Script schedule::writeGraphScript(ModuleOp program, const GraphScriptOptions &options) {
  OwningOpRef<ModuleOp> copy = program.clone();
  ScriptBuilder script(program.getContext());
  Steps steps = script.addSequence(options.sequence, Phase::Graph, "program");
  for (GraphOp graph : copy->getOps<GraphOp>())
    Writer(graph, options, script, steps).run();
  return script.finish();
}
