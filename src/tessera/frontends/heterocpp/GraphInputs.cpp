// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch passes: scalars and memory, with the extents that the lists declare.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

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

bool heterocpp::isOne(const Listed &listed, clang::QualType element, const clang::FunctionDecl *host,
                      const clang::ASTContext &ast) {
  if (!listed.size || element->isIncompleteType() || element->isVoidType())
    return false;
  const clang::Expr *size = listed.size->IgnoreParenImpCasts();
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(size)) {
    const auto *var = dyn_cast<clang::VarDecl>(ref->getDecl());
    std::set<const clang::ValueDecl *> changed;
    if (var && host)
      findChanged(host->getBody(), changed);
    if (!var || !var->hasLocalStorage() || !var->getInit() || changed.count(var))
      return false;
    size = var->getInit();
  }
  clang::Expr::EvalResult bytes;
  return size->EvaluateAsInt(bytes, ast) &&
         bytes.Val.getInt() == uint64_t(ast.getTypeSizeInChars(element).getQuantity());
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
      clang::QualType found = launch.host ? findCast(launch.host->getBody(), decl) : clang::QualType();
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
    bool isArray = isScalar(element) && (type->isPointerType() || type->isArrayType());
    Value arg = body->addArgument(MemRefType::get({ShapedType::kDynamic}, unit.type),
                                  nameLoc(input.name, decl->getLocation(), isArray));
    Object *object = level.makeObject(arg, unit, decl);
    memory.push_back(object);
    memoryNames.push_back(input.name);
    auto where = std::make_shared<HostPlace>();
    where->argument = listed.argument;
    where->sizeArgument = sizeArgument;
    sources[object] = {element,    input.name,         where, isOne(listed, element, launch.host, ast), false,
                       input.name, decl->getLocation()};
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

// Whether memory of elements of one type may be taken for memory of the other, as C++ would without a cast.
// Bytes are anything, numbers of one width differ in their sign only, and classes are what they consist of.
static bool isSameMemory(clang::QualType given, clang::QualType wanted, MLIRContext *context,
                         const clang::ASTContext &ast) {
  auto bare = [&](clang::QualType type) {
    return ast.getBaseElementType(type).getCanonicalType().getUnqualifiedType();
  };
  given = bare(given);
  wanted = bare(wanted);
  auto isBytes = [](clang::QualType type) {
    return type->isVoidType() || type->isCharType() || type->isStdByteType();
  };
  if (given == wanted || isBytes(given) || isBytes(wanted) || given->isIncompleteType() ||
      wanted->isIncompleteType() || given->isAnyPointerType() || wanted->isAnyPointerType())
    return true;
  if (given->isIntegralOrEnumerationType() && wanted->isIntegralOrEnumerationType())
    return ast.getTypeSize(given) == ast.getTypeSize(wanted);
  const auto *one = given->getAsCXXRecordDecl(), *other = wanted->getAsCXXRecordDecl();
  if (one && other && one->hasDefinition() && other->hasDefinition() &&
      (one->isDerivedFrom(other) || other->isDerivedFrom(one)))
    return true;
  Unit from = getUnit(given, context, ast), to = getUnit(wanted, context, ast);
  if (!from || !to)
    return true; // said where the memory is used
  if (one && other && ast.getTypeSize(given) != ast.getTypeSize(wanted) && isa<IntegerType>(from.type))
    return false;
  return from.type == to.type && from.bytes == to.bytes;
}

bool heterocpp::checkArguments(const Lists &lists, const clang::FunctionDecl *root, MLIRContext *context,
                               const clang::ASTContext &ast, Diag &diag) {
  unsigned param = 0, expected = 0;
  for (const Listed &listed : lists.inputs)
    expected += listed.size ? 2 : 1;
  std::string function = "'" + root->getNameAsString() + "'";
  if (expected != root->getNumParams()) {
    diag.emitError(lists.call->getBeginLoc(), "the launch passes " + Twine(expected) + " arguments to " +
                                                  function + ", which has " + Twine(root->getNumParams()) +
                                                  " parameters");
    diag.note(root->getLocation(),
              "the function is declared here; a pointer and its size are two parameters");
    return false;
  }
  for (const Listed &listed : lists.inputs) {
    const clang::ParmVarDecl *decl = root->getParamDecl(param);
    param += listed.size ? 2 : 1;
    std::string name = "'" + decl->getNameAsString() + "'";
    clang::SourceLocation at = listed.expr->getBeginLoc();
    if (!listed.size && decl->getType()->isPointerType()) {
      diag.emitError(at, "a scalar is passed to the pointer " + name + " of " + function);
      diag.note(decl->getLocation(), "the parameter is declared here; pass a pointer and its size");
      return false;
    }
    if (!listed.size)
      continue;
    if (!decl->getType()->isPointerType()) {
      diag.emitError(at, "a pointer is passed to " + name + " of " + function + ", which is no pointer");
      diag.note(decl->getLocation(),
                "the parameter is declared here; the parameters are in the order of the list");
      return false;
    }
    clang::QualType given = listed.expr->IgnoreParenImpCasts()->getType(),
                    wanted = decl->getType()->getPointeeType();
    given = given->isArrayType() ? ast.getAsArrayType(given)->getElementType() : given->getPointeeType();
    if (!isSameMemory(given, wanted, context, ast)) {
      const clang::PrintingPolicy &policy = ast.getPrintingPolicy();
      diag.emitError(at, "memory of '" +
                             ast.getBaseElementType(given).getUnqualifiedType().getAsString(policy) +
                             "' is passed to " + name + " of " + function + ", which points to '" +
                             wanted.getUnqualifiedType().getAsString(policy) + "'");
      diag.note(decl->getLocation(), "the parameter is declared here; pass memory of its type, or cast the "
                                     "pointer where its bytes are meant");
      return false;
    }
  }
  return true;
}

bool GraphBuilder::addInputs(const clang::FunctionDecl *root) {
  if (!root) {
    for (const Listed &listed : lists.inputs)
      if (listed.member && listed.size)
        declareSize(listed);
    for (const Listed &listed : lists.inputs) {
      if (listed.member)
        continue;
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
  if (!checkArguments(lists, root, b.getContext(), ast, diag))
    return false;
  // Arguments and parameters go side by side.
  unsigned param = 0;
  for (const Listed &listed : lists.inputs) {
    const clang::ParmVarDecl *decl = root->getParamDecl(param++);
    if (!listed.size) {
      if (!addInput(decl, decl->getType(), listed, std::nullopt))
        return false;
      continue;
    }
    Listed plain = listed;
    plain.address = false;
    if (!addInput(decl, decl->getType(), plain, listed.argument + 1))
      return false;
    bool isPrivate = launch.isStream && !lists.isOutput(listed, ast);
    if (isPrivate)
      privates.push_back({memory.back(), cast<BlockArgument>(memory.back()->memory), {}});
    // The size is a parameter, too.
    const clang::ParmVarDecl *bytes = root->getParamDecl(param++);
    Listed size;
    size.expr = listed.size;
    size.argument = listed.argument + 1;
    if (!addInput(bytes, bytes->getType(), size, std::nullopt))
      return false;
    if (isPrivate)
      privates.back().bytes = body->getArguments().back();
  }
  return true;
}
