// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The translator of the body of one node, which takes what it uses from the graph's level.
#pragma once

#include "tessera/frontends/heterocpp/GraphTranslator.h"
#include "tessera/frontends/heterocpp/Reductions.h"

namespace tessera::heterocpp {

/// The body of one node. It is built apart from the graph; the node is made when all captures are known.
class LeafTranslator : public Translator {
public:
  LeafTranslator(OpBuilder &b, GraphTranslator &graph, const Lists &lists, Block *entry)
      : Translator(b, graph.ast, graph.diag), graph(graph), lists(lists), entry(entry) {}

  /// What the node takes, in the order of the block's arguments.
  struct Capture {
    Value value;              ///< of the graph; null for memory
    Object *object = nullptr; ///< of the graph
    Object *inner = nullptr;
    bool reads = false, writes = false;
    clang::SourceLocation readAt = {}, writeAt = {};
  };
  std::vector<Capture> captures;
  unsigned rank = 0;

  /// A variable of the graph's level that the node changes. `before` stands for its value at the start of an
  /// iteration until it is known what the iteration does with it.
  struct Accumulator {
    const clang::ValueDecl *decl;
    Storage *outer;
    Storage *inner;
    UnrealizedConversionCastOp before;
  };
  std::vector<Accumulator> accumulators;
  std::set<const clang::ValueDecl *> changed; ///< that matter outside of the node
  /// What the node yields, and the variables of the level that take it.
  struct Yielded {
    Value value;
    Storage *outer;
    dfg::ReductionAttr kind;
    Value initial; ///< of the level
    Logic logic = Logic::None;
  };
  std::vector<Yielded> yielded;

  Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation at) override {
    if (const auto *var = dyn_cast<clang::VarDecl>(decl); var && var->hasGlobalStorage() &&
                                                          !var->getType().isConstQualified() &&
                                                          !lists.find(decl) && !graph.knows(decl)) {
      unsupported(at, "the global variable '" + decl->getNameAsString() + "'",
                  "pass its value or its address and size as an object of the launch and the task");
      diag.note(decl->getLocation(), "it is declared here");
      return nullptr;
    }
    Storage *outer = graph.find(decl, at);
    if (!outer) {
      failed = true;
      return nullptr;
    }
    checkListed(decl, at);
    return take(decl, outer);
  }
  /// A copy of a variable of the level, and what becomes of it where the node changes it.
  Storage *take(const clang::ValueDecl *decl, Storage *outer) {
    Storage *inner = own(copy(*outer, decl));
    frames.front().vars[decl] = inner;
    if (outer->kind == Storage::Scalar && changed.count(decl)) {
      Value v = slots[inner->slot];
      auto before = UnrealizedConversionCastOp::create(b, current, v.getType(), ValueRange{v});
      slots[inner->slot] = before.getResult(0);
      accumulators.push_back({decl, outer, inner, before});
    }
    return inner;
  }

