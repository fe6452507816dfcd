// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the schedule operations on the graph do: each calls one function of transforms/graph and turns its
// refusal into a silenceable error at the script's line, with a note at the payload.
#include "tessera/transforms/schedule/GraphOps.h"

#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Rewrites.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::schedule;
using graph::Refusal;

//===----------------------------------------------------------------------===//
// Spelling
//===----------------------------------------------------------------------===//

using ParsedHandle = OpAsmParser::UnresolvedOperand;

static ParseResult parseConsumerAndCost(OpAsmParser &parser, ParsedHandle &consumer, ParsedParams &params) {
  if (parser.parseOperand(consumer))
    return failure();
  if (failed(parser.parseOptionalKeyword("max_cost")))
    return success();
  return parser.parseOperand(params.emplace_back());
}

static void printConsumerAndCost(OpAsmPrinter &printer, Operation *, Value consumer, OperandRange params) {
  printer << consumer;
  if (!params.empty())
    printer << " max_cost " << params.front();
}

static ParseResult parseHandleAndDims(OpAsmParser &parser, ParsedHandle &target, DenseI64ArrayAttr &dims,
                                      ParsedParams &params) {
  if (parser.parseOperand(target))
    return failure();
  return failed(parser.parseOptionalKeyword("dims")) ? ParseResult(success())
                                                     : parseNumberList(parser, dims, params);
}

static void printHandleAndDims(OpAsmPrinter &printer, Operation *op, Value target, DenseI64ArrayAttr dims,
                               OperandRange params) {
  printer << target;
  if (!dims)
    return;
  printer << " dims ";
  printNumberList(printer, op, dims, params);
}

static ParseResult parsePortAndChunks(OpAsmParser &parser, ParsedHandle &target, IntegerAttr &port,
                                      IntegerAttr &chunks, ParsedParams &params) {
  return failure(parser.parseOperand(target) ||
                 parseNumbers(parser, {{"port", port}, {"chunks", chunks}}, params));
}

static void printPortAndChunks(OpAsmPrinter &printer, Operation *, Value target, IntegerAttr port,
                               IntegerAttr chunks, OperandRange params) {
  printer << target;
  printNumbers(printer, {{"port", port}, {"chunks", chunks, 8}}, params);
}

static ParseResult parseLoopAndFactor(OpAsmParser &parser, ParsedHandle &loop, IntegerAttr &factor,
                                      ParsedParams &params) {
  return failure(parser.parseOperand(loop) || parseNumbers(parser, {{"factor", factor}}, params));
}

static void printLoopAndFactor(OpAsmPrinter &printer, Operation *, Value loop, IntegerAttr factor,
                               OperandRange params) {
  printer << loop;
  printNumbers(printer, {{"factor", factor, 0}}, params);
}

#define GET_OP_CLASSES
#include "tessera/transforms/schedule/GraphOps.cpp.inc"

using Diagnosed = DiagnosedSilenceableFailure;

static Diagnosed refuse(Operation *op, const Refusal &no) {
  Diagnosed diag = cast<transform::TransformOpInterface>(op).emitSilenceableError() << no.text;
  if (no.at)
    diag.attachNote(no.at->getLoc()) << "payload op";
  if (!no.remedy.empty())
    diag.attachNote() << no.remedy;
  return diag;
}

// The one payload of a handle, as an operation of this kind.
template <typename OpTy>
static Diagnosed getOnly(Operation *op, transform::TransformState &state, Value handle, OpTy &payload) {
  auto range = state.getPayloadOps(handle);
  auto script = cast<transform::TransformOpInterface>(op);
  size_t count = std::distance(range.begin(), range.end());
  if (count != 1)
    return script.emitSilenceableError() << "expected a handle of one operation, but got " << count;
  Operation *only = *range.begin();
  payload = dyn_cast<OpTy>(only);
  if (payload)
    return Diagnosed::success();
  Diagnosed diag = script.emitSilenceableError() << "expected a handle of '" << OpTy::getOperationName()
                                                 << "', but got '" << only->getName() << "'";
  diag.attachNote(only->getLoc()) << "payload op";
  return diag;
}

