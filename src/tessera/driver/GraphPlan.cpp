// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See GraphPlan.h.
#include "tessera/driver/GraphPlan.h"

#include "tessera/base/Check.h"
#include "tessera/driver/InPlace.h"
#include "tessera/ir/dfg/DfgPorts.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/targets/common/Work.h"
#include "tessera/transforms/nn/lower/Lower.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace tessera;

namespace {

class Planner {
public:
  Planner(dfg::GraphOp graph, ConstantPool &constants, const TargetList &targets, bool inPlace,
          GraphPlan &out)
      : graph(graph), constants(constants), targets(targets), inPlace(inPlace), out(out),
        program(out.program), env(out.env) {}
  LogicalResult run();
  /// For a form of `node`: the nodes' checks become those of the node.
  LogicalResult run(dfg::NodeOp node, const GraphPlan &outer, std::vector<plan::ExtentCheck> &checks);

private:
  LogicalResult addInputs();
  LogicalResult addBody();
  LogicalResult addConstant(arith::ConstantOp op);
  FailureOr<int> addElements(ElementsAttr attr, Operation *op);
  LogicalResult addNode(dfg::NodeOp node);
  LogicalResult addView(nn::ReshapeOp op);
  void addCast(Operation *op);
  /// What a view needs to show the memory it names.
  void addViewCheck(Operation *op, std::optional<plan::ExprId> got, std::optional<plan::ExprId> expected,
                    const Twine &text);
  LogicalResult addCheck(cf::AssertOp op);
  /// Extents that must be equal when the node starts.
  LogicalResult addChecks(dfg::NodeOp op, plan::Node &node);
  plan::ExprId inBranch(plan::Env &env, Operation *op, plan::ExprId got, plan::ExprId expected);
  /// The value that a state starts from: an input or a constant, since it must exist before anything runs.
  FailureOr<int> getStateInit(dfg::StateOp state);
  /// A value for what a node yields as result `r`.
  LogicalResult addResult(dfg::NodeOp node, unsigned r);
  /// A new value of a type; `shape` is filled by the caller.
  FailureOr<plan::Value> makeValue(ValueKind kind, Type type, Location loc);
  Port portOf(Attribute name, int value);
  /// Writes the node's result over an operand that nobody needs afterwards, if there is one.
  void takeOver(dfg::NodeOp op, plan::Node &node, int index);
  /// The value whose memory this one shares.
  int root(int value) const;
  /// The plan's nodes that must have run before an expr can be evaluated.
  void addExprDeps(Value v, plan::Node &node);
  std::string locationOf(Operation *op) const;

