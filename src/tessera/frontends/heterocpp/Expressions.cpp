// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions: values and places.
#include "tessera/frontends/heterocpp/Bases.h"
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::heterocpp;

Storage *Translator::lookup(const clang::ValueDecl *decl, clang::SourceLocation at) {
  decl = cast<clang::ValueDecl>(decl->getCanonicalDecl());
  for (Frame &frame : llvm::reverse(frames)) {
    for (auto &[known, storage] : frame.vars)
      if (known->getCanonicalDecl() == decl)
        return storage;
    // A lambda sees the variables around it only through its captures.
    if (frame.function && !isa<clang::ParmVarDecl>(decl))
      continue;
  }
  Storage *storage = capture(decl, at);
  if (!storage)
    failed = true;
  return storage;
}

Value Translator::emitScalar(const clang::Expr *expr) {
  RValue value = emit(expr);
  if (value.kind == RValue::Scalar && value.scalar)
    return value.scalar;
  Type type = valueType(expr->getType(), b.getContext(), ast);
  if (!failed)
    unsupported(expr->getBeginLoc(), "a value of type '" + expr->getType().getAsString() + "' here",
                "use a scalar");
  return zero(type ? type : b.getI32Type());
}

Value Translator::emitCondition(const clang::Expr *expr) { return toBool(emitScalar(expr)); }

Value Translator::toIndex(Value v, clang::QualType type) {
  if (v.getType().isIndex())
    return v;
  if (APInt known; matchPattern(v, m_ConstantInt(&known)))
    return constantIndex(isSigned(type) ? known.getSExtValue() : int64_t(known.getZExtValue()));
  // 64 bits are the index itself, whatever their sign; extents of loops are written in this form.
  if (isSigned(type) || v.getType().isInteger(64))
    return arith::IndexCastOp::create(b, current, b.getIndexType(), v);
  return arith::IndexCastUIOp::create(b, current, b.getIndexType(), v);
}

