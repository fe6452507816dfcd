// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Loops.h.
#include "tessera/frontends/onnx/Loops.h"
#include "tessera/frontends/onnx/Importer.h"

#include "mlir/IR/IRMapping.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

namespace {
/// What one step gives.
struct Step {
  Value going; ///< a bool of rank 0; null: as before
  std::vector<Val> next, collected;
};
using Body = llvm::function_ref<Step(Value counter, Value going, ArrayRef<Val> carried)>;

class StayingLoop {
public:
  StayingLoop(NodeContext &c, ArrayRef<Val> start, Body body, Value limit, Value going)
      : c(c), b(c.b), start(start), body(body), limit(limit), going(going) {}

  /// Builds the step; the loop follows.
  bool step();
  /// No step says that it is the last.
  bool isCounted() const { return !stops; }
  /// The loop with tensors for what it collects, of so many steps.
  std::vector<Val> finish(Ext steps);
  /// The number of steps, after finish().
  Value count() const { return counted; }
  void discard();

private:
  Value fixed(int64_t value, Type type) {
    return arith::ConstantOp::create(b, c.loc, b.getIntegerAttr(type, value));
  }
  Value asTensor(Value s) {
    return tensor::FromElementsOp::create(b, c.loc, RankedTensorType::get({}, s.getType()), s);
  }
  bool isInside(Value v) {
    for (Block *block = v.getParentBlock(); block;
         block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr)
      if (block == after)
        return true;
    return false;
  }
  std::optional<Ext> outside(Value v, int64_t d);
  std::optional<Ext> outside(Value index);

  NodeContext &c;
  OpBuilder &b;
  ArrayRef<Val> start;
  Body body;
  Value limit, going, counted;
  Block *after = nullptr;
  SmallVector<Value> init;
  Step made;
  Value more;
  bool stops = false;
};
} // namespace

void StayingLoop::discard() {
  c.importer.forgetExtents();
  if (after) {
    after->dropAllReferences();
    after->clear();
    delete after;
    after = nullptr;
  }
}

bool StayingLoop::step() {
  for (const Val &v : start)
    init.push_back(c.importer.materialise(v, &c));
  if (c.bad || !limit || !going || llvm::any_of(init, [](Value v) { return !v; }) ||
      !limit.getType().isInteger(64) || !going.getType().isInteger(1))
    return c.fail("expected an i64 as number of steps and a bool as condition"), false;
  after = new Block;
  for (Value v : init)
    after->addArgument(v.getType(), c.loc);
  Value counter = after->addArgument(b.getI64Type(), c.loc), flag = after->addArgument(b.getI1Type(), c.loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(after);
  std::vector<Val> carried;
  for (size_t i = 0; i < start.size(); ++i)
    carried.push_back(c.importer.fromValue(after->getArgument(i), start[i]->type));
  made = body(asTensor(counter), asTensor(flag), carried);
  if (c.bad || poisoned(c, made.next) || poisoned(c, made.collected))
    return false;
  for (auto [i, v] : llvm::enumerate(made.next)) {
    Value next = c.importer.materialise(v, &c);
    if (!next || next.getType() != init[i].getType())
      return c.fail("a value that the loop carries changes its type, which needs a known number of steps"),
             false;
    v = c.importer.fromValue(next, v->type);
  }
  for (Val &v : made.collected)
    if (Value one = c.importer.materialise(v, &c))
      v = c.importer.fromValue(one, v->type);
  more = made.going ? scalarOf(c, made.going) : flag;
  stops = more != flag;
  if (auto same = more ? more.getDefiningOp<tensor::ExtractOp>() : tensor::ExtractOp())
    if (auto elements = same.getTensor().getDefiningOp<tensor::FromElementsOp>())
      stops = elements.getElements().front() != flag;
  return !c.bad && more;
}

// An extent of what a step gives, as a value before the loop.
std::optional<Ext> StayingLoop::outside(Value v, int64_t d) {
  auto type = cast<RankedTensorType>(v.getType());
  if (!type.isDynamicDim(d))
    return Ext(type.getDimSize(d));
  if (!isInside(v))
    return c.ext(v, d);
  if (auto arg = dyn_cast<BlockArgument>(v))
    return arg.getOwner() == after ? std::optional(c.ext(init[arg.getArgNumber()], d)) : std::nullopt;
  Operation *def = v.getDefiningOp();
  if (Value extent = extentOperand(def, d))
    return outside(extent);
  std::optional<Ext> found;
  if (auto concat = dyn_cast<nn::ConcatOp>(def); concat && int64_t(concat.getAxis()) == d) {
    for (Value part : concat.getInputs()) {
      std::optional<Ext> extent = outside(part, d);
      if (!extent)
        return std::nullopt;
      found = found ? c.add(*found, *extent) : *extent;
    }
    return found;
  }
  for (auto [from, at] : sourcesOf({v, d})) {
    std::optional<Ext> extent = outside(from, at);
    if (!extent)
      return std::nullopt;
    found = found ? c.wider(*found, *extent) : *extent;
  }
  return found;
}

// Arithmetic on such extents is done before the loop as well.
std::optional<Ext> StayingLoop::outside(Value index) {
  if (!isInside(index))
    return Ext(index);
  Operation *def = index.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(def)) {
    std::optional<int64_t> d = dim.getConstantIndex();
    return d ? outside(dim.getSource(), *d) : std::nullopt;
  }
  if (!def || !isa<arith::ArithDialect>(def->getDialect()))
    return std::nullopt;
  IRMapping before;
  for (Value operand : def->getOperands()) {
    std::optional<Ext> hoisted = operand.getType().isIntOrIndex() ? outside(operand) : std::nullopt;
    if (!hoisted)
      return std::nullopt;
    before.map(operand, operand.getType().isIndex() ? c.index(*hoisted) : hoisted->value);
  }
  return Ext(b.clone(*def, before)->getResult(0));
}

