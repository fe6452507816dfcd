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
    bool isArray = isScalar(element) && (type->isPointerType() || type->isArrayType());
    Value arg = body->addArgument(MemRefType::get({ShapedType::kDynamic}, unit.type),
                                  nameLoc(input.name, decl->getLocation(), isArray));
    Object *object = level.makeObject(arg, unit, decl);
    memory.push_back(object);
    memoryNames.push_back(input.name);
    auto where = std::make_shared<Where>();
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