Value Translator::emitIndex(const clang::Expr *expr) { return toIndex(emitScalar(expr), expr->getType()); }

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Place Translator::emitPlace(const clang::Expr *expr) {
  expr = expr->IgnoreParens();
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(expr)) {
    if (const auto *binding = dyn_cast<clang::BindingDecl>(ref->getDecl()))
      return emitPlace(binding->getBinding());
    Storage *storage = nullptr;
    if (const auto *var = dyn_cast<clang::VarDecl>(ref->getDecl())) {
      bool known = false;
      for (Frame &frame : frames)
        known |= frame.vars.count(var) != 0;
      if (!known && !var->isLocalVarDeclOrParm() && var->getType().isConstQualified())
        if (Object *object = constantArray(var, expr->getBeginLoc()))
          return {expr->getType(), nullptr, object, constantIndex(0)};
    }
    storage = lookup(ref->getDecl(), expr->getBeginLoc());
    if (!storage)
      return Place{expr->getType()};
    Place place = placeOf(storage);
    place = resolve(place);
    place.type = expr->getType();
    return place;
  }
  if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    RValue base = emit(subscript->getBase());
    Value index = emitIndex(subscript->getIdx());
    if (!base.place)
      return Place{expr->getType()};
    base.place.type = expr->getType();
    return elementOf(base.place, index, expr->getExprLoc());
  }
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expr)) {
    switch (unary->getOpcode()) {
    case clang::UO_Deref: {
      RValue pointer = emit(unary->getSubExpr());
      if (!pointer.place)
        return Place{expr->getType()};
      Place place = resolve(pointer.place);
      place.type = expr->getType();
      return place;
    }
    case clang::UO_PreInc:
    case clang::UO_PreDec: {
      Place written;
      emitUnary(unary, &written);
      return written;
    }
    case clang::UO_Extension:
      return emitPlace(unary->getSubExpr());
    case clang::UO_Real:
    case clang::UO_Imag:
      return emitPart(unary);
    default:
      break;
    }
  }
  if (const auto *member = dyn_cast<clang::MemberExpr>(expr)) {
    if (const auto *var = dyn_cast<clang::VarDecl>(member->getMemberDecl())) {
      Storage *storage = lookup(var, expr->getBeginLoc());
      return storage ? placeOf(storage) : Place{expr->getType()};
    }
    const auto *field = dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field)
      return Place{expr->getType()};
    if (field->isBitField()) {
      unsupported(expr->getExprLoc(), "a bit field", "use a whole integer and masks");
      return Place{expr->getType()};
    }
    Place base;
    if (member->isArrow())
      base = emit(member->getBase()).place;
    else if (member->getBase()->isLValue() || member->getBase()->isXValue())
      base = emitPlace(member->getBase());
    else
      base = materialize(emit(member->getBase()), member->getBase()->getType(), expr->getBeginLoc());
    if (!base)
      return Place{expr->getType()};
    if (base.type.isNull() || !base.type->getAsCXXRecordDecl())
      base.type = ast.getCanonicalTagType(field->getParent());
    Place place = fieldOf(baseOf(base, cast<clang::CXXRecordDecl>(field->getParent())), field);
    if (!place)
      place.type = expr->getType();
    return place;
  }
  if (const auto *cast = dyn_cast<clang::CastExpr>(expr)) {
    Place place =
        cast->getSubExpr()->isGLValue()
            ? emitPlace(cast->getSubExpr())
            : materialize(emit(cast->getSubExpr()), cast->getSubExpr()->getType(), expr->getBeginLoc());
    if (cast->getCastKind() == clang::CK_DerivedToBase ||
        cast->getCastKind() == clang::CK_UncheckedDerivedToBase) {
      if (const clang::CXXRecordDecl *moving = findMovingBase(cast)) {
        unsupported(cast->getExprLoc(), nameMovingBase(moving), movingBaseRemedy);
        return Place{expr->getType()};
      }
      if (const auto *record = expr->getType()->getAsCXXRecordDecl(); record && place) {
        place.type = cast->getSubExpr()->getType();
        place = baseOf(place, record);
      }
      return place;
    }
    place.type = expr->getType();
    return place;
  }
  if (const auto *temporary = dyn_cast<clang::MaterializeTemporaryExpr>(expr)) {
    Storage *storage = own(makeStorage(temporary->getType(), expr->getBeginLoc()));
    initialize(placeOf(storage), temporary->getSubExpr());
    return resolve(placeOf(storage));
  }
  if (const auto *cleanups = dyn_cast<clang::ExprWithCleanups>(expr))
    return emitPlace(cleanups->getSubExpr());
  if (const auto *substituted = dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
    return emitPlace(substituted->getReplacement());
  if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(expr))
    return materialize(emit(bound->getSubExpr()), bound->getType(), expr->getBeginLoc());
  if (const auto *fallback = dyn_cast<clang::CXXDefaultArgExpr>(expr))
    return emitPlace(fallback->getExpr());
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(expr)) {
    if (binary->isAssignmentOp()) {
      Place written;
      if (const auto *compound = dyn_cast<clang::CompoundAssignOperator>(binary))
        emitCompound(compound, &written);
      else
        emitAssign(binary, &written);
      return written;
    }
    if (binary->getOpcode() == clang::BO_Comma) {
      emit(binary->getLHS());
      return emitPlace(binary->getRHS());
    }
  }
  if (const auto *call = dyn_cast<clang::CallExpr>(expr))
    return emitCallPlace(call);
  if (const auto *value = dyn_cast<clang::OpaqueValueExpr>(expr)) {
    if (auto it = opaque.find(value); it != opaque.end())
      return it->second.kind == RValue::Reference
                 ? it->second.place
                 : materialize(it->second, expr->getType(), expr->getBeginLoc());
    return emitPlace(value->getSourceExpr());
  }
  if (const auto *choice = dyn_cast<clang::ConditionalOperator>(expr))
    return emitChosenPlace(choice);
  if (isa<clang::CXXThisExpr>(expr))
    return frames.back().self;
  if (isa<clang::StringLiteral>(expr)) {
    unsupported(expr->getBeginLoc(), "a string", "use an array of numbers");
    return Place{expr->getType()};
  }
  if (isa<clang::CXXTypeidExpr>(expr)) {
    unsupported(expr->getBeginLoc(), "type information at run time", "use a template");
    return Place{expr->getType()};
  }
  if (expr->isPRValue())
    return materialize(emit(expr), expr->getType(), expr->getBeginLoc());
  unsupported(expr->getExprLoc(), Twine("an expression of the kind '") + expr->getStmtClassName() + "'",
              "assign its parts to variables first");
  return Place{expr->getType()};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

