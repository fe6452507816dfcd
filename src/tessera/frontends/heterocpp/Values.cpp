// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory as values. Where every iteration of a parallel loop writes its own element and nothing else, what it
// writes is a gathered result; where memory is only read, it is a tensor. Such nodes have no memory ports, so
// that schedules can tile, fuse and vectorise them. `a[i * n + j]` becomes `a[i][j]` where j is known to stay
// below n.
#include "tessera/frontends/heterocpp/Graph.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {

/// A subscript in two dimensions; `width` is an input of the graph.
struct Subscript {
  Value row, column;
  BlockArgument width;
};

class ValueForm {
public:
  ValueForm(dfg::GraphOp graph, Launch &launch) : graph(graph), launch(launch) {}
  void run();

private:
  struct Buffer {
    BlockArgument arg;
    dfg::NodeOp writer; ///< null: only read
    memref::StoreOp store;
    BlockArgument width; ///< null: one dimension
  };
  bool collect(BlockArgument arg);
  bool addWriter(Buffer &buffer, dfg::NodeOp node, unsigned input);
  std::optional<Subscript> split(Value index, dfg::NodeOp node);
  bool isBelow(Value v, BlockArgument width, dfg::NodeOp node);
  BlockArgument getGraphArg(Value v, dfg::NodeOp node);
  BlockArgument getExtentArg(Value extent);
  std::optional<GraphInput::Extent> getExtent(Value extent);
  GraphInput::Extent getExtentOf(BlockArgument arg);
  void rebuild(dfg::NodeOp node);
  const Buffer *find(Value memory) const;

  dfg::GraphOp graph;
  Launch &launch;
  std::vector<Buffer> buffers;
  std::map<void *, Value> current; ///< by graph input: the tensor that holds its content now
};

} // namespace

// The input of the graph that a value of a node's body is, possibly converted to an index.
BlockArgument ValueForm::getGraphArg(Value v, dfg::NodeOp node) {
  if (auto cast = v.getDefiningOp<arith::IndexCastOp>())
    v = cast.getIn();
  auto arg = dyn_cast<BlockArgument>(v);
  if (!arg || arg.getOwner() != node.getBodyBlock() || arg.getArgNumber() < node.getRank())
    return {};
  auto outer = dyn_cast<BlockArgument>(node.getInputs()[arg.getArgNumber() - node.getRank()]);
  return outer && outer.getOwner() == graph.getBodyBlock() ? outer : BlockArgument();
}

// max(n, 0) of an input of the graph.
BlockArgument ValueForm::getExtentArg(Value extent) {
  if (auto most = extent.getDefiningOp<arith::MaxSIOp>(); most && isConstantIntValue(most.getRhs(), 0))
    extent = most.getLhs();
  if (auto cast = extent.getDefiningOp<arith::IndexCastOp>())
    extent = cast.getIn();
  auto arg = dyn_cast<BlockArgument>(extent);
  return arg && arg.getOwner() == graph.getBodyBlock() ? arg : BlockArgument();
}

std::optional<GraphInput::Extent> ValueForm::getExtent(Value extent) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return GraphInput::Extent{*known};
  BlockArgument arg = getExtentArg(extent);
  if (!arg)
    return std::nullopt;
  return getExtentOf(arg);
}

GraphInput::Extent ValueForm::getExtentOf(BlockArgument arg) {
  return {1, std::make_shared<GraphInput>(launch.inputs[arg.getArgNumber()])};
}

bool ValueForm::isBelow(Value v, BlockArgument width, dfg::NodeOp node) {
  auto arg = dyn_cast<BlockArgument>(v);
  if (!arg)
    return false;
  if (arg.getOwner() == node.getBodyBlock())
    return arg.getArgNumber() < node.getRank() && getExtentArg(node.getGrid()[arg.getArgNumber()]) == width;
  auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
  if (!loop || arg != loop.getInductionVar())
    return false;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  return lower && *lower >= 0 && getGraphArg(loop.getUpperBound(), node) == width;
}

// row * width + column
std::optional<Subscript> ValueForm::split(Value index, dfg::NodeOp node) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  for (auto [product, column] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto mul = product.getDefiningOp<arith::MulIOp>();
    if (!mul)
      continue;
    for (auto [row, width] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (BlockArgument arg = getGraphArg(width, node); arg && isBelow(column, arg, node))
        return Subscript{row, column, arg};
  }
  return std::nullopt;
}

// The writer's one store must give each instance the element of its ids.
bool ValueForm::addWriter(Buffer &buffer, dfg::NodeOp node, unsigned input) {
  if (buffer.writer || !node.getRank() || node.getRank() > 2)
    return false;
  Value memory = node.getInputArgs()[input];
  if (!memory.hasOneUse())
    return false;
  buffer.store = dyn_cast<memref::StoreOp>(*memory.user_begin());
  if (!buffer.store || buffer.store->getBlock() != node.getBodyBlock() || buffer.store.getMemRef() != memory)
    return false;
  buffer.writer = node;
  Value index = buffer.store.getIndices()[0];
  for (Value extent : node.getGrid())
    if (!getExtent(extent))
      return false;
  if (node.getRank() == 1)
    return index == node.getIds()[0];
  std::optional<Subscript> subscript = split(index, node);
  if (!subscript || subscript->row != node.getIds()[0] || subscript->column != node.getIds()[1])
    return false;
  buffer.width = subscript->width;
  return true;
}

