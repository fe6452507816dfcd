// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Graph.h. The level of the graph is translated like any other code, by a translator whose operations are
// wiring and whose memory must not be touched; each leaf has a translator of its own that captures from it.
#include "tessera/frontends/heterocpp/Graph.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {

/// The graph's own level.
class GraphTranslator : public Translator {
public:
  using Translator::Translator;
  const Lists *lists = nullptr;                         ///< of the launch
  std::map<const clang::ValueDecl *, Storage *> inputs; ///< of the graph

  Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation at) override {
    for (auto &[known, storage] : inputs)
      if (known->getCanonicalDecl() == decl->getCanonicalDecl())
        return storage;
    if (reported.insert(decl).second) {
      diag.emitError(at,
                     "'" + decl->getNameAsString() + "' is used in a graph, but is no input of its launch");
      diag.note(decl->getLocation(),
                "it is declared here; list it where the graph is launched, and count it");
    }
    failed = true;
    return nullptr;
  }
  bool mayAccess(Object &object, bool writes, clang::SourceLocation at) override {
    failed = true;
    diag.emitError(at, Twine("memory is ") + (writes ? "written" : "read") +
                           " outside of a task or parallel loop");
    diag.note(
        at,
        "put the statement into a task: '__hetero_task_begin(…)' before it, '__hetero_task_end(…)' after");
    return false;
  }
  Object *allocate(clang::QualType type, clang::SourceLocation at) override {
    unsupported(at, "an array between tasks", "make it an input of the launch, or declare it inside a task");
    Unit unit = getUnit(type, b.getContext(), ast);
    if (!unit)
      unit = {b.getI8Type(), 1};
    return makeObject(Value(), unit, nullptr);
  }
  // The plan that computes extents knows signed numbers of 64 bits.
  Value toIndex(Value v, clang::QualType type) override {
    if (getConstantIntValue(v))
      return Translator::toIndex(v, type);
    // A promotion of a narrow number.
    bool isWidened = false;
    if (auto wide = v.getDefiningOp<arith::ExtUIOp>(); wide && !wide.getIn().getType().isInteger(1)) {
      v = wide.getIn();
      isWidened = true;
    }
    auto integer = dyn_cast<IntegerType>(v.getType());
    if (!integer || (isSigned(type) && !isWidened) || integer.getWidth() == 64)
      return Translator::toIndex(v, type);
    Value narrow = arith::IndexCastOp::create(b, current, b.getIndexType(), v);
    AffineExpr all = b.getAffineDimExpr(0) % (int64_t(1) << integer.getWidth());
    return affine::AffineApplyOp::create(b, current, AffineMap::get(1, 0, all), ValueRange{narrow});
  }
  Storage *find(const clang::ValueDecl *decl, clang::SourceLocation at) { return lookup(decl, at); }
  bool knows(const clang::ValueDecl *decl) {
    for (auto &[known, storage] : inputs)
      if (known->getCanonicalDecl() == decl->getCanonicalDecl())
        return true;
    return llvm::any_of(frames, [&](const Frame &frame) { return frame.vars.count(decl) != 0; });
  }
  Value slotValue(unsigned slot) { return slots[slot]; }
  void setSlot(unsigned slot, Value v) { slots[slot] = v; }
  std::set<const clang::ValueDecl *> reported;
};

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
    std::optional<dfg::ReductionKind> kind;
    Value initial; ///< of the level
  };
  std::vector<Yielded> yielded;

  Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation at) override {
    if (const auto *var = dyn_cast<clang::VarDecl>(decl); var && var->hasGlobalStorage() &&
                                                          !var->getType().isConstQualified() &&
                                                          !lists.find(decl) && !graph.inputs.count(decl)) {
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
      std::optional<dfg::ReductionKind> kind;
      if (last != first && rank) {
        kind = findScalarReduction(last, first);
        if (kind) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(before);
          TypedAttr identity = dfg::getIdentity(*kind, first.getType());
          // Not a number is passed over by the kind, but not by the comparison that the program wrote.
          if (auto real = dyn_cast<FloatType>(first.getType());
              real && (*kind == dfg::ReductionKind::MinNumF || *kind == dfg::ReductionKind::MaxNumF))
            identity = b.getFloatAttr(
                real, APFloat::getInf(real.getFloatSemantics(), *kind == dfg::ReductionKind::MaxNumF));
          start = arith::ConstantOp::create(b, before.getLoc(), identity);
        } else if (!first.use_empty()) {
          failed = true;
          diag.emitError(at, "the iterations of this loop change '" + accumulator.decl->getNameAsString() +
                                 "', which they share");
          diag.note(accumulator.decl->getLocation(),
                    "the variable is one for all of them; declare it in the loop, or combine it in each "
                    "iteration by one "
                    "of '+', '*', '&', '|', '^', a minimum or a maximum, and do not read it otherwise");
        }
      }
      if (last == first)
        last = start;
      else if (!rank || kind)
        yielded.push_back({last, accumulator.outer, kind, graph.slotValue(accumulator.outer->slot)});
      first.replaceAllUsesWith(start);
      before.erase();
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
          place = at;
      }
    if (writes && isa<RankedTensorType>(object.memory.getType())) {
      unsupported(at, "a write to a constant", "use a buffer");
      return false;
    }
    return true;
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

  std::optional<RValue> emitMarker(const clang::CallExpr *call, const clang::FunctionDecl *callee) override {
    MarkerKind kind;
    if (!findMarker(call, kind))
      return std::nullopt;
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
      // Its element type is known where the result is cast; bytes until then.
      Unit unit{b.getF32Type(), 4};
      int64_t count = bytes.Val.getInt().getZExtValue() / unit.bytes;
      Value memory = dfg::ScratchOp::create(b, current, MemRefType::get({count}, unit.type));
      return RValue::pointer({ast.FloatTy, nullptr, makeObject(memory, unit, nullptr), constantIndex(0)});
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
      inner->slot = newSlot(captureValue(graph.slotValue(outer.slot)));
      break;
    case Storage::Reference:
      inner->target = object(outer.target);
      if (inner->target.object)
        inner->target.offset = captureValue(outer.target.offset);
      else if (outer.target.storage)
        inner->target.storage = own(copy(*outer.target.storage, decl));
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

  Object *captureObject(Object *outer) {
    for (Capture &capture : captures)
      if (capture.object == outer)
        return capture.inner;
    Type type = MemRefType::get({ShapedType::kDynamic}, outer->unit.type);
    Value arg =
        entry->addArgument(type, getLoc(outer->decl ? outer->decl->getLocation() : clang::SourceLocation()));
    Object *inner = makeObject(arg, outer->unit, outer->decl);
    captures.push_back({Value(), outer, inner});
    return inner;
  }

  std::set<const clang::ValueDecl *> reported;
  DenseMap<Value, Value> repeated;
  Operation *lastRepeated = nullptr;
};