RValue Translator::emitDeclRef(const clang::DeclRefExpr *ref) {
  if (const auto *number = dyn_cast<clang::EnumConstantDecl>(ref->getDecl()))
    return RValue::of(
        constant(valueType(ref->getType(), b.getContext(), ast), number->getInitVal().getExtValue()));
  return load(emitPlace(ref), ref->getBeginLoc());
}

RValue Translator::emit(const clang::Expr *expr) {
  Location before = current;
  current = getLoc(expr->getExprLoc());
  struct Restore {
    Location &to;
    Location from;
    ~Restore() { to = from; }
  } restore{current, before};
  Type type = valueType(expr->getType(), b.getContext(), ast);

  if (const auto *paren = dyn_cast<clang::ParenExpr>(expr))
    return emit(paren->getSubExpr());
  if (const auto *literal = dyn_cast<clang::IntegerLiteral>(expr))
    return RValue::of(arith::ConstantOp::create(b, current, b.getIntegerAttr(type, literal->getValue())));
  if (const auto *literal = dyn_cast<clang::FloatingLiteral>(expr)) {
    if (!type) {
      unsupported(expr->getBeginLoc(), "the type '" + expr->getType().getAsString() + "'", "use 'double'");
      return RValue::of(zero(b.getF64Type()));
    }
    return RValue::of(arith::ConstantOp::create(b, current, b.getFloatAttr(type, literal->getValue())));
  }
  if (const auto *literal = dyn_cast<clang::ImaginaryLiteral>(expr))
    if (std::optional<RValue> value = emitConstant(literal))
      return *value;
  if (const auto *literal = dyn_cast<clang::CXXBoolLiteralExpr>(expr))
    return RValue::of(constant(type, literal->getValue()));
  if (const auto *literal = dyn_cast<clang::CharacterLiteral>(expr))
    return RValue::of(constant(type, literal->getValue()));
  if (isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr, clang::ImplicitValueInitExpr,
          clang::CXXScalarValueInitExpr>(expr))
    return zeroOf(expr->getType(), expr->getBeginLoc());
  if (isa<clang::UnaryExprOrTypeTraitExpr, clang::TypeTraitExpr, clang::SizeOfPackExpr,
          clang::CXXNoexceptExpr, clang::OffsetOfExpr, clang::ConceptSpecializationExpr, clang::RequiresExpr>(
          expr))
    if (std::optional<RValue> value = emitConstant(expr))
      return *value;
  if (const auto *known = dyn_cast<clang::ConstantExpr>(expr)) {
    if (std::optional<RValue> value = emitConstant(known))
      return *value;
    return emit(known->getSubExpr());
  }
  if (const auto *substituted = dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr))
    return emit(substituted->getReplacement());
  if (const auto *cleanups = dyn_cast<clang::ExprWithCleanups>(expr))
    return emit(cleanups->getSubExpr());
  if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(expr))
    return emit(bound->getSubExpr());
  if (const auto *fallback = dyn_cast<clang::CXXDefaultArgExpr>(expr))
    return emit(fallback->getExpr());
  if (const auto *fallback = dyn_cast<clang::CXXDefaultInitExpr>(expr))
    return emit(fallback->getExpr());
  if (const auto *cast = dyn_cast<clang::CastExpr>(expr))
    return emitCast(cast);
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expr))
    return emitUnary(unary);
  if (const auto *compound = dyn_cast<clang::CompoundAssignOperator>(expr))
    return emitCompound(compound);
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(expr))
    return emitBinary(binary);
  if (const auto *rewritten = dyn_cast<clang::CXXRewrittenBinaryOperator>(expr))
    return emit(rewritten->getSemanticForm());
  if (const auto *choice = dyn_cast<clang::AbstractConditionalOperator>(expr))
    return emitConditional(choice);
  if (const auto *call = dyn_cast<clang::CallExpr>(expr))
    return emitCall(call);
  if (const auto *lambda = dyn_cast<clang::LambdaExpr>(expr))
    return emitLambda(lambda);
  if (const auto *list = dyn_cast<clang::CXXStdInitializerListExpr>(expr)) {
    // A pointer to the elements, and their number.
    Place array = emitPlace(list->getSubExpr());
    const auto *counted = ast.getAsConstantArrayType(list->getSubExpr()->getType());
    RValue value;
    value.kind = RValue::Aggregate;
    value.parts = {RValue::pointer(decay(array)),
                   RValue::of(constant(b.getI64Type(), counted->getSize().getZExtValue()))};
    return value;
  }
  if (const auto *atomic = dyn_cast<clang::AtomicExpr>(expr))
    return emitAtomicExpr(atomic);
  if (const auto *value = dyn_cast<clang::OpaqueValueExpr>(expr)) {
    if (auto it = opaque.find(value); it != opaque.end())
      return it->second;
    return emit(value->getSourceExpr());
  }
  if (isa<clang::CXXThisExpr>(expr))
    return RValue::pointer(frames.back().self);
  if (isa<clang::InitListExpr, clang::CXXConstructExpr, clang::CXXParenListInitExpr>(expr)) {
    if (type || expr->getType()->isPointerType())
      if (const auto *list = dyn_cast<clang::InitListExpr>(expr))
        return list->getNumInits() ? emit(list->getInit(0)) : zeroOf(expr->getType(), expr->getBeginLoc());
    Storage *storage = own(makeStorage(expr->getType(), expr->getBeginLoc()));
    initialize(placeOf(storage), expr);
    return load(placeOf(storage), expr->getBeginLoc());
  }
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(expr))
    return emitDeclRef(ref);
  if (isa<clang::CXXThrowExpr>(expr)) {
    unsupported(expr->getBeginLoc(), "'throw'", "report a mistake through an output of the task");
    return zeroOf(expr->getType(), expr->getBeginLoc());
  }
  if (isa<clang::CXXNewExpr, clang::CXXDeleteExpr>(expr)) {
    unsupported(expr->getBeginLoc(), isa<clang::CXXNewExpr>(expr) ? "'new'" : "'delete'",
                "allocate before the launch and list the memory as an object, or use a local array");
    return zeroOf(expr->getType(), expr->getBeginLoc());
  }
  if (const auto *statement = dyn_cast<clang::StmtExpr>(expr)) {
    SmallVector<const clang::Stmt *> body(statement->getSubStmt()->body_begin(),
                                          statement->getSubStmt()->body_end());
    const auto *last = body.empty() ? nullptr : dyn_cast<clang::Expr>(body.back());
    if (last)
      body.pop_back();
    emitStmts(body);
    return last ? emit(last) : RValue();
  }
  if (expr->isGLValue())
    return load(emitPlace(expr), expr->getBeginLoc());
  unsupported(expr->getExprLoc(), Twine("an expression of the kind '") + expr->getStmtClassName() + "'",
              "write it with arithmetic, calls and assignments");
  return zeroOf(expr->getType(), expr->getBeginLoc());
}