  /// Settles what becomes of the variables of the level that the node has changed.
  void finishAccumulators(clang::SourceLocation at) {
    for (Accumulator &accumulator : accumulators) {
      UnrealizedConversionCastOp before = accumulator.before;
      Value first = before.getResult(0), last = slots[accumulator.inner->slot], start = before.getOperand(0);
      ScalarReduction found;
      if (last != first && rank) {
        eraseUnused(first);
        found = findScalarReduction(last, first);
        if (dfg::ReductionAttr kind = found.kind) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(before);
          TypedAttr identity = dfg::getIdentity(kind, first.getType(), graph.module);
          // Not a number is passed over by the kind, but not by the comparison that the program wrote.
          if (auto real = dyn_cast<FloatType>(first.getType());
              real && (kind.getKind() == dfg::ReductionKind::MinNumF ||
                       kind.getKind() == dfg::ReductionKind::MaxNumF))
            identity = b.getFloatAttr(real, APFloat::getInf(real.getFloatSemantics(),
                                                            kind.getKind() == dfg::ReductionKind::MaxNumF));
          start = arith::ConstantOp::create(b, before.getLoc(), identity);
        } else if (!first.use_empty()) {
          failed = true;
          diag.emitError(at, "the iterations of this loop change '" + accumulator.decl->getNameAsString() +
                                 "', which they share");
          diag.note(accumulator.decl->getLocation(),
                    "the variable is one for all of them; declare it in the loop, or combine it in each "
                    "iteration by one "
                    "of '+', '*', '&', '|', '^', '&&', '||', a minimum, a maximum or '__hetero_combine', and "
                    "do not read it otherwise");
        }
      }
      if (last == first)
        last = start;
      else if (!rank || found.kind)
        yielded.push_back(
            {last, accumulator.outer, found.kind, graph.slotValue(accumulator.outer->slot), found.logic});
      first.replaceAllUsesWith(start);
      before.erase();
    }
  }
  /// Erases what was computed from a value and is used nowhere.
  void eraseUnused(Value v) {
    for (Operation *user : llvm::to_vector(v.getUsers())) {
      for (Value result : user->getResults())
        eraseUnused(result);
      bool kept = llvm::any_of(accumulators, [&](const Accumulator &accumulator) {
        return slots[accumulator.inner->slot].getDefiningOp() == user;
      });
      if (!kept && isOpTriviallyDead(user))
        user->erase();
    }
  }
  Storage *find(const clang::ValueDecl *decl) {
    auto it = frames.front().vars.find(decl);
    return it == frames.front().vars.end() ? nullptr : it->second;
  }

  bool mayAccess(Object &object, bool writes, clang::SourceLocation at) override {
    for (Capture &capture : captures)
      if (capture.inner == &object) {
        (writes ? capture.writes : capture.reads) = true;
        clang::SourceLocation &place = writes ? capture.writeAt : capture.readAt;
        if (place.isInvalid())
          place = getUserLoc(at);
      }
    if (writes && isa<RankedTensorType>(object.memory.getType())) {
      unsupported(at, "a write to a constant", "use a buffer");
      return false;
    }
    return true;
  }

  Object *getOuter(const Object *inner) const {
    for (const Capture &capture : captures)
      if (capture.inner == inner)
        return capture.object;
    return nullptr;
  }
  bool isConstant(const Object *object) override {
    Object *outer = getOuter(object);
    return outer && graph.isClosure(outer);
  }
  // What a lambda has captured by value does not change: it is a number of the launch.
  Value loadNumber(const Place &place, clang::SourceLocation at) override {
    if (!isConstant(place.object))
      return Value();
    Value v = graph.addNumber(getOuter(place.object), place.offset, place.type, at);
    return v ? captureValue(v) : Value();
  }
  std::optional<RValue> loadPointer(const Place &place, clang::SourceLocation at) override {
    Object *outer = getOuter(place.object);
    std::optional<MemberMemory> memory =
        outer ? graph.addMember(outer, place.offset, getUserLoc(at)) : std::nullopt;
    if (!memory)
      return std::nullopt;
    clang::QualType type = place.type->getPointeeType();
    if (!memory->object) {
      failed = true;
      return RValue::pointer({type});
    }
    Object *object = captureObject(memory->object);
    Value offset = constantIndex(0);
    if (memory->isEnd)
      offset = memref::DimOp::create(b, current, object->memory, 0);
    if (memory->starts) {
      Object *starts = captureObject(memory->starts);
      Value which = arith::DivUIOp::create(b, current, place.offset, constantIndex(memory->strideUnits));
      if (memory->isEnd)
        which = arith::AddIOp::create(b, current, which, constantIndex(1));
      offset = arith::IndexCastOp::create(b, current, b.getIndexType(), loadUnit(*starts, which));
      offset = arith::MulIOp::create(b, current, offset, constantIndex(memory->elementUnits));
    }
    return RValue::pointer({type, nullptr, object, offset});
  }

  FlatSymbolRefAttr findCombiner(const clang::CallExpr *call, const clang::FunctionDecl *function,
                                 TypedAttr identity) override {
    return graph.addCombiner(call, function, identity);
  }

  Object *allocate(clang::QualType type, clang::SourceLocation at) override {
    Unit unit = getUnit(type, b.getContext(), ast);
    if (!unit || type->isIncompleteType() || type->isVariableArrayType()) {
      unsupported(at, "a variable of type '" + type.getAsString() + "'",
                  "use numbers, classes of numbers and arrays of constant size");
      unit = {b.getI8Type(), 1};
      return makeObject(memref::AllocOp::create(b, current, MemRefType::get({1}, unit.type)), unit, nullptr);
    }
    int64_t count = ast.getTypeSizeInChars(type).getQuantity() / unit.bytes;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    return makeObject(memref::AllocOp::create(b, getLoc(at), MemRefType::get({count}, unit.type)), unit,
                      nullptr);
  }

  Value addInput(Value outer, Type type) {
    for (auto [i, capture] : llvm::enumerate(captures))
      if (capture.value && capture.value == outer)
        return entry->getArgument(rank + i);
    captures.push_back({outer});
    return entry->addArgument(type, outer.getLoc());
  }

  RValue emitLaunched(const clang::CallExpr *launch) {
    std::optional<Lists> own = readLists(launch, MarkerKind::Launch, ast, diag);
    const clang::FunctionDecl *root = own ? getRoot(*own, diag) : nullptr;
    if (!root || !checkArguments(*own, root, b.getContext(), ast, diag)) {
      failed = true;
      return RValue();
    }
    return emitInlined(root, own->getArguments(), Place(), launch, nullptr);
  }

  std::optional<RValue> emitMarker(const clang::CallExpr *call, const clang::FunctionDecl *callee) override {
    if (auto known = graph.results.find(call); known != graph.results.end())
      return RValue::of(captureValue(known->second));
    MarkerKind kind;
    if (!findMarker(call, kind))
      return std::nullopt;
    // A launch inside of a node is a part of it: its loops run one index after the other.
    if (kind == MarkerKind::Wait) {
      MarkerKind inner;
      const clang::CallExpr *launched = call->getNumArgs() ? findMarker(call->getArg(0), inner) : nullptr;
      if (launched && inner == MarkerKind::Launch)
        return emitLaunched(launched);
    }
    if ((kind == MarkerKind::Barrier || kind == MarkerKind::Scratch) && !rank) {
      failed = true;
      diag.emitError(call->getExprLoc(), "'" + callee->getName() + "' stands in no parallel loop");
      diag.note(lists.call ? lists.call->getBeginLoc() : call->getExprLoc(),
                kind == MarkerKind::Barrier ? "a task runs once and waits for nobody; leave the barrier out"
                                            : "a task runs once and shares nothing; use a local array");
      return kind == MarkerKind::Barrier ? RValue() : zeroOf(call->getType(), call->getBeginLoc());
    }
    if (kind == MarkerKind::Barrier) {
      dfg::BarrierOp::create(b, current);
      return RValue();
    }
    if (kind == MarkerKind::Scratch) {
      clang::Expr::EvalResult bytes;
      if (call->getNumArgs() != 1 || !call->getArg(0)->EvaluateAsInt(bytes, ast)) {
        unsupported(call->getExprLoc(), "scratch memory of a size that is not constant",
                    "use the largest size");
        return zeroOf(call->getType(), call->getBeginLoc());
      }
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      // Its elements are what the result is cast to.
      clang::QualType element = std::exchange(castTo, {});
      if (element.isNull() || element->isVoidType())
        element = ast.CharTy;
      Unit unit = element->isIncompleteType() ? Unit() : getUnit(element, b.getContext(), ast);
      if (!unit) {
        unsupported(call->getExprLoc(),
                    "scratch memory of '" + element.getAsString(ast.getPrintingPolicy()) + "'",
                    "use numbers, or classes and arrays of numbers");
        return zeroOf(call->getType(), call->getBeginLoc());
      }
      int64_t count = bytes.Val.getInt().getZExtValue() / unit.bytes;
      Value memory = dfg::ScratchOp::create(b, current, MemRefType::get({count}, unit.type));
      return RValue::pointer({element, nullptr, makeObject(memory, unit, nullptr), constantIndex(0)});
    }
    return Translator::emitMarker(call, callee);
  }

  GraphTranslator &graph;
  const Lists &lists;
  Block *entry;

  Value bindId(const clang::VarDecl *var, Value id, Type type) {
    Storage *storage = own(makeStorage(var->getType(), var->getLocation()));
    slots[storage->slot] = arith::IndexCastOp::create(b, current, type, id);
    frames.front().vars[var] = storage;
    return id;
  }
  // What is computed between the tasks is computed again in the node: wiring need not express it.
  Value captureValue(Value v) {
    if (Value known = repeated.lookup(v))
      return known;
    Operation *op = v.getDefiningOp();
    if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
      return addInput(v, v.getType());
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, captureValue(operand));
    OpBuilder::InsertionGuard guard(b);
    if (lastRepeated)
      b.setInsertionPointAfter(lastRepeated);
    else
      b.setInsertionPointToStart(entry);
    lastRepeated = b.clone(*op, map);
    for (auto [from, to] : llvm::zip(op->getResults(), lastRepeated->getResults()))
      repeated[from] = to;
    return repeated[v];
  }

  /// Takes in what the statements use from outside, before branches and loops give slots a shorter life.
  void captureAll(const clang::Stmt *stmt) {
    if (!stmt)
      return;
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
      if (const auto *var = dyn_cast<clang::VarDecl>(ref->getDecl());
          var && !frames.front().vars.count(var) && graph.knows(var))
        capture(var, ref->getBeginLoc());
    MarkerKind kind;
    if (isa<clang::CallExpr>(stmt) && findMarker(stmt, kind))
      return;
    for (const clang::Stmt *child : stmt->children())
      captureAll(child);
  }
  Value valueOf(Storage *storage) { return slots[storage->slot]; }
  void open() { frames.front().returned = newSlot(constant(b.getI1Type(), 0)); }