std::vector<Val> StayingLoop::finish(Ext steps) {
  size_t carried = init.size();
  SmallVector<Value> next;
  for (const Val &v : made.next)
    next.push_back(v->value);
  for (const Val &v : made.collected) {
    Value one = v->value;
    Exts shape = {steps}, inside = {Ext(1)};
    for (int64_t d = 0; d < c.rank(one); ++d) {
      std::optional<Ext> extent = outside(one, d);
      if (!extent)
        return c.fail("what the loop collects has an extent that is only known in its steps"),
               std::vector<Val>();
      shape.push_back(*extent);
    }
    Value all = c.full(shape, 0, v->type);
    if (!all)
      return {};
    Value into = after->insertArgument(init.size(), all.getType(), c.loc);
    init.push_back(all);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(after);
    for (int64_t d = 0; d < c.rank(one); ++d)
      inside.push_back(c.ext(one, d));
    Value row = c.reshape(one, inside);
    Value counter = after->getArgument(after->getNumArguments() - 2);
    SmallVector<OpFoldResult> offsets(inside.size(), b.getIndexAttr(0)), sizes,
        ones(inside.size(), b.getIndexAttr(1));
    offsets[0] = arith::IndexCastOp::create(b, c.loc, b.getIndexType(), counter).getResult();
    for (const Ext &e : inside)
      sizes.push_back(e.isStatic() ? OpFoldResult(b.getIndexAttr(e.size)) : OpFoldResult(e.value));
    if (!row)
      return {};
    next.push_back(tensor::InsertSliceOp::create(b, c.loc, row, into, offsets, sizes, ones));
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(after);
    Value counter = after->getArgument(after->getNumArguments() - 2);
    next.push_back(arith::AddIOp::create(b, c.loc, counter, fixed(1, b.getI64Type())));
    next.push_back(more);
    scf::YieldOp::create(b, c.loc, next);
  }
  // Tensors come first: each then has the same place in both parts of the loop, also when nobody reads the
  // counter or the condition, and bufferization sees that it is one buffer.
  size_t tensors = init.size();
  init.append({fixed(0, b.getI64Type()), going});
  SmallVector<Type> types(ValueRange(init).getTypes());
  SmallVector<Location> locs(types.size(), c.loc);
  auto loop = scf::WhileOp::create(b, c.loc, types, init);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value further =
      arith::CmpIOp::create(b, c.loc, arith::CmpIPredicate::slt, before->getArgument(tensors), limit);
  further = arith::AndIOp::create(b, c.loc, further, before->getArgument(tensors + 1));
  scf::ConditionOp::create(b, c.loc, further, before->getArguments());
  loop.getAfter().push_back(after);
  after = nullptr;
  counted = loop.getResult(tensors);
  std::vector<Val> results;
  for (size_t i = 0; i < carried; ++i)
    results.push_back(c.importer.fromValue(loop.getResult(i), start[i]->type));
  for (size_t i = carried; i < tensors; ++i)
    results.push_back(c.importer.fromValue(loop.getResult(i), made.collected[i - carried]->type));
  return results;
}