RValue Translator::emitConditional(const clang::AbstractConditionalOperator *op) {
  if (const auto *binary = dyn_cast<clang::BinaryConditionalOperator>(op))
    opaque[binary->getOpaqueValue()] = emit(binary->getCommon());
  return emitChosen(op, emitCondition(op->getCond()));
}

RValue Translator::emitChosen(const clang::AbstractConditionalOperator *op, Value condition) {
  if (op->getType()->isVoidType()) {
    auto side = [&](const clang::Expr *e) {
      return [this, e] {
        emit(e);
        return Value();
      };
    };
    emitIf(condition, side(op->getTrueExpr()), side(op->getFalseExpr()));
    return RValue();
  }
  auto value = [&](const clang::Expr *e) {
    return e->isGLValue() ? load(emitPlace(e), e->getBeginLoc()) : emit(e);
  };
  if (isScalar(op->getType())) {
    auto side = [&](const clang::Expr *e) { return [&, e] { return value(e).scalar; }; };
    return RValue::of(emitIf(condition, side(op->getTrueExpr()), side(op->getFalseExpr())));
  }
  // Objects go through a variable, part by part.
  Storage *storage = own(makeStorage(op->getType(), op->getBeginLoc()));
  auto side = [&](const clang::Expr *e) {
    return [&, e] {
      store(placeOf(storage), value(e), e->getBeginLoc());
      return Value();
    };
  };
  emitIf(condition, side(op->getTrueExpr()), side(op->getFalseExpr()));
  return load(placeOf(storage), op->getBeginLoc());
}