private:
  void checkListed(const clang::ValueDecl *decl, clang::SourceLocation at) {
    if (lists.find(decl) || !lists.call)
      return;
    // A size is listed with its pointer.
    for (const Listed &listed : lists.inputs)
      if (const auto *ref =
              listed.size ? dyn_cast<clang::DeclRefExpr>(listed.size->IgnoreParenImpCasts()) : nullptr;
          ref && ref->getDecl() == decl)
        return;
    // What is computed between the tasks from inputs is no object of its own.
    if (!graph.inputs.count(decl) || !reported.insert(decl).second)
      return;
    failed = true;
    diag.emitError(at, "'" + decl->getNameAsString() + "' is used here, but listed nowhere in " +
                           lists.call->getDirectCallee()->getName());
    diag.note(lists.call->getBeginLoc(), "add '" + decl->getNameAsString() +
                                             (decl->getType()->isPointerType() ? "' and its size" : "'") +
                                             " to the inputs here, and count it");
  }

  std::unique_ptr<Storage> copy(const Storage &outer, const clang::ValueDecl *decl) {
    auto inner = std::make_unique<Storage>();
    inner->kind = outer.kind;
    inner->type = outer.type;
    auto object = [&](const Place &place) {
      Place result = place;
      if (place.object) {
        result.object = captureObject(place.object);
        result.offset = Value();
      }
      return result;
    };
    switch (outer.kind) {
    case Storage::Scalar: {
      Value v = graph.slotValue(outer.slot);
      inner->slot = newSlot(captureValue(v));
      break;
    }
    case Storage::Pointer:
      inner->target = object(outer.target);
      if (outer.target.storage)
        inner->target.storage = takeTarget(outer.target.storage, decl);
      inner->slot = newSlot(captureValue(graph.slotValue(outer.slot)));
      break;
    case Storage::Reference:
      inner->target = object(outer.target);
      if (inner->target.object)
        inner->target.offset = captureValue(outer.target.offset);
      else if (outer.target.storage)
        inner->target.storage = takeTarget(outer.target.storage, decl);
      break;
    case Storage::Aggregate:
      for (auto &part : outer.parts)
        inner->parts.push_back(copy(*part, decl));
      break;
    case Storage::Memory:
      inner->object = captureObject(outer.object);
      break;
    }
    return inner;
  }

  // What a closure of the level refers to: a variable is one for all closures, and may be changed.
  Storage *takeTarget(Storage *outer, const clang::ValueDecl *decl) {
    const clang::ValueDecl *name = outer->kind == Storage::Scalar ? graph.getName(outer) : nullptr;
    if (!name)
      return own(copy(*outer, decl));
    if (Storage *known = find(name))
      return known;
    changed.insert(name);
    return take(name, outer);
  }

  Object *captureObject(Object *outer) {
    for (Capture &capture : captures)
      if (capture.object == outer)
        return capture.inner;
    Type type = MemRefType::get({ShapedType::kDynamic}, outer->unit.type);
    Value arg = entry->addArgument(type, outer->at);
    Object *inner = makeObject(arg, outer->unit, outer->decl);
    captures.push_back({Value(), outer, inner});
    return inner;
  }

  std::set<const clang::ValueDecl *> reported;
  DenseMap<Value, Value> repeated;
  Operation *lastRepeated = nullptr;
};

} // namespace tessera::heterocpp
