// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node that stores one element for each instance becomes one that yields them and one that stores what it
// gets, so that knobs of yielded results are knobs of loops that write memory, as those of C++ are.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "llvm/ADT/SetVector.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static RankedTensorType gatheredType(NodeOp node, Type element) {
  SmallVector<int64_t> shape;
  for (Value extent : node.getGrid())
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

// The node without its stores: what they would store is yielded.
static NodeOp buildValues(RewriterBase &rewriter, NodeOp node, ArrayRef<memref::StoreOp> stores) {
  NodeParts parts(node);
  IRMapping map;
  SmallVector<unsigned> kept;
  for (unsigned i = node.getInputs().size(); i-- > 0;)
    if (node.getPort(i).isWritable()) {
      parts.inputs.erase(parts.inputs.begin() + i);
      parts.ports.erase(parts.ports.begin() + i);
    } else {
      kept.insert(kept.begin(), i);
    }
  for (memref::StoreOp store : stores)
    parts.addOutput(gatheredType(node, store.getValue().getType()), getGather(node.getContext()));
  NodeOp values = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(values.getBodyBlock());
  map.map(node.getIds(), values.getIds());
  for (auto [position, i] : llvm::enumerate(kept))
    map.map(node.getInputArgs()[i], values.getInputArgs()[position]);
  for (Operation &op : node.getBodyBlock()->without_terminator())
    if (!llvm::is_contained(stores, &op))
      rewriter.clone(op, map);
  SmallVector<Value> yielded;
  for (memref::StoreOp store : stores)
    yielded.push_back(map.lookupOrDefault(store.getValue()));
  finish(rewriter, values, yielded);
  return values;
}

// The stores alone: the body as far as it says where to.
static NodeOp buildStores(RewriterBase &rewriter, NodeOp node, NodeOp values,
                          ArrayRef<memref::StoreOp> stores) {
  NodeParts parts(node);
  parts.name = uniqueName(node->getBlock(), node.getName() + "_store");
  llvm::erase_if(parts.hints, [](NamedAttribute hint) {
    return hint.getName() == "cost" || dfg::Notes::knob == hint.getName();
  });
  const unsigned first = parts.inputs.size();
  for (Value value : values->getResults()) {
    parts.inputs.push_back(value);
    parts.ports.push_back(graph::getPort(node.getContext(), PortMode::Each));
  }
  NodeOp writes = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(writes.getBodyBlock());
  IRMapping map;
  map.map(node.getIds(), writes.getIds());
  map.map(node.getInputArgs(), writes.getInputArgs().take_front(first));
  llvm::SetVector<Operation *> needed;
  for (memref::StoreOp store : stores)
    for (Operation *op : addressOf(store))
      needed.insert(op);
  for (Operation &op : node.getBodyBlock()->without_terminator())
    if (needed.contains(&op))
      rewriter.clone(op, map);
  unsigned next = first;
  for (memref::StoreOp store : stores) {
    SmallVector<Value> at;
    for (Value index : store.getIndices())
      at.push_back(map.lookupOrDefault(index));
    memref::StoreOp::create(rewriter, store.getLoc(), writes.getInputArgs()[next++],
                            map.lookupOrDefault(store.getMemref()), at);
  }
  finish(rewriter, writes, {});
  // Reads that say nothing about places went with the values.
  llvm::BitVector dead(writes.getInputs().size());
  for (unsigned i = 0; i < dead.size(); ++i)
    dead[i] = !writes.getPort(i).isWritable() && writes.getInputArgs()[i].use_empty();
  eraseInputs(rewriter, writes, dead);
  return writes;
}

// @f grid(G) (%x, out %p = %m) { store %v, %p[…] }  →  %t = @f grid(G) (%x) { yield %v };
//                                                      @f_store grid(G) (each %v = %t, out %p = %m) { … }
NodeOp graph::liftStores(RewriterBase &rewriter, NodeOp node) {
  const SmallVector<memref::StoreOp> stores = *storesOf(node);
  rewriter.setInsertionPoint(node);
  NodeOp values = buildValues(rewriter, node, stores), writes = buildStores(rewriter, node, values, stores);
  rewriter.replaceOp(node, writes->getResults());
  return values;
}