/// Builds one graph.
class GraphBuilder {
public:
  GraphBuilder(Launch &launch, const Lists &lists, ModuleOp module, const clang::ASTContext &ast, Diag &diag)
      : launch(launch), lists(lists), module(module), ast(ast), diag(diag), b(module.getContext()),
        level(b, ast, diag) {}

  bool build(const clang::FunctionDecl *root, ArrayRef<const clang::Stmt *> stmts);

private:
  bool addInputs(const clang::FunctionDecl *root);
  bool addInput(const clang::ValueDecl *decl, clang::QualType type, const Listed &listed,
                std::optional<unsigned> sizeArgument);
  void walk(ArrayRef<const clang::Stmt *> stmts, const Lists *task);
  void emitTask(const Lists &task, ArrayRef<const clang::Stmt *> stmts, bool isPart);
  /// Whether a variable is named outside of these statements, and not only in lists.
  bool isUsedOutside(const clang::ValueDecl *decl, ArrayRef<const clang::Stmt *> stmts) const;
  void findChangedOutside(LeafTranslator &leaf, ArrayRef<const clang::Stmt *> stmts);
  void emitLoop(const clang::ForStmt *loop, const Lists *task);
  void finishLeaf(LeafTranslator &leaf, Block *body, const Lists &own, std::string name, ValueRange grid,
                  Location loc, bool isPart);
  void checkOutputs(LeafTranslator &leaf, const Lists &own, bool isPart);
  std::string uniqueName(std::string name);
  void addHints(dfg::NodeOp node);
  void readHint(const clang::Stmt *stmt);

  Launch &launch;
  const Lists &lists;
  ModuleOp module;
  const clang::ASTContext &ast;
  Diag &diag;
  OpBuilder b;
  GraphTranslator level;
  dfg::GraphOp graph;
  Block *body = nullptr;
  std::vector<Object *> memory; ///< of the graph's inputs
  std::vector<std::string> memoryNames;
  llvm::StringSet<> names;
  std::vector<std::string> targets;  ///< hints of the task or loop at hand
  ArrayRef<const clang::Stmt *> all; ///< the statements of the graph
};

} // namespace

std::string GraphBuilder::uniqueName(std::string name) {
  if (name.empty())
    name = "node";
  std::string tried = name;
  for (unsigned i = 1; !names.insert(tried).second; ++i)
    tried = name + "." + std::to_string(i);
  return tried;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

// The type that a pointer without one is cast to where it is used.
static clang::QualType findCast(const clang::Stmt *stmt, const clang::ValueDecl *decl) {
  if (!stmt)
    return {};
  if (const auto *cast = dyn_cast<clang::ExplicitCastExpr>(stmt); cast && cast->getType()->isPointerType())
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(cast->getSubExpr()->IgnoreParenImpCasts());
        ref && ref->getDecl() == decl)
      return cast->getType()->getPointeeType();
  for (const clang::Stmt *child : stmt->children())
    if (clang::QualType type = findCast(child, decl); !type.isNull())
      return type;
  return {};
}