// Applies a rewrite to every payload of a handle.
template <typename OpTy>
static Diagnosed forEach(Operation *op, transform::TransformState &state, Value handle,
                         function_ref<LogicalResult(OpTy, Refusal &)> rewrite) {
  SmallVector<Operation *> payload(state.getPayloadOps(handle));
  for (Operation *target : payload) {
    auto typed = dyn_cast<OpTy>(target);
    if (!typed) {
      Diagnosed diag = cast<transform::TransformOpInterface>(op).emitSilenceableError()
                       << "expected a handle of '" << OpTy::getOperationName() << "', but got '"
                       << target->getName() << "'";
      diag.attachNote(target->getLoc()) << "payload op";
      return diag;
    }
    Refusal no;
    if (failed(rewrite(typed, no)))
      return refuse(op, no);
  }
  return Diagnosed::success();
}

// Fuses the only payloads of two handles.
template <typename OpTy>
static Diagnosed fusePair(transform::TransformOpInterface script, transform::TransformState &state,
                          Value first, Value second, transform::TransformResults &results, Value handle,
                          function_ref<FailureOr<OpTy>(OpTy, OpTy, Refusal &)> fuse) {
  OpTy one, other;
  if (Diagnosed diag = getOnly(script, state, first, one); !diag.succeeded())
    return diag;
  if (Diagnosed diag = getOnly(script, state, second, other); !diag.succeeded())
    return diag;
  Refusal no;
  FailureOr<OpTy> fused = fuse(one, other, no);
  if (failed(fused))
    return refuse(script, no);
  results.set(cast<OpResult>(handle), {fused->getOperation()});
  return Diagnosed::success();
}

// Rewrites each node of a handle into one leaf.
static Diagnosed forEachLeaf(Operation *op, transform::TransformState &state, Value target,
                             transform::TransformResults &results, Value handle,
                             function_ref<FailureOr<NodeOp>(NodeOp, Refusal &)> rewrite) {
  SmallVector<Operation *> leaves;
  Diagnosed diag = forEach<NodeOp>(op, state, target, [&](NodeOp node, Refusal &no) -> LogicalResult {
    FailureOr<NodeOp> leaf = rewrite(node, no);
    if (failed(leaf))
      return failure();
    leaves.push_back(*leaf);
    return success();
  });
  if (diag.succeeded())
    results.set(cast<OpResult>(handle), leaves);
  return diag;
}

static void addOp(SmallVectorImpl<Operation *> &list, Operation *op) {
  if (op)
    list.push_back(op);
}

//===----------------------------------------------------------------------===//
// Nodes and hierarchy
//===----------------------------------------------------------------------===//

Diagnosed MatchNodeOp::apply(transform::TransformRewriter &, transform::TransformResults &results,
                             transform::TransformState &state) {
  SmallVector<Operation *> found;
  Operation *root = nullptr;
  for (Operation *target : state.getPayloadOps(getRoot())) {
    root = target;
    graph::walkNodes(target, [&](NodeOp node) {
      if (getName() ? node.getName() == *getName() : !node.isInternal())
        found.push_back(node);
    });
  }
  if (getName() && found.empty()) {
    Diagnosed diag = emitSilenceableError() << "there is no node '" << *getName() << "'";
    SmallVector<StringRef> names;
    for (Operation *target : state.getPayloadOps(getRoot()))
      graph::walkNodes(target, [&](NodeOp node) { names.push_back(node.getName()); });
    if (root)
      diag.attachNote(root->getLoc()) << "nodes here: " << llvm::join(names, ", ");
    return diag;
  }
  results.set(cast<OpResult>(getNodes()), found);
  return Diagnosed::success();
}

Diagnosed MatchGraphOp::apply(transform::TransformRewriter &, transform::TransformResults &results,
                              transform::TransformState &state) {
  for (Operation *target : state.getPayloadOps(getRoot())) {
    GraphOp found;
    target->walk([&](GraphOp graph) {
      if (graph.getSymName() == getName())
        found = graph;
    });
    if (found) {
      results.set(cast<OpResult>(getGraph()), {found.getOperation()});
      return Diagnosed::success();
    }
  }
  return emitSilenceableError() << "there is no graph '" << getName() << "'";
}

Diagnosed FlattenOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                           transform::TransformState &state) {
  SmallVector<Operation *> payload(state.getPayloadOps(getTarget())), inlined;
  for (Operation *target : payload) {
    Refusal no;
    FailureOr<SmallVector<Operation *>> children = failure();
    if (auto node = dyn_cast<NodeOp>(target))
      children = graph::flattenNode(rewriter, node, no);
    else if (auto call = dyn_cast<CallOp>(target))
      children = graph::flattenCall(rewriter, call, no);
    else if (succeeded(graph::flattenAll(rewriter, target, no)))
      children = SmallVector<Operation *>{target};
    if (failed(children))
      return refuse(*this, no);
    inlined.append(*children);
  }
  results.set(cast<OpResult>(getInlined()), inlined);
  return Diagnosed::success();
}

