// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How variables get their first values: lists, constructors, closures.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace tessera;
using namespace tessera::heterocpp;

void Translator::initialize(const Place &place, const clang::Expr *init) {
  init = init->IgnoreParens();
  if (const auto *cleanups = dyn_cast<clang::ExprWithCleanups>(init))
    return initialize(place, cleanups->getSubExpr());
  if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(init))
    return initialize(place, bound->getSubExpr());
  if (const auto *fallback = dyn_cast<clang::CXXDefaultInitExpr>(init))
    return initialize(place, fallback->getExpr());
  if (const auto *fallback = dyn_cast<clang::CXXDefaultArgExpr>(init))
    return initialize(place, fallback->getExpr());
  if (place.storage && place.storage->kind == Storage::Reference) {
    bindReference(*place.storage,
                  init->isGLValue() ? resolve(emitPlace(init))
                                    : materialize(emit(init), init->getType(), init->getBeginLoc()),
                  init->getBeginLoc());
    return;
  }
  Place to = resolve(place);
  if (const auto *list = dyn_cast<clang::InitListExpr>(init)) {
    if (list->isTransparent())
      return initialize(place, list->getInit(0));
    return initializeList(to, list);
  }
  if (const auto *list = dyn_cast<clang::CXXParenListInitExpr>(init)) {
    const auto *record = to.type->getAsCXXRecordDecl();
    unsigned i = 0;
    if (record)
      for (const clang::FieldDecl *field : record->fields())
        if (i < list->getInitExprs().size())
          initialize(fieldOf(to, field), list->getInitExprs()[i++]);
    return;
  }
  if (const auto *made = dyn_cast<clang::CXXConstructExpr>(init))
    return construct(to, made);
  if (isa<clang::ImplicitValueInitExpr, clang::CXXScalarValueInitExpr>(init) && to.object &&
      !isScalar(to.type)) {
    uint64_t count = ast.getTypeSizeInChars(to.type).getQuantity() / to.object->unit.bytes;
    emitCounted(constantIndex(0), constantIndex(count), constantIndex(1), [&](Value i) {
      memref::StoreOp::create(b, current, zero(to.object->unit.type), to.object->memory,
                              arith::AddIOp::create(b, current, to.offset, i).getResult());
    });
    return;
  }
  if (const auto *loop = dyn_cast<clang::ArrayInitLoopExpr>(init)) {
    // A copy of an array member.
    store(place, load(emitPlace(loop->getCommonExpr()->getSourceExpr()), init->getBeginLoc()),
          init->getBeginLoc());
    return;
  }
  if (const auto *text = dyn_cast<clang::StringLiteral>(init)) {
    unsupported(text->getBeginLoc(), "a string", "use an array of numbers");
    return;
  }
  RValue value = init->isGLValue() && !init->getType()->isFunctionType()
                     ? load(emitPlace(init), init->getBeginLoc())
                     : emit(init);
  store(place, value, init->getBeginLoc());
}

