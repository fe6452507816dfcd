// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives instances memory of their own: scratch and temporary ports that each instance writes before it reads
// become local memory; an accumulator becomes one copy for each chunk of the grid and a node that merges the
// copies.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

//===----------------------------------------------------------------------===//
// Written before read
//===----------------------------------------------------------------------===//

// The store stands in loops that run over every element, and nothing makes it conditional.
static Operation *fullWrite(memref::StoreOp store) {
  auto type = store.getMemRefType();
  SmallVector<bool> covered(type.getRank());
  Operation *outermost = store;
  for (Operation *parent = store->getParentOp(); parent && !isa<NodeOp>(parent);
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !loop.getStaticTripCount() || loop.getStaticTripCount()->isZero())
      return nullptr;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (store.getIndices()[d] == loop.getInductionVar())
        covered[d] = getConstantIntValue(loop.getLowerBound()) == 0 &&
                     getConstantIntValue(loop.getStep()) == 1 &&
                     getConstantIntValue(loop.getUpperBound()) == type.getDimSize(d);
    outermost = loop;
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!covered[d] && !(type.getDimSize(d) == 1))
      return nullptr;
  return outermost;
}

static LogicalResult checkWrittenBeforeRead(Value memory, Operation *owner, StringRef what, Refusal &no) {
  SmallVector<memref::LoadOp> loads;
  SmallVector<memref::StoreOp> stores;
  for (OpOperand &use : memory.getUses()) {
    auto store = dyn_cast<memref::StoreOp>(use.getOwner());
    if (auto load = dyn_cast<memref::LoadOp>(use.getOwner()))
      loads.push_back(load);
    else if (store && store.getMemRef() == memory && store.getValueToStore() != memory)
      stores.push_back(store);
    else
      return no(use.getOwner(),
                "cannot privatise " + what + ": '" + use.getOwner()->getName().getStringRef() +
                    "' uses it as a whole",
                "use loads and stores of elements");
  }
  DominanceInfo dominance(owner);
  for (memref::LoadOp load : loads) {
    bool written = llvm::any_of(stores, [&](memref::StoreOp store) {
      if (dominance.properlyDominates(store, load) && store.getIndices() == load.getIndices())
        return true;
      Operation *write = fullWrite(store);
      return write && !write->isAncestor(load) && dominance.properlyDominates(write, load);
    });
    if (!written)
      return no(load, "cannot privatise " + what + ": this may read what the instance has not written",
                "write the element before reading it");
  }
  return success();
}

// Memory of one instance, at the rewriter's place in the body of `leaf`.
static Value createLocal(RewriterBase &rewriter, Location loc, MemRefType type, NodeOp leaf) {
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  if (leaf->hasTrait<OpTrait::AutomaticAllocationScope>())
    return memref::AllocaOp::create(rewriter, loc, plain);
  // Where a leaf does not end the life of what it allocates, that is said explicitly.
  return memref::AllocOp::create(rewriter, loc, plain);
}

static void endLocal(RewriterBase &rewriter, Value memory, NodeOp leaf) {
  if (!memory.getDefiningOp<memref::AllocOp>())
    return;
  rewriter.setInsertionPoint(leaf.getYieldOp());
  memref::DeallocOp::create(rewriter, memory.getLoc(), memory);
}

// dfg.scratch : memref<…>  →  memref.alloca : memref<…>
LogicalResult graph::privatiseScratch(RewriterBase &rewriter, ScratchOp scratch, Refusal &no) {
  NodeOp leaf = getEnclosingLeaf(scratch);
  if (failed(checkLeaf(leaf, "privatise in", no)))
    return failure();
  bool barrier = leaf.getBody().walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (barrier)
    return no(scratch,
              "cannot privatise the scratch memory: instances exchange values through it at a barrier",
              "keep it shared");
  if (failed(checkWrittenBeforeRead(scratch.getMemory(), leaf, "the scratch memory", no)))
    return failure();
  auto type = cast<MemRefType>(scratch.getMemory().getType());
  if (type != MemRefType::get(type.getShape(), type.getElementType()))
    return no(scratch, "cannot privatise the scratch memory: it has a layout or memory space of its own",
              "use a plain memref");
  rewriter.setInsertionPoint(scratch);
  Value local = createLocal(rewriter, scratch.getLoc(), type, leaf);
  rewriter.replaceOp(scratch, local);
  endLocal(rewriter, local, leaf);
  return success();
}