// The array or pointer that an element is reached through; null for other places.
static const clang::ValueDecl *getArray(const clang::Expr *expr) {
  while (true) {
    expr = expr->IgnoreParenImpCasts();
    if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(expr))
      expr = subscript->getBase();
    else if (const auto *unary = dyn_cast<clang::UnaryOperator>(expr);
             unary && unary->getOpcode() == clang::UO_Deref)
      expr = unary->getSubExpr();
    else if (const auto *member = dyn_cast<clang::MemberExpr>(expr))
      expr = member->getBase();
    else if (const auto *sum = dyn_cast<clang::BinaryOperator>(expr); sum && sum->isAdditiveOp())
      expr = sum->getLHS();
    else
      break;
  }
  const auto *ref = dyn_cast<clang::DeclRefExpr>(expr);
  return ref && (ref->getType()->isPointerType() || ref->getType()->isArrayType()) ? ref->getDecl() : nullptr;
}

// One of two places: of one array by its offset, otherwise a copy that must not be written.
Place Translator::emitChosenPlace(const clang::ConditionalOperator *op) {
  const clang::Expr *yes = op->getTrueExpr(), *no = op->getFalseExpr();
  Value condition = emitCondition(op->getCond());
  if (APInt known; matchPattern(condition, m_ConstantInt(&known)))
    return emitPlace(known.isZero() ? no : yes);
  if (op->isGLValue() && getArray(yes) && getArray(yes) == getArray(no)) {
    Object *object = nullptr;
    auto side = [&](const clang::Expr *e) {
      return [&, e] {
        Place place = resolve(emitPlace(e));
        object = place.object;
        return place.offset ? place.offset : constantIndex(0);
      };
    };
    Value offset = emitIf(condition, side(yes), side(no));
    return {op->getType(), nullptr, object, offset};
  }
  Place copy = materialize(emitChosen(op, condition), op->getType(), op->getBeginLoc());
  if (copy.storage)
    copy.storage->isChosen = op->isLValue() && !op->getType().isConstQualified();
  return copy;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<RValue> Translator::emitConstant(const clang::Expr *expr) {
  clang::Expr::EvalResult result;
  if (expr->isValueDependent() || !expr->EvaluateAsRValue(result, ast) || result.HasSideEffects)
    return std::nullopt;
  if (!result.Val.isInt() && !result.Val.isFloat() && !result.Val.isStruct() && !result.Val.isComplexFloat())
    return std::nullopt;
  return fromConstant(result.Val, expr->getType(), expr->getBeginLoc());
}

RValue Translator::fromConstant(const clang::APValue &value, clang::QualType type, clang::SourceLocation at) {
  Type scalar = valueType(type, b.getContext(), ast);
  if (value.isInt() && scalar && isa<IntegerType>(scalar))
    return RValue::of(arith::ConstantOp::create(
        b, current, b.getIntegerAttr(scalar, value.getInt().extOrTrunc(scalar.getIntOrFloatBitWidth()))));
  if (value.isFloat() && scalar)
    return RValue::of(arith::ConstantOp::create(b, current, b.getFloatAttr(scalar, value.getFloat())));
  RValue result;
  if (value.isComplexFloat()) {
    Type part = valueType(getPartType(type), b.getContext(), ast);
    result.kind = RValue::Aggregate;
    for (const APFloat &number : {value.getComplexFloatReal(), value.getComplexFloatImag()})
      result.parts.push_back(
          RValue::of(arith::ConstantOp::create(b, current, b.getFloatAttr(part, number)).getResult()));
  }
  if (value.isStruct()) {
    result.kind = RValue::Aggregate;
    const auto *record = type->getAsCXXRecordDecl();
    unsigned bases = value.getStructNumBases(), i = 0;
    for (const Member &member : getMembers(record, ast)) {
      result.parts.push_back(fromConstant(
          i < bases ? value.getStructBase(i) : value.getStructField(i - bases), member.type, at));
      ++i;
    }
  }
  return result;
}

// The bytes of a constant, as they lie in memory.
static bool writeBytes(const clang::APValue &value, clang::QualType type, const clang::ASTContext &ast,
                       MutableArrayRef<char> bytes) {
  type = type.getCanonicalType();
  auto part = [&](uint64_t offset) { return bytes.drop_front(offset); };
  if (const auto *array = ast.getAsConstantArrayType(type); array && value.isArray()) {
    uint64_t each = ast.getTypeSizeInChars(array->getElementType()).getQuantity();
    for (unsigned i = 0; i < value.getArraySize(); ++i)
      if (!writeBytes(i < value.getArrayInitializedElts() ? value.getArrayInitializedElt(i)
                                                          : value.getArrayFiller(),
                      array->getElementType(), ast, part(i * each)))
        return false;
    return true;
  }
  if (const auto *record = type->getAsCXXRecordDecl(); record && value.isStruct()) {
    unsigned bases = value.getStructNumBases();
    for (auto [i, member] : llvm::enumerate(getMembers(record, ast)))
      if (!writeBytes(i < bases ? value.getStructBase(i) : value.getStructField(i - bases), member.type, ast,
                      part(member.offset)))
        return false;
    return true;
  }
  if (!isScalar(type) || !(value.isInt() || value.isFloat()))
    return false;
  uint64_t size = ast.getTypeSizeInChars(type).getQuantity();
  APInt bits = value.isInt() ? APInt(value.getInt()) : value.getFloat().bitcastToAPInt();
  bits = bits.zextOrTrunc(size * 8);
  for (uint64_t i = 0; i < size; ++i)
    bytes[i] = char(bits.extractBitsAsZExtValue(8, unsigned(i * 8)));
  return true;
}

// A constant table of the program: part of the graph.
Object *Translator::constantArray(const clang::VarDecl *var, clang::SourceLocation at) {
  Object *&known = constants[var->getCanonicalDecl()];
  if (known && known->memory.getParentBlock() == b.getInsertionBlock())
    return known;
  const clang::VarDecl *definition = nullptr;
  const clang::Expr *init = var->getAnyInitializer(definition);
  Unit unit = getUnit(var->getType(), b.getContext(), ast);
  if (!init || !unit || init->isValueDependent())
    return nullptr;
  const clang::APValue *value = definition->evaluateValue();
  std::vector<char> bytes(ast.getTypeSizeInChars(var->getType()).getQuantity());
  if (!value || !writeBytes(*value, var->getType(), ast, bytes))
    return nullptr;
  auto type = RankedTensorType::get({int64_t(bytes.size() / unit.bytes)}, unit.type);
  Value memory = arith::ConstantOp::create(b, getLoc(at), DenseElementsAttr::getFromRawBuffer(type, bytes));
  return known = makeObject(memory, unit, var);
}