bool GraphBuilder::addInput(const clang::ValueDecl *decl, clang::QualType type, const Listed &listed,
                            std::optional<unsigned> sizeArgument) {
  GraphInput input;
  input.name = decl->getNameAsString();
  if (input.name.empty())
    input.name = "input" + std::to_string(launch.inputs.size());
  // Parameters of a pack have one name.
  auto isTaken = [&](const std::string &name) {
    return llvm::any_of(launch.inputs, [&](const GraphInput &other) { return other.name == name; });
  };
  for (std::string base = input.name; isTaken(input.name);)
    input.name = base + "." + std::to_string(launch.inputs.size());
  input.argument = listed.argument;
  Location loc = level.getLoc(decl->getLocation());
  auto storage = std::make_unique<Storage>();
  storage->type = type;
  if (sizeArgument) {
    clang::QualType element = listed.address        ? type
                              : type->isArrayType() ? ast.getAsArrayType(type)->getElementType()
                                                    : type->getPointeeType();
    if (element->isVoidType()) {
      const clang::FunctionDecl *function = launch.host;
      clang::QualType found = findCast(function->getBody(), decl);
      if (const auto *param = dyn_cast<clang::ParmVarDecl>(decl))
        if (const auto *owner = dyn_cast<clang::FunctionDecl>(param->getDeclContext()))
          found = findCast(owner->getBody(), decl);
      if (found.isNull()) {
        diag.emitError(decl->getLocation(), "the element type of '" + input.name + "' is not known");
        diag.note(listed.expr->getBeginLoc(),
                  "declare the pointer with the type of its elements, not 'void *'");
        return false;
      }
      element = found;
    }
    Unit unit = getUnit(element, b.getContext(), ast);
    if (!unit) {
      diag.emitError(decl->getLocation(),
                     "memory of '" + element.getAsString() + "' cannot be passed to a graph");
      diag.note(listed.expr->getBeginLoc(), "use numbers, or classes and arrays of numbers");
      return false;
    }
    input.sizeArgument = sizeArgument;
    input.unitBytes = unit.bytes;
    Value arg = body->addArgument(MemRefType::get({ShapedType::kDynamic}, unit.type), loc);
    Object *object = level.makeObject(arg, unit, decl);
    memory.push_back(object);
    memoryNames.push_back(input.name);
    if (listed.address || type->isArrayType()) {
      storage->kind = Storage::Memory;
      storage->object = object;
    } else {
      storage = level.makeStorage(type, decl->getLocation());
      storage->target = {type->getPointeeType(), nullptr, object, Value()};
    }
  } else {
    Type value = memoryType(type, b.getContext(), ast);
    if (!value) {
      diag.emitError(listed.expr->getBeginLoc(), "'" + input.name + "' of type '" + type.getAsString() +
                                                     "' cannot be an input of a graph");
      diag.note(decl->getLocation(), "pass a number, or the address of an object and its size");
      return false;
    }
    input.type = type;
    Value arg = body->addArgument(value, loc);
    storage = level.makeStorage(type.getUnqualifiedType(), decl->getLocation());
    if (type->isBooleanType())
      arg = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arg, level.zero(value));
    level.setSlot(storage->slot, arg);
  }
  level.inputs[decl] = level.own(std::move(storage));
  launch.inputs.push_back(input);
  return true;
}

bool GraphBuilder::addInputs(const clang::FunctionDecl *root) {
  if (!root) {
    for (const Listed &listed : lists.inputs) {
      if (!listed.decl) {
        diag.emitError(listed.expr->getBeginLoc(), "expected a variable in the list of " +
                                                       lists.call->getDirectCallee()->getName() +
                                                       ", but got another expression");
        diag.note(listed.expr->getBeginLoc(), "assign it to a variable before the launch and list that");
        return false;
      }
      std::optional<unsigned> size;
      if (listed.size)
        size = listed.argument + 1;
      if (!level.inputs.count(listed.decl) && !addInput(listed.decl, listed.decl->getType(), listed, size))
        return false;
    }
    return true;
  }
  // Arguments and parameters go side by side.
  unsigned param = 0, expected = 0;
  for (const Listed &listed : lists.inputs)
    expected += listed.size ? 2 : 1;
  if (expected != root->getNumParams()) {
    diag.emitError(lists.call->getBeginLoc(), "the launch passes " + Twine(expected) + " arguments to '" +
                                                  root->getNameAsString() + "', which has " +
                                                  Twine(root->getNumParams()) + " parameters");
    diag.note(root->getLocation(),
              "the function is declared here; a pointer and its size are two parameters");
    return false;
  }
  for (const Listed &listed : lists.inputs) {
    const clang::ParmVarDecl *decl = root->getParamDecl(param++);
    if (!listed.size) {
      if (decl->getType()->isPointerType()) {
        diag.emitError(listed.expr->getBeginLoc(), "a scalar is passed to the pointer '" +
                                                       decl->getNameAsString() + "' of '" +
                                                       root->getNameAsString() + "'");
        diag.note(decl->getLocation(), "the parameter is declared here; pass a pointer and its size");
        return false;
      }
      if (!addInput(decl, decl->getType(), listed, std::nullopt))
        return false;
      continue;
    }
    if (!decl->getType()->isPointerType()) {
      diag.emitError(listed.expr->getBeginLoc(), "a pointer is passed to '" + decl->getNameAsString() +
                                                     "' of '" + root->getNameAsString() +
                                                     "', which is no pointer");
      diag.note(decl->getLocation(),
                "the parameter is declared here; the parameters are in the order of the list");
      return false;
    }
    Listed plain = listed;
    plain.address = false;
    if (!addInput(decl, decl->getType(), plain, listed.argument + 1))
      return false;
    // The size is a parameter, too.
    const clang::ParmVarDecl *bytes = root->getParamDecl(param++);
    Listed size;
    size.expr = listed.size;
    size.argument = listed.argument + 1;
    if (!addInput(bytes, bytes->getType(), size, std::nullopt))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tasks and loops
//===----------------------------------------------------------------------===//

// The statements up to the marker that closes what `begin` opened; `i` ends there.
static ArrayRef<const clang::Stmt *> collect(ArrayRef<const clang::Stmt *> stmts, size_t &i, MarkerKind begin,
                                             MarkerKind end, bool &closed) {
  size_t first = i + 1, depth = 1;
  closed = false;
  for (++i; i < stmts.size(); ++i) {
    MarkerKind kind;
    if (!findMarker(stmts[i], kind))
      continue;
    depth += kind == begin;
    depth -= kind == end;
    if (depth == 0) {
      closed = true;
      break;
    }
  }
  return stmts.slice(first, i - first);
}

// A loop that is marked parallel, not merely one around such a loop: the marker stands in it or in loops that
// it holds and nothing else.
static const clang::CallExpr *findLoopMarker(const clang::ForStmt *loop) {
  return findMarkerInside(loop->getBody(), MarkerKind::ParallelLoop);
}

// Whether statements are a child graph: sections and marked loops, and nothing that computes.
static bool isChildGraph(ArrayRef<const clang::Stmt *> stmts) {
  bool any = false;
  for (const clang::Stmt *stmt : stmts) {
    MarkerKind kind;
    if (findMarker(stmt, kind)) {
      any |= kind == MarkerKind::SectionBegin || kind == MarkerKind::TaskBegin;
      continue;
    }
    if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
      SmallVector<const clang::Stmt *> inner(compound->body_begin(), compound->body_end());
      any |= isChildGraph(inner);
    }
    if (const auto *loop = dyn_cast<clang::ForStmt>(stmt))
      any |= findLoopMarker(loop) != nullptr;
  }
  return any;
}

void GraphBuilder::readHint(const clang::Stmt *stmt) {
  MarkerKind kind;
  const clang::CallExpr *call = findMarker(stmt, kind);
  if (!call || kind != MarkerKind::Hint || call->getNumArgs() != 1)
    return;
  const clang::Expr *arg = call->getArg(0);
  clang::Expr::EvalResult number;
  if (!arg->EvaluateAsInt(number, ast)) {
    diag.emitError(arg->getBeginLoc(), "expected a hint to be a constant, but got something else");
    diag.note(arg->getBeginLoc(), "name a device of 'hpvm::Target'");
    level.failed = true;
    return;
  }
  // The numbers of HPVM's enumeration. Devices that are not there are a warning where the program is
  // installed.
  switch (number.Val.getInt().getZExtValue()) {
  case 1:
    targets = {"cpu"};
    break;
  default:
    break;
  }
}

static void findHints(const clang::Stmt *stmt, function_ref<void(const clang::Stmt *)> found) {
  if (!stmt)
    return;
  MarkerKind kind;
  if (isa<clang::Expr>(stmt) && findMarker(stmt, kind) && kind == MarkerKind::Hint)
    return found(stmt);
  for (const clang::Stmt *child : stmt->children())
    findHints(child, found);
}

void GraphBuilder::addHints(dfg::NodeOp node) {
  if (targets.empty())
    return;
  SmallVector<StringRef> list(targets.begin(), targets.end());
  node.setTargetsAttr(b.getStrArrayAttr(list));
}

static bool holdsMarker(const clang::Stmt *stmt) {
  if (!stmt)
    return false;
  MarkerKind kind;
  return findMarker(stmt, kind) || llvm::any_of(stmt->children(), holdsMarker);
}

static bool touchesMemory(const clang::Stmt *stmt) {
  if (!stmt)
    return false;
  if (isa<clang::ArraySubscriptExpr, clang::CallExpr, clang::AtomicExpr>(stmt))
    return true;
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(stmt);
      unary && unary->getOpcode() == clang::UO_Deref)
    return true;
  if (const auto *member = dyn_cast<clang::MemberExpr>(stmt); member && member->isArrow())
    return true;
  return llvm::any_of(stmt->children(), touchesMemory);
}

