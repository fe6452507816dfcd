// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See LeafOps.h. Each operation calls one rewrite of transforms/leaf.
#include "tessera/transforms/schedule/LeafOps.h"

#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace tessera;
using namespace tessera::schedule;

static ParseResult parseKernelAndLimits(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &kernel,
                                        IntegerAttr &maxTrip, IntegerAttr &maxOps, ParsedParams &params) {
  return failure(parser.parseOperand(kernel) ||
                 parseNumbers(parser, {{"max_trip", maxTrip}, {"max_ops", maxOps}}, params));
}

static void printKernelAndLimits(OpAsmPrinter &printer, Operation *, Value kernel, IntegerAttr maxTrip,
                                 IntegerAttr maxOps, OperandRange params) {
  printer << kernel;
  printNumbers(printer, {{"max_trip", maxTrip, 16}, {"max_ops", maxOps, 2048}}, params);
}

#define GET_OP_CLASSES
#include "tessera/transforms/schedule/LeafOps.cpp.inc"

// Applies a rewrite to each linalg.generic of a handle and collects what it makes.
template <typename OpTy, typename Rewrite>
static DiagnosedSilenceableFailure
applyToGenerics(OpTy op, transform::TransformRewriter &rewriter, transform::TransformResults &results,
                transform::TransformState &state, StringRef verb, Rewrite rewrite) {
  SmallVector<Operation *> made;
  for (Operation *payload : state.getPayloadOps(op.getTarget())) {
    auto generic = dyn_cast<linalg::GenericOp>(payload);
    std::string why = "it is not a linalg.generic";
    FailureOr<Operation *> result = failure();
    if (generic)
      result = rewrite(generic, why);
    if (failed(result)) {
      auto diag = op.emitSilenceableError() << "cannot " << verb << ": " << why;
      diag.attachNote(payload->getLoc()) << "payload op";
      return diag;
    }
    made.push_back(*result);
  }
  results.set(cast<OpResult>(op->getResult(0)), made);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ChunkReductionOp::apply(transform::TransformRewriter &rewriter,
                                                    transform::TransformResults &results,
                                                    transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t chunks = numbers.read("chunks", getChunks());
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  return applyToGenerics(*this, rewriter, results, state, "split the reduction",
                         [&](linalg::GenericOp g, std::string &why) -> FailureOr<Operation *> {
                           FailureOr<scf::ForallOp> f = leaf::chunkReduction(rewriter, g, chunks, why);
                           if (failed(f))
                             return failure();
                           return f->getOperation();
                         });
}

DiagnosedSilenceableFailure RaiseReductionOp::apply(transform::TransformRewriter &rewriter,
                                                    transform::TransformResults &results,
                                                    transform::TransformState &state) {
  return applyToGenerics(*this, rewriter, results, state, "raise the loop",
                         [&](linalg::GenericOp g, std::string &why) -> FailureOr<Operation *> {
                           FailureOr<linalg::GenericOp> r = leaf::raiseReduction(rewriter, g, why);
                           if (failed(r))
                             return failure();
                           return r->getOperation();
                         });
}

DiagnosedSilenceableFailure PeelRestOp::apply(transform::TransformRewriter &rewriter,
                                              transform::TransformResults &results,
                                              transform::TransformState &state) {
  SmallVector<Operation *> mains, rests;
  for (Operation *payload : state.getPayloadOps(getTarget())) {
    auto loop = dyn_cast<scf::ForOp>(payload);
    if (!loop) {
      auto diag = emitSilenceableError() << "cannot split off the rest: it is not an scf.for";
      diag.attachNote(payload->getLoc()) << "payload op";
      return diag;
    }
    mains.push_back(loop);
    scf::ForOp rest;
    if (succeeded(scf::peelForLoopAndSimplifyBounds(rewriter, loop, rest)))
      rests.push_back(rest);
  }
  results.set(cast<OpResult>(getMain()), mains);
  results.set(cast<OpResult>(getRest()), rests);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure VectorizeInstancesOp::apply(transform::TransformRewriter &rewriter,
                                                        transform::TransformResults &,
                                                        transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t lanes = numbers.read("lanes", getLanes(), 2);
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  SmallVector<linalg::GenericOp> rows;
  for (Operation *payload : state.getPayloadOps(getTarget()))
    payload->walk([&](linalg::GenericOp op) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      if (!ranges.empty() && ranges.back() == lanes &&
          llvm::all_of(ArrayRef(ranges).drop_back(), [](int64_t r) { return r == 1; }))
        rows.push_back(op);
    });
  for (linalg::GenericOp row : rows) {
    Location loc = row.getLoc();
    std::string why;
    if (failed(leaf::vectorizeInstances(rewriter, row, lanes, why))) {
      auto diag = emitSilenceableError() << "cannot put instances into lanes: " << why;
      diag.attachNote(loc) << "payload op";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void VectorizeInstancesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getParamsMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure VectorizeLoopsOp::apply(transform::TransformRewriter &rewriter,
                                                    transform::TransformResults &,
                                                    transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t bytes = numbers.read("bytes", getBytes(), 8);
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  for (Operation *payload : state.getPayloadOps(getTarget())) {
    SmallVector<scf::ForOp> loops;
    payload->walk([&](scf::ForOp loop) {
      if (SharedNotes::instances.isOn(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      (void)leaf::vectorizeLoop(rewriter, loop, bytes);
  }
  return DiagnosedSilenceableFailure::success();
}

void VectorizeLoopsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getParamsMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure UnrollConstantLoopsOp::apply(transform::TransformRewriter &,
                                                         transform::TransformResults &,
                                                         transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t maxTrip = numbers.read("max_trip", getMaxTrip()), maxOps = numbers.read("max_ops", getMaxOps());
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  for (Operation *payload : state.getPayloadOps(getTarget()))
    leaf::unrollConstantLoops(payload, maxTrip, maxOps);
  return DiagnosedSilenceableFailure::success();
}

void UnrollConstantLoopsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getParamsMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure UnrollInnermostOp::apply(transform::TransformRewriter &,
                                                     transform::TransformResults &,
                                                     transform::TransformState &state) {
  NumberReader numbers(*this, state, getParams());
  int64_t factor = numbers.read("by", getFactor(), 2);
  if (auto diag = numbers.take(); !diag.succeeded())
    return diag;
  for (Operation *payload : state.getPayloadOps(getTarget()))
    leaf::unrollInnermostLoops(payload, factor);
  return DiagnosedSilenceableFailure::success();
}

void UnrollInnermostOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getParamsMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure SplitBordersOp::apply(transform::TransformRewriter &rewriter,
                                                  transform::TransformResults &,
                                                  transform::TransformState &state) {
  for (Operation *payload : state.getPayloadOps(getTarget())) {
    SmallVector<scf::ForOp> loops;
    payload->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::string why;
      (void)leaf::splitBorder(rewriter, loop, why);
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void SplitBordersOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static constexpr StepKind stepKinds[] = {StepKind::Tasks, StepKind::Loops, StepKind::Interchange,
                                         StepKind::Vectorize};

StringRef schedule::stringify(StepKind kind) {
  switch (kind) {
  case StepKind::Tasks:
    return "tasks";
  case StepKind::Loops:
    return "loops";
  case StepKind::Interchange:
    return "interchange";
  case StepKind::Vectorize:
    return "vectorize";
  }
  llvm_unreachable("unknown step");
}

// The dimensions along which an operation reduces in an order that is part of its meaning.
static SmallVector<int64_t> orderedDims(linalg::LinalgOp op) {
  SmallVector<int64_t> dims;
  if (SharedNotes::ordered.isOn(op))
    for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (type == utils::IteratorType::reduction)
        dims.push_back(dim);
  return dims;
}

// What speaks against a step for an operation; empty for nothing.
static std::string objection(Operation *op, StepKind kind, ArrayRef<int64_t> dims) {
  static constexpr llvm::StringLiteral fold = "the order of the reduction is part of its meaning (fold)";
  if (kind == StepKind::Tasks) {
    auto tiled = dyn_cast<TilingInterface>(op);
    SmallVector<utils::IteratorType> types =
        tiled ? tiled.getLoopIteratorTypes() : SmallVector<utils::IteratorType>();
    for (int64_t dim : dims)
      if (dim < int64_t(types.size()) && types[dim] != utils::IteratorType::parallel)
        return "cannot make tasks of dimension " + std::to_string(dim) +
               ": it is a reduction, whose parts would write the same elements";
    return "";
  }
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  SmallVector<int64_t> ordered = linalg ? orderedDims(linalg) : SmallVector<int64_t>();
  if (ordered.empty())
    return "";
  if (kind == StepKind::Loops) {
    // Blocks of the outermost one are visited in order; of another one, they would be so for each of its
    // values.
    for (int64_t dim : ArrayRef(ordered).drop_front())
      if (llvm::is_contained(dims, dim))
        return "cannot tile dimension " + std::to_string(dim) + ": " + fold.str();
  } else if (kind == StepKind::Interchange) {
    SmallVector<int64_t> moved;
    for (int64_t dim : dims)
      if (llvm::is_contained(ordered, dim))
        moved.push_back(dim);
    if (moved != ordered)
      return "cannot interchange dimensions: " + fold.str();
  } else {
    SmallVector<int64_t> ranges = linalg.getStaticLoopRanges();
    for (int64_t dim : ordered)
      if (ranges[dim] != 1)
        return "cannot vectorise along dimension " + std::to_string(dim) + ": " + fold.str();
  }
  return "";
}

DiagnosedSilenceableFailure CheckStepOp::apply(transform::TransformRewriter &, transform::TransformResults &,
                                               transform::TransformState &state) {
  for (StepKind kind : stepKinds) {
    if (getStep() != stringify(kind))
      continue;
    for (Operation *payload : state.getPayloadOps(getTarget())) {
      std::string no = objection(payload, kind, getDims());
      if (no.empty())
        continue;
      auto diag = emitSilenceableError() << no;
      diag.attachNote(payload->getLoc()) << "payload op";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void CheckStepOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsPayload(effects);
}