void Translator::initializeList(const Place &place, const clang::InitListExpr *list) {
  if (!list->isSemanticForm() && list->getSemanticForm())
    list = list->getSemanticForm();
  if (isScalar(place.type) || place.type->isPointerType()) {
    store(place, list->getNumInits() ? emit(list->getInit(0)) : zeroOf(place.type, list->getBeginLoc()),
          list->getBeginLoc());
    return;
  }
  if (!getPartType(place.type).isNull()) {
    RValue value = zeroOf(place.type, list->getBeginLoc());
    if (list->getNumInits() == 1)
      value = emit(list->getInit(0));
    for (unsigned i = 0; i < 2 && list->getNumInits() == 2; ++i)
      value.parts[i] = RValue::of(emitScalar(list->getInit(i)));
    store(place, value, list->getBeginLoc());
    return;
  }
  if (const auto *array = ast.getAsConstantArrayType(place.type)) {
    clang::QualType element = array->getElementType();
    uint64_t each = ast.getTypeSizeInChars(element).getQuantity() / place.object->unit.bytes;
    uint64_t count = array->getSize().getZExtValue(), given = list->getNumInits();
    auto elementAt = [&](Value index) {
      Value offset = arith::MulIOp::create(b, current, index, constantIndex(each));
      return Place{element, nullptr, place.object, arith::AddIOp::create(b, current, place.offset, offset)};
    };
    for (uint64_t i = 0; i < given; ++i)
      initialize(elementAt(constantIndex(i)), list->getInit(i));
    if (given < count)
      emitCounted(constantIndex(given), constantIndex(count), constantIndex(1), [&](Value i) {
        if (const clang::Expr *filler = list->getArrayFiller())
          initialize(elementAt(i), filler);
        else
          store(elementAt(i), zeroOf(element, list->getBeginLoc()), list->getBeginLoc());
      });
    return;
  }
  const auto *record = place.type->getAsCXXRecordDecl();
  if (!record) {
    unsupported(list->getBeginLoc(), "a list for '" + place.type.getAsString() + "'", "assign the members");
    return;
  }
  if (record->isUnion()) {
    if (list->getNumInits() && list->getInitializedFieldInUnion())
      initialize(fieldOf(place, list->getInitializedFieldInUnion()), list->getInit(0));
    return;
  }
  unsigned i = 0;
  for (const clang::CXXBaseSpecifier &base : record->bases())
    if (i < list->getNumInits())
      initialize(baseOf(place, base.getType()->getAsCXXRecordDecl()), list->getInit(i++));
  for (const clang::FieldDecl *field : record->fields()) {
    if (field->isUnnamedBitField())
      continue;
    if (i < list->getNumInits()) {
      Place part = fieldOf(place, field);
      // A reference member is bound, not assigned.
      if (field->getType()->isReferenceType() && place.storage)
        for (auto [k, member] : llvm::enumerate(getMembers(record, ast)))
          if (member.field == field)
            part = Place{field->getType(), place.storage->parts[k].get(), nullptr, Value()};
      initialize(part, list->getInit(i++));
    }
  }
}

void Translator::construct(const Place &place, const clang::CXXConstructExpr *expr) {
  const clang::CXXConstructorDecl *constructor = expr->getConstructor();
  if (const auto *array = ast.getAsConstantArrayType(place.type)) {
    clang::QualType element = array->getElementType();
    uint64_t each = ast.getTypeSizeInChars(element).getQuantity() / place.object->unit.bytes;
    emitCounted(
        constantIndex(0), constantIndex(array->getSize().getZExtValue()), constantIndex(1), [&](Value i) {
          Value offset = arith::MulIOp::create(b, current, i, constantIndex(each));
          construct({element, nullptr, place.object, arith::AddIOp::create(b, current, place.offset, offset)},
                    expr);
        });
    return;
  }
  if ((constructor->isCopyOrMoveConstructor() &&
       (constructor->isTrivial() || constructor->isDefaulted() || !constructor->hasBody()) &&
       expr->getNumArgs() >= 1)) {
    const clang::Expr *from = expr->getArg(0);
    store(place, from->isGLValue() ? load(emitPlace(from), expr->getBeginLoc()) : emit(from),
          expr->getBeginLoc());
    return;
  }
  if (expr->requiresZeroInitialization())
    store(place, zeroOf(place.type, expr->getBeginLoc()), expr->getBeginLoc());
  if (constructor->isTrivial() && constructor->isDefaultConstructor())
    return;
  SmallVector<const clang::Expr *> args(expr->arg_begin(), expr->arg_end());
  emitInlined(constructor, args, place, expr, nullptr);
}

// A closure is an object whose members are the captures.
RValue Translator::emitLambda(const clang::LambdaExpr *lambda) {
  const clang::CXXRecordDecl *closure = lambda->getLambdaClass();
  RValue result;
  result.kind = RValue::Aggregate;
  auto field = closure->field_begin();
  for (const clang::Expr *init : lambda->capture_inits()) {
    if (field == closure->field_end())
      break;
    if (field->getType()->isReferenceType()) {
      RValue part;
      part.kind = RValue::Reference;
      part.place = resolve(emitPlace(init));
      result.parts.push_back(part);
    } else {
      Storage *storage = own(makeStorage(field->getType(), init->getBeginLoc()));
      initialize(placeOf(storage), init);
      result.parts.push_back(load(placeOf(storage), init->getBeginLoc()));
    }
    ++field;
  }
  return result;
}