// %b = dfg.buffer(); @f (out %m = %b) {…}  →  @f () { %m = memref.alloca …}
FailureOr<NodeOp> graph::privatisePort(RewriterBase &rewriter, NodeOp node, unsigned input, Refusal &no) {
  if (failed(checkLeaf(node, "privatise in", no)))
    return failure();
  std::string what = ("port " + Twine(input) + " of '" + node.getName() + "'").str();
  if (input >= node.getInputs().size() || !node.getPort(input).isWritable() ||
      node.getPort(input).getMode() == PortMode::Acc)
    return no(node, "cannot privatise " + what + ": expected an 'out' or 'inout' port",
              "name a port that it writes");
  auto buffer = node.getInputs()[input].getDefiningOp<BufferOp>();
  auto type = cast<MemRefType>(node.getInputs()[input].getType());
  if (!buffer || !buffer->hasOneUse() || !node.getPortResult(input).use_empty())
    return no(node, "cannot privatise " + what + ": its memory is used elsewhere", "use a buffer of its own");
  if (!type.hasStaticShape() || type != MemRefType::get(type.getShape(), type.getElementType()))
    return no(node, "cannot privatise " + what + ": its memory has no static, plain shape",
              "give the buffer a static shape");
  if (hasGroupMemory(node))
    return no(node, "cannot privatise " + what + ": instances may exchange values through it at a barrier",
              "keep it shared");
  BlockArgument arg = node.getInputArgs()[input];
  if (failed(checkWrittenBeforeRead(arg, node, what, no)))
    return failure();
  NodeParts parts(node);
  parts.inputs.erase(parts.inputs.begin() + input);
  parts.ports.erase(parts.ports.begin() + input);
  rewriter.setInsertionPoint(node);
  NodeOp to = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(to.getBodyBlock());
  IRMapping map;
  map.map(node.getIds(), to.getIds());
  Value local = createLocal(rewriter, arg.getLoc(), type, to);
  map.map(arg, local);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (i != input)
      map.map(node.getInputArgs()[i], to.getInputArgs()[i - (i > input)]);
  finish(rewriter, to, cloneBody(rewriter, node, map));
  endLocal(rewriter, local, to);
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    rewriter.replaceAllUsesWith(node.getResult(r), to.getResult(r));
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (i != input && node.getPort(i).isWritable())
      rewriter.replaceAllUsesWith(node.getPortResult(i), to.getPortResult(i - (i > input)));
  rewriter.eraseOp(node);
  rewriter.eraseOp(buffer);
  return to;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

static LogicalResult checkAccumulator(NodeOp node, unsigned input, int64_t chunks, Refusal &no) {
  if (failed(checkLeaf(node, "privatise in", no)))
    return failure();
  std::string cannot = ("cannot privatise port " + Twine(input) + " of '" + node.getName() + "': ").str();
  if (input >= node.getInputs().size() || node.getPort(input).getMode() != PortMode::Acc)
    return no(node, cannot + "expected an 'acc' port", "name a port that it accumulates into");
  if (!node.getRank())
    return no(node, cannot + "the node has no grid to cut into chunks", "name a replicated leaf");
  if (chunks < 1)
    return no(node, cannot + "expected at least one chunk, but got " + Twine(chunks), "use 2 or more");
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "remove them first");
  auto type = cast<MemRefType>(node.getInputs()[input].getType());
  if (type.getRank() > 3 || type != MemRefType::get(type.getShape(), type.getElementType()))
    return no(node, cannot + "its memory has more than three dimensions or a layout of its own",
              "use a plain memref");
  for (Operation *user : node.getInputArgs()[input].getUsers())
    if (!isa<AccumulateOp>(user))
      return no(user, cannot + "'" + user->getName().getStringRef() + "' uses its memory as a whole",
                "use 'dfg.accumulate' only");
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (node.getYield(r).getMode() != ResultMode::Reduce || !reducesAll(node.getYield(r), node.getRank()))
      return no(node, cannot + "result " + Twine(r) + " is not a reduction over the whole grid",
                "let another node compute it");
  return success();
}

