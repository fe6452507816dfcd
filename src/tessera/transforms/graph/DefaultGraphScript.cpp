// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See DefaultGraphScript.h.
#include "tessera/transforms/graph/DefaultGraphScript.h"

#include "tessera/transforms/graph/Support.h"

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
    while (fuseEdge(/*recompute=*/false) || fuseEdge(/*recompute=*/true) || fuseSibling())
      ;
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

  // The first edge, in the graph's order, that is worth fusing.
  bool fuseEdge(bool recompute) {
    return graph
        .walk([&](NodeOp consumer) {
          for (Value input : consumer.getInputs())
            if (auto producer = input.getDefiningOp<NodeOp>())
              if (recompute ? tryRecompute(producer, consumer) : tryDirect(producer, consumer))
                return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  // Layers of a network: what belongs together has been decided for the whole of it.
  static bool isLayer(NodeOp node) {
    return node.getRank() == 0 && llvm::any_of(*node.getBodyBlock(), [](Operation &op) {
             return op.getName().getDialectNamespace() == "nn";
           });
  }

  bool tryDirect(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer))
      return false;
    std::string from = producer.getName().str(), into = consumer.getName().str();
    bool reduces = llvm::any_of(consumer.getYields().getAsRange<ResultAttr>(),
                                [](ResultAttr yield) { return yield.isReduction(); });
    Refusal no;
    FailureOr<NodeOp> fused = fuseProducer(rewriter, producer, consumer, FuseOptions(), no);
    if (failed(fused))
      return false;
    record("'" + into + "' " + (reduces ? "reduces" : "reads only its own element of") + " what '" + from +
               "' makes",
           "fuse_nodes", " into ", from, into, "", fused->getName());
    return true;
  }

  bool tryRecompute(NodeOp producer, NodeOp consumer) {
    if (isLayer(producer) || isLayer(consumer))
      return false;
    std::string from = producer.getName().str(), into = consumer.getName().str();
    Refusal no;
    FailureOr<double> cost = recomputeCost(producer, consumer, no);
    if (failed(cost) || *cost > options.maxRecompute)
      return false;
    FailureOr<NodeOp> fused =
        fuseProducer(rewriter, producer, consumer, FuseOptions{true, options.maxRecompute}, no);
    if (failed(fused))
      return false;
    std::string attributes, comment;
    llvm::raw_string_ostream(attributes)
        << llvm::format(" {max_cost = %.6e : f64, recompute}", options.maxRecompute);
    llvm::raw_string_ostream(comment) << "computing '" << from << "' again adds " << int64_t(*cost)
                                      << " operations to an instance of '" << into << "'";
    record(comment, "fuse_nodes", " into ", from, into, attributes, fused->getName());
    return true;
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

  bool fuseSibling() {
    if (!options.siblings)
      return false;
    return graph
        .walk([&](NodeOp first) {
          for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
            auto second = dyn_cast<NodeOp>(op);
            if (!second || !shareElements(first, second))
              continue;
            std::string a = first.getName().str(), b = second.getName().str();
            Refusal no;
            FailureOr<NodeOp> fused = fuseSiblings(rewriter, first, second, no);
            if (failed(fused))
              continue;
            record("'" + a + "' and '" + b + "' read the same elements", "fuse_siblings", ", ", a, b, "",
                   fused->getName());
            return WalkResult::interrupt();
          }
          return WalkResult::advance();
        })
        .wasInterrupted();
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
