// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See NodeParts.h.
#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

LogicalResult Refusal::operator()(Operation *where, const Twine &why, const Twine &help) {
  at = where;
  text = why.str();
  remedy = help.str();
  return failure();
}

LogicalResult Refusal::emit() const {
  InFlightDiagnostic diag = at->emitError() << text;
  if (!remedy.empty())
    diag.attachNote() << remedy;
  return diag;
}

LogicalResult graph::checkLeaf(NodeOp node, StringRef verb, Refusal &no) {
  if (node.isInternal())
    return no(node, "cannot " + verb + " '" + node.getName() + "': it is an internal node",
              "flatten it first");
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes as data
//===----------------------------------------------------------------------===//

static bool isStructure(StringRef attribute) {
  return attribute == "name" || attribute == "ports" || attribute == "yields" ||
         attribute == "operandSegmentSizes";
}

NodeParts::NodeParts(NodeOp node)
    : loc(node.getLoc()), name(node.getName()), grid(node.getGrid()), inputs(node.getInputs()),
      ports(node.getPorts().getAsRange<PortAttr>()),
      types(node.getResults().take_front(node.getNumYields()).getTypes()),
      yields(node.getYields().getAsRange<ResultAttr>()) {
  for (NamedAttribute attribute : node->getAttrs())
    if (!isStructure(attribute.getName()))
      hints.push_back(attribute);
}

unsigned NodeParts::addInput(Value value, PortAttr port) {
  if (!port.isWritable())
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputs[i] == value && ports[i] == port)
        return i;
  inputs.push_back(value);
  ports.push_back(port);
  return inputs.size() - 1;
}

unsigned NodeParts::addWhole(Value value) {
  return addInput(value, graph::getPort(value.getContext(), PortMode::Whole));
}

unsigned NodeParts::addOutput(Type type, ResultAttr yield) {
  types.push_back(type);
  yields.push_back(yield);
  return types.size() - 1;
}

NodeOp NodeParts::build(OpBuilder &b) const {
  auto node = NodeOp::create(b, loc, name, grid, inputs, ports, types, yields);
  for (NamedAttribute hint : hints)
    node->setAttr(hint.getName(), hint.getValue());
  return node;
}

PortAttr graph::getPort(MLIRContext *context, PortMode mode) {
  return PortAttr::get(context, mode, ReductionAttr());
}

ResultAttr graph::getGather(MLIRContext *context) {
  return ResultAttr::get(context, ResultMode::Gather, ReductionAttr(), {});
}

void Capture::need(Value value) {
  if (!getConstantIntValue(value))
    position[value] = parts.addWhole(value);
}

Value Capture::get(OpBuilder &b, NodeOp node, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return arith::ConstantIndexOp::create(b, value.getLoc(), *constant);
  return node.getInputArgs()[position.lookup(value)];
}

void graph::finish(RewriterBase &rewriter, NodeOp node, ValueRange yielded) {
  rewriter.setInsertionPointToEnd(node.getBodyBlock());
  YieldOp::create(rewriter, node.getLoc(), yielded);
}

void graph::eraseInputs(RewriterBase &rewriter, NodeOp node, const llvm::BitVector &dead) {
  rewriter.modifyOpInPlace(node, [&] {
    SmallVector<Attribute> ports;
    for (unsigned i = 0; i < node.getInputs().size(); ++i)
      if (!dead.test(i))
        ports.push_back(node.getPort(i));
    for (unsigned i = dead.size(); i-- > 0;)
      if (dead.test(i)) {
        node.getInputsMutable().erase(i);
        node.getBodyBlock()->eraseArgument(node.getRank() + i);
      }
    node.setPortsAttr(ArrayAttr::get(node.getContext(), ports));
  });
}

std::string graph::uniqueName(Block *block, const Twine &base) {
  llvm::StringSet<> taken;
  Operation *graph = block->getParentOp();
  while (!isa<GraphOp>(graph) && graph->getParentOp())
    graph = graph->getParentOp();
  walkNodes(graph, [&](NodeOp node) { taken.insert(node.getName()); });
  std::string name = base.str();
  for (unsigned i = 1; taken.contains(name); ++i)
    name = (base + "_" + Twine(i)).str();
  return name;
}