// Whether a statement of a task that holds loops has to run in a node, not between the nodes.
static bool computes(const clang::Stmt *stmt) {
  if (holdsMarker(stmt) || isa<clang::ReturnStmt, clang::NullStmt>(stmt))
    return false;
  return !isa<clang::DeclStmt, clang::Expr>(stmt) || touchesMemory(stmt);
}

static unsigned countUses(const clang::Stmt *stmt, const clang::ValueDecl *decl) {
  if (!stmt)
    return 0;
  MarkerKind kind;
  if (isa<clang::CallExpr>(stmt) && findMarker(stmt, kind))
    return 0;
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
    return ref->getDecl() == decl;
  unsigned count = 0;
  for (const clang::Stmt *child : stmt->children())
    count += countUses(child, decl);
  return count;
}

static void findAssigned(const clang::Stmt *stmt, std::set<const clang::ValueDecl *> &assigned) {
  if (!stmt)
    return;
  const clang::Expr *target = nullptr;
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(stmt); binary && binary->isAssignmentOp())
    target = binary->getLHS();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(stmt); unary && unary->isIncrementDecrementOp())
    target = unary->getSubExpr();
  if (target)
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(target->IgnoreParenCasts()))
      assigned.insert(ref->getDecl());
  for (const clang::Stmt *child : stmt->children())
    findAssigned(child, assigned);
}

bool GraphBuilder::isUsedOutside(const clang::ValueDecl *decl, ArrayRef<const clang::Stmt *> stmts) const {
  unsigned inside = 0, total = 0;
  for (const clang::Stmt *stmt : stmts)
    inside += countUses(stmt, decl);
  for (const clang::Stmt *stmt : all)
    total += countUses(stmt, decl);
  return total > inside;
}

void GraphBuilder::findChangedOutside(LeafTranslator &leaf, ArrayRef<const clang::Stmt *> stmts) {
  std::set<const clang::ValueDecl *> assigned;
  for (const clang::Stmt *stmt : stmts)
    findAssigned(stmt, assigned);
  for (const clang::ValueDecl *decl : assigned)
    if (level.knows(decl) && isUsedOutside(decl, stmts))
      leaf.changed.insert(decl);
}

