// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the function around a node and picks the form of each leaf.
#include "tessera/transforms/leaf/Emit.h"

#include "tessera/base/Check.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::leaf;

Value leaf::constantOf(OpBuilder &b, Location loc, TypedAttr attr) {
  return arith::ConstantOp::create(b, loc, attr);
}

SmallVector<OpFoldResult> leaf::getResultExtents(EmitContext &ctx, unsigned result, Value tile) {
  SmallVector<OpFoldResult> extents;
  dfg::ResultAttr yield = ctx.node.getYield(result);
  auto tileType = tile ? dyn_cast<RankedTensorType>(tile.getType()) : RankedTensorType();
  SmallVector<OpFoldResult> tileExtents;
  if (tileType)
    tileExtents = tensor::getMixedSizes(ctx.b, ctx.loc, tile);
  if (yield.getMode() == dfg::ResultMode::Tile) {
    for (auto [d, size] : llvm::enumerate(tileExtents)) {
      if (d >= ctx.grid.size()) {
        extents.push_back(size);
        continue;
      }
      AffineExpr x, y;
      bindDims(ctx.b.getContext(), x, y);
      extents.push_back(affine::makeComposedFoldedAffineApply(ctx.b, ctx.loc, x * y,
                                                              {getAsOpFoldResult(ctx.grid[d]), size}));
    }
    return extents;
  }
  for (unsigned d = 0; d < ctx.grid.size(); ++d)
    if (!yield.reduces(d))
      extents.push_back(getAsOpFoldResult(ctx.grid[d]));
  llvm::append_range(extents, tileExtents);
  return extents;
}

Value leaf::getInit(EmitContext &ctx, unsigned result, ArrayRef<OpFoldResult> extents) {
  Type type = ctx.node.getResult(result).getType();
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    tensorType = RankedTensorType::get({}, type);
  if (Value dest = ctx.dests[result])
    return bufferization::ToTensorOp::create(ctx.b, ctx.loc, tensorType, dest, /*restrict=*/true,
                                             /*writable=*/true);
  Value empty = tensor::EmptyOp::create(ctx.b, ctx.loc, extents, tensorType.getElementType());
  if (empty.getType() != tensorType)
    empty = tensor::CastOp::create(ctx.b, ctx.loc, tensorType, empty);
  return empty;
}

void leaf::finishResult(EmitContext &ctx, unsigned result, Value value) {
  Type type = ctx.node.getResult(result).getType();
  Value dest = ctx.dests[result];
  bool isTensor = isa<RankedTensorType>(value.getType());
  if (dest) {
    if (!isTensor)
      value =
          tensor::FromElementsOp::create(ctx.b, ctx.loc, RankedTensorType::get({}, value.getType()), value);
    auto destType = cast<MemRefType>(dest.getType());
    auto wanted = RankedTensorType::get(destType.getShape(), destType.getElementType());
    if (value.getType() != wanted)
      value = tensor::CastOp::create(ctx.b, ctx.loc, wanted, value);
    bufferization::MaterializeInDestinationOp::create(ctx.b, ctx.loc, Type(), value, dest, /*restrict=*/true,
                                                      /*writable=*/true);
    return;
  }
  if (isTensor && !isa<RankedTensorType>(type))
    value = tensor::ExtractOp::create(ctx.b, ctx.loc, value, ValueRange{});
  else if (isTensor && value.getType() != type)
    value = tensor::CastOp::create(ctx.b, ctx.loc, type, value);
  ctx.results[result] = value;
}

SmallVector<Value> leaf::cloneBody(EmitContext &ctx, IRMapping &map) {
  for (Operation &op : ctx.node.getBodyBlock()->without_terminator()) {
    Operation *copy = ctx.b.clone(op, map);
    // dfg.extent asks the node that encloses it, which the copy has left.
    copy->walk([&](dfg::ExtentOp extent) {
      extent.getExtent().replaceAllUsesWith(ctx.grid[extent.getDim()]);
      if (extent != copy)
        extent.erase();
    });
    if (auto extent = dyn_cast<dfg::ExtentOp>(copy)) {
      map.map(op.getResult(0), ctx.grid[extent.getDim()]);
      extent.erase();
    }
  }
  SmallVector<Value> yielded;
  for (Value v : ctx.node.getYieldOp().getValues())
    yielded.push_back(map.lookupOrDefault(v));
  return yielded;
}

