// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Markers.h.
#include "tessera/frontends/heterocpp/Markers.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera::heterocpp;
using namespace clang;

std::optional<MarkerKind> tessera::heterocpp::getMarkerKind(llvm::StringRef name) {
  if (!name.consume_front("__hetero_") && !name.consume_front("__hpvm_"))
    return std::nullopt;
  name.consume_front("_");
  name.consume_front("parallel_section");
  return llvm::StringSwitch<std::optional<MarkerKind>>(name)
      .Case("launch", MarkerKind::Launch)
      .Case("launch_stream", MarkerKind::LaunchStream)
      .Case("push", MarkerKind::Push)
      .Case("pop", MarkerKind::Pop)
      .Case("close", MarkerKind::Close)
      .Case("launch_begin", MarkerKind::LaunchBegin)
      .Case("launch_end", MarkerKind::LaunchEnd)
      .Case("wait", MarkerKind::Wait)
      .Cases({"section_begin", "_begin"}, MarkerKind::SectionBegin)
      .Cases({"section_end", "_end"}, MarkerKind::SectionEnd)
      .Case("task_begin", MarkerKind::TaskBegin)
      .Case("task_end", MarkerKind::TaskEnd)
      .Case("parallel_loop", MarkerKind::ParallelLoop)
      .Case("hint", MarkerKind::Hint)
      .Case("priv", MarkerKind::Priv)
      .Case("isNonZeroLoop", MarkerKind::NonZeroLoop)
      .Case("malloc", MarkerKind::Malloc)
      .Case("free", MarkerKind::Free)
      .Case("copy_mem", MarkerKind::Copy)
      .Case("request_mem", MarkerKind::Request)
      .Case("barrier", MarkerKind::Barrier)
      .Case("scratch", MarkerKind::Scratch)
      .Cases({"init", "cleanup", "task"}, MarkerKind::Nothing)
      .Default(std::nullopt);
}

bool tessera::heterocpp::isNumbered(MarkerKind kind) {
  return llvm::is_contained({MarkerKind::Launch, MarkerKind::LaunchStream, MarkerKind::Push,
                             MarkerKind::LaunchBegin, MarkerKind::LaunchEnd},
                            kind);
}

static constexpr llvm::StringRef numberedName = "tessera.marker.";

std::string tessera::heterocpp::getNumberedName(unsigned number) {
  return (numberedName + llvm::Twine(number)).str();
}

