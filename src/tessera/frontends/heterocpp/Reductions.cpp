// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over the iterations of a parallel loop. C++ writes them as updates of shared memory; as such
// they are a race. `*sum += x` becomes a reduced result that a node of its own adds to the memory; where the
// element differs between iterations (a histogram, sums of rows) the port becomes an accumulating one.
#include "tessera/frontends/heterocpp/Reductions.h"
#include "tessera/frontends/heterocpp/Graph.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::heterocpp;
using dfg::ReductionAttr;
using dfg::ReductionKind;

namespace {
/// One update of memory: store(combine(load, value)).
struct Update {
  memref::LoadOp load;
  memref::StoreOp store;
  Value value; ///< of a truth: whether it holds
  ReductionAttr kind;
  Logic logic = Logic::None;

  /// Erases the update, but not what computes the value.
  void erase() const {
    Operation *combined = memref::StoreOp(store).getValue().getDefiningOp();
    SmallVector<Operation *> ops = {store, combined};
    if (auto choice = dyn_cast<arith::SelectOp>(combined))
      ops.push_back(choice.getCondition().getDefiningOp());
    if (logic != Logic::None) {
      ops.push_back(combined->getOperand(0).getDefiningOp());
      ops.push_back(*memref::LoadOp(load)->user_begin());
    }
    ops.push_back(load);
    for (Operation *op : ops)
      op->erase();
  }
};
} // namespace

ReductionAttr heterocpp::getNamed(ReductionKind kind, MLIRContext *context) {
  return ReductionAttr::get(context, kind, FlatSymbolRefAttr());
}

