// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the bases of an object lie.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

namespace tessera::heterocpp {

/// For messages: what a base is whose place is not known, and what to write instead.
inline constexpr llvm::StringLiteral movingBaseRemedy =
    "where it lies depends on the class of the whole object; before the launch, take a reference or a span "
    "to what "
    "the loop needs of it, or make the class final";
inline std::string nameMovingBase(const clang::CXXRecordDecl *base) {
  return "a part of the virtual base '" + base->getNameAsString() + "'";
}

/// The virtual base on the way of a conversion to a base whose place only the running program knows: it
/// depends on the class of the whole object, of which the expression may be a part. Null when there is none.
const clang::CXXRecordDecl *findMovingBase(const clang::CastExpr *cast);

} // namespace tessera::heterocpp
