// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a flat leaf to one node for each fusion group. Groups are formed by the operations' classes alone:
//   complex      starts a group; what reads its result element by element joins it
//   elementwise  joins the groups that make its operands when nobody else reads them
//   injective    the same, but not behind a complex operation
//   reduction    takes elementwise and injective work in front of it and elementwise work behind it
//   opaque       stays alone
// A target adds rules of its own (FusionRules): what may follow a layer, what is part of its stores.
// A group has one operation whose results leave it, its last, so that no two groups can wait for each other.
// Regions, which are cut before any target is asked, are groups that the caller has formed.
#include "tessera/transforms/nn/graph/Passes.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

struct Group {
  SmallVector<Operation *> ops; ///< in program order
  Operation *anchor = nullptr;  ///< the complex operation or reduction, if there is one
  OpClass kind = OpClass::Opaque;
  bool wiring = false; ///< stands in the graph as it is
  dfg::NodeOp made;    ///< of it, once the leaf is cut
};

class Partitioner {
public:
  Partitioner(dfg::NodeOp node, const PartitionOptions &options)
      : node(node), options(options), rules(options.rules ? *options.rules : general), b(node) {}
  LogicalResult run();
  /// With groups of the caller's instead; what is in none of them stands in the graph as it is.
  SmallVector<dfg::NodeOp> run(ArrayRef<SmallVector<Operation *>> regions);

private:
  static OpClass classOf(Operation *op);
  /// A constant that is cheaper to repeat than to pass.
  static bool isSmall(arith::ConstantOp op);
  void form();
  /// Leaves groups out of `joined` that would make a kernel of `op` and the others too large.
  void keepSmall(Operation *op, llvm::SmallSetVector<unsigned, 4> &joined) const;
  void splitConcats();
  /// `op` may join `group` as its new last operation.
  bool mayJoin(Operation *op, const Group &group) const;
  /// All that comes of the operation is its result in fewer bits.
  bool leadsToNarrow(Operation *op) const;
  /// `op` makes a narrow form of what the group computes, which others read as it is: both are stored.
  bool isSecondForm(Operation *op, unsigned group);
  /// All uses of what the group computes are in `groups` or are `op`.
  bool isClosed(unsigned group, const llvm::SmallSetVector<unsigned, 4> &groups, Operation *op);
  /// The node that is made of a group; none where nobody reads what it computes.
  dfg::NodeOp place(const Group &group);
  /// Replaces the leaf by its groups.
  void cut();
  std::string nameOf(const Group &group);
  /// The graph's value for one of the leaf.
  Value outside(Value v) { return map.lookupOrDefault(v); }

  dfg::NodeOp node;
  const PartitionOptions &options;
  const FusionRules general;
  const FusionRules &rules;
  OpBuilder b;
  IRMapping map;
  std::vector<Group> groups;
  DenseMap<Operation *, unsigned> groupOf;
  llvm::StringSet<> names;
  bool keepsConstants = false; ///< each group has the constants it reads, whatever their size
};

} // namespace

OpClass Partitioner::classOf(Operation *op) {
  if (auto nnOp = dyn_cast<NnOp>(op))
    return nnOp.getOpClass();
  return OpClass::Opaque;
}

bool Partitioner::isSmall(arith::ConstantOp op) {
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  return !elements || elements.getNumElements() <= 1 ||
         (isa<DenseElementsAttr>(elements) && elements.isSplat());
}

// Element by element, the second result has the place of the first.
static bool sameShape(Value a, Value b) {
  auto x = dyn_cast<RankedTensorType>(a.getType()), y = dyn_cast<RankedTensorType>(b.getType());
  return x && y && x.getShape() == y.getShape();
}

// What makes elements wider belongs to who reads them, if that can take it in: memory is for narrow ones.
static bool widensForReaders(Operation *op) {
  auto isElementwise = [](Operation *user) {
    auto nnOp = dyn_cast<NnOp>(user);
    return nnOp && nnOp.getOpClass() == OpClass::Elementwise;
  };
  auto bits = [](Value v) { return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth(); };
  return isa<CastOp>(op) && bits(op->getResult(0)) > bits(op->getOperand(0)) &&
         llvm::all_of(op->getUsers(), isElementwise);
}

