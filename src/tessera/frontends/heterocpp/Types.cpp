// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Types.h.
#include "tessera/frontends/heterocpp/Types.h"

#include "clang/AST/RecordLayout.h"
#include <numeric>

using namespace tessera;
using namespace tessera::heterocpp;

static const clang::BuiltinType *getBuiltin(clang::QualType type) {
  type = type.getCanonicalType();
  if (const auto *enumeration = type->getAs<clang::EnumType>())
    type = enumeration->getDecl()->getIntegerType().getCanonicalType();
  return type->getAs<clang::BuiltinType>();
}

bool heterocpp::isScalar(clang::QualType type) {
  const clang::BuiltinType *builtin = getBuiltin(type);
  if (!builtin)
    return false;
  if (builtin->isFloatingPoint())
    switch (builtin->getKind()) {
    case clang::BuiltinType::Half:
    case clang::BuiltinType::Float16:
    case clang::BuiltinType::BFloat16:
    case clang::BuiltinType::Float:
    case clang::BuiltinType::Double:
      return true;
    default:
      return false;
    }
  return builtin->isInteger() && builtin->getKind() != clang::BuiltinType::Int128 &&
         builtin->getKind() != clang::BuiltinType::UInt128;
}

bool heterocpp::isSigned(clang::QualType type) {
  const clang::BuiltinType *builtin = getBuiltin(type);
  return builtin && builtin->isSignedInteger();
}

Type heterocpp::memoryType(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast) {
  const clang::BuiltinType *builtin = getBuiltin(type);
  if (!builtin || !isScalar(type))
    return Type();
  switch (builtin->getKind()) {
  case clang::BuiltinType::Half:
  case clang::BuiltinType::Float16:
    return Float16Type::get(context);
  case clang::BuiltinType::BFloat16:
    return BFloat16Type::get(context);
  case clang::BuiltinType::Float:
    return Float32Type::get(context);
  case clang::BuiltinType::Double:
    return Float64Type::get(context);
  default:
    return IntegerType::get(context, ast.getTypeSize(clang::QualType(builtin, 0)));
  }
}

Type heterocpp::valueType(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast) {
  if (type.getCanonicalType()->isBooleanType())
    return IntegerType::get(context, 1);
  return memoryType(type, context, ast);
}

llvm::SmallVector<Member> heterocpp::getMembers(const clang::CXXRecordDecl *record,
                                                const clang::ASTContext &ast) {
  llvm::SmallVector<Member> members;
  record = record->getDefinition();
  if (!record)
    return members;
  const clang::ASTRecordLayout &layout = ast.getASTRecordLayout(record);
  for (const clang::CXXBaseSpecifier &base : record->bases())
    members.push_back(
        {base.getType(),
         uint64_t(layout.getBaseClassOffset(base.getType()->getAsCXXRecordDecl()).getQuantity()), nullptr});
  for (const clang::FieldDecl *field : record->fields())
    members.push_back({field->getType(), layout.getFieldOffset(field->getFieldIndex()) / 8, field});
  return members;
}

clang::QualType heterocpp::getPartType(clang::QualType type) {
  const auto *complex = type.getCanonicalType()->getAs<clang::ComplexType>();
  return complex && complex->getElementType()->isFloatingType() ? complex->getElementType()
                                                                : clang::QualType();
}

std::optional<llvm::SmallVector<Member>> heterocpp::getPieces(clang::QualType type,
                                                              const clang::ASTContext &ast) {
  if (clang::QualType part = getPartType(type); !part.isNull()) {
    uint64_t bytes = ast.getTypeSizeInChars(part).getQuantity();
    return llvm::SmallVector<Member>{{part, 0, nullptr}, {part, bytes, nullptr}};
  }
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || record->isUnion())
    return std::nullopt;
  return getMembers(record, ast);
}

namespace {
/// Collects the scalars that an object consists of.
struct Leaves {
  MLIRContext *context;
  const clang::ASTContext &ast;
  Type type;            ///< of all leaves, null when they differ
  uint64_t divisor = 0; ///< of all sizes and offsets
  bool known = true, any = false;

  void add(clang::QualType t, uint64_t offset) {
    t = t.getCanonicalType();
    divisor = std::gcd(divisor, offset);
    if (const auto *array = ast.getAsConstantArrayType(t)) {
      divisor = std::gcd(divisor, uint64_t(ast.getTypeSizeInChars(array->getElementType()).getQuantity()));
      add(array->getElementType(), offset);
      return;
    }
    if (const auto *record = t->getAsCXXRecordDecl()) {
      known &= record->hasDefinition();
      divisor = std::gcd(divisor, uint64_t(ast.getTypeSizeInChars(t).getQuantity()));
      for (const Member &member : getMembers(record, ast)) {
        if (member.field && member.field->isBitField())
          known = false;
        // An empty base has no memory of its own.
        if (const auto *base = member.type->getAsCXXRecordDecl(); base && base->isEmpty())
          continue;
        add(member.type, offset + member.offset);
      }
      return;
    }
    if (clang::QualType part = getPartType(t); !part.isNull()) {
      add(part, offset);
      add(part, offset + ast.getTypeSizeInChars(part).getQuantity());
      return;
    }
    Type leaf = memoryType(t, context, ast);
    if (t->isPointerType() || t->isReferenceType())
      leaf = IntegerType::get(context, 64);
    known &= bool(leaf);
    if (!leaf)
      return;
    divisor = std::gcd(divisor, uint64_t(leaf.getIntOrFloatBitWidth() / 8));
    type = !any || type == leaf ? leaf : Type();
    any = true;
  }
};
} // namespace

Unit heterocpp::getUnit(clang::QualType type, MLIRContext *context, const clang::ASTContext &ast) {
  Leaves leaves{context, ast, Type()};
  leaves.add(type, 0);
  if (!leaves.known)
    return Unit();
  // Of a class without members there is one byte.
  if (!leaves.any)
    return type->isRecordType() ? Unit{IntegerType::get(context, 8), 1} : Unit();
  uint64_t bytes = std::min<uint64_t>(leaves.divisor, 8);
  if (leaves.type && leaves.type.getIntOrFloatBitWidth() / 8 == leaves.divisor)
    return {leaves.type, leaves.divisor};
  return {IntegerType::get(context, unsigned(bytes * 8)), bytes};
}