  dfg::GraphOp graph;
  ConstantPool &constants;
  const TargetList &targets;
  bool inPlace;
  GraphPlan &out;
  plan::Program &program;
  plan::Env &env;
  std::vector<plan::Node> nodes;
  DenseMap<Value, int> results;            // of a form: values that there are already
  DenseMap<int, int> producer;             // by value: the node that wrote it last
  DenseMap<int, SmallVector<int>> readers; // by root value: nodes that read since the last write
};

FailureOr<plan::Value> Planner::makeValue(ValueKind kind, Type type, Location loc) {
  std::optional<ElementType> element = plan::elementTypeOf(getElementTypeOrSelf(type));
  if (!element)
    return emitError(loc, "type ")
               << type << " cannot cross an edge; use i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64",
           failure();
  return plan::Value{.kind = kind, .type = *element};
}

int Planner::root(int value) const {
  while (program.values[value].kind == ValueKind::Alias)
    value = program.values[value].of;
  return value;
}

std::string Planner::locationOf(Operation *op) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->getLoc()->walk([&](Location l) {
    if (auto file = dyn_cast<FileLineColLoc>(l)) {
      if (text.empty())
        os << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

// The name that the author knows, or what the operation is.
static std::string nameOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location l) {
    if (auto named = dyn_cast<NameLoc>(l))
      name = named.getName().str();
    return name.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return name.empty() ? op->getName().stripDialect().str() : name;
}

LogicalResult Planner::addConstant(arith::ConstantOp op) {
  if (auto attr = dyn_cast<ElementsAttr>(op.getValue())) {
    FailureOr<int> value = addElements(attr, op);
    if (failed(value))
      return failure();
    env.values[op] = *value;
  }
  return success();
}

FailureOr<int> Planner::addElements(ElementsAttr attr, Operation *op) {
  FailureOr<plan::Value> value = makeValue(ValueKind::Const, attr.getShapedType(), op->getLoc());
  if (failed(value))
    return failure();
  FailureOr<std::string> bytes = storedBytes(attr, op);
  if (failed(bytes))
    return failure();
  value->offset = constants.add(*bytes);
  value->bytes = bytes->size();
  for (int64_t extent : attr.getShapedType().getShape())
    value->shape.push_back(program.constant(extent));
  return program.addValue(*value);
}

FailureOr<int> Planner::getStateInit(dfg::StateOp state) {
  // A scalar constant is no value of the plan unless somebody needs it in memory.
  if (auto constant = state.getInit().getDefiningOp<arith::ConstantOp>();
      constant && !isa<ShapedType>(constant.getType()))
    return addElements(DenseElementsAttr::get(RankedTensorType::get({}, constant.getType()),
                                              ArrayRef<Attribute>(constant.getValue())),
                       constant);
  auto it = env.values.find(state.getInit());
  if (it == env.values.end() || (program.values[it->second].kind != ValueKind::Input &&
                                 program.values[it->second].kind != ValueKind::Const))
    return state.emitOpError(
               "has an initial value that is computed in the graph; make it an input or a constant"),
           failure();
  return it->second;
}

LogicalResult Planner::addResult(dfg::NodeOp node, unsigned r) {
  if (auto it = results.find(node.getResult(r)); it != results.end()) {
    env.values[node.getResult(r)] = it->second;
    return success();
  }
  Type type = node.getResult(r).getType();
  FailureOr<plan::Value> value = makeValue(ValueKind::Temp, type, node.getLoc());
  if (failed(value))
    return failure();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t d = 0; d < tensor.getRank(); ++d) {
      std::optional<plan::ExprId> extent = env.translateResultDim(node, r, d);
      if (!extent)
        return node.emitOpError("extent ")
               << d << " of result #" << r
               << " is not known when the node starts; make it static, or compute it in a "
                  "node of its own and pass it as an extent";
      value->shape.push_back(*extent);
    }
  int index = program.addValue(*value);
  env.values[node.getResult(r)] = index;
  return success();
}

void Planner::addExprDeps(Value v, plan::Node &node) {
  SmallVector<Value> work = {v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto it = env.values.find(next); it != env.values.end() && !isa<ShapedType>(next.getType()))
      if (auto p = producer.find(root(it->second)); p != producer.end())
        node.after.push_back(p->second);
    if (Operation *def = next.getDefiningOp(); def && dfg::isWiring(def))
      llvm::append_range(work, def->getOperands());
  }
}

// An extent that must be `expected` in a branch: elsewhere it is so by definition. Where the launch does not
// know which branch is taken, it must be so anyway.
plan::ExprId Planner::inBranch(plan::Env &env, Operation *op, plan::ExprId got, plan::ExprId expected) {
  for (Operation *above = op->getParentOp(); !isa<dfg::NodeOp>(above); op = above, above = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(above))
      if (std::optional<plan::ExprId> taken = env.translate(branch.getCondition())) {
        const bool isThen = op->getParentRegion() == &branch.getThenRegion();
        got = program.select(*taken, isThen ? got : expected, isThen ? expected : got);
      }
  return got;
}

// Each instance gets its own element of an `each` operand, so the leading extents must be the grid's
// (dfg-n9). Where the types do not say so, the runtime compares.
LogicalResult Planner::addChecks(dfg::NodeOp op, plan::Node &node) {
  for (auto [i, v] : llvm::enumerate(op.getInputs())) {
    if (op.getPort(i).getMode() != dfg::PortMode::Each)
      continue;
    std::string name = "'each' operand " + std::to_string(i);
    if (auto arg = dyn_cast<BlockArgument>(v); arg && arg.getOwner() == graph.getBodyBlock())
      name = "input '" + cast<StringAttr>(graph.getArgNames()[arg.getArgNumber()]).str() + "'";
    for (auto [d, extent] : llvm::enumerate(op.getGrid())) {
      std::optional<plan::ExprId> got = env.translateDim(v, d), expected = env.translate(extent);
      if (got && expected && *got != *expected)
        node.checks.push_back({*got, *expected, ("extent " + Twine(d) + " of " + name).str()});
    }
  }
  // What the operations of a network ask of their operands (nn::addExtentChecks).
  plan::Env inner = env.inside(op);
  SmallVector<cf::AssertOp> asserts;
  op.getBody().walk([&](cf::AssertOp assert) { asserts.push_back(assert); });
  for (cf::AssertOp assert : asserts) {
    auto same = assert.getArg().getDefiningOp<arith::CmpIOp>();
    if (same && same.getPredicate() == arith::CmpIPredicate::eq) {
      std::optional<plan::ExprId> got = inner.translate(same.getLhs()),
                                  expected = inner.translate(same.getRhs());
      // A kernel that cannot be kept from reading beyond its operands is none.
      if ((!got || !expected) && SharedNotes::ifKnown.isOn(assert)) {
        assert.erase();
        continue;
      }
      if (!got || !expected)
        return op.emitOpError()
               << assert.getMsg()
               << " is not known when the node starts; make it static, or compute it in a node of its own";
      if (*got != *expected)
        node.checks.push_back({inBranch(inner, assert, *got, *expected), *expected, assert.getMsg().str()});
    }
    assert.erase();
    if (same && same->use_empty())
      same->erase();
  }
  return success();
}

// Of a node that one target alone has made.
static std::string layoutOf(dfg::NodeOp node, const TargetList &targets) {
  SmallVector<const TargetChoice *> makers = targets.makersOf(node);
  return makers.size() == 1 ? makers.front()->target->describeLayout(node) : "";
}

LogicalResult Planner::addNode(dfg::NodeOp op) {
  int index = nodes.size();
  plan::Node node;
  node.name = op.getName().str();
  node.loc = locationOf(op);
  node.layout = layoutOf(op, targets);
  node.depth = op.getDepth().value_or(2);
  node.cost = op.getCost() ? op.getCost()->convertToDouble() : 0;
  StringRef criticality = op.getCriticality().value_or("base");
  node.criticality = criticality == "critical" ? 2 : criticality == "elevated" ? 1 : 0;
  for (Value v : op.getGrid()) {
    if (!env.translate(v))
      return op.emitOpError(
          "has an extent that the plan cannot express; compute it with integer arithmetic on extents, "
          "or in a node");
    addExprDeps(v, node);
    // The kernels get it by its memory.
    if (auto it = env.values.find(v); it != env.values.end())
      node.reads.push_back(it->second);
  }
  if (failed(addChecks(op, node)))
    return failure();
  auto read = [&](int value) {
    node.reads.push_back(value);
    if (auto p = producer.find(root(value)); p != producer.end())
      node.after.push_back(p->second);
  };
  for (auto [i, v] : llvm::enumerate(op.getInputs())) {
    auto it = env.values.find(v);
    if (it == env.values.end()) {
      if (v.getDefiningOp<arith::ConstantOp>())
        continue;
      if (!env.translate(v))
        return op.emitOpError("operand #")
               << i << " is computed by wiring that the plan cannot express; compute it in a node";
      addExprDeps(v, node);
      continue;
    }
    dfg::PortAttr port = op.getPort(i);
    // A shaped value whose extents come from elsewhere may depend on a node, too.
    if (port.getMode() == dfg::PortMode::Out) {
      if (auto p = producer.find(root(it->second)); p != producer.end())
        node.after.push_back(p->second);
    } else {
      read(it->second);
    }
  }
  for (unsigned r = 0; r < op.getNumYields(); ++r) {
    if (failed(addResult(op, r)))
      return failure();
    int value = env.values[op.getResult(r)];
    node.writes.push_back(value);
    producer[value] = index;
  }
  for (auto [i, v] : llvm::enumerate(op.getInputs())) {
    auto it = env.values.find(v);
    if (it == env.values.end())
      continue;
    int r = root(it->second);
    if (!op.getPort(i).isWritable()) {
      readers[r].push_back(index);
      continue;
    }
    // Whoever read the old content must have finished.
    llvm::append_range(node.after, readers[r]);
    readers[r].clear();
    plan::Value alias = program.values[it->second];
    alias.kind = ValueKind::Alias;
    alias.of = it->second;
    alias.shape.clear();
    for (int64_t d = 0; d < cast<ShapedType>(v.getType()).getRank(); ++d)
      alias.shape.push_back(program.dim(it->second, d));
    int value = program.addValue(alias);
    env.values[op.getPortResult(i)] = value;
    node.writes.push_back(value);
    producer[r] = index;
  }
  if (inPlace)
    takeOver(op, node, index);
  out.flops.push_back(plan::countFlops(op, env));
  llvm::sort(node.after);
  node.after.erase(llvm::unique(node.after), node.after.end());
  llvm::erase(node.after, index);
  out.nodes[op] = index;
  nodes.push_back(std::move(node));
  return success();
}

void Planner::takeOver(dfg::NodeOp op, plan::Node &node, int index) {
  std::optional<unsigned> operand = findTakenOver(op, targets);
  if (!operand)
    return;
  int from = env.values.lookup(op.getInputs()[*operand]), to = node.writes.front(), r = root(from);
  plan::Value &result = program.values[to];
  for (unsigned d = 0; d < result.shape.size(); ++d)
    if (program.dim(from, d) != result.shape[d])
      return;
  program.values[to].kind = ValueKind::Alias;
  program.values[to].of = from;
  // Whoever read the operand must have finished.
  llvm::append_range(node.after, readers[r]);
  readers[r].clear();
  producer.erase(to);
  producer[r] = index;
}

void Planner::addViewCheck(Operation *op, std::optional<plan::ExprId> got,
                           std::optional<plan::ExprId> expected, const Twine &text) {
  if (got && expected && *got != *expected)
    program.checks.push_back({*got, *expected, text.str(), nameOf(op)});
}

// An equation of extents that stands in the graph.
LogicalResult Planner::addCheck(cf::AssertOp op) {
  auto same = op.getArg().getDefiningOp<arith::CmpIOp>();
  std::optional<plan::ExprId> got, expected;
  if (same && same.getPredicate() == arith::CmpIPredicate::eq) {
    got = env.translate(same.getLhs());
    expected = env.translate(same.getRhs());
  }
  if (got && expected)
    addViewCheck(op, got, expected, op.getMsg());
  else if (!SharedNotes::ifKnown.isOn(op))
    return op.emitOpError(
        "in a graph expects 'arith.cmpi eq' of two numbers that the plan can express; compute them "
        "with integer arithmetic on extents, or assert in a node");
  return success();
}

// Another static type for the same memory. Extents that were open become known.
void Planner::addCast(Operation *op) {
  auto from = cast<ShapedType>(op->getOperand(0).getType()),
       to = cast<ShapedType>(op->getResult(0).getType());
  for (int64_t d = 0; from.hasRank() && to.hasRank() && d < to.getRank(); ++d)
    if (from.isDynamicDim(d) && !to.isDynamicDim(d))
      addViewCheck(op, env.translateDim(op->getOperand(0), d), program.constant(to.getDimSize(d)),
                   "extent " + Twine(d) + " of what it takes");
  env.values[op->getResult(0)] = env.values.lookup(op->getOperand(0));
}

// The same elements in another shape: another value for the same memory.
LogicalResult Planner::addView(nn::ReshapeOp op) {
  plan::Value view = program.values[env.values.lookup(op.getX())];
  view.kind = ValueKind::Alias;
  view.of = env.values.lookup(op.getX());
  view.shape.clear();
  unsigned next = 0;
  for (int64_t extent : cast<RankedTensorType>(op.getType()).getShape()) {
    std::optional<plan::ExprId> e =
        ShapedType::isDynamic(extent) ? env.translate(op.getExtents()[next++]) : program.constant(extent);
    if (!e)
      return op.emitOpError(
          "has an extent that the plan cannot express; compute it with integer arithmetic on "
          "extents, or in a node");
    view.shape.push_back(*e);
  }
  // It shows the same elements, as many as there are. Static extents are one factor, so that only what can
  // differ is compared.
  auto count = [&](RankedTensorType type, function_ref<std::optional<plan::ExprId>(int64_t)> extent) {
    int64_t known = 1;
    std::optional<plan::ExprId> all;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        known *= type.getDimSize(d);
        continue;
      }
      std::optional<plan::ExprId> e = extent(d);
      if (!e)
        return e;
      all = all ? program.binary(ExprOp::Mul, *all, *e) : *e;
    }
    return std::optional(all ? program.binary(ExprOp::Mul, *all, program.constant(known))
                             : program.constant(known));
  };
  std::optional<plan::ExprId> got = count(cast<RankedTensorType>(op.getX().getType()),
                                          [&](int64_t d) { return env.translateDim(op.getX(), d); }),
                              expected = count(cast<RankedTensorType>(op.getType()), [&](int64_t d) {
                                return std::optional<plan::ExprId>(view.shape[d]);
                              });
  addViewCheck(op, got, expected, "number of elements of a reshape");
  env.values[op.getY()] = program.addValue(view);
  return success();
}