// The same number, also where it is computed or loaded twice from memory that nothing writes.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *l = a.getDefiningOp(), *r = b.getDefiningOp();
  if (!l || !r || l->getName() != r->getName() || l->getNumRegions() ||
      l->getNumOperands() != r->getNumOperands() || l->getAttrDictionary() != r->getAttrDictionary() ||
      a.getType() != b.getType())
    return false;
  if (auto load = dyn_cast<memref::LoadOp>(l)) {
    for (Operation *user : load.getMemRef().getUsers())
      if (!isa<memref::LoadOp>(user))
        return false;
  } else if (!isMemoryEffectFree(l)) {
    return false;
  }
  return llvm::all_of(llvm::zip(l->getOperands(), r->getOperands()),
                      [](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

// max(a, b) as a comparison and a choice between two values, in either order.
ReductionAttr heterocpp::getChosen(Value condition, Value yes, Value no, Value old, Value &other) {
  Operation *test = condition.getDefiningOp();
  if (!test)
    return {};
  Value l, r;
  bool less = false, real = false, isUnsigned = false;
  if (auto cmp = dyn_cast<arith::CmpFOp>(test)) {
    using P = arith::CmpFPredicate;
    P p = cmp.getPredicate();
    less = p == P::OLT || p == P::OLE || p == P::ULT || p == P::ULE;
    if (!less && p != P::OGT && p != P::OGE && p != P::UGT && p != P::UGE)
      return {};
    real = true;
    l = cmp.getLhs();
    r = cmp.getRhs();
  } else if (auto cmp = dyn_cast<arith::CmpIOp>(test)) {
    using P = arith::CmpIPredicate;
    P p = cmp.getPredicate();
    less = p == P::slt || p == P::sle || p == P::ult || p == P::ule;
    isUnsigned = p == P::ult || p == P::ule || p == P::ugt || p == P::uge;
    if (!less && p != P::sgt && p != P::sge && p != P::ugt && p != P::uge)
      return {};
    l = cmp.getLhs();
    r = cmp.getRhs();
  } else {
    return {};
  }
  bool straight = isSame(yes, l) && isSame(no, r);
  bool crossed = isSame(yes, r) && isSame(no, l);
  if ((!straight && !crossed) || (l != old && r != old) || (yes != old && no != old))
    return {};
  other = l == old ? r : l;
  bool minimum = less == straight;
  ReductionKind kind = real         ? minimum ? ReductionKind::MinNumF : ReductionKind::MaxNumF
                       : isUnsigned ? minimum ? ReductionKind::MinUI : ReductionKind::MaxUI
                       : minimum    ? ReductionKind::MinSI
                                    : ReductionKind::MaxSI;
  return getNamed(kind, test->getContext());
}

static ReductionAttr getSelected(arith::SelectOp choice, Value old, Value &other) {
  return getChosen(choice.getCondition(), choice.getTrueValue(), choice.getFalseValue(), old, other);
}

// The operation that combines what was loaded with something else.
ReductionAttr heterocpp::getCombination(Operation *op, Value old, Value &other) {
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return getSelected(choice, old, other);
  if (op->getNumOperands() != 2)
    return {};
  bool left = op->getOperand(0) == old;
  if (left == (op->getOperand(1) == old))
    return {};
  other = op->getOperand(left ? 1 : 0);
  if (FlatSymbolRefAttr combiner = getCombiner(op))
    return left ? ReductionAttr::get(op->getContext(), std::nullopt, combiner) : ReductionAttr();
  static const std::map<std::string, ReductionKind> kinds = {
      {"arith.addf", ReductionKind::AddF},       {"arith.addi", ReductionKind::AddI},
      {"arith.mulf", ReductionKind::MulF},       {"arith.muli", ReductionKind::MulI},
      {"arith.minnumf", ReductionKind::MinNumF}, {"arith.maxnumf", ReductionKind::MaxNumF},
      {"arith.minsi", ReductionKind::MinSI},     {"arith.maxsi", ReductionKind::MaxSI},
      {"arith.minui", ReductionKind::MinUI},     {"arith.maxui", ReductionKind::MaxUI},
      {"arith.andi", ReductionKind::AndI},       {"arith.ori", ReductionKind::OrI},
      {"arith.xori", ReductionKind::XOrI}};
  auto it = kinds.find(op->getName().getStringRef().str());
  return it == kinds.end() ? ReductionAttr() : getNamed(it->second, op->getContext());
}

bool heterocpp::isTestOf(Value truth, Value v) {
  auto cmp = truth.getDefiningOp<arith::CmpIOp>();
  return cmp && cmp.getPredicate() == arith::CmpIPredicate::ne && cmp.getLhs() == v &&
         isConstantIntValue(cmp.getRhs(), 0) && cmp->hasOneUse();
}

// The other side of a number in memory || x, or && x, if the number is what was loaded.
static Logic getLogic(Operation *op, memref::LoadOp load, Value &other) {
  auto extend = dyn_cast<arith::ExtUIOp>(op);
  std::optional<Logical> logical = extend ? matchLogical(extend.getIn()) : std::nullopt;
  if (!logical || logical->isNegated || !extend.getIn().hasOneUse() ||
      isa<scf::IfOp>(extend.getIn().getDefiningOp()))
    return Logic::None;
  for (auto [tested, rest] :
       {std::pair(logical->left, logical->right), std::pair(logical->right, logical->left)})
    if (isTestOf(tested->get(), load)) {
      other = rest->get();
      return logical->logic;
    }
  return Logic::None;
}

static Update takeAway(Operation *difference, memref::LoadOp load, memref::StoreOp store) {
  OpBuilder b(difference);
  Value other = difference->getOperand(1);
  if (isa<arith::SubFOp>(difference))
    return {load, store, arith::NegFOp::create(b, difference->getLoc(), other),
            getNamed(ReductionKind::AddF, b.getContext())};
  Value zero = arith::ConstantOp::create(b, difference->getLoc(), b.getZeroAttr(other.getType()));
  return {load, store, arith::SubIOp::create(b, difference->getLoc(), zero, other),
          getNamed(ReductionKind::AddI, b.getContext())};
}

// m[k] = m[k] + 0 is m[k] = m[k] once it is folded: nothing is added.
static Operation *addNothing(memref::LoadOp load, memref::StoreOp store) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Type type = load.getType();
  Value sum;
  if (auto real = dyn_cast<FloatType>(type)) {
    APFloat zero = APFloat::getZero(real.getFloatSemantics(), /*Negative=*/true);
    sum = arith::AddFOp::create(b, loc, load, arith::ConstantOp::create(b, loc, b.getFloatAttr(real, zero)));
  } else if (type.isIntOrIndex()) {
    sum = arith::AddIOp::create(b, loc, load, arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 0)));
  } else {
    return load;
  }
  store.getValueMutable().assign(sum);
  return sum.getDefiningOp();
}