void GraphBuilder::walk(ArrayRef<const clang::Stmt *> stmts, const Lists *task) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const clang::Stmt *stmt = stmts[i];
    MarkerKind kind;
    if (const clang::CallExpr *call = findMarker(stmt, kind)) {
      switch (kind) {
      case MarkerKind::TaskBegin: {
        std::optional<Lists> own = readLists(call, kind, ast, diag);
        bool closed;
        ArrayRef<const clang::Stmt *> inner = collect(stmts, i, kind, MarkerKind::TaskEnd, closed);
        if (!closed) {
          diag.emitError(call->getBeginLoc(),
                         "expected '__hetero_task_end' in the same block, but got its end");
          diag.note(call->getRParenLoc(), "a task begins and ends between the same braces");
          level.failed = true;
        }
        if (!own) {
          level.failed = true;
          break;
        }
        if (isChildGraph(inner))
          walk(inner, &*own);
        else
          emitTask(*own, inner, /*isPart=*/false);
        break;
      }
      case MarkerKind::SectionBegin:
      case MarkerKind::SectionEnd:
      case MarkerKind::NonZeroLoop:
      case MarkerKind::Nothing:
      case MarkerKind::Priv:
      case MarkerKind::Hint:
        break;
      case MarkerKind::ParallelLoop:
        diag.emitError(call->getBeginLoc(),
                       "expected '__hetero_parallel_loop' inside a loop, but got it outside");
        diag.note(call->getBeginLoc(),
                  "it is the first statement in the body of the innermost loop that it marks");
        level.failed = true;
        break;
      case MarkerKind::TaskEnd:
        diag.emitError(call->getBeginLoc(),
                       "'__hetero_task_end' without a task that begins in the same block");
        diag.note(call->getBeginLoc(), "a task begins and ends between the same braces");
        level.failed = true;
        break;
      default:
        diag.emitError(call->getBeginLoc(),
                       "'" + call->getDirectCallee()->getName() + "' cannot stand inside a graph");
        diag.note(call->getBeginLoc(), "call it on the host, before or after the launch");
        level.failed = true;
        break;
      }
      continue;
    }
    if (task && computes(stmt)) {
      // What a task computes beside its loops is a node of its own, up to the next loop.
      size_t first = i;
      while (i + 1 < stmts.size() && computes(stmts[i + 1]))
        ++i;
      emitTask(*task, stmts.slice(first, i + 1 - first), /*isPart=*/true);
      continue;
    }
    if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
      SmallVector<const clang::Stmt *> inner(compound->body_begin(), compound->body_end());
      walk(inner, task);
    } else if (const auto *loop = dyn_cast<clang::ForStmt>(stmt)) {
      if (findLoopMarker(loop)) {
        emitLoop(loop, task);
      } else {
        diag.emitError(loop->getForLoc(), "a loop between tasks is neither parallel nor part of a task");
        diag.note(loop->getForLoc(),
                  "mark it with '__hetero_parallel_loop', put it into a task, or launch the "
                  "graph in a loop of the host");
        level.failed = true;
      }
    } else if (isa<clang::DeclStmt>(stmt) || isa<clang::NullStmt>(stmt)) {
      level.emitStmt(stmt);
    } else if (const auto *expr = dyn_cast<clang::Expr>(stmt)) {
      if (!isa<clang::CallExpr>(expr->IgnoreParenCasts())) {
        level.emitStmt(stmt);
        continue;
      }
      diag.emitError(expr->getBeginLoc(), "a call between tasks is not part of the graph");
      diag.note(expr->getBeginLoc(), "put it into a task, or call it on the host");
      level.failed = true;
    } else if (const auto *back = dyn_cast<clang::ReturnStmt>(stmt)) {
      if (i + 1 < stmts.size()) {
        diag.emitError(back->getBeginLoc(), "a graph cannot be left in the middle");
        diag.note(back->getBeginLoc(), "decide on the host whether to launch it");
        level.failed = true;
      }
    } else {
      diag.emitError(stmt->getBeginLoc(),
                     "expected tasks, parallel loops and declarations in a graph, but got "
                     "another statement");
      diag.note(stmt->getBeginLoc(), "put it into a task: '__hetero_task_begin(…)' before it, "
                                     "'__hetero_task_end(…)' after");
      level.failed = true;
    }
  }
}

void GraphBuilder::emitTask(const Lists &task, ArrayRef<const clang::Stmt *> stmts, bool isPart) {
  targets.clear();
  for (const clang::Stmt *stmt : stmts)
    findHints(stmt, [&](const clang::Stmt *hint) { readHint(hint); });
  Location loc = level.getLoc(isPart ? stmts.front()->getBeginLoc() : task.call->getBeginLoc());
  auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
  Block *entry = holder.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  LeafTranslator leaf(inner, level, task, entry);
  findChangedOutside(leaf, stmts);
  for (const clang::Stmt *stmt : stmts)
    leaf.captureAll(stmt);
  leaf.open();
  leaf.emitStmts(stmts);
  leaf.finishAccumulators(task.call->getBeginLoc());
  // Numbers that a part of a task declares are there for the next one.
  if (isPart)
    for (const clang::Stmt *stmt : stmts)
      if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt))
        for (const clang::Decl *decl : decls->decls())
          if (const auto *var = dyn_cast<clang::VarDecl>(decl); var && isUsedOutside(var, stmts))
            if (Storage *made = leaf.find(var); made && made->kind == Storage::Scalar)
              leaf.yielded.push_back({leaf.valueOf(made), level.declare(var), std::nullopt, Value()});
  std::string name = task.name.empty() ? "task" : task.name;
  finishLeaf(leaf, entry, task, name, {}, loc, isPart);
  holder.erase();
}