bool Partitioner::mayJoin(Operation *op, const Group &group) const {
  if (group.wiring || group.ops.back()->getNumResults() != 1 || op->getNumResults() != 1)
    return false;
  OpClass kind = classOf(op);
  Operation *last = group.ops.back();
  bool stores = rules.storeOrder(last) && rules.storeOrder(op) <= rules.storeOrder(last);
  switch (group.kind) {
  case OpClass::Elementwise:
  case OpClass::Injective:
    if (kind == OpClass::Complex)
      return llvm::all_of(group.ops, [&](Operation *each) { return rules.isOffset(each); });
    return kind == OpClass::Elementwise || kind == OpClass::Injective || kind == OpClass::Reduction;
  case OpClass::Reduction:
  case OpClass::Complex:
    if (stores || widensForReaders(op))
      return false;
    if (rules.mayFollow(op, group.anchor, group.ops) != FusionRules::Follow::No)
      return true;
    if (kind == OpClass::Injective)
      return rules.storeOrder(op) > 0;
    return kind == OpClass::Elementwise && sameShape(group.ops.back()->getResult(0), op->getResult(0));
  case OpClass::Opaque:
    return false;
  }
  return false;
}

bool Partitioner::leadsToNarrow(Operation *op) const {
  for (unsigned steps = 0; steps < 4 && op->getNumResults() == 1; ++steps) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    auto nnOp = dyn_cast<NnOp>(op);
    if (!type || !nnOp || !(nnOp.getOpClass() == OpClass::Elementwise || rules.storeOrder(op)))
      return false;
    if (type.getElementType().isInteger(8) || type.getElementType().isBF16() || type.getElementType().isF16())
      return true;
    if (!op->hasOneUse())
      return false;
    op = *op->getUsers().begin();
  }
  return false;
}

bool Partitioner::isSecondForm(Operation *op, unsigned group) {
  if (!groups[group].anchor || !leadsToNarrow(op))
    return false;
  for (Value v : op->getOperands()) {
    Operation *def = v.getDefiningOp();
    if (!def || (!isa<arith::ConstantOp>(def) && (!groupOf.count(def) || groupOf[def] != group)))
      return false;
  }
  // Whoever reads the other form comes later.
  for (Operation *member : groups[group].ops)
    for (Operation *user : member->getUsers()) {
      Operation *top = node.getBodyBlock()->findAncestorOpInBlock(*user);
      auto it = groupOf.find(top);
      if (top != op && (it == groupOf.end() || it->second != group) && !op->isBeforeInBlock(top))
        return false;
    }
  return true;
}

bool Partitioner::isClosed(unsigned group, const llvm::SmallSetVector<unsigned, 4> &members, Operation *op) {
  for (Operation *member : groups[group].ops)
    for (Operation *user : member->getUsers()) {
      Operation *top = node.getBodyBlock()->findAncestorOpInBlock(*user);
      if (top == op)
        continue;
      auto it = groupOf.find(top);
      if (it == groupOf.end() || (it->second != group && !members.contains(it->second)))
        return false;
    }
  return true;
}

// Beyond so many operations one pass over memory less is worth little, and each of the compiler's steps would
// have to cope with a kernel of any size.
static constexpr size_t mostOps = 128;
// Pieces that one kernel joins: to bufferize so many writes into one tensor takes more than the square of
// their number.
static constexpr size_t mostPieces = 64;

static size_t piecesOf(Operation *op) { return isa<ConcatOp>(op) ? op->getNumOperands() : 0; }

void Partitioner::keepSmall(Operation *op, llvm::SmallSetVector<unsigned, 4> &joined) const {
  size_t ops = 1, pieces = piecesOf(op);
  joined.remove_if([&](unsigned g) {
    size_t more = 0;
    for (Operation *member : groups[g].ops)
      more += piecesOf(member);
    if (ops + groups[g].ops.size() > mostOps || (more && pieces + more > mostPieces))
      return true;
    ops += groups[g].ops.size();
    pieces += more;
    return false;
  });
}

// concat(a, b, c, …) → concat(concat(a, b, …), concat(c, …), …), where it joins more than one kernel should.
void Partitioner::splitConcats() {
  for (ConcatOp op : llvm::to_vector(node.getBodyBlock()->getOps<ConcatOp>()))
    while (op.getInputs().size() > mostPieces) {
      OpBuilder before(op);
      SmallVector<Value> parts;
      for (ValueRange rest = op.getInputs(); !rest.empty();
           rest = rest.drop_front(std::min(rest.size(), mostPieces))) {
        ValueRange some = rest.take_front(std::min(rest.size(), mostPieces));
        parts.push_back(some.size() == 1
                            ? some.front()
                            : ConcatOp::create(before, op.getLoc(), some, op.getAxisAttr()).getResult());
      }
      op.getInputsMutable().assign(parts);
    }
}