// The graph inside an internal node, emitted in order. Returns what the node yields.
static FailureOr<SmallVector<Value>> emitChildren(EmitContext &parent, IRMapping &map) {
  OpBuilder &b = parent.b;
  for (Operation &op : parent.node.getBodyBlock()->without_terminator()) {
    auto child = dyn_cast<dfg::NodeOp>(op);
    if (!child) {
      if (auto buffer = dyn_cast<dfg::BufferOp>(op)) {
        SmallVector<Value> extents;
        for (Value e : buffer.getExtents())
          extents.push_back(map.lookupOrDefault(e));
        Value memory = memref::AllocOp::create(b, op.getLoc(), cast<MemRefType>(buffer.getType()), extents);
        if (Value fill = buffer.getFill())
          linalg::FillOp::create(b, op.getLoc(), ValueRange{map.lookupOrDefault(fill)}, ValueRange{memory});
        map.map(buffer.getMemory(), memory);
        continue;
      }
      // Calls have been flattened, and states stand directly in a graph (dfg-s3).
      TESSERA_CHECK(dfg::isWiring(&op)) << op.getName().getStringRef().str();
      b.clone(op, map);
      continue;
    }
    EmitContext ctx{b, parent.options, child, {}, {}, {}, {}, child.getLoc()};
    for (Value v : child.getGrid())
      ctx.grid.push_back(map.lookupOrDefault(v));
    for (Value v : child.getInputs())
      ctx.inputs.push_back(map.lookupOrDefault(v));
    ctx.dests.assign(child.getNumYields(), Value());
    if (failed(emitNode(ctx)))
      return failure();
    for (unsigned r = 0; r < child->getNumResults(); ++r) {
      std::optional<unsigned> port = child.getPortOfResult(r);
      map.map(child.getResult(r), port ? ctx.inputs[*port] : ctx.results[r]);
    }
  }
  SmallVector<Value> yielded;
  for (Value v : parent.node.getYieldOp().getValues())
    yielded.push_back(map.lookupOrDefault(v));
  return yielded;
}

FailureOr<SmallVector<Value>> leaf::emitBody(EmitContext &ctx, IRMapping &map) {
  if (ctx.node.isInternal())
    return emitChildren(ctx, map);
  return cloneBody(ctx, map);
}

// Instances share scratch memory, or wait for each other.
static bool hasPhases(dfg::NodeOp node) {
  return node.getBody()
      .walk([](Operation *op) {
        return isa<dfg::BarrierOp, dfg::ScratchOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool hasMemoryPorts(dfg::NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isMemory())
      return true;
  return false;
}

static bool hasTiles(dfg::NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).getMode() == dfg::PortMode::Each &&
        isa<RankedTensorType>(node.getInputArgs()[i].getType()))
      return true;
  return llvm::any_of(node.getYieldOp().getValues(),
                      [](Value v) { return isa<RankedTensorType>(v.getType()); });
}

static bool hasMixedReductions(dfg::NodeOp node) {
  for (unsigned r = 1; r < node.getNumYields(); ++r)
    for (unsigned d = 0; d < node.getRank(); ++d)
      if (node.getYield(r).reduces(d) != node.getYield(0).reduces(d))
        return true;
  return false;
}

LogicalResult leaf::emitNode(EmitContext &ctx) {
  dfg::NodeOp node = ctx.node;
  ctx.results.assign(node.getNumYields(), Value());
  if (node.getRank() == 0) {
    IRMapping map;
    for (auto [arg, value] : llvm::zip(node.getInputArgs(), ctx.inputs))
      map.map(arg, value);
    FailureOr<SmallVector<Value>> yielded = emitBody(ctx, map);
    if (failed(yielded))
      return failure();
    lowerAccumulate(ctx, ctx.b.getInsertionBlock()->getParentOp(), {});
    for (auto [r, v] : llvm::enumerate(*yielded))
      finishResult(ctx, r, v);
    return success();
  }
  if (node.isInternal())
    return emitTensorForall(ctx);
  if (hasPhases(node))
    return emitPhases(ctx);
  if (hasTiles(node))
    return emitTensorForall(ctx);
  if (hasMemoryPorts(node) || hasMixedReductions(node))
    return emitBufferLoops(ctx);
  return emitGeneric(ctx);
}

// What does not depend on the instance is computed once, before the loops.
static void hoistInvariants(func::FuncOp func) {
  func.walk([](linalg::GenericOp generic) {
    for (Operation &op : llvm::make_early_inc_range(generic.getBody()->without_terminator()))
      if (!op.getNumRegions() && isPure(&op) && !isa<linalg::IndexOp>(op) &&
          llvm::all_of(op.getOperands(),
                       [&](Value v) { return v.getParentRegion()->isProperAncestor(&generic.getRegion()); }))
        op.moveBefore(generic);
  });
}