namespace {
/// One loop of a marked nest.
struct Dimension {
  const clang::ForStmt *loop;
  const clang::VarDecl *var = nullptr;
  const clang::Expr *first = nullptr, *bound = nullptr, *step = nullptr;
  bool inclusive = false, down = false;
};
} // namespace

static const clang::VarDecl *getVar(const clang::Expr *expr) {
  const auto *ref = expr ? dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
  return ref ? dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
}

// for (T i = first; i < bound; i += step) of a marked nest; says what is wrong with others.
static bool readDimension(const clang::ForStmt *loop, Dimension &dim, Diag &diag) {
  dim.loop = loop;
  auto refuse = [&](clang::SourceLocation at, const Twine &text) {
    diag.emitError(loop->getForLoc(),
                   "a parallel loop needs the form 'for (int i = first; i < bound; i += step)'");
    diag.note(at.isValid() ? at : loop->getForLoc(), text);
    return false;
  };
  if (const auto *decls = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
    dim.var = decls->isSingleDecl() ? dyn_cast<clang::VarDecl>(decls->getSingleDecl()) : nullptr;
    dim.first = dim.var ? dim.var->getInit() : nullptr;
  } else if (const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(loop->getInit());
             assign && assign->getOpcode() == clang::BO_Assign) {
    dim.var = getVar(assign->getLHS());
    dim.first = assign->getRHS();
  }
  if (!dim.var || !dim.first || !dim.var->getType()->isIntegerType() || !isScalar(dim.var->getType()))
    return refuse(loop->getInit() ? loop->getInit()->getBeginLoc() : loop->getForLoc(),
                  "its first part must declare or set one integer, the counter");
  const clang::Expr *inc = loop->getInc() ? loop->getInc()->IgnoreParens() : nullptr;
  if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(inc);
      unary && unary->isIncrementDecrementOp() && getVar(unary->getSubExpr()) == dim.var)
    dim.down = unary->isDecrementOp();
  else if (const auto *add = dyn_cast_or_null<clang::BinaryOperator>(inc);
           add && getVar(add->getLHS()) == dim.var &&
           (add->getOpcode() == clang::BO_AddAssign || add->getOpcode() == clang::BO_SubAssign)) {
    dim.step = add->getRHS();
    dim.down = add->getOpcode() == clang::BO_SubAssign;
  } else
    return refuse(inc ? inc->getBeginLoc() : loop->getForLoc(),
                  "its last part must be 'i++', 'i--', 'i += step' or 'i -= step' of its counter '" +
                      dim.var->getNameAsString() + "'");
  const auto *test =
      loop->getCond() ? dyn_cast<clang::BinaryOperator>(loop->getCond()->IgnoreParenImpCasts()) : nullptr;
  bool left = test && getVar(test->getLHS()) == dim.var;
  bool right = test && !left && getVar(test->getRHS()) == dim.var;
  clang::BinaryOperatorKind kind = test ? test->getOpcode() : clang::BO_EQ;
  if (right && test->isComparisonOp())
    kind = clang::BinaryOperator::reverseComparisonOp(kind);
  bool good =
      dim.down ? kind == clang::BO_GT || kind == clang::BO_GE : kind == clang::BO_LT || kind == clang::BO_LE;
  good |= kind == clang::BO_NE && !dim.step;
  if ((!left && !right) || !good)
    return refuse(loop->getCond() ? loop->getCond()->getBeginLoc() : loop->getForLoc(),
                  "its condition must compare its counter '" + dim.var->getNameAsString() + "' with a bound");
  dim.bound = left ? test->getRHS() : test->getLHS();
  dim.inclusive = kind == clang::BO_LE || kind == clang::BO_GE;
  return true;
}

// The one loop that a body consists of, apart from declarations that nothing needs.
static const clang::ForStmt *getOnlyLoop(const clang::Stmt *body) {
  if (const auto *loop = dyn_cast<clang::ForStmt>(body))
    return loop;
  const clang::ForStmt *only = nullptr;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(body))
    for (const clang::Stmt *child : compound->body()) {
      if (isa<clang::NullStmt>(child))
        continue;
      MarkerKind kind;
      if (findMarker(child, kind) && kind == MarkerKind::NonZeroLoop)
        continue;
      if (only || !isa<clang::ForStmt>(child))
        return nullptr;
      only = cast<clang::ForStmt>(child);
    }
  return only;
}