Port Planner::portOf(Attribute name, int value) {
  StringRef text = cast<StringAttr>(name).getValue();
  return {text.str(), value, dfg::wordsOf(graph, text), dfg::isUnsigned(graph, text)};
}

LogicalResult Planner::addInputs() {
  for (auto [arg, name] : llvm::zip(graph.getBodyBlock()->getArguments(), graph.getArgNames())) {
    FailureOr<plan::Value> value = makeValue(ValueKind::Input, arg.getType(), graph.getLoc());
    if (failed(value))
      return failure();
    if (auto shaped = dyn_cast<ShapedType>(arg.getType()))
      for (int64_t extent : shaped.getShape())
        value->shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    int index = program.addValue(*value);
    env.values[arg] = index;
    program.inputs.push_back(portOf(name, index));
  }
  return success();
}

LogicalResult Planner::addBody() {
  SmallVector<dfg::UpdateOp> updates;
  for (Operation &op : *graph.getBodyBlock()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (failed(addConstant(constant)))
        return failure();
    } else if (auto node = dyn_cast<dfg::NodeOp>(op)) {
      if (failed(addNode(node)))
        return failure();
    } else if (auto buffer = dyn_cast<dfg::BufferOp>(op)) {
      FailureOr<plan::Value> value = makeValue(ValueKind::Temp, buffer.getType(), op.getLoc());
      if (failed(value))
        return failure();
      unsigned next = 0;
      for (int64_t extent : cast<MemRefType>(buffer.getType()).getShape()) {
        std::optional<plan::ExprId> e = ShapedType::isDynamic(extent)
                                            ? env.translate(buffer.getExtents()[next++])
                                            : program.constant(extent);
        if (!e)
          return op.emitOpError(
              "has an extent that the plan cannot express; compute it with integer arithmetic on "
              "extents, or in a node");
        value->shape.push_back(*e);
      }
      env.values[buffer.getMemory()] = program.addValue(*value);
    } else if (auto state = dyn_cast<dfg::StateOp>(op)) {
      FailureOr<plan::Value> value = makeValue(ValueKind::State, state.getType(), op.getLoc());
      if (failed(value))
        return failure();
      FailureOr<int> init = getStateInit(state);
      if (failed(init))
        return failure();
      value->init = *init;
      if (auto shaped = dyn_cast<ShapedType>(state.getType()))
        for (int64_t d = 0; d < shaped.getRank(); ++d)
          value->shape.push_back(program.dim(value->init, d));
      int index = program.addValue(*value);
      env.values[state.getValue()] = index;
    } else if (auto update = dyn_cast<dfg::UpdateOp>(op)) {
      updates.push_back(update);
    } else if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
      if (failed(addView(reshape)))
        return failure();
    } else if (isa<tensor::CastOp, memref::CastOp>(op)) {
      addCast(&op);
    } else if (auto check = dyn_cast<cf::AssertOp>(op)) {
      if (failed(addCheck(check)))
        return failure();
    } else {
      TESSERA_CHECK(!isa<dfg::CallOp>(op)) << "calls are flattened in the stage 'graph'";
    }
  }
  for (dfg::UpdateOp update : updates)
    program.values[env.values.lookup(update.getState())].next = env.values.lookup(update.getNext());
  return success();
}