// The node over chunks: each runs its part of the grid as loops and writes only its own copy.
static NodeOp buildChunks(RewriterBase &rewriter, NodeOp node, unsigned input, int64_t chunks, Value copies) {
  MLIRContext *context = node.getContext();
  Location loc = node.getLoc();
  NodeParts parts(node);
  parts.grid = {indexConstant(rewriter, loc, chunks)};
  parts.inputs[input] = copies;
  parts.ports[input] = graph::getPort(context, PortMode::InOut);
  llvm::erase_if(parts.hints, [](NamedAttribute hint) { return hint.getName() == "cost"; });
  for (PortAttr &port : parts.ports)
    if (port.getMode() == PortMode::Each)
      port = graph::getPort(context, PortMode::Whole);
  for (ResultAttr &yield : parts.yields)
    yield = ResultAttr::get(context, yield.getMode(), yield.getReduction(), {});
  Capture capture(parts);
  for (Value extent : node.getGrid())
    capture.need(extent);
  NodeOp to = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(to.getBodyBlock());
  SmallVector<Value> bounds, state, ids;
  for (Value extent : node.getGrid())
    bounds.push_back(capture.get(rewriter, to, extent));
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    state.push_back(arith::ConstantOp::create(
        rewriter, loc, dfg::getIdentity(node.getYield(r).getReduction(), node.getResult(r).getType(), node)));
  Value zero = indexConstant(rewriter, loc, 0), one = indexConstant(rewriter, loc, 1);
  Value length = indexCeilDiv(rewriter, loc, bounds[0], chunks);
  Value begin = arith::MulIOp::create(rewriter, loc, to.getIds()[0], length);
  Value end = arith::AddIOp::create(rewriter, loc, begin, length);
  end = arith::MinSIOp::create(rewriter, loc, end, bounds[0]);
  SmallVector<scf::ForOp> nest;
  for (unsigned d = 0; d < node.getRank(); ++d) {
    auto loop = scf::ForOp::create(rewriter, loc, d ? zero : begin, d ? bounds[d] : end, one, state);
    state.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    ids.push_back(loop.getInductionVar());
    nest.push_back(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  IRMapping map;
  map.map(node.getIds(), ids);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value arg = to.getInputArgs()[i];
    bool each = node.getPort(i).getMode() == PortMode::Each;
    map.map(node.getInputArgs()[i], each ? elementAt(rewriter, loc, arg, ids) : arg);
  }
  SmallVector<Value> yielded =
      cloneBody(rewriter, node, map, [&](OpBuilder &, unsigned d) { return bounds[d]; });
  for (unsigned r = 0; r < yielded.size(); ++r)
    yielded[r] = buildCombine(rewriter, loc, node.getYield(r).getReduction(), state[r], yielded[r], node);
  for (scf::ForOp loop : llvm::reverse(nest)) {
    if (!yielded.empty()) {
      rewriter.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(rewriter, loc, yielded);
    }
    yielded.assign(loop.getResults().begin(), loop.getResults().end());
  }
  finish(rewriter, to, yielded);
  // Nobody else touches the copy, so a plain load and store do.
  BlockArgument memory = to.getInputArgs()[input];
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    auto add = cast<AccumulateOp>(user);
    rewriter.setInsertionPoint(add);
    SmallVector<Value> at{to.getIds()[0]};
    at.append(add.getIndices().begin(), add.getIndices().end());
    Value old = memref::LoadOp::create(rewriter, add.getLoc(), memory, at);
    Value sum =
        buildCombine(rewriter, add.getLoc(), node.getPort(input).getReduction(), old, add.getValue(), node);
    memref::StoreOp::create(rewriter, add.getLoc(), sum, memory, at);
    rewriter.eraseOp(add);
  }
  return to;
}