void Partitioner::form() {
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    Group own;
    own.kind = classOf(&op);
    own.wiring = dfg::isWiring(&op);
    bool anchors = own.kind == OpClass::Complex || own.kind == OpClass::Reduction;
    if (anchors)
      own.anchor = &op;
    llvm::SmallSetVector<unsigned, 4> joined;
    if (options.fuse && !own.wiring)
      for (Value v : op.getOperands())
        if (auto it = groupOf.find(v.getDefiningOp());
            it != groupOf.end() && mayJoin(&op, groups[it->second]))
          joined.insert(it->second);
    // Of two groups with an anchor one must stay outside; the later one is still in the caches.
    std::optional<unsigned> anchored;
    for (unsigned g : joined)
      if (groups[g].anchor && (!anchored || *anchored < g))
        anchored = g;
    joined.remove_if([&](unsigned g) { return groups[g].anchor && g != *anchored; });
    keepSmall(&op, joined);
    auto refused = [&](unsigned g) {
      return !isClosed(g, joined, &op) && !(joined.size() == 1 && isSecondForm(&op, g));
    };
    while (llvm::any_of(joined, refused)) {
      SmallVector<unsigned> out(llvm::make_filter_range(joined, refused));
      for (unsigned g : out)
        joined.remove(g);
    }
    for (unsigned g : joined) {
      llvm::append_range(own.ops, groups[g].ops);
      // What is part of the stores leaves the layer its place.
      if (groups[g].anchor && (!anchors || rules.mayFollow(&op, groups[g].anchor, groups[g].ops) ==
                                               FusionRules::Follow::InStores)) {
        own.anchor = groups[g].anchor;
        own.kind = groups[g].kind;
      } else if (own.kind == OpClass::Elementwise && groups[g].kind == OpClass::Injective) {
        own.kind = OpClass::Injective;
      }
      groups[g].ops.clear();
    }
    llvm::sort(own.ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    own.ops.push_back(&op);
    for (Operation *member : own.ops)
      groupOf[member] = groups.size();
    groups.push_back(std::move(own));
  }
}

// The name that the author knows: of the layer that does the work.
std::string Partitioner::nameOf(const Group &group) {
  Operation *main = group.anchor;
  int64_t most = -1;
  if (!main)
    for (Operation *op : group.ops) {
      auto nnOp = dyn_cast<NnOp>(op);
      int64_t flops = nnOp ? nnOp.getFlops() : 0;
      if (flops > most) {
        main = op;
        most = flops;
      }
    }
  std::string name;
  main->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  if (name.empty())
    name = main->getName().stripDialect().str();
  std::string unique = name;
  for (unsigned i = 1; !names.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

dfg::NodeOp Partitioner::place(const Group &group) {
  if (group.wiring) {
    b.clone(*group.ops.front(), map);
    return {};
  }
  DenseSet<Operation *> inside(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> captured;
  SmallVector<arith::ConstantOp> constants;
  DenseSet<Operation *> seen;
  auto capture = [&](Value v) {
    Operation *def = v.getDefiningOp();
    if (def ? def->getBlock() != node.getBodyBlock() || inside.contains(def)
            : cast<BlockArgument>(v).getOwner() != node.getBodyBlock())
      return;
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def);
        constant && (keepsConstants || isSmall(constant))) {
      if (seen.insert(constant).second)
        constants.push_back(constant);
      return;
    }
    captured.insert(v);
  };
  for (Operation *op : group.ops)
    op->walk([&](Operation *nested) { llvm::for_each(nested->getOperands(), capture); });
  SmallVector<Value> inputs;
  for (Value v : captured)
    inputs.push_back(outside(v));
  Operation *last = group.ops.back();
  SmallVector<dfg::PortAttr> ports(inputs.size(),
                                   dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {}));
  // Results that nobody reads are not worth their memory.
  SmallVector<Value> yielded;
  for (Operation *op : group.ops)
    for (Value v : op->getResults())
      if (llvm::any_of(v.getUsers(), [&](Operation *user) {
            return !inside.contains(node.getBodyBlock()->findAncestorOpInBlock(*user));
          }))
        yielded.push_back(v);
  if (yielded.empty())
    return {};
  SmallVector<dfg::ResultAttr> yields(yielded.size(),
                                      dfg::ResultAttr::get(b.getContext(), dfg::ResultMode::Gather, {}, {}));
  SmallVector<Type> types;
  for (Value v : yielded)
    types.push_back(v.getType());
  Location loc = (group.anchor ? group.anchor : last)->getLoc();
  auto part = dfg::NodeOp::create(b, loc, nameOf(group), ValueRange{}, inputs, ports, types, yields);
  for (StringRef hint : {"targets", "criticality", "quality", "versions"})
    if (Attribute attr = node->getAttr(hint))
      part->setAttr(hint, attr);
  OpBuilder inner = OpBuilder::atBlockBegin(part.getBodyBlock());
  IRMapping body;
  for (auto [v, arg] : llvm::zip(captured, part.getInputArgs()))
    body.map(v, arg);
  for (arith::ConstantOp constant : constants)
    inner.clone(*constant, body);
  for (Operation *op : group.ops)
    inner.clone(*op, body);
  SmallVector<Value> results;
  for (Value v : yielded)
    results.push_back(body.lookup(v));
  dfg::YieldOp::create(inner, loc, results);
  for (auto [v, result] : llvm::zip(yielded, part.getResults()))
    map.map(v, result);
  return part;
}