std::string graph::jointName(NodeOp first, NodeOp second) {
  constexpr size_t longest = 80, kept = 40;
  std::string name = (first.getName() + "_" + second.getName()).str();
  return name.size() <= longest ? name : (first.getName().take_front(kept) + "_and_more").str();
}

void graph::walkNodes(Operation *root, function_ref<void(NodeOp)> visit) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto node = dyn_cast<NodeOp>(op);
    if (node)
      visit(node);
    return node && !node.isInternal() ? WalkResult::skip() : WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

SmallVector<Value> graph::cloneBody(RewriterBase &rewriter, NodeOp leaf, IRMapping &map,
                                    function_ref<Value(OpBuilder &, unsigned)> extents) {
  auto replaceExtent = [&](ExtentOp op) {
    if (!extents)
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    if (Value extent = extents(rewriter, op.getDim()))
      rewriter.replaceOp(op, extent);
  };
  for (Operation &op : leaf.getBodyBlock()->without_terminator()) {
    if (auto extent = dyn_cast<ExtentOp>(op); extent && extents)
      if (Value value = extents(rewriter, extent.getDim())) {
        map.map(extent.getResult(), value);
        continue;
      }
    Operation *copy = rewriter.clone(op, map);
    copy->walk([&](ExtentOp inner) {
      if (inner != copy)
        replaceExtent(inner);
    });
  }
  SmallVector<Value> yielded;
  for (Value value : leaf.getYieldOp().getValues())
    yielded.push_back(map.lookupOrDefault(value));
  return yielded;
}

SmallVector<Value> graph::moveBody(RewriterBase &rewriter, NodeOp from, NodeOp to, ValueRange args) {
  Block *block = from.getBodyBlock();
  YieldOp yield = from.getYieldOp();
  SmallVector<Value> yielded(yield.getValues());
  for (Value &value : yielded)
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == block)
      value = args[arg.getArgNumber()];
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(block, to.getBodyBlock(), to.getBodyBlock()->end(), args);
  // The old node is to be replaced and may be looked into until then.
  rewriter.createBlock(&from.getBody());
  return yielded;
}

// Offsets, sizes and strides of the tile at leading indices.
static void tileSlice(OpBuilder &b, Location loc, Value tensor, ValueRange indices,
                      SmallVector<OpFoldResult> &offsets, SmallVector<OpFoldResult> &sizes,
                      SmallVector<OpFoldResult> &strides) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    bool leading = d < int64_t(indices.size());
    offsets.push_back(leading ? OpFoldResult(indices[d]) : b.getIndexAttr(0));
    if (leading)
      sizes.push_back(b.getIndexAttr(1));
    else
      sizes.push_back(tensor::getMixedSize(b, loc, tensor, d));
    strides.push_back(b.getIndexAttr(1));
  }
}

Value graph::elementAt(OpBuilder &b, Location loc, Value tensor, ValueRange indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (indices.empty() && type.getRank())
    return tensor;
  if (type.getRank() == int64_t(indices.size()))
    return tensor::ExtractOp::create(b, loc, tensor, indices);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  tileSlice(b, loc, tensor, indices, offsets, sizes, strides);
  auto tile = RankedTensorType::get(type.getShape().drop_front(indices.size()), type.getElementType());
  return tensor::ExtractSliceOp::create(b, loc, tile, tensor, offsets, sizes, strides);
}

Value graph::insertAt(OpBuilder &b, Location loc, Value element, Value tensor, ValueRange indices) {
  if (!isa<RankedTensorType>(element.getType()))
    return tensor::InsertOp::create(b, loc, element, tensor, indices);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  tileSlice(b, loc, tensor, indices, offsets, sizes, strides);
  return tensor::InsertSliceOp::create(b, loc, element, tensor, offsets, sizes, strides);
}

