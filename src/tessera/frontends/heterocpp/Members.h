// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers in structures: which member lies where, and how many elements it is said to have.
#pragma once

#include "tessera/frontends/heterocpp/Diag.h"
#include "tessera/frontends/heterocpp/HostPlace.h"
#include "tessera/frontends/heterocpp/Types.h"

namespace tessera::heterocpp {

/// A member that lies at an offset in an object, and the class it is declared in.
struct FoundMember {
  const clang::FieldDecl *field = nullptr;
  clang::QualType type; ///< of what lies there: of an element where the member is an array
  uint64_t classOffset = 0;
  const clang::FieldDecl *outermost = nullptr; ///< of the object itself, which the member is or lies in
};
std::optional<FoundMember> findMember(clang::QualType type, uint64_t offset, const clang::ASTContext &ast);

/// Fills in how many elements a pointer has, from `__hetero_count(…)` at its declaration or, for
/// `std::vector` and `std::span`, from what the class keeps. Returns false after a diagnostic.
bool readCount(const FoundMember &member, HostPlace &where, clang::SourceLocation usedAt,
               const clang::ASTContext &ast, Diag &diag);

/// For a pointer that stands for the end of another one's elements, as in `std::vector`: that one.
const clang::FieldDecl *getBeginOf(const clang::FieldDecl *field);

} // namespace tessera::heterocpp
