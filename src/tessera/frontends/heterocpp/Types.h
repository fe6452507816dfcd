// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ types as MLIR types, and how objects lie in memory that edges can carry.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/Builders.h"
#include "clang/AST/ASTContext.h"

namespace tessera::heterocpp {

/// Integers, enumerations, bool and floats that MLIR has.
bool isScalar(clang::QualType type);
bool isSigned(clang::QualType type);
/// The type of a value; bool is i1. Null when the type is no scalar.
Type valueType(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast);
/// The type of a scalar in memory; bool is i8.
Type memoryType(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast);

/// What a piece of memory is an array of. Edges carry arrays of scalars, so an object of class type is an
/// array of units that divide all its members: their type where they agree, otherwise an integer.
struct Unit {
  Type type;
  uint64_t bytes = 0;
  explicit operator bool() const { return bool(type); }
};
Unit getUnit(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast);

/// The type of the two parts of a complex number of floats; null for other types.
clang::QualType getPartType(clang::QualType type);

/// The members of a class, bases first: what an object of it consists of.
struct Member {
  clang::QualType type;
  uint64_t offset;               ///< in bytes
  const clang::FieldDecl *field; ///< null for a base
};
llvm::SmallVector<Member> getMembers(const clang::CXXRecordDecl *record, const clang::ASTContext &ast);
/// What an object is in pieces: the members of a class, the parts of a complex number. None for other types,
/// and for unions.
std::optional<llvm::SmallVector<Member>> getPieces(clang::QualType type, const clang::ASTContext &ast);

} // namespace tessera::heterocpp