bool graph::sameExtent(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x || y)
    return x && y && *x == *y;
  auto dimA = a.getDefiningOp<tensor::DimOp>(), dimB = b.getDefiningOp<tensor::DimOp>();
  return dimA && dimB && dimA.getSource() == dimB.getSource() && sameExtent(dimA.getIndex(), dimB.getIndex());
}

bool graph::sameGrid(NodeOp a, NodeOp b) {
  return a.getRank() == b.getRank() && llvm::all_of(llvm::zip(a.getGrid(), b.getGrid()), [](auto pair) {
           return sameExtent(std::get<0>(pair), std::get<1>(pair));
         });
}

bool graph::asksExtent(NodeOp leaf, unsigned dim) {
  return leaf.getBody()
      .walk([&](ExtentOp op) { return op.getDim() == dim ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool graph::hasGroupMemory(NodeOp leaf) {
  return leaf.getBody()
      .walk([&](Operation *op) {
        return isa<ScratchOp, BarrierOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

double graph::tripCount(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips ? double(trips->getZExtValue()) : unknownTrips;
}

double graph::bodyCost(Block *block) {
  double cost = 0;
  for (Operation &op : *block) {
    StringRef dialect = op.getName().getDialectNamespace();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      cost += tripCount(loop) * (1 + bodyCost(loop.getBody()));
      continue;
    }
    // Runs once for each element.
    double times = 1;
    if (auto generate = dyn_cast<tensor::GenerateOp>(op))
      for (int64_t extent : generate.getType().getShape())
        times *= static_cast<double>(ShapedType::isDynamic(extent) ? unknownTrips : extent);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        cost += times * bodyCost(&inner);
    if (op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::IsTerminator>() || isa<ExtentOp>(op))
      continue;
    cost += dialect == "math" ? 10 : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(op) ? 5 : 1;
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Value graph::indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value graph::indexMin(OpBuilder &b, Location loc, Value x, Value y) {
  std::optional<int64_t> cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return *cx < *cy ? x : y;
  return arith::MinSIOp::create(b, loc, x, y);
}

Value graph::indexSub(OpBuilder &b, Location loc, Value x, Value y) {
  std::optional<int64_t> cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return indexConstant(b, loc, *cx - *cy);
  return arith::SubIOp::create(b, loc, x, y);
}

Value graph::indexCeilDiv(OpBuilder &b, Location loc, Value x, int64_t y) {
  if (std::optional<int64_t> cx = getConstantIntValue(x))
    return indexConstant(b, loc, (*cx + y - 1) / y);
  return arith::CeilDivSIOp::create(b, loc, x, indexConstant(b, loc, y));
}

Value graph::sliceLeading(OpBuilder &b, Location loc, Value tensor, ArrayRef<Value> offsets,
                          ArrayRef<Value> sizes) {
  SmallVector<OpFoldResult> from, size, stride;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (unsigned d = 0; d < unsigned(type.getRank()); ++d) {
    from.push_back(d < offsets.size() && offsets[d] ? getAsOpFoldResult(offsets[d]) : b.getIndexAttr(0));
    size.push_back(d < sizes.size() && sizes[d] ? getAsOpFoldResult(sizes[d])
                                                : tensor::getMixedSize(b, loc, tensor, d));
    stride.push_back(b.getIndexAttr(1));
  }
  return tensor::ExtractSliceOp::create(b, loc, tensor, from, size, stride);
}

bool graph::reducesAll(ResultAttr yield, unsigned rank) {
  for (unsigned d = 0; d < rank; ++d)
    if (!yield.reduces(d))
      return false;
  return yield.isReduction();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

LogicalResult graph::forNamedNodes(Operation *root, StringRef name,
                                   function_ref<LogicalResult(NodeOp, Refusal &)> rewrite) {
  SmallVector<NodeOp> nodes;
  root->walk([&](NodeOp node) {
    if (name.empty() ? !node.isInternal() : node.getName() == name)
      nodes.push_back(node);
  });
  if (nodes.empty() && !name.empty())
    return root->emitError() << "there is no node '" << name << "'";
  for (NodeOp node : nodes) {
    Refusal no;
    if (failed(rewrite(node, no)) && !name.empty())
      return no.emit();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

static unsigned criticalityRank(StringAttr attribute) {
  return !attribute ? 0 : attribute == "critical" ? 2 : attribute == "elevated" ? 1 : 0;
}

FailureOr<SmallVector<NamedAttribute>> graph::mergeHints(NodeOp a, NodeOp b, Refusal &no) {
  MLIRContext *context = a.getContext();
  NamedAttrList merged(NodeParts(b).hints);
  for (NamedAttribute hint : NodeParts(a).hints)
    if (!merged.get(hint.getName()))
      merged.set(hint.getName(), hint.getValue());
  // Fusion stays inside a device.
  auto targetsOf = [](NodeOp node) {
    return llvm::map_to_vector(node.getVersionsAttr().getAsRange<VersionAttr>(),
                               [](VersionAttr version) { return version.getTarget(); });
  };
  if (a.getVersions() && b.getVersions() && targetsOf(a) != targetsOf(b))
    return no(b, "'" + a.getName() + "' and '" + b.getName() + "' are placed on different targets",
              "give both the same targets");
  if (a.getVersions() && b.getVersions() && a.getVersionsAttr() != b.getVersionsAttr())
    return no(b, "the versions of '" + a.getName() + "' and '" + b.getName() + "' have different scripts",
              "give both the same script");
  if (a.getTargets() && b.getTargets()) {
    SmallVector<Attribute> both;
    for (Attribute target : b.getTargetsAttr())
      if (llvm::is_contained(*a.getTargets(), target))
        both.push_back(target);
    if (both.empty())
      return no(b, "the targets of '" + a.getName() + "' and '" + b.getName() + "' have none in common",
                "allow one target for both");
    merged.set(a.getTargetsAttrName(), ArrayAttr::get(context, both));
  }
  // A cost that covers half of the work would mislead; without one, the body is counted.
  if (a.getCost() && b.getCost())
    merged.set(a.getCostAttrName(),
               FloatAttr::get(Float64Type::get(context),
                              a.getCost()->convertToDouble() + b.getCost()->convertToDouble()));
  else
    merged.erase(a.getCostAttrName());
  if (a.getCriticality() || b.getCriticality())
    merged.set(a.getCriticalityAttrName(),
               criticalityRank(a.getCriticalityAttr()) > criticalityRank(b.getCriticalityAttr())
                   ? a.getCriticalityAttr()
               : b.getCriticalityAttr() ? b.getCriticalityAttr()
                                        : a.getCriticalityAttr());
  if (DemandAttr x = a.getQualityAttr(), y = b.getQualityAttr(); x && y) {
    if (x.getNorm() != y.getNorm())
      return no(b,
                "the quality demands of '" + a.getName() + "' and '" + b.getName() + "' use different norms",
                "state both in one norm");
    merged.set(a.getQualityAttrName(),
               x.getBound().getValueAsDouble() < y.getBound().getValueAsDouble() ? x : y);
  }
  if (a.getDepth() && b.getDepth())
    merged.set(a.getDepthAttrName(), *a.getDepth() < *b.getDepth() ? a.getDepthAttr() : b.getDepthAttr());
  if (ArrayAttr x = SharedNotes::schedules.get(a), y = SharedNotes::schedules.get(b); x && y) {
    llvm::SmallSetVector<Attribute, 4> both(x.begin(), x.end());
    both.insert(y.begin(), y.end());
    merged.set(SharedNotes::schedules.name, ArrayAttr::get(context, both.getArrayRef()));
  }
  SmallVector<NamedAttribute> result(merged.begin(), merged.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Memory and order
//===----------------------------------------------------------------------===//

bool graph::consumes(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return false;
  if (auto node = dyn_cast<NodeOp>(operand.getOwner())) {
    unsigned input = operand.getOperandNumber() - node.getRank();
    return operand.getOperandNumber() >= node.getRank() && node.getPort(input).isWritable();
  }
  return isa<CallOp>(operand.getOwner());
}

Value graph::memoryRoot(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      memref = view.getViewSource();
      continue;
    }
    auto node = dyn_cast<NodeOp>(op);
    if (!node)
      return memref;
    std::optional<unsigned> port = node.getPortOfResult(cast<OpResult>(memref).getResultNumber());
    if (!port)
      return memref;
    memref = node.getInputs()[*port];
  }
  return memref;
}

bool graph::conflictInMemory(Operation *a, Operation *b) {
  for (OpOperand &x : a->getOpOperands())
    for (OpOperand &y : b->getOpOperands())
      if (isa<MemRefType>(x.get().getType()) && isa<MemRefType>(y.get().getType()) &&
          (consumes(x) || consumes(y)) && memoryRoot(x.get()) == memoryRoot(y.get()))
        return true;
  return false;
}

static std::string describe(Operation *op) {
  if (auto node = dyn_cast<NodeOp>(op))
    return ("'" + node.getName() + "'").str();
  if (auto call = dyn_cast<CallOp>(op))
    return ("the call of '" + call.getCallee() + "'").str();
  return ("'" + op->getName().getStringRef() + "'").str();
}

LogicalResult graph::gather(RewriterBase &rewriter, ArrayRef<Operation *> members, Refusal &no) {
  Operation *last = members.back();
  llvm::SmallPtrSet<Operation *, 8> inside(members.begin(), members.end());
  llvm::SetVector<Operation *> moved;
  // The reason why `op` cannot come before `earlier`: an operand, or memory that `earlier` still needs.
  auto follows = [](Operation *op, Operation *earlier) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get().getDefiningOp() == earlier)
        return true;
      if (consumes(operand))
        for (Value other : earlier->getOperands())
          if (isa<MemRefType>(other.getType()) && memoryRoot(other) == memoryRoot(operand.get()))
            return true;
    }
    return false;
  };
  for (Operation *op = members.front(); op != last->getNextNode(); op = op->getNextNode()) {
    bool member = inside.contains(op);
    for (Operation *earlier : moved)
      if (follows(op, earlier)) {
        if (member)
          return no(op,
                    describe(op) + " depends on " + describe(earlier) + ", which depends on " +
                        describe(members.front()),
                    "include it as well, or fuse in another order");
        moved.insert(op);
        break;
      }
    if (!member && !moved.contains(op))
      for (Operation *earlier : members)
        if (earlier->isBeforeInBlock(op) && follows(op, earlier)) {
          moved.insert(op);
          break;
        }
  }
  Operation *after = last;
  for (Operation *op : moved) {
    rewriter.moveOpAfter(op, after);
    after = op;
  }
  return success();
}

Value graph::endOfChain(Value memref) {
  while (true) {
    OpOperand *next = nullptr;
    for (OpOperand &use : memref.getUses())
      if (consumes(use) && use.getOwner()->getBlock() == memref.getParentBlock())
        next = &use;
    if (!next)
      return memref;
    if (auto node = dyn_cast<NodeOp>(next->getOwner())) {
      memref = node.getPortResult(next->getOperandNumber() - node.getRank());
      continue;
    }
    // A call hands the memory back where its callee returns it, and keeps it otherwise.
    auto call = cast<CallOp>(next->getOwner());
    auto callee = SymbolTable::lookupNearestSymbolFrom<GraphOp>(call, call.getCalleeAttr());
    Value inside = callee ? callee.getBody().getArgument(next->getOperandNumber()) : Value();
    Value back;
    if (callee)
      for (OpOperand &returned : callee.getBodyBlock()->getTerminator()->getOpOperands())
        if (isa<MemRefType>(returned.get().getType()) && memoryRoot(returned.get()) == inside)
          back = call.getResult(returned.getOperandNumber());
    if (!back)
      return {};
    memref = back;
  }
}