static NodeOp buildMerge(RewriterBase &rewriter, NodeOp node, unsigned input, int64_t chunks, Value copies) {
  Location loc = node.getLoc();
  Value target = node.getInputs()[input];
  auto type = cast<MemRefType>(target.getType());
  ReductionAttr reduction = node.getPort(input).getReduction();
  NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_merge"));
  for (int64_t d = 0; d < type.getRank(); ++d)
    parts.grid.push_back(type.isDynamicDim(d) ? Value(memref::DimOp::create(rewriter, loc, target, d))
                                              : indexConstant(rewriter, loc, type.getDimSize(d)));
  for (NamedAttribute hint : NodeParts(node).hints)
    if (hint.getName() != "cost" && SharedNotes::schedules != hint.getName())
      parts.hints.push_back(hint);
  parts.addInput(copies, graph::getPort(node.getContext(), PortMode::In));
  parts.addInput(target, node.getPort(input));
  NodeOp merge = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(merge.getBodyBlock());
  Value zero = indexConstant(rewriter, loc, 0), one = indexConstant(rewriter, loc, 1);
  Value identity =
      arith::ConstantOp::create(rewriter, loc, dfg::getIdentity(reduction, type.getElementType(), node));
  auto loop = scf::ForOp::create(rewriter, loc, zero, indexConstant(rewriter, loc, chunks), one, identity);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at{loop.getInductionVar()};
  at.append(merge.getIds().begin(), merge.getIds().end());
  Value part = memref::LoadOp::create(rewriter, loc, merge.getInputArgs()[0], at);
  Value sum = buildCombine(rewriter, loc, reduction, loop.getRegionIterArgs()[0], part, node);
  scf::YieldOp::create(rewriter, loc, sum);
  rewriter.setInsertionPointToEnd(merge.getBodyBlock());
  AccumulateOp::create(rewriter, loc, loop.getResult(0), merge.getInputArgs()[1], merge.getIds());
  finish(rewriter, merge, {});
  return merge;
}

// @f grid(%n) (acc<+> %b = %h)  →  %p = dfg.buffer fill(0); @f grid(chunks) (inout %p); @f_merge (in %p,
// acc<+> %b = %h)
FailureOr<PrivatisedNode> graph::privatiseAccumulator(RewriterBase &rewriter, NodeOp node, unsigned input,
                                                      int64_t chunks, Refusal &no) {
  if (failed(checkAccumulator(node, input, chunks, no)))
    return failure();
  Location loc = node.getLoc();
  Value target = node.getInputs()[input];
  auto type = cast<MemRefType>(target.getType());
  rewriter.setInsertionPoint(node);
  SmallVector<int64_t> shape{chunks};
  shape.append(type.getShape().begin(), type.getShape().end());
  SmallVector<Value> extents;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      extents.push_back(memref::DimOp::create(rewriter, loc, target, d));
  Value identity = arith::ConstantOp::create(
      rewriter, loc, dfg::getIdentity(node.getPort(input).getReduction(), type.getElementType(), node));
  auto copies =
      BufferOp::create(rewriter, loc, MemRefType::get(shape, type.getElementType()), extents, identity);
  PrivatisedNode result;
  result.node = buildChunks(rewriter, node, input, chunks, copies);
  result.merge = buildMerge(rewriter, node, input, chunks, result.node.getPortResult(input));
  SmallVector<Value> results(result.node.getResults());
  results[node.getPortResult(input).getResultNumber()] = result.merge.getResult(0);
  rewriter.replaceOp(node, results);
  return result;
}

namespace tessera::graph {
#define GEN_PASS_DEF_PRIVATISEPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct PrivatisePass : graph::impl::PrivatisePassBase<PrivatisePass> {
  using PrivatisePassBase::PrivatisePassBase;

  LogicalResult privatise(IRRewriter &rewriter, NodeOp op, Refusal &no) {
    if (port >= 0) {
      bool acc = port < int64_t(op.getInputs().size()) && op.getPort(port).getMode() == PortMode::Acc;
      return acc ? LogicalResult(privatiseAccumulator(rewriter, op, port, chunks, no))
                 : LogicalResult(privatisePort(rewriter, op, port, no));
    }
    SmallVector<ScratchOp> found;
    op.getBody().walk([&](ScratchOp scratch) { found.push_back(scratch); });
    for (ScratchOp scratch : found)
      if (failed(privatiseScratch(rewriter, scratch, no)))
        return failure();
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node,
                             [&](NodeOp op, Refusal &no) { return privatise(rewriter, op, no); })))
      signalPassFailure();
  }
};
} // namespace
