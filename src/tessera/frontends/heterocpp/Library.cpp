// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the C and C++ libraries, and Clang's builtins, that MLIR has operations for.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::heterocpp;

static bool isOfLibrary(const clang::FunctionDecl *callee) {
  if (callee->getBuiltinID())
    return true;
  const clang::DeclContext *context = callee->getDeclContext();
  while (isa<clang::LinkageSpecDecl>(context) || context->isInlineNamespace())
    context = context->getParent();
  if (context->isStdNamespace() ||
      (isa<clang::NamespaceDecl>(context) && context->getParent()->isStdNamespace()))
    return true;
  return context->isTranslationUnit() && callee->isExternC();
}

// A function of this name that the body of another one calls.
static const clang::FunctionDecl *findCallee(const clang::Stmt *stmt, StringRef name) {
  if (!stmt)
    return nullptr;
  if (const auto *call = dyn_cast<clang::CallExpr>(stmt))
    if (const clang::FunctionDecl *callee = call->getDirectCallee();
        callee && callee->getIdentifier() && callee->getName() == name)
      return callee;
  for (const clang::Stmt *child : stmt->children())
    if (const clang::FunctionDecl *found = findCallee(child, name))
      return found;
  return nullptr;
}
static const clang::FunctionDecl *findCallee(const clang::FunctionDecl *function, StringRef name) {
  return findCallee(function->getBody(), name);
}

std::optional<RValue> Translator::emitLibrary(const clang::CallExpr *call,
                                              const clang::FunctionDecl *callee) {
  if (const auto *method = dyn_cast<clang::CXXMethodDecl>(callee)) {
    // std::atomic_ref<T>(x).fetch_add(v)
    const clang::CXXRecordDecl *record = method->getParent();
    if (callee->getIdentifier() && record->isInStdNamespace() && (record->getName().contains("atomic")))
      return emitAtomic(callee->getName(), call);
    return std::nullopt;
  }
  if (!callee->getIdentifier() || !isOfLibrary(callee))
    return std::nullopt;
  StringRef name = callee->getName();
  if (callee->getBuiltinID())
    if (std::optional<RValue> known = emitConstant(call))
      return known;
  if (name.starts_with("__atomic_") || name.starts_with("__sync_") || name.starts_with("__hetero_atomic_") ||
      name.starts_with("__hpvm__atomic_"))
    return emitAtomic(name, call);
  name.consume_front("__builtin_");
  if (std::optional<RValue> value = emitComplexMath(name, call))
    return value;
  if (name == "expect" || name == "assume_aligned" || name == "launder" || name == "expect_with_probability")
    return emit(call->getArg(0));
  if (name == "assume" || name == "unreachable" || name == "__assert_fail" || name == "__glibcxx_assert_fail")
    return RValue();
  if (name == "is_constant_evaluated")
    return RValue::of(constant(b.getI1Type(), 0));
  // What is constant was answered above.
  if (name == "constant_p")
    return RValue::of(constant(valueType(call->getType(), b.getContext(), ast), 0));
  if ((name == "move" || name == "forward" || name == "as_const") && call->getNumArgs() == 1) {
    RValue value;
    value.kind = RValue::Reference;
    value.place = emitPlace(call->getArg(0));
    return value;
  }
  if (name == "addressof" && call->getNumArgs() == 1)
    return RValue::pointer(emitPlace(call->getArg(0)));
  auto value = [&](unsigned i) {
    const clang::Expr *arg = call->getArg(i);
    return arg->isGLValue() ? load(emitPlace(arg), arg->getBeginLoc()).scalar : emitScalar(arg);
  };
  if ((name == "min" || name == "max") && call->getNumArgs() == 2 && isScalar(call->getArg(0)->getType())) {
    // std::min is b < a ? b : a, which fixes what happens to NaN and to zeros.
    Value l = value(0), r = value(1);
    clang::QualType type = call->getArg(0)->getType();
    Value less = name == "min" ? compare(clang::BO_LT, r, l, type) : compare(clang::BO_LT, l, r, type);
    return RValue::of(arith::SelectOp::create(b, current, less, r, l));
  }
  if (name == "clamp" && call->getNumArgs() == 3 && isScalar(call->getArg(0)->getType())) {
    Value v = value(0), low = value(1), high = value(2);
    clang::QualType type = call->getArg(0)->getType();
    Value upper = arith::SelectOp::create(b, current, compare(clang::BO_LT, high, v, type), high, v);
    return RValue::of(arith::SelectOp::create(b, current, compare(clang::BO_LT, v, low, type), low, upper));
  }
  if (name == "swap" && call->getNumArgs() == 2) {
    Place l = emitPlace(call->getArg(0)), r = emitPlace(call->getArg(1));
    Place kept = materialize(load(l, call->getExprLoc()), call->getArg(0)->getType(), call->getBeginLoc());
    store(l, load(r, call->getExprLoc()), call->getExprLoc());
    store(r, load(kept, call->getExprLoc()), call->getExprLoc());
    return RValue();
  }
  if (std::optional<RValue> result = emitBytes(name, call))
    return result;
  if (std::optional<RValue> result = emitBits(name, call))
    return result;
  if (name == "minmax" && call->getNumArgs() == 2 && isScalar(call->getArg(0)->getType())) {
    // A pair of references, to copies that nobody can write to.
    Value l = value(0), r = value(1), less = compare(clang::BO_LT, r, l, call->getArg(0)->getType());
    RValue pair{RValue::Aggregate, {}, {}, {}};
    // The pair has an empty base.
    auto pieces = getPieces(call->getType(), ast);
    pair.parts.resize(pieces ? pieces->size() - 2 : 0);
    for (auto [first, second] : {std::pair(r, l), std::pair(l, r)}) {
      RValue part{RValue::Reference, {}, {}, {}};
      Value v = arith::SelectOp::create(b, current, less, first, second);
      part.place = materialize(RValue::of(v), call->getArg(0)->getType(), call->getBeginLoc());
      pair.parts.push_back(part);
    }
    return pair;
  }
  if ((name == "div" || name == "ldiv" || name == "lldiv") && call->getNumArgs() == 2 &&
      call->getType()->isRecordType()) {
    Value l = value(0), r = value(1);
    RValue both{RValue::Aggregate, {}, {}, {}};
    both.parts = {RValue::of(arith::DivSIOp::create(b, current, l, r).getResult()),
                  RValue::of(arith::RemSIOp::create(b, current, l, r).getResult())};
    return both;
  }
  // What sorts without recursion stands in the same function, for when the recursion is too deep.
  if (name == "__introsort_loop" && call->getNumArgs() == 4)
    if (const clang::FunctionDecl *heap = findCallee(callee, "__partial_sort"))
      return emitInlined(heap, {call->getArg(0), call->getArg(1), call->getArg(1), call->getArg(3)}, Place(),
                         call, nullptr);
  if (name.starts_with("__throw_")) {
    unsupported(call->getExprLoc(), "an exception of the library",
                "check before, and use '[]' instead of 'at'");
    return RValue();
  }
  if (name == "abs" || name == "labs" || name == "llabs") {
    if (call->getNumArgs() == 1 && isScalar(call->getArg(0)->getType())) {
      Value v = emitScalar(call->getArg(0));
      if (isa<IntegerType>(v.getType()))
        return RValue::of(math::AbsIOp::create(b, current, v));
      return RValue::of(math::AbsFOp::create(b, current, v));
    }
    return std::nullopt;
  }
  if (std::optional<RValue> result = emitMath(name, call))
    return result;
  return std::nullopt;
}