Diagnosed OutlineOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                           transform::TransformState &state) {
  SmallVector<NodeOp> nodes;
  for (Operation *target : state.getPayloadOps(getNodes())) {
    auto node = dyn_cast<NodeOp>(target);
    if (!node)
      return emitSilenceableError() << "expected handles of 'dfg.node', but got '" << target->getName()
                                    << "'";
    nodes.push_back(node);
  }
  if (nodes.empty())
    return emitSilenceableError() << "expected a handle of at least one node, but got none";
  Refusal no;
  Operation *outlined = nullptr;
  if (getAsGraph()) {
    FailureOr<CallOp> call = graph::outlineGraph(rewriter, nodes, getName(), no);
    if (failed(call))
      return refuse(*this, no);
    outlined = *call;
  } else {
    FailureOr<NodeOp> node = graph::outlineNodes(rewriter, nodes, getName(), no);
    if (failed(node))
      return refuse(*this, no);
    outlined = *node;
  }
  results.set(cast<OpResult>(getOutlined()), {outlined});
  return Diagnosed::success();
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

Diagnosed FuseNodesOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                             transform::TransformState &state) {
  graph::FuseOptions options{getRecompute(), getMaxCost().convertToDouble()};
  NumberReader numbers(*this, state, getParams());
  if (!getParams().empty())
    options.maxRecompute = double(numbers.read("max_cost", ShapedType::kDynamic, 0));
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  return fusePair<NodeOp>(*this, state, getProducer(), getConsumer(), results, getFused(),
                          [&](NodeOp from, NodeOp into, Refusal &no) {
                            return graph::fuseProducer(rewriter, from, into, options, no);
                          });
}

Diagnosed FuseSiblingsOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                                transform::TransformState &state) {
  return fusePair<NodeOp>(*this, state, getFirst(), getSecond(), results, getFused(),
                          [&](NodeOp first, NodeOp second, Refusal &no) {
                            return graph::fuseSiblings(rewriter, first, second, no);
                          });
}

Diagnosed FuseLoopsOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                             transform::TransformState &state) {
  return fusePair<scf::ForOp>(*this, state, getFirst(), getSecond(), results, getFused(),
                              [&](scf::ForOp first, scf::ForOp second, Refusal &no) {
                                return graph::fuseLoops(rewriter, first, second, no);
                              });
}

//===----------------------------------------------------------------------===//
// Grids and leaves
//===----------------------------------------------------------------------===//

Diagnosed TileGridOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                            transform::TransformState &state) {
  SmallVector<Operation *> groups, leaves;
  NumberReader numbers(*this, state, getParams());
  SmallVector<int64_t> sizes = numbers.read("sizes", getSizes());
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  Diagnosed diag = forEach<NodeOp>(*this, state, getTarget(), [&](NodeOp node, Refusal &no) -> LogicalResult {
    FailureOr<graph::TiledNode> tiled = graph::tileGrid(rewriter, node, sizes, no);
    if (failed(tiled))
      return failure();
    groups.push_back(tiled->group);
    leaves.push_back(tiled->leaf);
    return success();
  });
  if (!diag.succeeded())
    return diag;
  results.set(cast<OpResult>(getGroup()), groups);
  results.set(cast<OpResult>(getLeaf()), leaves);
  return Diagnosed::success();
}

Diagnosed SplitGridOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                             transform::TransformState &state) {
  SmallVector<Operation *> first, second, combine;
  NumberReader numbers(*this, state, getParams());
  int64_t at = numbers.read("at", getAt()), dim = numbers.read("dim", getDim());
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  Diagnosed diag = forEach<NodeOp>(*this, state, getTarget(), [&](NodeOp node, Refusal &no) -> LogicalResult {
    FailureOr<graph::SplitNode> split = graph::splitGrid(rewriter, node, dim, at, no);
    if (failed(split))
      return failure();
    first.push_back(split->first);
    second.push_back(split->second);
    addOp(combine, split->combine);
    return success();
  });
  if (!diag.succeeded())
    return diag;
  results.set(cast<OpResult>(getFirst()), first);
  results.set(cast<OpResult>(getSecond()), second);
  results.set(cast<OpResult>(getCombine()), combine);
  return Diagnosed::success();
}