// All uses of the memory as updates of one kind; none when there is another.
static std::optional<SmallVector<Update>> getUpdates(Value memory) {
  SmallVector<Update> updates;
  SmallVector<memref::LoadOp> loads;
  for (Operation *user : memory.getUsers()) {
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      loads.push_back(load);
      continue;
    }
    if (!isa<memref::StoreOp>(user) || cast<memref::StoreOp>(user).getMemRef() != memory)
      return std::nullopt;
  }
  for (memref::LoadOp load : loads) {
    memref::StoreOp store;
    for (Operation *user : memory.getUsers())
      if (auto other = dyn_cast<memref::StoreOp>(user); other && other->getBlock() == load->getBlock() &&
                                                        load->isBeforeInBlock(other) &&
                                                        llvm::equal(other.getIndices(), load.getIndices()))
        store = !store || other->isBeforeInBlock(store) ? other : store;
    if (!store)
      return std::nullopt;
    Operation *combined = store.getValue().getDefiningOp();
    if (combined == load && load->hasOneUse())
      combined = addNothing(load, store);
    Update update{load, store, Value(), ReductionAttr()};
    if (combined && combined->hasOneUse())
      update.kind = getCombination(combined, load, update.value);
    // What is taken away is added with the other sign.
    if (combined && isa<arith::SubIOp, arith::SubFOp>(combined) && combined->hasOneUse() &&
        combined->getOperand(0) == load.getResult() && combined->getOperand(1) != load.getResult())
      update = takeAway(combined, load, store);
    if (combined && combined->hasOneUse() && !update.kind) {
      update.logic = getLogic(combined, load, update.value);
      if (update.logic != Logic::None)
        update.kind = getNamed(ReductionKind::OrI, load.getContext());
    }
    if (!update.kind ||
        (!updates.empty() && (updates.front().kind != update.kind || updates.front().logic != update.logic)))
      return std::nullopt;
    // A selection and its comparison are the only users of what was loaded.
    unsigned expected = isa<arith::SelectOp>(combined) ? 2 : 1;
    if (unsigned(std::distance(load->user_begin(), load->user_end())) != expected)
      return std::nullopt;
    updates.push_back(update);
  }
  unsigned stores = llvm::count_if(memory.getUsers(), [](Operation *op) { return isa<memref::StoreOp>(op); });
  if (updates.empty() || stores != updates.size())
    return std::nullopt;
  return updates;
}

// Whether an operation takes several numbers to one, such as i % n, and nothing beside it tells them apart,
// as i / n does.
static bool mayMerge(Operation *op) {
  if (isa<arith::AndIOp, arith::ShRSIOp, arith::ShRUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp,
          arith::MaxUIOp, arith::SelectOp>(op))
    return true;
  bool isRest = isa<arith::RemSIOp, arith::RemUIOp>(op), isQuotient = isa<arith::DivSIOp, arith::DivUIOp>(op);
  if (!isRest && !isQuotient)
    return false;
  return llvm::none_of(op->getOperand(0).getUsers(), [&](Operation *other) {
    bool completes =
        isRest ? isa<arith::DivSIOp, arith::DivUIOp>(other) : isa<arith::RemSIOp, arith::RemUIOp>(other);
    return completes && llvm::equal(other->getOperands(), op->getOperands());
  });
}

