// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Members.h.
#include "tessera/frontends/heterocpp/Members.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"

using namespace tessera;
using namespace tessera::heterocpp;

std::optional<FoundMember> heterocpp::findMember(clang::QualType type, uint64_t offset,
                                                 const clang::ASTContext &ast) {
  FoundMember found;
  found.type = type.getCanonicalType();
  uint64_t base = 0;
  while (true) {
    if (const auto *array = ast.getAsConstantArrayType(found.type)) {
      uint64_t bytes = ast.getTypeSizeInChars(array->getElementType()).getQuantity();
      base += bytes ? (offset - base) / bytes * bytes : 0;
      found.type = array->getElementType().getCanonicalType();
      continue;
    }
    const auto *record = found.type->getAsCXXRecordDecl();
    if (!record) {
      if (!found.field || offset != base)
        return std::nullopt;
      return found;
    }
    if (record->isUnion())
      return std::nullopt;
    bool inside = false;
    for (const Member &member : getMembers(record, ast)) {
      uint64_t first = base + member.offset;
      uint64_t bytes = ast.getTypeSizeInChars(member.type).getQuantity();
      if (const auto *part = member.type->getAsCXXRecordDecl(); part && part->isEmpty())
        continue;
      if (offset < first || offset >= first + bytes)
        continue;
      if (member.field) {
        if (!found.field)
          found.outermost = member.field;
        found.field = member.field;
        found.classOffset = base;
      }
      found.type = member.type.getCanonicalType();
      base = first;
      inside = true;
      break;
    }
    if (!inside)
      return std::nullopt;
  }
}

static const clang::FieldDecl *getSibling(const clang::FieldDecl *field, llvm::StringRef name) {
  for (const clang::FieldDecl *other : field->getParent()->fields())
    if (other->getName() == name)
      return other;
  return nullptr;
}

static uint64_t getOffset(const clang::FieldDecl *field, const clang::ASTContext &ast) {
  return ast.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex()) / 8;
}

// The vector of the C++ library keeps three pointers into one piece of memory.
static bool isVectorPart(const clang::FieldDecl *field) {
  const clang::RecordDecl *part = field->getParent();
  const auto *base = dyn_cast<clang::RecordDecl>(part->getParent());
  return base && base->isInStdNamespace() && part->getName() == "_Vector_impl_data";
}

const clang::FieldDecl *heterocpp::getBeginOf(const clang::FieldDecl *field) {
  if (!isVectorPart(field) || field->getName() != "_M_finish")
    return nullptr;
  return getSibling(field, "_M_start");
}

// n, rows * cols, 3 * n + 1
static bool parseCount(llvm::StringRef text, const FoundMember &member, HostPlace &where,
                       const clang::ASTContext &ast, std::string &problem) {
  llvm::SmallVector<llvm::StringRef> terms, factors;
  text.split(terms, '+');
  for (llvm::StringRef term : terms) {
    HostPlace::Term made;
    factors.clear();
    term.split(factors, '*');
    for (llvm::StringRef factor : factors) {
      factor = factor.trim();
      int64_t constant = 0;
      if (!factor.getAsInteger(0, constant)) {
        made.factor *= constant;
        continue;
      }
      const clang::FieldDecl *sibling = getSibling(member.field, factor);
      if (!sibling || !isScalar(sibling->getType()) || !sibling->getType()->isIntegerType() ||
          sibling->isBitField()) {
        problem = ("'" + factor + "' is no integer beside it").str();
        return false;
      }
      made.numbers.push_back({member.classOffset + getOffset(sibling, ast),
                              unsigned(ast.getTypeSizeInChars(sibling->getType()).getQuantity()),
                              isSigned(sibling->getType())});
    }
    where.count.push_back(std::move(made));
  }
  return true;
}

bool heterocpp::readCount(const FoundMember &member, HostPlace &where, clang::SourceLocation usedAt,
                          const clang::ASTContext &ast, Diag &diag) {
  const clang::FieldDecl *field = member.field;
  std::string name = "'" + field->getParent()->getNameAsString() + "::" + field->getNameAsString() + "'";
  constexpr llvm::StringLiteral prefix = "tessera.count=";
  for (const auto *note : field->specific_attrs<clang::AnnotateAttr>()) {
    llvm::StringRef text = note->getAnnotation();
    if (!text.consume_front(prefix))
      continue;
    std::string problem;
    if (parseCount(text, member, where, ast, problem))
      return true;
    diag.emitError(note->getLocation(), "the number of elements of " + name + " cannot be read: " + problem);
    diag.note(
        note->getLocation(),
        "write a sum of products of constants and integer members of the same class, such as 'rows * cols'");
    return false;
  }
  if (isVectorPart(field) && field->getName() == "_M_start") {
    where.end = member.classOffset + getOffset(getSibling(field, "_M_finish"), ast);
    return true;
  }
  const auto *record = dyn_cast<clang::ClassTemplateSpecializationDecl>(field->getParent());
  if (record && record->isInStdNamespace() && record->getName() == "span") {
    const llvm::APSInt extent = record->getTemplateArgs()[1].getAsIntegral();
    if (!extent.isAllOnes()) {
      where.count.push_back({int64_t(extent.getZExtValue()), {}});
      return true;
    }
    if (const clang::FieldDecl *size = getSibling(field, "_M_extent")) {
      where.count.push_back({1, {{member.classOffset + getOffset(size, ast), 8, false}}});
      return true;
    }
  }
  diag.emitError(usedAt, "it is not known how many elements " + name + " points to");
  // The user cannot edit the library.
  if (ast.getSourceManager().isInSystemHeader(field->getLocation())) {
    diag.note(usedAt,
              "of the library's classes, vectors, arrays and spans know it; before the graph, take the "
              "address and the number of the elements, 'tessera::span(pointer, n)'");
    return false;
  }
  diag.note(field->getLocation(),
            "declare it here: '" + field->getNameAsString() +
                " __hetero_count(n)' with a member that holds the number, or list the pointer and its size "
                "where the graph is launched");
  return false;
}
