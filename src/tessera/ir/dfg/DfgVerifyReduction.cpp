// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of reductions, named ones and the user's own combiners.
#include "tessera/ir/dfg/DfgVerify.h"

using namespace tessera;
using namespace tessera::dfg;

// Narrow float types lack infinities, NaNs or even zero, and with them some identities.
static bool hasIdentity(ReductionKind kind, FloatType type) {
  const llvm::fltSemantics &sem = type.getFloatSemantics();
  switch (kind) {
  case ReductionKind::AddF:
    return APFloat::semanticsHasZero(sem);
  case ReductionKind::MinimumF:
    return APFloat::semanticsHasInf(sem);
  case ReductionKind::MaximumF:
    return APFloat::semanticsHasInf(sem) && APFloat::semanticsHasSignedRepr(sem);
  case ReductionKind::MinNumF:
  case ReductionKind::MaxNumF:
    return APFloat::semanticsHasNaN(sem);
  default:
    return true;
  }
}

LogicalResult dfg::verifyReductionKind(Operation *op, ReductionAttr reduction, Type element,
                                       const Twine &what) {
  if (!reduction.getKind())
    return success();
  ReductionKind kind = *reduction.getKind();
  bool wantsFloat = isFloatReduction(kind);
  if (wantsFloat != isa<FloatType>(element))
    return op->emitOpError() << "expected the reduction '" << stringifyReductionKind(kind) << "' of " << what
                             << " to combine " << (wantsFloat ? "floats" : "integers") << ", but got "
                             << element << " (dfg-r3)";
  if (wantsFloat && !hasIdentity(kind, cast<FloatType>(element))) {
    auto diag = op->emitOpError() << "expected the reduction '" << stringifyReductionKind(kind) << "' of "
                                  << what << " to have an identity, but " << element
                                  << " cannot represent it (dfg-r4)";
    diag.attachNote() << "reduce in a wider float type";
    return diag;
  }
  return success();
}

LogicalResult dfg::verifyCombinerUse(Operation *op, ReductionAttr reduction, Type element,
                                     SymbolTableCollection &symbols) {
  if (!reduction.getCombiner())
    return success();
  Operation *symbol = symbols.lookupNearestSymbolFrom(op, reduction.getCombiner());
  auto combiner = dyn_cast_if_present<CombinerOp>(symbol);
  if (!combiner) {
    auto diag =
        op->emitOpError() << "expected '" << reduction.getCombiner().getValue()
                          << "' to be a 'dfg.combiner', but got "
                          << (symbol ? "'" + symbol->getName().getStringRef().str() + "'" : "no such symbol")
                          << " (dfg-r5)";
    if (symbol)
      diag.attachNote(symbol->getLoc()) << "the symbol is defined here";
    return diag;
  }
  if (combiner.getIdentity().getType() == element)
    return success();
  auto diag = op->emitOpError() << "expected the combiner '" << combiner.getSymName() << "' to combine "
                                << element << ", but got one for " << combiner.getIdentity().getType()
                                << " (dfg-r5)";
  diag.attachNote(combiner.getLoc()) << "the combiner is defined here";
  return diag;
}

LogicalResult CombinerOp::verifyRegions() {
  Block &body = getBody().front();
  Type type = getIdentity().getType();
  if (isa<ShapedType>(type))
    return emitOpError() << "expected a combiner to combine scalars, but got " << type << " (dfg-r6)";
  if (failed(verifyEdgeType(*this, type, "the identity")))
    return failure();
  if (body.getNumArguments() != 2)
    return emitOpError() << "expected a combiner to take 2 values, but got " << body.getNumArguments()
                         << " (dfg-r6)";
  for (BlockArgument arg : body.getArguments())
    if (arg.getType() != type)
      return emitOpError() << "expected argument #" << arg.getArgNumber() << " to have the identity's type "
                           << type << ", but got " << arg.getType() << " (dfg-r6)";
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError() << "expected a combiner to end with 'dfg.yield', but got '" << body.back().getName()
                         << "' (dfg-r6)";
  if (yield.getNumOperands() != 1 || yield.getOperand(0).getType() != type) {
    auto diag = yield.emitOpError() << "expected a combiner to yield one value of the identity's type "
                                    << type << ", but got ";
    if (yield.getNumOperands() == 1)
      diag << yield.getOperand(0).getType() << " (dfg-r6)";
    else
      diag << yield.getNumOperands() << " values (dfg-r6)";
    return diag;
  }
  for (Operation &op : body.without_terminator())
    if (!isMemoryEffectFree(&op)) {
      auto diag =
          op.emitOpError() << "expected no effects in a combiner, but got an operation that may have one "
                              "(dfg-r7)";
      diag.attachNote(getLoc()) << "in this combiner";
      return diag;
    }
  return success();
}