// What mode `fast` allows: a product and a sum in one rounding, either zero from a maximum of both, and sums
// in the order of vectors and shorter functions where a network does not ask for others.
// Where layers round to integers nothing is contracted but sums: the last bit of a float would decide about a
// whole step, and so would the machine.
static void relaxFloats(func::FuncOp func, bool isLayers) {
  bool rounds = false;
  func.walk([&](Operation *op) {
    auto bits = dyn_cast<arith::BitcastOp>(op);
    rounds |=
        isLayers && (isa<arith::FPToSIOp, arith::FPToUIOp>(op) ||
                     (bits && isa<FloatType>(bits.getIn().getType()) && isa<IntegerType>(bits.getType())));
  });
  func.walk([&](Operation *op) {
    auto generic = op->getParentOfType<linalg::GenericOp>();
    const bool decides = rounds && generic && generic.getNumReductionLoops() == 0;
    arith::FastMathFlags allowed =
        isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op) && !decides ? arith::FastMathFlags::contract
        : isa<arith::MaximumFOp, arith::MinimumFOp>(op)                  ? arith::FastMathFlags::nsz
                                                                         : arith::FastMathFlags::none;
    if (SharedNotes::anyOrder.isOn(op))
      allowed = allowed | arith::FastMathFlags::reassoc;
    if (SharedNotes::approximate.isOn(op))
      allowed = allowed | (isa<arith::DivFOp>(op) ? arith::FastMathFlags::arcp : arith::FastMathFlags::afn);
    if (allowed == arith::FastMathFlags::none)
      return;
    auto fast = cast<arith::ArithFastMathInterface>(op);
    op->setAttr(
        fast.getFastMathAttrName(),
        arith::FastMathFlagsAttr::get(op->getContext(), fast.getFastMathFlagsAttr().getValue() | allowed));
  });
}

FailureOr<Payload> tessera::buildPayload(dfg::NodeOp node, StringRef name, ModuleOp module,
                                         const PayloadOptions &options) {
  OpBuilder b(module.getBodyRegion());
  b.setInsertionPointToEnd(module.getBody());
  // Combiners come along, so that a script can still ask how to combine two values.
  node->walk([&](dfg::NodeOp inner) {
    for (auto yield : inner.getYields().getAsRange<dfg::ResultAttr>()) {
      FlatSymbolRefAttr name =
          yield.getReduction() ? yield.getReduction().getCombiner() : FlatSymbolRefAttr();
      if (name && !module.lookupSymbol(name))
        b.clone(*SymbolTable::lookupNearestSymbolFrom(node, name));
    }
  });
  Payload payload;
  SmallVector<Type> types;
  // One argument for each distinct operand: the same tensor received twice is one pointer, so that pointers
  // of different arguments never overlap where one is written.
  llvm::MapVector<Value, unsigned> position;
  auto isConstant = [](Value v) {
    auto constant = v.getDefiningOp<arith::ConstantOp>();
    return constant && !isa<ShapedType>(v.getType());
  };
  for (Value v : node.getOperands()) {
    if (isConstant(v) || position.count(v))
      continue;
    Type type = v.getType();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      type = MemRefType::get(tensor.getShape(), tensor.getElementType());
    position[v] = types.size();
    types.push_back(type);
    payload.args.push_back({PayloadArg::Operand, v});
  }
  unsigned firstResult = types.size();
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Type type = node.getResult(r).getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType())
                           : MemRefType::get({}, type));
    payload.args.push_back({PayloadArg::Result, Value(), r});
  }
  payload.func = func::FuncOp::create(b, node.getLoc(), name, b.getFunctionType(types, {}));
  payload.func.setPrivate();
  if (auto graph = node->getParentOfType<dfg::GraphOp>(); graph)
    SharedNotes::align.copy(graph, payload.func);
  Block *entry = payload.func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  EmitContext ctx{b, options, node, {}, {}, {}, {}, node.getLoc()};
  auto valueOf = [&](Value v) -> Value {
    if (isConstant(v))
      return b.clone(*v.getDefiningOp())->getResult(0);
    Value arg = entry->getArgument(position[v]);
    if (auto tensor = dyn_cast<RankedTensorType>(v.getType()))
      return bufferization::ToTensorOp::create(b, v.getLoc(), tensor, arg, /*restrict=*/true);
    return arg;
  };
  DenseMap<Value, Value> made;
  auto once = [&](Value v) {
    Value &m = made[v];
    return m ? m : m = valueOf(v);
  };
  for (Value v : node.getGrid())
    ctx.grid.push_back(once(v));
  for (Value v : node.getInputs())
    ctx.inputs.push_back(once(v));
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    ctx.dests.push_back(entry->getArgument(firstResult + r));
  if (failed(emitNode(ctx))) {
    payload.func.erase();
    return failure();
  }
  func::ReturnOp::create(b, node.getLoc());
  hoistInvariants(payload.func);
  int64_t number = 0;
  for (Operation &op : *entry)
    if (isa<linalg::GenericOp, nn::NnOp>(op))
      SharedNotes::number.set(&op, number++);
  if (options.contract)
    relaxFloats(payload.func, /*isLayers=*/node.getRank() == 0);
  // Both have served, or the mode is strict.
  payload.func.walk([](Operation *op) {
    SharedNotes::anyOrder.remove(op);
    SharedNotes::approximate.remove(op);
  });
  return payload;
}
