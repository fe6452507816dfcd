// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's own operations for reductions. `__hetero_combine(&all, one, function, identity)` makes a
// `dfg.combiner` of the function. In the node stands a note, a cast of the two values that names the
// combiner, so that reductions are found as those of the language are; what is left of the notes is written
// out.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::heterocpp;

static constexpr llvm::StringLiteral noteName = "combiner";

namespace {
/// The body of an operation on two numbers.
class CombinerTranslator : public Translator {
public:
  using Translator::Translator;

  Storage *capture(const clang::ValueDecl *decl, clang::SourceLocation at) override {
    unsupported(at, "'" + decl->getNameAsString() + "' in an operation that combines",
                "use its two parameters and constants");
    return nullptr;
  }
  Object *allocate(clang::QualType, clang::SourceLocation at) override {
    unsupported(at, "an array in an operation that combines", "use numbers");
    Unit unit{b.getI8Type(), 1};
    return makeObject(memref::AllocOp::create(b, current, MemRefType::get({1}, unit.type)), unit, nullptr);
  }
  void take(const clang::ParmVarDecl *param, Value v) { slots[declare(param)->slot] = v; }
  /// The value that the function returns.
  Value run(const clang::FunctionDecl *function) {
    Frame &frame = frames.back();
    frame.function = function;
    frame.result = own(makeStorage(function->getReturnType(), function->getLocation()));
    frame.returned = newSlot(constant(b.getI1Type(), 0));
    unsigned slot = frame.result->slot;
    emitStmt(function->getBody());
    return slots[slot];
  }
};
} // namespace

FlatSymbolRefAttr GraphBuilder::addCombiner(const clang::CallExpr *call, const clang::FunctionDecl *function,
                                            TypedAttr identity) {
  auto refuse = [&](const Twine &what, const Twine &remedy) {
    level.failed = true;
    diag.emitError(call->getArg(2)->getBeginLoc(), what);
    diag.note(function ? function->getLocation() : call->getArg(2)->getBeginLoc(), remedy);
    return FlatSymbolRefAttr();
  };
  if (!function || !function->getBody(function))
    return refuse("expected '__hetero_combine' to name a function whose body is here, but got something else",
                  "write a function of two numbers in this file or in a header");
  Type type = valueType(function->getReturnType(), b.getContext(), ast);
  if (function->getNumParams() != 2 || !type || type.isInteger(1) ||
      llvm::any_of(function->parameters(), [&](const clang::ParmVarDecl *param) {
        return valueType(param->getType(), b.getContext(), ast) != type;
      }))
    return refuse("expected '" + function->getNameAsString() +
                      "' to combine two numbers to one of the same type, but got '" +
                      function->getType().getAsString(ast.getPrintingPolicy()) + "'",
                  "declare it as 'T combine(T a, T b)' with a number T other than bool");
  dfg::CombinerOp &made = combiners[function];
  if (!made) {
    std::string name = function->getNameAsString(), tried = name;
    for (unsigned i = 1; module.lookupSymbol(tried); ++i)
      tried = name + "." + std::to_string(i);
    OpBuilder inner = OpBuilder::atBlockEnd(module.getBody());
    Location loc = level.getLoc(function->getLocation());
    made = dfg::CombinerOp::create(inner, loc, tried, identity);
    Block *block = inner.createBlock(&made.getBody(), {}, {type, type}, {loc, loc});
    CombinerTranslator translator(inner, ast, diag);
    for (unsigned i : {0u, 1u})
      translator.take(function->getParamDecl(i), block->getArgument(i));
    Value combined = translator.run(function);
    dfg::YieldOp::create(inner, loc, combined);
    level.failed |= translator.failed;
  } else if (made.getIdentity() != identity) {
    return refuse("'" + function->getNameAsString() + "' is given another identity than before",
                  "an operation has one identity: the value that changes nothing");
  }
  return FlatSymbolRefAttr::get(made.getSymNameAttr());
}

// The function that an argument names, or the body of a lambda that becomes one.
static const clang::FunctionDecl *getFunction(const clang::Expr *expr) {
  while (true) {
    const clang::Expr *inner = expr->IgnoreParenCasts()->IgnoreImplicit();
    if (const auto *unary = dyn_cast<clang::UnaryOperator>(inner))
      inner = unary->getSubExpr();
    else if (const auto *conversion = dyn_cast<clang::CXXMemberCallExpr>(inner))
      inner = conversion->getImplicitObjectArgument();
    if (inner == expr)
      break;
    expr = inner;
  }
  if (const auto *lambda = dyn_cast<clang::LambdaExpr>(expr))
    return lambda->getCallOperator();
  const auto *ref = dyn_cast<clang::DeclRefExpr>(expr);
  return ref ? dyn_cast<clang::FunctionDecl>(ref->getDecl()) : nullptr;
}

void Translator::emitCombine(const clang::CallExpr *call) {
  Value one = emitScalar(call->getArg(1));
  Place place = emit(call->getArg(0)).place;
  place.type = call->getArg(0)->getType()->getPointeeType();
  RValue all = load(place, call->getExprLoc());
  std::optional<RValue> identity = emitConstant(call->getArg(3));
  TypedAttr known;
  if (!identity || !identity->scalar || !matchPattern(identity->scalar, m_Constant(&known))) {
    unsupported(call->getArg(3)->getBeginLoc(), "an identity that is no constant",
                "give the value that changes nothing as a literal or a constexpr");
    return;
  }
  FlatSymbolRefAttr combiner = findCombiner(call, getFunction(call->getArg(2)), known);
  if (!combiner || !all.scalar) {
    failed = true;
    return;
  }
  auto reduction = dfg::ReductionAttr::get(b.getContext(), std::nullopt, combiner);
  store(place, RValue::of(buildCombination(b, current, reduction, all.scalar, one)), call->getExprLoc());
}

Value heterocpp::buildCombination(OpBuilder &b, Location loc, dfg::ReductionAttr reduction, Value all,
                                  Value one) {
  if (reduction.getKind())
    return dfg::buildCombine(b, loc, *reduction.getKind(), all, one);
  auto note = UnrealizedConversionCastOp::create(b, loc, all.getType(), ValueRange{all, one});
  note->setAttr(noteName, reduction.getCombiner());
  return note.getResult(0);
}

FlatSymbolRefAttr heterocpp::getCombiner(Operation *op) {
  return isa<UnrealizedConversionCastOp>(op) ? op->getAttrOfType<FlatSymbolRefAttr>(noteName)
                                             : FlatSymbolRefAttr();
}

void heterocpp::expandCombinations(ModuleOp module) {
  SmallVector<Operation *> notes;
  module.walk([&](UnrealizedConversionCastOp op) {
    if (getCombiner(op))
      notes.push_back(op);
  });
  for (Operation *note : notes) {
    OpBuilder b(note);
    auto reduction = dfg::ReductionAttr::get(note->getContext(), std::nullopt, getCombiner(note));
    note->getResult(0).replaceAllUsesWith(
        dfg::buildCombine(b, note->getLoc(), reduction, note->getOperand(0), note->getOperand(1), module));
    note->erase();
  }
}