Diagnosed SequentialiseOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                                 transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  SmallVector<int64_t> dims = numbers.read("dims", getDims().value_or(ArrayRef<int64_t>()));
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  return forEachLeaf(*this, state, getTarget(), results, getLeaf(), [&](NodeOp node, Refusal &no) {
    return graph::sequentialise(rewriter, node, dims, no);
  });
}

// Privatises one port or the scratch memory of a leaf.
static LogicalResult privatiseOne(RewriterBase &rewriter, NodeOp node, std::optional<int64_t> given,
                                  int64_t chunks, SmallVectorImpl<Operation *> &nodes,
                                  SmallVectorImpl<Operation *> &merges, Refusal &no) {
  if (!given) {
    SmallVector<ScratchOp> found;
    node.getBody().walk([&](ScratchOp scratch) { found.push_back(scratch); });
    if (found.empty())
      return no(node, "cannot privatise in '" + node.getName() + "': it has no scratch memory",
                "name a port");
    for (ScratchOp scratch : found)
      if (failed(graph::privatiseScratch(rewriter, scratch, no)))
        return failure();
    nodes.push_back(node);
    return success();
  }
  int64_t port = *given;
  if (port >= 0 && port < int64_t(node.getInputs().size()) && node.getPort(port).getMode() == PortMode::Acc) {
    FailureOr<graph::PrivatisedNode> both = graph::privatiseAccumulator(rewriter, node, port, chunks, no);
    if (failed(both))
      return failure();
    nodes.push_back(both->node);
    merges.push_back(both->merge);
    return success();
  }
  FailureOr<NodeOp> to = graph::privatisePort(rewriter, node, port, no);
  if (failed(to))
    return failure();
  nodes.push_back(*to);
  return success();
}

Diagnosed PrivatiseOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                             transform::TransformState &state) {
  SmallVector<Operation *> nodes, merges;
  NumberReader numbers(*this, state, getParams());
  std::optional<int64_t> port;
  if (getPort())
    port = numbers.read("port", *getPort());
  int64_t chunks = numbers.read("chunks", getChunks());
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  Diagnosed diag = forEach<NodeOp>(*this, state, getTarget(), [&](NodeOp node, Refusal &no) {
    return privatiseOne(rewriter, node, port, chunks, nodes, merges, no);
  });
  if (!diag.succeeded())
    return diag;
  results.set(cast<OpResult>(getNode()), nodes);
  results.set(cast<OpResult>(getMerge()), merges);
  return Diagnosed::success();
}

Diagnosed UnrollLoopOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &,
                              transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t factor = numbers.read("factor", getFactor());
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  return forEach<scf::ForOp>(*this, state, getLoop(), [&](scf::ForOp loop, Refusal &no) {
    return graph::unrollLoop(rewriter, loop, factor, no);
  });
}

Diagnosed UnrollGridOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                              transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t factor = numbers.read("by", getFactor()), dim = numbers.read("dim", getDim());
  if (Diagnosed diag = numbers.take(); !diag.succeeded())
    return diag;
  return forEachLeaf(*this, state, getTarget(), results, getLeaf(), [&](NodeOp node, Refusal &no) {
    return graph::unrollGrid(rewriter, node, dim, factor, no);
  });
}

Diagnosed HoistOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &results,
                         transform::TransformState &state) {
  SmallVector<Operation *> invariant, leaves;
  Diagnosed diag = forEach<NodeOp>(*this, state, getTarget(), [&](NodeOp node, Refusal &no) -> LogicalResult {
    FailureOr<graph::HoistedNode> hoisted = graph::hoistInvariant(rewriter, node, no);
    if (failed(hoisted))
      return failure();
    invariant.push_back(hoisted->invariant);
    leaves.push_back(hoisted->node);
    return success();
  });
  if (!diag.succeeded())
    return diag;
  results.set(cast<OpResult>(getInvariant()), invariant);
  results.set(cast<OpResult>(getLeaf()), leaves);
  return Diagnosed::success();
}

Diagnosed SimplifyOp::apply(transform::TransformRewriter &rewriter, transform::TransformResults &,
                            transform::TransformState &state) {
  for (Operation *target : state.getPayloadOps(getTarget()))
    graph::simplify(rewriter, target);
  return Diagnosed::success();
}

void SimplifyOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}