// Which ids an index depends on, and whether on memory or in a way that does not keep them apart.
static void addDependences(Value v, dfg::NodeOp node, SmallVectorImpl<bool> &ids, bool &onMemory,
                           DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    if (arg.getOwner() == node.getBodyBlock()) {
      if (arg.getArgNumber() < node.getRank())
        ids[arg.getArgNumber()] = true;
    } else if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
               !loop || arg != loop.getInductionVar()) {
      onMemory = true;
    }
    return;
  }
  Operation *op = v.getDefiningOp();
  onMemory |= isa<memref::LoadOp>(op) || op->getNumRegions() || mayMerge(op);
  for (Value operand : op->getOperands())
    addDependences(operand, node, ids, onMemory, seen);
}

// Iterations update the same element, as far as can be seen.
static bool isShared(ArrayRef<Update> updates, dfg::NodeOp node) {
  for (Update update : updates) {
    SmallVector<bool> ids(node.getRank(), false);
    bool onMemory = false;
    DenseSet<Value> seen;
    for (Value index : update.store.getIndices())
      addDependences(index, node, ids, onMemory, seen);
    if (onMemory || llvm::is_contained(ids, false))
      return true;
  }
  return false;
}

// dfg.node(inout %m) { m[k] = m[k] + x }  →  dfg.node(acc<add> %m) { dfg.accumulate x, m[k] }
static void useAccumulation(dfg::NodeOp node, unsigned input, ArrayRef<Update> updates) {
  MLIRContext *context = node.getContext();
  ReductionAttr reduction = updates.front().kind;
  for (Update update : updates) {
    OpBuilder b(update.store);
    memref::StoreOp store = update.store;
    dfg::AccumulateOp::create(b, store.getLoc(), update.value, store.getMemRef(), store.getIndices());
    update.erase();
  }
  SmallVector<Attribute> ports(node.getPorts().begin(), node.getPorts().end());
  ports[input] = dfg::PortAttr::get(context, dfg::PortMode::Acc, reduction);
  node.setPortsAttr(ArrayAttr::get(context, ports));
}

// One update of one element, by each iteration that comes there.
static bool isOneElement(ArrayRef<Update> updates, dfg::NodeOp node) {
  memref::StoreOp store = updates[0].store;
  if (updates.size() != 1 || store->getBlock() != node.getBodyBlock())
    return false;
  return llvm::all_of(store.getIndices(), [](Value v) { return getConstantIntValue(v).has_value(); });
}

