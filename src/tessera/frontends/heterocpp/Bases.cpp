// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Bases.h.
#include "tessera/frontends/heterocpp/Bases.h"

using namespace tessera;

// Whether an object is whole, and no base of a larger one: it is declared as what it is, or nothing can
// derive from its class.
static bool isWhole(const clang::Expr *object) {
  object = object->IgnoreParens();
  const clang::CXXRecordDecl *record = object->getType()->getAsCXXRecordDecl();
  if (!record)
    record = object->getType()->getPointeeCXXRecordDecl();
  if (record && record->isEffectivelyFinal())
    return true;
  const clang::ValueDecl *declared = nullptr;
  if (const auto *ref = llvm::dyn_cast<clang::DeclRefExpr>(object))
    declared = ref->getDecl();
  else if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(object))
    declared = member->getMemberDecl();
  return declared && declared->getType()->isRecordType();
}

const clang::CXXRecordDecl *heterocpp::findMovingBase(const clang::CastExpr *cast) {
  for (const clang::CXXBaseSpecifier *base : cast->path())
    if (base->isVirtual() && !isWhole(cast->getSubExpr()))
      return base->getType()->getAsCXXRecordDecl();
  return nullptr;
}