LogicalResult Partitioner::run() {
  splitConcats();
  form();
  cut();
  return success();
}

SmallVector<dfg::NodeOp> Partitioner::run(ArrayRef<SmallVector<Operation *>> regions) {
  keepsConstants = true;
  std::vector<Group> unordered;
  for (ArrayRef<Operation *> region : regions) {
    for (Operation *op : region)
      groupOf[op] = unordered.size();
    unordered.emplace_back();
    unordered.back().ops.assign(region.begin(), region.end());
  }
  for (Operation &op : node.getBodyBlock()->without_terminator())
    if (!isa<arith::ConstantOp>(op) && groupOf.try_emplace(&op, unordered.size()).second) {
      unordered.emplace_back();
      unordered.back().ops = {&op};
      unordered.back().wiring = true;
    }
  // Who makes something stands in front of who reads it.
  std::vector<bool> seen(unordered.size());
  std::vector<size_t> position(unordered.size());
  std::function<void(unsigned)> add = [&](unsigned index) {
    if (seen[index])
      return;
    seen[index] = true;
    for (Operation *op : unordered[index].ops)
      op->walk([&](Operation *nested) {
        for (Value v : nested->getOperands())
          if (auto it = groupOf.find(v.getDefiningOp()); it != groupOf.end())
            add(it->second);
      });
    position[index] = groups.size();
    groups.push_back(unordered[index]);
  };
  for (Operation &op : node.getBodyBlock()->without_terminator())
    if (auto it = groupOf.find(&op); it != groupOf.end())
      add(it->second);
  cut();
  SmallVector<dfg::NodeOp> made;
  for (size_t region = 0; region < regions.size(); ++region)
    made.push_back(groups[position[region]].made);
  return made;
}

void Partitioner::cut() {
  node->getParentOfType<dfg::GraphOp>().walk([&](dfg::NodeOp other) {
    if (other != node)
      names.insert(other.getName());
  });
  for (auto [arg, value] : llvm::zip(node.getInputArgs(), node.getInputs()))
    map.map(arg, value);
  // Constants that several nodes read stay one value of the graph.
  for (Operation &op : *node.getBodyBlock())
    if (isa<arith::ConstantOp>(op))
      b.clone(op, map);
  for (Group &group : groups)
    if (!group.ops.empty())
      group.made = place(group);
  for (auto [result, value] : llvm::zip(node.getResults(), node.getYieldOp().getValues()))
    result.replaceAllUsesWith(outside(value));
  SmallVector<Operation *> unused;
  for (Operation &op : *node.getBodyBlock())
    if (isa<arith::ConstantOp>(op) && map.lookup(op.getResult(0)).use_empty())
      unused.push_back(map.lookup(op.getResult(0)).getDefiningOp());
  for (Operation *op : unused)
    op->erase();
  node->erase();
}

LogicalResult nn::partitionNetwork(dfg::NodeOp node, const PartitionOptions &options) {
  return Partitioner(node, options).run();
}

SmallVector<dfg::NodeOp> nn::cutNetwork(dfg::NodeOp node, ArrayRef<SmallVector<Operation *>> regions) {
  return Partitioner(node, PartitionOptions()).run(regions);
}

namespace tessera::nn {
#define GEN_PASS_DEF_NNPARTITIONPASS
#include "tessera/transforms/nn/graph/Passes.h.inc"
} // namespace tessera::nn

namespace {
struct NnPartitionPass : nn::impl::NnPartitionPassBase<NnPartitionPass> {
  using Base::Base;
  void runOnOperation() override {
    PartitionOptions options;
    options.fuse = fuse;
    if (failed(forEachNetwork(getOperation(),
                              [&](dfg::NodeOp node) { return partitionNetwork(node, options); })))
      signalPassFailure();
  }
};
} // namespace