void GraphBuilder::emitLoop(const clang::ForStmt *outer, const Lists *task) {
  const clang::CallExpr *marker = findLoopMarker(outer);
  std::optional<Lists> own = readLists(marker, MarkerKind::ParallelLoop, ast, diag);
  if (!own) {
    level.failed = true;
    return;
  }
  SmallVector<Dimension> dims;
  const clang::ForStmt *loop = outer;
  for (unsigned d = 0; d < own->loops; ++d) {
    if (!loop) {
      diag.emitError(marker->getArg(0)->getBeginLoc(),
                     "expected " + Twine(own->loops) + " perfectly nested loops, but got " + Twine(d));
      diag.note(outer->getForLoc(), "the outermost is here; nothing may stand between the loops");
      level.failed = true;
      return;
    }
    Dimension dim;
    if (!readDimension(loop, dim, diag)) {
      diag.note(marker->getBeginLoc(), "it is marked parallel here");
      level.failed = true;
      return;
    }
    dims.push_back(dim);
    if (d + 1 < own->loops)
      loop = getOnlyLoop(loop->getBody());
  }
  const clang::Stmt *loopBody = dims.back().loop->getBody();
  SmallVector<const clang::Stmt *> stmts;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(loopBody))
    stmts.append(compound->body_begin(), compound->body_end());
  else
    stmts.push_back(loopBody);
  bool direct = llvm::any_of(stmts, [&](const clang::Stmt *stmt) {
    MarkerKind kind;
    return findMarker(stmt, kind) == marker;
  });
  if (!direct) {
    diag.emitError(marker->getBeginLoc(), "'__hetero_parallel_loop' does not stand in the innermost of the " +
                                              Twine(own->loops) + " loops that it marks");
    diag.note(dims.back().loop->getForLoc(), "by its first argument, that is this loop");
    level.failed = true;
    return;
  }
  targets.clear();
  for (const clang::Stmt *stmt : stmts)
    findHints(stmt, [&](const clang::Stmt *hint) { readHint(hint); });

  Location loc = level.getLoc(outer->getForLoc());
  auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
  Block *entry = holder.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  LeafTranslator leaf(inner, level, *own, entry);
  leaf.rank = dims.size();
  Type index = b.getIndexType();
  SmallVector<Value> grid, firsts, steps;
  for (Dimension &dim : dims) {
    entry->addArgument(index, loc);
    Value first = level.emitIndex(dim.first), bound = level.emitIndex(dim.bound);
    Value step = dim.step ? level.emitIndex(dim.step) : level.constantIndex(1);
    Value span = dim.down ? arith::SubIOp::create(b, loc, first, bound).getResult()
                          : arith::SubIOp::create(b, loc, bound, first).getResult();
    if (dim.inclusive)
      span = arith::AddIOp::create(b, loc, span, level.constantIndex(1));
    if (dim.step)
      span = arith::CeilDivSIOp::create(b, loc, span, step);
    // A loop whose bound lies below its first value does not run.
    span = arith::MaxSIOp::create(b, loc, span, level.constantIndex(0));
    grid.push_back(span);
    firsts.push_back(first);
    steps.push_back(step);
  }
  leaf.open();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    auto take = [&](Value v) -> Value {
      if (std::optional<int64_t> known = getConstantIntValue(v))
        return arith::ConstantIndexOp::create(inner, loc, *known);
      if (auto constant = v.getDefiningOp<arith::ConstantOp>())
        return inner.clone(*constant)->getResult(0);
      return leaf.captureValue(v);
    };
    Value id = entry->getArgument(d);
    if (!isConstantIntValue(steps[d], 1))
      id = arith::MulIOp::create(inner, loc, id, take(steps[d]));
    if (dim.down)
      id = arith::SubIOp::create(inner, loc, take(firsts[d]), id);
    else if (!isConstantIntValue(firsts[d], 0))
      id = arith::AddIOp::create(inner, loc, id, take(firsts[d]));
    leaf.bindId(dim.var, id, valueType(dim.var->getType(), b.getContext(), ast));
  }
  findChangedOutside(leaf, stmts);
  for (const clang::Stmt *stmt : stmts)
    leaf.captureAll(stmt);
  leaf.emitStmts(stmts);
  leaf.finishAccumulators(marker->getBeginLoc());
  std::string name = !own->name.empty() ? own->name : task && !task->name.empty() ? task->name : "loop";
  finishLeaf(leaf, entry, *own, name, grid, loc, /*isPart=*/false);
  holder.erase();
}

void GraphBuilder::checkOutputs(LeafTranslator &leaf, const Lists &own, bool isPart) {
  for (const LeafTranslator::Capture &capture : leaf.captures) {
    if (!capture.object || !capture.object->decl)
      continue;
    const clang::ValueDecl *decl = capture.object->decl;
    bool declared = llvm::any_of(own.outputs, [&](const Listed &listed) { return listed.decl == decl; });
    if (capture.writes && !declared && own.find(decl)) {
      diag.emitError(capture.writeAt, "'" + decl->getNameAsString() +
                                          "' is written here, but is only an input of " +
                                          own.call->getDirectCallee()->getName());
      diag.note(own.call->getBeginLoc(), "list it among the outputs as well, and count it");
      leaf.failed = true;
    }
  }
  for (const Listed &listed : own.outputs) {
    if (!listed.decl || !listed.size || isPart)
      continue;
    bool found = false;
    for (const LeafTranslator::Capture &capture : leaf.captures)
      found |= capture.object && capture.object->decl == listed.decl && capture.writes;
    if (!found && !leaf.failed) {
      diag.emitWarning(listed.expr->getBeginLoc(),
                       "'" + listed.decl->getNameAsString() + "' is listed as an output, but never written");
      diag.note(own.call->getBeginLoc(), "in this task or loop; take it out of the outputs, or write it");
    }
  }
}

