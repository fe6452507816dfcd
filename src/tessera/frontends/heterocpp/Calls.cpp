// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: what the library has in MLIR becomes an operation, everything else is inlined.
#include "tessera/frontends/heterocpp/Markers.h"
#include "tessera/frontends/heterocpp/Translator.h"

using namespace tessera;
using namespace tessera::heterocpp;

/// Deeper than this is a mistake of a template, or of ours.
static constexpr unsigned maxDepth = 64;

RValue Translator::emitCall(const clang::CallExpr *call) {
  if (call->getType()->isReferenceType() || call->isGLValue())
    return load(emitPlace(call), call->getExprLoc());
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (!callee) {
    if (isa<clang::CXXPseudoDestructorExpr>(call->getCallee()->IgnoreParens()))
      return RValue();
    unsupported(call->getExprLoc(), "a call through a pointer",
                "call the function by its name, or use a template");
    return zeroOf(call->getType(), call->getBeginLoc());
  }
  if (std::optional<RValue> value = emitMarker(call, callee))
    return *value;
  if (std::optional<RValue> value = emitLibrary(call, callee))
    return *value;
  if (callee->getIdentifier() && callee->getName() == "__hetero_combine") {
    emitCombine(call);
    return RValue();
  }
  SmallVector<const clang::Expr *> args(call->arg_begin(), call->arg_end());
  Place self;
  if (const auto *method = dyn_cast<clang::CXXMethodDecl>(callee); method && !method->isStatic()) {
    const clang::Expr *object = nullptr;
    if (const auto *member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
      object = member->getImplicitObjectArgument();
    } else if (!args.empty()) {
      object = args.front();
      args.erase(args.begin());
    }
    if (method->isVirtual() &&
        !(method->getParent()->isEffectivelyFinal() || method->hasAttr<clang::FinalAttr>())) {
      unsupported(call->getExprLoc(), "a virtual call", "use a template, or make the class final");
      return zeroOf(call->getType(), call->getBeginLoc());
    }
    if (object->getType()->isPointerType()) {
      self = emit(object).place;
      self.type = object->getType()->getPointeeType();
    } else {
      self = object->isGLValue() ? emitPlace(object)
                                 : materialize(emit(object), object->getType(), object->getBeginLoc());
    }
    if (self && !self.type.isNull() && self.type->getAsCXXRecordDecl())
      self = baseOf(self, method->getParent());
  }
  return emitInlined(callee, args, self, call, nullptr);
}

Place Translator::emitCallPlace(const clang::CallExpr *call) {
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (!callee) {
    unsupported(call->getExprLoc(), "a call through a pointer",
                "call the function by its name, or use a template");
    return Place{call->getType()};
  }
  if (std::optional<RValue> value = emitLibrary(call, callee)) {
    if (value->kind == RValue::Reference || value->kind == RValue::Pointer)
      return value->place;
    return materialize(*value, call->getType(), call->getBeginLoc());
  }
  if (call->isPRValue())
    return materialize(emitCall(call), call->getType(), call->getBeginLoc());
  SmallVector<const clang::Expr *> args(call->arg_begin(), call->arg_end());
  Place self, reference{call->getType()};
  if (const auto *method = dyn_cast<clang::CXXMethodDecl>(callee); method && !method->isStatic()) {
    const clang::Expr *object = nullptr;
    if (const auto *member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
      object = member->getImplicitObjectArgument();
    } else if (!args.empty()) {
      object = args.front();
      args.erase(args.begin());
    }
    if (object->getType()->isPointerType()) {
      self = emit(object).place;
      self.type = object->getType()->getPointeeType();
    } else {
      self = object->isGLValue() ? emitPlace(object)
                                 : materialize(emit(object), object->getType(), object->getBeginLoc());
    }
    if (self && !self.type.isNull() && self.type->getAsCXXRecordDecl())
      self = baseOf(self, method->getParent());
    // Assignment of classes that the compiler writes itself.
    if (method->isDefaulted() && (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator())) {
      const clang::Expr *from = args.front();
      store(self, from->isGLValue() ? load(emitPlace(from), call->getExprLoc()) : emit(from),
            call->getExprLoc());
      return self;
    }
  }
  emitInlined(callee, args, self, call, &reference);
  return reference;
}

// Whether all returns of a body stand at its end, so that none skips anything.
static bool returnsAtEnd(const clang::Stmt *body) {
  const auto *compound = dyn_cast_or_null<clang::CompoundStmt>(body);
  if (!compound)
    return false;
  for (const clang::Stmt *child : compound->body())
    if (child != compound->body_back() && findJumps(child).returns)
      return false;
  return compound->body_empty() || isa<clang::ReturnStmt>(compound->body_back()) ||
         !findJumps(compound->body_back()).returns;
}

// Whether a function returns a reference, by several ways, to a number that nobody can write to: its value
// says the same.
static bool returnsCopy(clang::QualType type, const clang::Stmt *body) {
  if (!type->isReferenceType() || !type->getPointeeType().isConstQualified() ||
      !isScalar(type->getPointeeType()))
    return false;
  const auto *compound = dyn_cast_or_null<clang::CompoundStmt>(body);
  return compound && (compound->body_empty() || !isa<clang::ReturnStmt>(compound->body_front()));
}

void Translator::bindCaptures(Frame &frame, const clang::CXXMethodDecl *lambda, Place self,
                              clang::SourceLocation at) {
  const clang::CXXRecordDecl *closure = lambda->getParent();
  for (auto [capture, field] : llvm::zip(closure->captures(), closure->fields())) {
    if (capture.capturesThis()) {
      frame.self = load(fieldOf(self, field), at).place;
      continue;
    }
    auto storage = std::make_unique<Storage>();
    storage->kind = Storage::Reference;
    storage->type = field->getType().getNonReferenceType();
    storage->target = fieldOf(self, field);
    frame.vars[capture.getCapturedVar()] = own(std::move(storage));
  }
}