// Follows memory from node to node: read, then written once, then read.
bool ValueForm::collect(BlockArgument arg) {
  Buffer buffer{arg, {}, {}, {}};
  SmallVector<dfg::NodeOp> readers;
  SmallVector<std::pair<dfg::NodeOp, Value>> reads;
  Value memory = arg;
  while (memory) {
    Value next;
    for (OpOperand &use : memory.getUses()) {
      if (isa<dfg::ReturnOp>(use.getOwner()))
        continue;
      auto node = dyn_cast<dfg::NodeOp>(use.getOwner());
      if (!node || node.isInternal())
        return false;
      unsigned input = use.getOperandNumber() - node.getRank();
      dfg::PortMode mode = node.getPort(input).getMode();
      if (mode == dfg::PortMode::In) {
        // What was there before the write would have to come in as well.
        reads.push_back({node, node.getInputArgs()[input]});
        readers.push_back(node);
      } else if (mode != dfg::PortMode::InOut || !addWriter(buffer, node, input)) {
        return false;
      } else {
        next = node.getPortResult(input);
      }
    }
    if (next && !readers.empty())
      return false;
    memory = next;
  }
  // One width for all accesses, or one dimension for all.
  bool two = true, first = !buffer.width;
  for (auto [node, value] : reads)
    for (Operation *user : value.getUsers()) {
      auto load = dyn_cast<memref::LoadOp>(user);
      if (!load)
        return false;
      std::optional<Subscript> subscript = split(load.getIndices()[0], node);
      if (subscript && first && !buffer.writer) {
        buffer.width = subscript->width;
        first = false;
      }
      two &= subscript && subscript->width == buffer.width;
    }
  if (!two && buffer.writer && buffer.width)
    return false;
  if (!two)
    buffer.width = {};
  buffers.push_back(buffer);
  return true;
}

const ValueForm::Buffer *ValueForm::find(Value memory) const {
  while (auto node = memory.getDefiningOp<dfg::NodeOp>())
    memory = node.getInputs()[*const_cast<dfg::NodeOp &>(node).getPortOfResult(
        cast<OpResult>(memory).getResultNumber())];
  for (const Buffer &buffer : buffers)
    if (buffer.arg == memory)
      return &buffer;
  return nullptr;
}

static RankedTensorType getTensor(Type memref, bool two) {
  SmallVector<int64_t> shape(two ? 2 : 1, ShapedType::kDynamic);
  return RankedTensorType::get(shape, cast<MemRefType>(memref).getElementType());
}

