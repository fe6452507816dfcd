// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See DefaultGraphScript.h.
#include "tessera/transforms/graph/DefaultGraphScript.h"

#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
// The script of one graph while it is decided.
class Writer {
public:
  Writer(GraphOp graph, const GraphScriptOptions &options, llvm::raw_ostream &os, unsigned &next)
      : graph(graph), options(options), os(os), next(next), rewriter(graph.getContext()) {}

  void run() {
    fuseEdges(graph.getBody(), /*recompute=*/false);
    do
      fuseEdges(graph.getBody(), /*recompute=*/true);
    while (fuseSiblings(graph.getBody()));
    if (graphHandle.empty())
      return;
    os << "    transform.tessera.simplify " << graphHandle << " : !transform.any_op\n";
  }

private:
  std::string fresh() { return "%" + std::to_string(next++); }

  StringRef graphValue() {
    if (graphHandle.empty()) {
      graphHandle = fresh();
      os << "    " << graphHandle << " = transform.tessera.match_graph \"" << graph.getSymName()
         << "\" in %program : (!transform.any_op) -> !transform.any_op\n";
    }
    return graphHandle;
  }

  // The handle of a node: what an earlier step made of it, or a match by name.
  std::string handleOf(StringRef name) {
    if (auto it = handles.find(name); it != handles.end())
      return it->second;
    StringRef root = graphValue();
    std::string handle = fresh();
    os << "    " << handle << " = transform.tessera.match_node \"" << name << "\" in " << root
       << " : (!transform.any_op) -> !transform.any_op\n";
    return handle;
  }

  void record(StringRef comment, StringRef verb, StringRef between, StringRef first, StringRef second,
              StringRef attributes, StringRef fused) {
    std::string a = handleOf(first), b = handleOf(second), made = fresh();
    os << "    // " << comment << "\n    " << made << " = transform.tessera." << verb << " " << a << between
       << b << attributes << " : (!transform.any_op, !transform.any_op) -> !transform.any_op\n";
    handles.erase(first);
    handles.erase(second);
    handles[fused] = made;
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

  NodeOp tryDirect(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer))
      return {};
    std::string from = producer.getName().str(), into = consumer.getName().str();
    bool reduces = llvm::any_of(consumer.getYields().getAsRange<ResultAttr>(),
                                [](ResultAttr yield) { return yield.isReduction(); });
    Refusal no;
    FailureOr<NodeOp> fused = fuseProducer(rewriter, producer, consumer, FuseOptions(), no);
    if (failed(fused))
      return {};
    record("'" + into + "' " + (reduces ? "reduces" : "reads only its own element of") + " what '" + from +
               "' makes",
           "fuse_nodes", " into ", from, into, "", fused->getName());
    return *fused;
  }

  NodeOp tryRecompute(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer))
      return {};
    std::string from = producer.getName().str(), into = consumer.getName().str();
    Refusal no;
    FailureOr<double> cost = recomputeCost(producer, consumer, no);
    if (failed(cost) || *cost > options.maxRecompute)
      return {};
    FailureOr<NodeOp> fused =
        fuseProducer(rewriter, producer, consumer, FuseOptions{true, options.maxRecompute}, no);
    if (failed(fused))
      return {};
    std::string attributes, comment;
    llvm::raw_string_ostream(attributes)
        << llvm::format(" {max_cost = %.6e : f64, recompute}", options.maxRecompute);
    llvm::raw_string_ostream(comment) << "computing '" << from << "' again adds " << int64_t(*cost)
                                      << " operations to an instance of '" << into << "'";
    record(comment, "fuse_nodes", " into ", from, into, attributes, fused->getName());
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
          std::string a = first.getName().str(), b = second.getName().str();
          bool isNext = second == next;
          Refusal no;
          FailureOr<NodeOp> fused = graph::fuseSiblings(rewriter, first, second, no);
          if (failed(fused))
            continue;
          record("'" + a + "' and '" + b + "' read the same elements", "fuse_siblings", ", ", a, b, "",
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
  llvm::raw_ostream &os;
  unsigned &next;
  IRRewriter rewriter;
  std::string graphHandle;
  llvm::StringMap<std::string> handles;
};
} // namespace

std::string graph::writeGraphScript(ModuleOp program, const GraphScriptOptions &options) {
  OwningOpRef<ModuleOp> copy = program.clone();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "module attributes {transform.with_named_sequence} {\n  transform.named_sequence @"
     << options.sequence << "(%program: !transform.any_op) {\n";
  unsigned next = 0;
  for (GraphOp graph : copy->getOps<GraphOp>())
    Writer(graph, options, os, next).run();
  os << "    transform.yield\n  }\n}\n";
  return text;
}