std::optional<unsigned> tessera::heterocpp::getNumber(llvm::StringRef name) {
  unsigned number = 0;
  name.consume_front("\1");
  if (!name.consume_front(numberedName) || name.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

// What stands around a call where it is a statement or an initialiser.
static const Expr *strip(const Expr *expr) {
  while (expr) {
    const Expr *next = expr->IgnoreParenCasts();
    if (const auto *cleanups = dyn_cast<ExprWithCleanups>(next))
      next = cleanups->getSubExpr();
    if (next == expr)
      return expr;
    expr = next;
  }
  return expr;
}

const CallExpr *tessera::heterocpp::findMarker(const Stmt *stmt, MarkerKind &kind) {
  if (const auto *decls = dyn_cast_or_null<DeclStmt>(stmt)) {
    const auto *var = decls->isSingleDecl() ? dyn_cast<VarDecl>(decls->getSingleDecl()) : nullptr;
    stmt = var ? var->getInit() : nullptr;
  }
  const Expr *expr = strip(dyn_cast_or_null<Expr>(stmt));
  if (const auto *assign = dyn_cast_or_null<BinaryOperator>(expr); assign && assign->isAssignmentOp())
    expr = strip(assign->getRHS());
  const auto *call = dyn_cast_or_null<CallExpr>(expr);
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !callee->getIdentifier())
    return nullptr;
  std::optional<MarkerKind> found = getMarkerKind(callee->getName());
  if (!found)
    return nullptr;
  kind = *found;
  return call;
}

const CallExpr *tessera::heterocpp::findMarkerInside(const Stmt *stmt, MarkerKind kind) {
  if (!stmt)
    return nullptr;
  MarkerKind found;
  if (const CallExpr *call = findMarker(stmt, found); call && found == kind)
    return call;
  for (const Stmt *child : stmt->children())
    if (const CallExpr *call = findMarkerInside(child, kind))
      return call;
  return nullptr;
}

const Listed *Lists::find(const ValueDecl *decl) const {
  for (const auto *list : {&inputs, &outputs})
    for (const Listed &listed : *list)
      if (listed.decl == decl)
        return &listed;
  return nullptr;
}

llvm::SmallVector<const Expr *> Lists::getArguments() const {
  llvm::SmallVector<const Expr *> arguments;
  for (const Listed &listed : inputs) {
    arguments.push_back(listed.expr);
    if (listed.size)
      arguments.push_back(listed.size);
  }
  return arguments;
}

static bool isSame(const Expr *a, const Expr *b, const ASTContext &context) {
  llvm::FoldingSetNodeID one, other;
  strip(a)->Profile(one, context, /*Canonical=*/true);
  strip(b)->Profile(other, context, /*Canonical=*/true);
  return one == other;
}

bool Lists::isOutput(const Listed &input, const ASTContext &context) const {
  if (QualType type = input.expr->getType()->getPointeeType(); !type.isNull() && type.isConstQualified())
    return false;
  return llvm::any_of(outputs,
                      [&](const Listed &output) { return isSame(input.expr, output.expr, context); });
}

std::optional<std::string> tessera::heterocpp::getText(const Expr *expr, const ASTContext &context) {
  if (const auto *literal = dyn_cast<StringLiteral>(expr->IgnoreParenCasts()))
    return literal->getString().str();
  // The text of a template's parameter.
  QualType type = expr->getType()->getPointeeType();
  if (type.isNull() || !type->isCharType() || !type.isConstQualified() || expr->isValueDependent())
    return std::nullopt;
  return expr->tryEvaluateString(const_cast<ASTContext &>(context));
}

std::vector<Word> tessera::heterocpp::getWords(const CallExpr *call, llvm::ArrayRef<Listed> list) {
  std::vector<Word> words;
  auto add = [&](unsigned argument) {
    QualType type = call->getArg(argument)->getType();
    char kind = type->isPointerType() || type->isArrayType() ? 'p'
                : type->isRealFloatingType()                 ? 'f'
                : type->isUnsignedIntegerOrEnumerationType() ? 'u'
                                                             : 'i';
    words.push_back({argument, kind});
  };
  for (const Listed &listed : list) {
    add(listed.argument);
    if (listed.size)
      add(listed.argument + 1);
  }
  return words;
}

namespace {

/// Goes through the arguments of one call.
class Reader {
public:
  Reader(const CallExpr *call, const ASTContext &context, Diag &diag)
      : call(call), context(context), diag(diag), marker(call->getDirectCallee()->getName()) {}

  std::optional<Lists> read(MarkerKind kind) {
    lists.call = call;
    if (kind == MarkerKind::ParallelLoop && !readLoops())
      return std::nullopt;
    if (kind == MarkerKind::Push)
      ++at; // the stream
    if (kind == MarkerKind::Launch || kind == MarkerKind::LaunchStream) {
      if (call->getNumArgs() == 0) {
        diag.emitError(call->getBeginLoc(), marker + " expects the function to launch as its first argument");
        return std::nullopt;
      }
      lists.root = call->getArg(at++);
    }
    // The name stands at the end.
    unsigned end = call->getNumArgs();
    if (end > at)
      if (std::optional<std::string> text = getText(call->getArg(end - 1), context)) {
        lists.name = *text;
        --end;
      }
    if (!readList("inputs", end, lists.inputs))
      return std::nullopt;
    // A marker without outputs may leave their number out.
    if (kind == MarkerKind::Push && at < end) {
      diag.emitError(call->getArg(at)->getBeginLoc(), "expected the end of " + marker + " after " +
                                                          llvm::Twine(lists.inputs.size()) +
                                                          " objects, but got another argument");
      diag.note(
          call->getArg(1)->getBeginLoc(),
          "the number of objects is here; a pointer and its size count as one, and outputs are listed where "
          "the stream is launched");
      return std::nullopt;
    }
    if (at < end && !readList("outputs", end, lists.outputs))
      return std::nullopt;
    if (at < end) {
      const Expr *extra = call->getArg(at);
      diag.emitError(extra->getBeginLoc(), "expected the end of " + marker + " after " +
                                               llvm::Twine(lists.outputs.size()) +
                                               " outputs, but got another argument");
      diag.note(outputsAt, "the number of outputs is here; a pointer and its size count as one");
      return std::nullopt;
    }
    return std::move(lists);
  }

private:
  bool readLoops() {
    std::optional<uint64_t> count = at < call->getNumArgs() ? constant(call->getArg(at)) : std::nullopt;
    if (!count || *count < 1 || *count > 3) {
      diag.emitError(call->getNumArgs() ? call->getArg(0)->getBeginLoc() : call->getBeginLoc(),
                     marker + " expects the number of nested loops, 1 to 3, as its first argument");
      return false;
    }
    lists.loops = *count;
    ++at;
    return true;
  }

  std::optional<uint64_t> constant(const Expr *expr) {
    Expr::EvalResult result;
    if (expr->isValueDependent() || !expr->getType()->isIntegerType() ||
        !expr->EvaluateAsInt(result, context))
      return std::nullopt;
    return result.Val.getInt().getZExtValue();
  }

  bool readList(const char *what, unsigned end, llvm::SmallVectorImpl<Listed> &list) {
    if (at >= end) {
      diag.emitError(call->getBeginLoc(), marker + " expects the number of its " + what + " and the " + what);
      return false;
    }
    const Expr *number = call->getArg(at);
    std::optional<uint64_t> count = constant(number);
    if (!count) {
      diag.emitError(number->getBeginLoc(), llvm::Twine("expected the number of ") + what + " of " + marker +
                                                ", a constant, but got something else");
      diag.note(number->getBeginLoc(),
                "a pointer and its size count as one; check the number of the list before");
      return false;
    }
    if (llvm::StringRef(what) == "outputs")
      outputsAt = number->getBeginLoc();
    ++at;
    while (list.size() < *count) {
      if (at >= end) {
        diag.emitError(number->getBeginLoc(), "expected " + llvm::Twine(*count) + " " + what + " of " +
                                                  marker + ", but got " + llvm::Twine(list.size()));
        diag.note(call->getRParenLoc(), "a pointer and its size count as one; write " +
                                            llvm::Twine(list.size()) + " if the list is complete");
        return false;
      }
      if (!readObject(end, list))
        return false;
    }
    return true;
  }

  bool readObject(unsigned end, llvm::SmallVectorImpl<Listed> &list) {
    Listed listed;
    listed.expr = call->getArg(at);
    listed.argument = at++;
    const Expr *bare = strip(listed.expr);
    if (const auto *unary = dyn_cast<UnaryOperator>(bare); unary && unary->getOpcode() == UO_AddrOf) {
      listed.address = true;
      bare = strip(unary->getSubExpr());
    }
    if (const auto *ref = dyn_cast<DeclRefExpr>(bare))
      listed.decl = ref->getDecl();
    // A pointer in a structure belongs to what is listed for the structure.
    if (const auto *part = dyn_cast<MemberExpr>(bare); part && !listed.address) {
      const auto *field = dyn_cast<FieldDecl>(part->getMemberDecl());
      const Expr *whole = part;
      while (const auto *inner = dyn_cast<MemberExpr>(whole))
        whole = strip(inner->getBase());
      if (const auto *ref = dyn_cast<DeclRefExpr>(whole); ref && field && field->getType()->isPointerType()) {
        listed.decl = ref->getDecl();
        listed.member = part;
      }
    }
    QualType type = listed.expr->getType();
    if (type->isPointerType() || type->isArrayType()) {
      if (at >= end || !call->getArg(at)->getType()->isIntegerType()) {
        diag.emitError(listed.expr->getBeginLoc(),
                       "expected the size in bytes after a pointer in " + marker + ", but got " +
                           (at >= end ? "the end of the list" : "another object"));
        diag.note(listed.expr->getEndLoc(),
                  "list the pointer as 'pointer, bytes'; the two count as one object");
        return false;
      }
      listed.size = call->getArg(at++);
      checkSize(listed);
      // Some programs add a flag after each pointer.
      if (at < end && call->getArg(at)->IgnoreParenImpCasts()->getType()->isBooleanType() &&
          isa<CXXBoolLiteralExpr>(call->getArg(at)->IgnoreParenImpCasts()))
        ++at;
    } else if (!type->isArithmeticType() && !type->isEnumeralType()) {
      diag.emitError(listed.expr->getBeginLoc(), "expected a pointer or a scalar in the list of " + marker +
                                                     ", but got '" + type.getAsString() + "'");
      diag.note(listed.expr->getBeginLoc(), "list the address and the size of an object of class type");
      return false;
    }
    list.push_back(listed);
    return true;
  }

  // sizeof(pointer) is the size of an address, hardly what was meant.
  void checkSize(const Listed &listed) {
    const auto *trait = dyn_cast<UnaryExprOrTypeTraitExpr>(strip(listed.size));
    if (!trait || trait->getKind() != UETT_SizeOf || !trait->getTypeOfArgument()->isPointerType())
      return;
    QualType pointee = listed.expr->IgnoreParenImpCasts()->getType();
    if (pointee->isPointerType() && pointee->getPointeeType()->isPointerType())
      return;
    diag.emitError(trait->getBeginLoc(),
                   "the size of an object is given as the size of a pointer, " +
                       llvm::Twine(context.getTypeSizeInChars(trait->getTypeOfArgument()).getQuantity()) +
                       " bytes");
    diag.note(listed.expr->getBeginLoc(),
              "of this object; pass the number of its bytes, such as 'count * sizeof(element)'");
  }

  const CallExpr *call;
  const ASTContext &context;
  Diag &diag;
  std::string marker;
  Lists lists;
  unsigned at = 0;
  SourceLocation outputsAt;
};

} // namespace

std::optional<Lists> tessera::heterocpp::readLists(const CallExpr *call, MarkerKind kind,
                                                   const ASTContext &context, Diag &diag) {
  return Reader(call, context, diag).read(kind);
}

void tessera::heterocpp::checkMarkers(const Stmt *stmt, const ASTContext &context, Diag &diag) {
  if (!stmt)
    return;
  MarkerKind kind;
  if (isa<CallExpr>(stmt))
    if (const CallExpr *call = findMarker(stmt, kind);
        call && llvm::is_contained({MarkerKind::TaskBegin, MarkerKind::ParallelLoop, MarkerKind::LaunchBegin,
                                    MarkerKind::Launch, MarkerKind::LaunchStream, MarkerKind::Push},
                                   kind))
      readLists(call, kind, context, diag);
  for (const Stmt *child : stmt->children())
    checkMarkers(child, context, diag);
}