void onnximport::whileLoop(NodeContext &c, const ox::Graph &graph) {
  size_t carried = c.numInputs() > 2 ? c.numInputs() - 2 : 0, scans = graph.outputs.size() - 1 - carried;
  OpBuilder &b = c.b;
  auto fixed = [&](int64_t value, Type type) -> Value {
    return arith::ConstantOp::create(b, c.loc, b.getIntegerAttr(type, value));
  };
  Value limit = c.has(0) ? scalarOf(c, c.v(0)) : fixed(std::numeric_limits<int64_t>::max(), b.getI64Type());
  Value going = c.has(1) ? scalarOf(c, c.v(1)) : fixed(1, b.getI1Type());
  std::vector<Val> start(c.in.begin() + std::min<size_t>(2, c.in.size()), c.in.end());
  bool collects = true;
  auto body = [&](Value counter, Value flag, ArrayRef<Val> values) {
    std::vector<Val> inputs{c.importer.fromValue(counter, DataType::I64),
                            c.importer.fromValue(flag, DataType::Bool)};
    inputs.insert(inputs.end(), values.begin(), values.end());
    std::vector<Val> outputs = c.importer.importBody(graph, inputs, c.scope);
    Step step;
    if (poisoned(c, outputs))
      return step;
    step.going = c.importer.materialise(outputs[0], &c);
    step.next.assign(outputs.begin() + 1, outputs.begin() + 1 + carried);
    if (collects)
      step.collected.assign(outputs.begin() + 1 + carried, outputs.end());
    return step;
  };
  StayingLoop loop(c, start, body, limit, going);
  if (!loop.step())
    return loop.discard();
  Ext steps(0);
  if (scans && loop.isCounted() && c.has(0)) {
    KnownPtr known = c.tryKnown(0);
    Value count = known && known->elements[0].dynamic
                      ? known->elements[0].dynamic
                      : arith::IndexCastOp::create(b, c.loc, b.getIndexType(), limit).getResult();
    steps = c.max(Ext(count), Ext(0));
    // A loop that does not begin has no step.
    if (c.has(1))
      steps = Ext(arith::SelectOp::create(b, c.loc, going, c.index(steps), c.index(Ext(0))).getResult());
  } else if (scans) {
    // How many steps there are is known when they were made: once to count them, and again to collect.
    collects = false;
    StayingLoop counting(c, start, body, limit, going);
    if (!counting.step() || counting.finish(Ext(0)).size() != carried) {
      counting.discard();
      return loop.discard();
    }
    collects = true;
    steps = Ext(arith::IndexCastOp::create(b, c.loc, b.getIndexType(), counting.count()).getResult());
  }
  std::vector<Val> results = loop.finish(steps);
  if (c.bad || results.empty())
    return loop.discard();
  for (auto [i, v] : llvm::enumerate(results))
    c.set(i, v);
}

std::vector<Val> onnximport::scanLoop(NodeContext &c, const ox::Graph &graph, ArrayRef<Val> inputs,
                                      const ScanShape &s) {
  SmallVector<Value> sequences;
  Ints axes;
  std::optional<Ext> steps;
  for (size_t i = 0; i < s.inputs; ++i) {
    Value x = c.importer.materialise(inputs[s.states + i], &c);
    std::optional<int64_t> axis = x ? c.axis(s.inputAxes[i], c.rank(x)) : std::nullopt;
    if (!axis)
      return {};
    Ext extent = c.ext(x, *axis);
    if (steps && extent.isStatic() && steps->isStatic() && extent.size != steps->size)
      return c.fail("expected sequences of one length, but got " + Twine(steps->size) + " and " +
                    Twine(extent.size)),
             std::vector<Val>();
    if (steps)
      c.require(extent, *steps, "the length of a sequence");
    steps = steps ? *steps : extent;
    axes.push_back(*axis);
    sequences.push_back(x);
  }
  // From the front, or from behind.
  auto at = [&](Value counter, bool reverse) {
    return reverse ? c.sub(c.number(c.sub(*steps, Ext(1))), counter) : counter;
  };
  auto body = [&](Value counter, Value, ArrayRef<Val> values) {
    std::vector<Val> arguments(values.begin(), values.end());
    Step step;
    for (size_t i = 0; i < s.inputs; ++i) {
      Value part = c.gather(sequences[i], at(counter, s.inputDirections[i]), axes[i]);
      if (!part)
        return step;
      arguments.push_back(c.importer.fromValue(part, inputs[s.states + i]->type));
    }
    std::vector<Val> outputs = c.importer.importBody(graph, arguments, c.scope);
    if (poisoned(c, outputs))
      return step;
    step.next.assign(outputs.begin(), outputs.begin() + s.states);
    step.collected.assign(outputs.begin() + s.states, outputs.end());
    return step;
  };
  OpBuilder &b = c.b;
  Value limit = arith::IndexCastOp::create(b, c.loc, b.getI64Type(), c.index(*steps));
  Value going = arith::ConstantOp::create(b, c.loc, b.getBoolAttr(true));
  ArrayRef<Val> start = inputs.take_front(s.states);
  StayingLoop loop(c, start, body, limit, going);
  std::vector<Val> results;
  if (loop.step())
    results = loop.finish(*steps);
  if (c.bad || results.empty())
    return loop.discard(), std::vector<Val>();
  for (size_t i = 0; i < s.outputs; ++i) {
    Val &v = results[s.states + i];
    Value all = v->value;
    std::optional<int64_t> axis = c.axis(s.outputAxes[i], c.rank(all));
    if (!axis)
      return {};
    if (s.outputDirections[i])
      all = c.gather(all, c.places(*steps, c.sub(*steps, Ext(1)), -1), 0);
    Ints order = range(1, c.rank(all));
    order.insert(order.begin() + *axis, 0);
    all = c.transpose(all, order);
    if (!all)
      return {};
    v = c.importer.fromValue(all, v->type);
  }
  return results;
}