void ValueForm::rebuild(dfg::NodeOp node) {
  OpBuilder b(node);
  MLIRContext *context = node.getContext();
  auto whole = dfg::PortAttr::get(context, dfg::PortMode::Whole, {});
  SmallVector<Value> inputs, yielded(node.getYieldOp().getValues());
  SmallVector<dfg::PortAttr> ports;
  SmallVector<Type> types(node->getResultTypes().begin(),
                          node->getResultTypes().begin() + node.getNumYields());
  SmallVector<dfg::ResultAttr> yields;
  SmallVector<int> argument(node.getInputs().size(), -1);
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    yields.push_back(node.getYield(r));
  SmallVector<const Buffer *> gathered;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    bool memory = node.getPort(i).isMemory();
    const Buffer *buffer = memory ? find(node.getInputs()[i]) : nullptr;
    if (buffer && node.getPort(i).isWritable()) {
      gathered.push_back(buffer);
      memref::StoreOp store = buffer->store;
      yielded.push_back(store.getValue());
      types.push_back(getTensor(buffer->arg.getType(), bool(buffer->width)));
      yields.push_back(dfg::ResultAttr::get(context, dfg::ResultMode::Gather, {}, {}));
      continue;
    }
    argument[i] = inputs.size();
    inputs.push_back(buffer ? current[buffer->arg.getAsOpaquePointer()] : node.getInputs()[i]);
    ports.push_back(buffer ? whole : node.getPort(i));
  }
  // Loads first, while the old arguments say what they are.
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    const Buffer *buffer = node.getPort(i).isMemory() ? find(node.getInputs()[i]) : nullptr;
    if (!buffer || node.getPort(i).isWritable())
      continue;
    for (Operation *user : llvm::make_early_inc_range(node.getInputArgs()[i].getUsers())) {
      auto load = cast<memref::LoadOp>(user);
      OpBuilder at(load);
      SmallVector<Value> indices(load.getIndices());
      if (buffer->width) {
        std::optional<Subscript> subscript = split(indices[0], node);
        indices = {subscript->row, subscript->column};
      }
      // The tensor takes the memory's place when the arguments change.
      Value tensor = UnrealizedConversionCastOp::create(at, load.getLoc(),
                                                        getTensor(buffer->arg.getType(), bool(buffer->width)),
                                                        ValueRange{node.getInputArgs()[i]})
                         .getResult(0);
      Value element = tensor::ExtractOp::create(at, load.getLoc(), tensor, indices);
      load.replaceAllUsesWith(element);
      for (Value &v : yielded)
        if (v == load.getResult())
          v = element;
      load.erase();
    }
  }
  for (const Buffer *buffer : gathered)
    memref::StoreOp(buffer->store).erase();
  auto made =
      dfg::NodeOp::create(b, node.getLoc(), node.getName(), node.getGrid(), inputs, ports, types, yields);
  if (node.getTargetsAttr())
    made.setTargetsAttr(node.getTargetsAttr());
  Block *from = node.getBodyBlock(), *to = made.getBodyBlock();
  while (!to->empty())
    to->back().erase();
  // What is yielded is no use yet: it follows its argument by hand.
  auto replace = [&](Value old, Value arg) {
    old.replaceAllUsesWith(arg);
    llvm::replace(yielded, old, arg);
  };
  for (unsigned d = 0; d < node.getRank(); ++d)
    replace(from->getArgument(d), to->getArgument(d));
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (argument[i] < 0)
      continue;
    BlockArgument old = node.getInputArgs()[i], arg = made.getInputArgs()[argument[i]];
    arg.setLoc(old.getLoc());
    if (old.getType() == arg.getType()) {
      replace(old, arg);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
      user->getResult(0).replaceAllUsesWith(arg);
      user->erase();
    }
  }
  node.getYieldOp()->erase();
  to->getOperations().splice(to->end(), from->getOperations());
  OpBuilder end = OpBuilder::atBlockEnd(to);
  dfg::YieldOp::create(end, node.getLoc(), yielded);
  unsigned first = node.getNumYields();
  for (unsigned r = 0; r < first; ++r)
    node.getResult(r).replaceAllUsesWith(made.getResult(r));
  for (auto [k, buffer] : llvm::enumerate(gathered))
    current[buffer->arg.getAsOpaquePointer()] = made.getResult(first + k);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable() && argument[i] >= 0)
      node.getPortResult(i).replaceAllUsesWith(made.getPortResult(argument[i]));
}

void ValueForm::run() {
  Block *body = graph.getBodyBlock();
  for (BlockArgument arg : body->getArguments())
    if (isa<MemRefType>(arg.getType()) && !collect(arg))
      return;
  if (llvm::none_of(buffers, [](const Buffer &buffer) { return bool(buffer.writer); }))
    return;
  // Tensors come in beside the memory, which goes when nothing uses it any more.
  OpBuilder b(graph.getContext());
  unsigned count = body->getNumArguments();
  for (const Buffer &buffer : buffers) {
    if (buffer.writer)
      continue;
    Value tensor =
        body->addArgument(getTensor(buffer.arg.getType(), bool(buffer.width)), buffer.arg.getLoc());
    current[buffer.arg.getAsOpaquePointer()] = tensor;
    GraphInput input = launch.inputs[buffer.arg.getArgNumber()];
    if (buffer.width)
      input.inner.push_back(getExtentOf(buffer.width));
    launch.inputs.push_back(input);
  }
  SmallVector<dfg::NodeOp> nodes(body->getOps<dfg::NodeOp>());
  for (dfg::NodeOp node : nodes)
    rebuild(node);
  auto ret = cast<dfg::ReturnOp>(body->getTerminator());
  SmallVector<Value> returned;
  SmallVector<Type> resultTypes, argTypes;
  SmallVector<Attribute> argNames;
  for (Value v : ret.getValues()) {
    const Buffer *buffer = find(v);
    returned.push_back(current[buffer->arg.getAsOpaquePointer()]);
    resultTypes.push_back(returned.back().getType());
    // Where the host wants it.
    GraphInput output = launch.inputs[buffer->arg.getArgNumber()];
    for (Value extent : dfg::NodeOp(buffer->writer).getGrid())
      output.inner.push_back(*getExtent(extent));
    launch.outputs.push_back(output);
  }
  ret->setOperands(returned);
  for (dfg::NodeOp node : llvm::reverse(nodes))
    node.erase();
  for (unsigned i = count; i-- > 0;)
    if (isa<MemRefType>(body->getArgument(i).getType())) {
      body->eraseArgument(i);
      launch.inputs.erase(launch.inputs.begin() + i);
    }
  for (auto [arg, input] : llvm::zip(body->getArguments(), launch.inputs)) {
    argTypes.push_back(arg.getType());
    argNames.push_back(b.getStringAttr(input.name));
  }
  graph.setFunctionTypeAttr(TypeAttr::get(b.getFunctionType(argTypes, resultTypes)));
  graph.setArgNamesAttr(b.getArrayAttr(argNames));
}

void heterocpp::useValues(dfg::GraphOp graph, Launch &launch) { ValueForm(graph, launch).run(); }