void GraphBuilder::finishLeaf(LeafTranslator &leaf, Block *entry, const Lists &own, std::string name,
                              ValueRange grid, Location loc, bool isPart) {
  checkOutputs(leaf, own, isPart);
  if (leaf.failed) {
    level.failed = true;
    return;
  }
  MLIRContext *context = b.getContext();
  // Numbers that nothing uses, such as the sizes of buffers, are not passed.
  for (size_t i = leaf.captures.size(); i-- > 0;) {
    BlockArgument arg = entry->getArgument(leaf.rank + i);
    bool yielded =
        llvm::any_of(leaf.yielded, [&](const LeafTranslator::Yielded &y) { return y.value == arg; });
    if (leaf.captures[i].object || yielded || !arg.use_empty())
      continue;
    entry->eraseArgument(leaf.rank + i);
    leaf.captures.erase(leaf.captures.begin() + i);
  }
  SmallVector<Value> inputs;
  SmallVector<dfg::PortAttr> ports;
  for (LeafTranslator::Capture &capture : leaf.captures) {
    dfg::PortMode mode = !capture.object  ? dfg::PortMode::Whole
                         : capture.writes ? dfg::PortMode::InOut
                                          : dfg::PortMode::In;
    inputs.push_back(capture.object ? capture.object->memory : capture.value);
    ports.push_back(dfg::PortAttr::get(context, mode, dfg::ReductionAttr()));
  }
  SmallVector<Type> types;
  SmallVector<dfg::ResultAttr> modes;
  SmallVector<Value> values;
  for (const LeafTranslator::Yielded &yielded : leaf.yielded) {
    values.push_back(yielded.value);
    types.push_back(yielded.value.getType());
    auto reduction = yielded.kind ? dfg::ReductionAttr::get(context, *yielded.kind, FlatSymbolRefAttr())
                                  : dfg::ReductionAttr();
    modes.push_back(dfg::ResultAttr::get(
        context, yielded.kind ? dfg::ResultMode::Reduce : dfg::ResultMode::Gather, reduction, {}));
  }
  auto node = dfg::NodeOp::create(b, loc, uniqueName(name), grid, inputs, ports, types, modes);
  addHints(node);
  Block *to = node.getBodyBlock();
  for (auto [from, arg] : llvm::zip(entry->getArguments(), to->getArguments())) {
    arg.setLoc(from.getLoc());
    for (Value &v : values)
      if (v == from)
        v = arg;
    from.replaceAllUsesWith(arg);
  }
  // The builder may have left a terminator.
  while (!to->empty())
    to->back().erase();
  to->getOperations().splice(to->end(), entry->getOperations());
  OpBuilder end = OpBuilder::atBlockEnd(to);
  dfg::YieldOp::create(end, loc, values);
  unsigned result = 0;
  for (const LeafTranslator::Yielded &yielded : leaf.yielded) {
    Value v = node.getResult(result++);
    level.setSlot(yielded.outer->slot,
                  yielded.kind ? dfg::buildCombine(b, loc, *yielded.kind, yielded.initial, v) : v);
  }
  for (LeafTranslator::Capture &capture : leaf.captures)
    if (capture.writes)
      capture.object->memory = node.getResult(result++);
  widenIndices(node);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

bool GraphBuilder::build(const clang::FunctionDecl *root, ArrayRef<const clang::Stmt *> stmts) {
  Location loc = level.getLoc(root ? root->getLocation() : launch.call->getBeginLoc());
  b.setInsertionPointToEnd(module.getBody());
  OperationState state(loc, dfg::GraphOp::getOperationName());
  state.addRegion()->emplaceBlock();
  // Inputs and outputs are known at the end.
  graph = dfg::GraphOp();
  auto holder = func::FuncOp::create(loc, "graph", b.getFunctionType({}, {}));
  body = holder.addEntryBlock();
  b.setInsertionPointToStart(body);
  if (!addInputs(root)) {
    holder.erase();
    return false;
  }
  all = stmts;
  walk(stmts, nullptr);
  if (level.failed) {
    holder.erase();
    return false;
  }
  // What is written goes out under the name it came in with.
  SmallVector<Value> returned;
  SmallVector<Attribute> resultNames, argNames;
  SmallVector<Type> resultTypes, argTypes;
  for (auto [object, name] : llvm::zip(memory, memoryNames))
    if (!isa<BlockArgument>(object->memory)) {
      returned.push_back(object->memory);
      resultNames.push_back(b.getStringAttr(name));
      resultTypes.push_back(object->memory.getType());
    }
  // What nothing uses is not passed.
  for (unsigned i = body->getNumArguments(); i-- > 0;) {
    BlockArgument arg = body->getArgument(i);
    while (!arg.use_empty() &&
           llvm::all_of(arg.getUsers(), [](Operation *user) { return isOpTriviallyDead(user); }))
      for (Operation *user : llvm::make_early_inc_range(arg.getUsers()))
        user->erase();
    if (!arg.use_empty())
      continue;
    body->eraseArgument(i);
    launch.inputs.erase(launch.inputs.begin() + i);
  }
  llvm::StringSet<> seen;
  for (auto [arg, input] : llvm::zip(body->getArguments(), launch.inputs)) {
    argNames.push_back(b.getStringAttr(input.name));
    argTypes.push_back(arg.getType());
  }
  b.setInsertionPointToEnd(body);
  dfg::ReturnOp::create(b, loc, returned);
  b.setInsertionPointToEnd(module.getBody());
  graph = dfg::GraphOp::create(b, loc, launch.graph, b.getFunctionType(argTypes, resultTypes),
                               b.getArrayAttr(argNames), b.getArrayAttr(resultNames), StringAttr());
  graph.getBody().takeBody(holder.getBody());
  holder.erase();
  widenIndices(graph);
  // Memory is as the host has allocated it.
  graph->setAttr("tessera.align", b.getI64IntegerAttr(1));
  if (returned.empty()) {
    diag.emitError(launch.call->getBeginLoc(),
                   "the graph '" + launch.graph + "' has no effect: it writes nothing");
    diag.note(launch.call->getBeginLoc(), "list what it computes among the outputs of its tasks and loops");
    return false;
  }
  return true;
}

bool heterocpp::buildGraph(Launch &launch, const clang::Stmt *, const clang::FunctionDecl *root,
                           const Lists &lists, ArrayRef<const clang::Stmt *> region, ModuleOp module,
                           const clang::ASTContext &ast, Diag &diag) {
  return GraphBuilder(launch, lists, module, ast, diag).build(root, region);
}