LogicalResult Planner::run() {
  program.name = graph.getSymName().str();
  if (IntegerAttr align = SharedNotes::align.get(graph))
    program.align = align.getInt();
  if (failed(addInputs()) || failed(addBody()))
    return failure();
  program.nodes = std::move(nodes);
  auto ret = cast<dfg::ReturnOp>(graph.getBodyBlock()->getTerminator());
  for (auto [v, name] : llvm::zip(ret.getValues(), graph.getResultNames()))
    program.outputs.push_back(portOf(name, env.values.lookup(v)));
  return success();
}

LogicalResult Planner::run(dfg::NodeOp node, const GraphPlan &outer, std::vector<plan::ExtentCheck> &checks) {
  plan::Env around = outer.env;
  for (auto [arg, v] : llvm::zip(graph.getBodyBlock()->getArguments(), node.getInputs()))
    if (auto it = around.values.find(v); it != around.values.end())
      env.values[arg] = it->second;
    else if (std::optional<plan::ExprId> e = around.translate(v))
      env.exprs[arg] = *e;
  for (auto [v, result] : llvm::zip(graph.getBodyBlock()->getTerminator()->getOperands(), node.getResults()))
    results[v] = around.values.lookup(result);
  if (failed(addBody()))
    return failure();
  for (const plan::Node &part : nodes)
    for (const plan::ExtentCheck &check : part.checks)
      if (llvm::none_of(checks, [&](const plan::ExtentCheck &known) {
            return known.got == check.got && known.expected == check.expected;
          }))
        checks.push_back(check);
  return success();
}

} // namespace

