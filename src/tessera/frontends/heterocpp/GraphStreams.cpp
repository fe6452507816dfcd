// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What streams add to graphs: numbers that an item leaves to the next, and memory that each item has for
// itself.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

// `static int count = 0;` between tasks is a state. Returns false where the statement declares none.
bool GraphBuilder::declareStates(const clang::DeclStmt *stmt) {
  const auto *first = dyn_cast<clang::VarDecl>(*stmt->decl_begin());
  if (!first || !first->isStaticLocal() || first->getType().isConstQualified() || first->isConstexpr())
    return false;
  for (const clang::Decl *decl : stmt->decls())
    declareState(cast<clang::VarDecl>(decl));
  return true;
}

void GraphBuilder::declareState(const clang::VarDecl *var) {
  auto refuse = [&](const Twine &text, const Twine &remedy) {
    diag.emitError(var->getLocation(), text);
    diag.note(var->getLocation(), remedy);
    level.failed = true;
  };
  if (!launch.isStream)
    return refuse("the static variable '" + var->getNameAsString() +
                      "' of a graph keeps its value only in a stream",
                  "launch the graph with '__hetero_launch_stream', or list the memory as an object");
  if (!isScalar(var->getType()) || var->getType()->isPointerType())
    return refuse("the state '" + var->getNameAsString() + "' of a stream is no number",
                  "push the same memory with each item and list it as an output: items that share it run one "
                  "after the other");
  Storage *storage = level.declare(var);
  Value init = level.zero(valueType(var->getType(), b.getContext(), ast));
  if (var->getInit())
    init = level.emitScalar(var->getInit());
  Value value = dfg::StateOp::create(b, level.getLoc(var->getLocation()), init.getType(), init);
  level.setSlot(storage->slot, value);
  states.push_back({storage, value});
}

// The last value of each state is what the next item begins with.
void GraphBuilder::updateStates() {
  for (State &state : states) {
    Value next = level.slotValue(state.storage->slot);
    if (next == state.value)
      continue;
    Location loc = state.value.getLoc();
    // What is computed between the nodes is no value of the graph: one more node computes it.
    if (!next.getDefiningOp<dfg::NodeOp>()) {
      auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
      Block *entry = holder.addEntryBlock();
      OpBuilder inner = OpBuilder::atBlockBegin(entry);
      LeafTranslator leaf(inner, level, lists, entry);
      leaf.yielded.push_back({leaf.captureValue(next), state.storage, {}, Value()});
      finishLeaf(leaf, entry, lists, "state", {}, loc, /*isPart=*/true);
      holder.erase();
      next = level.slotValue(state.storage->slot);
    }
    dfg::UpdateOp::create(b, loc, state.value, next);
  }
}

// Marks a node that writes memory without reading it.
static void writeFirst(dfg::NodeOp node, unsigned input) {
  if (node.getPort(input).getMode() != dfg::PortMode::InOut ||
      !llvm::all_of(node.getInputArgs()[input].getUsers(),
                    [](Operation *user) { return isa<memref::StoreOp>(user); }))
    return;
  SmallVector<Attribute> ports(node.getPorts().begin(), node.getPorts().end());
  ports[input] = dfg::PortAttr::get(node.getContext(), dfg::PortMode::Out, {});
  node.setPortsAttr(ArrayAttr::get(node.getContext(), ports));
}

// Items are under way at the same time, so memory between their nodes cannot be the host's: what is written
// and not asked for as an output is made anew for each.
void GraphBuilder::makePrivate() {
  llvm::erase_if(privates, [](const Private &own) { return isa<BlockArgument>(own.object->memory); });
  for (Private &own : privates) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(body);
    Location loc = own.memory.getLoc();
    Value bytes = own.bytes;
    if (!bytes.getType().isIndex())
      bytes = arith::IndexCastOp::create(b, loc, b.getIndexType(), bytes);
    Value unit = arith::ConstantIndexOp::create(b, loc, own.object->unit.bytes);
    Value count = arith::DivSIOp::create(b, loc, bytes, unit);
    Value made =
        dfg::BufferOp::create(b, loc, cast<MemRefType>(own.memory.getType()), ValueRange{count}, Value());
    own.memory.replaceAllUsesWith(made);
    for (OpOperand &use : made.getUses())
      if (auto node = dyn_cast<dfg::NodeOp>(use.getOwner()))
        writeFirst(node, use.getOperandNumber() - node.getRank());
  }
}