RValue Translator::emitInlined(const clang::FunctionDecl *function, ArrayRef<const clang::Expr *> args,
                               Place self, const clang::Expr *call, Place *reference) {
  clang::QualType type = function->getReturnType();
  const clang::FunctionDecl *definition = nullptr;
  const clang::Stmt *body = function->getBody(definition);
  if (const auto *made = dyn_cast<clang::CXXConstructorDecl>(function);
      made && !body && made->isDefaulted() && made->isDefaultConstructor())
    return RValue();
  if (!body || !definition) {
    unsupported(
        call->getExprLoc(),
        "a call of '" + function->getQualifiedNameAsString() + "', whose body is not here,",
        "define the function in this file or in a header; input, output and allocation belong on the host");
    diag.note(function->getLocation(), "the function is declared here");
    return zeroOf(type, call->getBeginLoc());
  }
  for (const Frame &frame : frames)
    if (frame.function && frame.function->getCanonicalDecl() == definition->getCanonicalDecl()) {
      unsupported(call->getExprLoc(), "a recursive call of '" + function->getNameAsString() + "'",
                  "use a loop, with an array as the stack where one is needed");
      diag.note(definition->getLocation(), "the function that calls itself is here");
      return zeroOf(type, call->getBeginLoc());
    }
  if (frames.size() > maxDepth) {
    unsupported(call->getExprLoc(), "a chain of more than " + Twine(maxDepth) + " calls", "shorten it");
    return zeroOf(type, call->getBeginLoc());
  }
  // Arguments belong to the caller.
  std::vector<std::pair<const clang::ParmVarDecl *, Storage *>> params;
  for (unsigned i = 0; i < definition->getNumParams() && i < args.size(); ++i) {
    const clang::ParmVarDecl *param = definition->getParamDecl(i);
    Storage *storage = own(makeStorage(param->getType(), args[i]->getBeginLoc()));
    initialize(placeOf(storage), args[i]);
    params.push_back({param, storage});
  }
  Frame frame;
  frame.function = definition;
  frame.calledAt = call->getExprLoc();
  frame.self = self;
  frame.firstLoop = loops.size();
  for (auto [param, storage] : params)
    frame.vars[param] = storage;
  if (const auto *method = dyn_cast<clang::CXXMethodDecl>(definition);
      method && method->getParent()->isLambda())
    bindCaptures(frame, method, self, call->getExprLoc());
  std::vector<Loop> outerLoops;
  outerLoops.swap(loops);
  if (!type->isVoidType() && !type->isReferenceType())
    frame.result = own(makeStorage(type, call->getBeginLoc()));
  else if (returnsCopy(type, body))
    frame.result = own(makeStorage(type->getPointeeType().getUnqualifiedType(), call->getBeginLoc()));
  if (!returnsAtEnd(body))
    frame.returned = newSlot(constant(b.getI1Type(), 0));
  frames.push_back(std::move(frame));
  if (const auto *constructor = dyn_cast<clang::CXXConstructorDecl>(definition))
    for (const clang::CXXCtorInitializer *init : constructor->inits()) {
      if (init->isDelegatingInitializer()) {
        initialize(self, init->getInit());
      } else if (init->isBaseInitializer()) {
        initialize(baseOf(self, init->getBaseClass()->getAsCXXRecordDecl()), init->getInit());
      } else if (const clang::FieldDecl *field = init->getAnyMember()) {
        Place part = fieldOf(self, field);
        Place own = resolve(self);
        if (field->getType()->isReferenceType() && own.storage)
          for (auto [k, member] : llvm::enumerate(getMembers(constructor->getParent(), ast)))
            if (member.field && member.field->getCanonicalDecl() == field->getCanonicalDecl())
              part = Place{field->getType(), own.storage->parts[k].get(), nullptr, Value()};
        initialize(part, init->getInit());
      }
    }
  emitStmt(body);
  frame = std::move(frames.back());
  frames.pop_back();
  outerLoops.swap(loops);
  if (type->isReferenceType()) {
    if (reference)
      *reference = frame.result ? placeOf(frame.result) : frame.reference;
    return RValue();
  }
  return frame.result ? load(placeOf(frame.result), call->getExprLoc()) : RValue();
}

std::optional<RValue> Translator::emitMarker(const clang::CallExpr *call, const clang::FunctionDecl *callee) {
  if (!callee->getIdentifier())
    return std::nullopt;
  std::optional<MarkerKind> kind = getMarkerKind(callee->getName());
  if (!kind)
    return std::nullopt;
  switch (*kind) {
  case MarkerKind::Hint:
  case MarkerKind::NonZeroLoop:
  case MarkerKind::SectionBegin:
  case MarkerKind::SectionEnd:
  case MarkerKind::TaskBegin:
  case MarkerKind::TaskEnd:
  case MarkerKind::ParallelLoop:
  case MarkerKind::Priv:
  case MarkerKind::Nothing:
    return zeroOf(call->getType(), call->getBeginLoc());
  case MarkerKind::Malloc:
  case MarkerKind::Free:
    unsupported(call->getExprLoc(), "'" + callee->getName() + "'",
                "allocate before the launch and list the memory as an object, or use a local array");
    return zeroOf(call->getType(), call->getBeginLoc());
  default:
    unsupported(call->getExprLoc(), "'" + callee->getName() + "'", "call it on the host");
    return zeroOf(call->getType(), call->getBeginLoc());
  }
}