// dfg.node(inout %m) { m[0] = m[0] + x }  →  %s = dfg.node() reduce<add> { yield x }, dfg.node(inout %m) {
// m[0] += %s }
static void useReduction(dfg::NodeOp node, unsigned input, const Update &update) {
  OpBuilder b(node);
  MLIRContext *context = node.getContext();
  ReductionAttr reduction = update.kind;
  memref::StoreOp store = update.store;
  Value value = update.value;
  int64_t at = *getConstantIntValue(store.getIndices()[0]);
  Type element = store.getMemRefType().getElementType();
  if (update.logic != Logic::None) {
    OpBuilder before(store);
    value = buildFinding(before, store.getLoc(), update.logic, value, element);
  }
  SmallVector<Value> inputs;
  SmallVector<dfg::PortAttr> ports;
  SmallVector<Type> types(node->getResultTypes().begin(),
                          node->getResultTypes().begin() + node.getNumYields());
  SmallVector<dfg::ResultAttr> yields;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (i != input) {
      inputs.push_back(node.getInputs()[i]);
      ports.push_back(node.getPort(i));
    }
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    yields.push_back(node.getYield(r));
  types.push_back(element);
  yields.push_back(dfg::ResultAttr::get(context, dfg::ResultMode::Reduce, reduction, {}));
  auto made =
      dfg::NodeOp::create(b, node.getLoc(), node.getName(), node.getGrid(), inputs, ports, types, yields);
  if (node.getTargetsAttr())
    made.setTargetsAttr(node.getTargetsAttr());
  // The memory's own updates go; everything else moves.
  update.erase();
  Block *from = node.getBodyBlock(), *to = made.getBodyBlock();
  while (!to->empty())
    to->back().erase();
  for (unsigned a = 0, k = 0; a < from->getNumArguments(); ++a) {
    if (a == node.getRank() + input)
      continue;
    to->getArgument(k).setLoc(from->getArgument(a).getLoc());
    if (value == from->getArgument(a))
      value = to->getArgument(k);
    from->getArgument(a).replaceAllUsesWith(to->getArgument(k++));
  }
  SmallVector<Value> yielded(node.getYieldOp().getValues());
  yielded.push_back(value);
  node.getYieldOp()->erase();
  to->getOperations().splice(to->end(), from->getOperations());
  OpBuilder end = OpBuilder::atBlockEnd(to);
  dfg::YieldOp::create(end, node.getLoc(), yielded);
  // Add it to what was there.
  Value memory = node.getInputs()[input];
  SmallVector<dfg::PortAttr> own = {dfg::PortAttr::get(context, dfg::PortMode::Whole, {}),
                                    dfg::PortAttr::get(context, dfg::PortMode::InOut, {})};
  std::string name = (node.getName() + ".combine").str();
  if (yielded.size() > 1)
    name += "." + std::to_string(yielded.size() - 1);
  auto joined = dfg::NodeOp::create(b, node.getLoc(), name, ValueRange{},
                                    ValueRange{made.getResult(yielded.size() - 1), memory}, own, TypeRange{},
                                    ArrayRef<dfg::ResultAttr>{});
  Block *body = joined.getBodyBlock();
  while (!body->empty())
    body->back().erase();
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  Value index = arith::ConstantIndexOp::create(inner, node.getLoc(), at);
  Value old = memref::LoadOp::create(inner, node.getLoc(), joined.getInputArgs()[1], index);
  Value all = joined.getInputArgs()[0];
  Value sum = update.logic == Logic::None
                  ? dfg::buildCombine(inner, node.getLoc(), reduction, old, all, joined)
                  : buildJoined(inner, node.getLoc(), update.logic, old, all);
  memref::StoreOp::create(inner, node.getLoc(), sum, joined.getInputArgs()[1], index);
  dfg::YieldOp::create(inner, node.getLoc());
  node.getPortResult(input).replaceAllUsesWith(joined.getResult(0));
  for (unsigned i = 0, k = 0; i < node.getInputs().size(); ++i) {
    if (i == input)
      continue;
    if (node.getPort(i).isWritable())
      node.getPortResult(i).replaceAllUsesWith(made.getPortResult(k));
    ++k;
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    node.getResult(r).replaceAllUsesWith(made.getResult(r));
  node.erase();
}

// Rewrites one port; true when there may be another.
static bool rewriteOne(dfg::NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (node.getPort(i).getMode() != dfg::PortMode::InOut)
      continue;
    std::optional<SmallVector<Update>> updates = getUpdates(node.getInputArgs()[i]);
    if (!updates || !isShared(*updates, node))
      continue;
    if (isOneElement(*updates, node)) {
      useReduction(node, i, updates->front());
      return true;
    }
    // Elements that no iteration updates must stay as they are.
    if (updates->front().logic != Logic::None)
      continue;
    useAccumulation(node, i, *updates);
  }
  return false;
}

void heterocpp::findReductions(dfg::GraphOp graph) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto node : llvm::make_early_inc_range(graph.getBodyBlock()->getOps<dfg::NodeOp>()))
      if (node.getRank() && rewriteOne(node)) {
        changed = true;
        break;
      }
  }
}