LogicalResult tessera::planGraph(dfg::GraphOp graph, ConstantPool &constants, const TargetList &targets,
                                 bool inPlace, GraphPlan &result) {
  return Planner(graph, constants, targets, inPlace, result).run();
}

FailureOr<FormPlan *> tessera::planForm(dfg::NodeOp node, dfg::GraphOp form, ConstantPool &constants,
                                        const TargetList &targets, bool inPlace, GraphPlan &graph) {
  auto made = std::make_unique<FormPlan>(graph.program);
  plan::Node &planned = graph.program.nodes[graph.nodes[node]];
  size_t first = graph.program.values.size();
  if (failed(Planner(form, constants, targets, inPlace, made->plan).run(node, graph, planned.checks)))
    return failure();
  for (size_t v = first; v < graph.program.values.size(); ++v) {
    ValueKind kind = graph.program.values[v].kind;
    if (kind == ValueKind::Temp)
      made->temps.push_back(int(v));
    if (kind == ValueKind::Const)
      planned.reads.push_back(int(v));
  }
  return (graph.forms[form] = std::move(made)).get();
}

plan::Env tessera::planPayload(GraphPlan &graph, dfg::NodeOp node, Payload &payload) {
  plan::Env env(graph.program);
  for (auto [arg, info] : llvm::zip(payload.func.getArguments(), payload.args)) {
    if (info.kind == PayloadArg::Result) {
      env.values[arg] = graph.env.values.lookup(node.getResult(info.result));
      continue;
    }
    // What has memory travels by it, integers that only wiring computes by value.
    auto it = graph.env.values.find(info.operand);
    if (it != graph.env.values.end())
      env.values[arg] = it->second;
    else if (std::optional<plan::ExprId> e = graph.env.translate(info.operand))
      env.exprs[arg] = *e;
  }
  // A result that takes over an operand's memory.
  for (auto [arg, info] : llvm::zip(payload.func.getArguments(), payload.args)) {
    const plan::Value *value =
        info.kind == PayloadArg::Result ? &graph.program.values[env.values.lookup(arg)] : nullptr;
    if (!value || value->kind != ValueKind::Alias)
      continue;
    for (BlockArgument operand : payload.func.getArguments())
      if (auto it = env.values.find(operand); it != env.values.end() && it->second == value->of)
        SharedNotes::inPlace.setOf(payload.func, arg.getArgNumber(), operand.getArgNumber());
  }
  return env;
}
