// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Legality.h.
#include "tessera/transforms/schedule/Legality.h"

#include "tessera/ir/note/Notes.h"
#include "tessera/transforms/schedule/LeafOps.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::schedule;
using transform::NamedSequenceOp;

// Upstream's steps that change the payload and keep what it computes. Those of tiling, interchanging and
// vectorisation do so together with a check of their own.
static bool isKnownStep(StringRef name) {
  static const llvm::StringSet<> known = {
      "transform.alternatives",
      "transform.apply_cse",
      "transform.apply_dce",
      "transform.apply_licm",
      "transform.apply_patterns",
      "transform.foreach",
      "transform.foreach_match",
      "transform.include",
      "transform.loop.forall_to_for",
      "transform.loop.hoist_loop_invariant_subsets",
      "transform.loop.peel",
      "transform.loop.promote_if_one_iteration",
      "transform.loop.unroll",
      "transform.sequence",
      "transform.structured.decompose",
      "transform.structured.fuse_into_containing_op",
      "transform.structured.generalize",
      "transform.structured.interchange",
      "transform.structured.tile_using_for",
      "transform.structured.tile_using_forall",
      "transform.structured.vectorize",
      "transform.tune.alternatives",
  };
  return known.contains(name);
}

// Patterns inside transform.apply_patterns.
static bool isKnownPattern(StringRef name) {
  static const llvm::StringSet<> known = {
      "canonicalization",
      "linalg.erase_unnecessary_inputs",
      "linalg.fold_unit_extent_dims_via_reshapes",
      "linalg.fold_unit_extent_dims_via_slices",
      "linalg.tiling_canonicalization",
      "memref.fold_memref_alias_ops",
      "scf.for_loop_canonicalization",
      "tensor.drop_redundant_insert_slice_rank_expansion",
      "tensor.fold_tensor_empty",
      "tensor.fold_tensor_subset_ops",
      "tensor.fold_tensor_subset_ops_into_vector_transfers",
      "tensor.merge_consecutive_insert_extract_slice",
      "tensor.reassociative_reshape_folding",
      "vector.cast_away_vector_leading_one_dim",
      "vector.drop_unit_dims_with_shape_cast",
      "vector.lower_bitcast",
      "vector.lower_broadcast",
      "vector.lower_contraction",
      "vector.lower_create_mask",
      "vector.lower_gather",
      "vector.lower_interleave",
      "vector.lower_masked_transfers",
      "vector.lower_masks",
      "vector.lower_multi_reduction",
      "vector.lower_outerproduct",
      "vector.lower_scan",
      "vector.lower_shape_cast",
      "vector.lower_transfer",
      "vector.lower_transpose",
      "vector.rank_reducing_subview_patterns",
      "vector.reduction_to_contract",
      "vector.split_transfer_full_partial",
      "vector.transfer_permutation_patterns",
      "vector.transfer_to_scf",
      "vector.unroll_from_elements",
      "vector.unroll_to_elements",
  };
  return name.consume_front("transform.apply_patterns.") && known.contains(name);
}

// What speaks against a step; empty for nothing.
static StringRef objection(Operation *step) {
  StringRef name = step->getName().getStringRef(), unknown = "nothing checks that it keeps what is computed";
  if (isa<transform::PatternDescriptorOpInterface>(step))
    return isKnownPattern(name) ? "" : unknown;
  auto interface = dyn_cast<transform::TransformOpInterface>(step);
  if (!interface || name.starts_with("transform.tessera."))
    return "";
  if (auto vectorize = dyn_cast<transform::VectorizeOp>(step);
      vectorize &&
      (!vectorize.getStaticVectorSizes().empty() || vectorize.getAssumeDynamicDimsMatchVecSizes()))
    return "with vector sizes nothing checks that no dimension is larger";
  if (auto tile = dyn_cast<transform::TileUsingForallOp>(step);
      tile && (tile.getPackedTileSizes() || tile.getPackedNumThreads()))
    return "with packed sizes nothing checks that only parallel dimensions become tasks";
  return isKnownStep(name) || !transform::doesModifyPayload(interface) ? "" : unknown;
}

LogicalResult schedule::checkSteps(ModuleOp script) {
  for (auto sequence : script.getOps<NamedSequenceOp>()) {
    if (SharedNotes::unsafe.isOn(sequence))
      continue;
    WalkResult result = sequence->walk([&](Operation *step) {
      StringRef no = step == sequence ? StringRef() : objection(step);
      if (no.empty())
        return WalkResult::advance();
      auto diag = step->emitError() << "'" << step->getName() << "' is not a checked step: " << no;
      diag.attachNote(sequence.getLoc())
          << "if you vouch for it, add '" << SharedNotes::unsafe.name << "' to the attributes of sequence '"
          << sequence.getSymName() << "'";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Checks of the payload
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> tiledDims(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size != 0)
      dims.push_back(dim);
  return dims;
}

static void addCheck(Operation *step) {
  OpBuilder b(step);
  if (isa_and_nonnull<CheckStepOp>(step->getPrevNode()))
    return;
  auto check = [&](Value target, StepKind kind, ArrayRef<int64_t> dims) {
    CheckStepOp::create(b, step->getLoc(), target, stringify(kind), dims);
  };
  if (auto tile = dyn_cast<transform::TileUsingForallOp>(step)) {
    ArrayRef<int64_t> sizes = tile.getStaticTileSizes();
    check(tile.getTarget(), StepKind::Tasks, tiledDims(sizes.empty() ? tile.getStaticNumThreads() : sizes));
  } else if (auto tile = dyn_cast<transform::TileUsingForOp>(step)) {
    check(tile.getTarget(), StepKind::Loops, tiledDims(tile.getStaticSizes()));
  } else if (auto interchange = dyn_cast<transform::InterchangeOp>(step)) {
    check(interchange.getTarget(), StepKind::Interchange, interchange.getIteratorInterchange());
  } else if (auto vectorize = dyn_cast<transform::VectorizeOp>(step)) {
    check(vectorize.getTarget(), StepKind::Vectorize, {});
  }
}

void schedule::addStepChecks(ModuleOp script) {
  for (auto sequence : script.getOps<NamedSequenceOp>())
    if (!SharedNotes::unsafe.isOn(sequence))
      sequence->walk(addCheck);
}

void schedule::printSequence(Operation *sequence, raw_ostream &os) {
  Operation *copy = sequence->clone();
  copy->walk([](CheckStepOp check) { check.erase(); });
  os << *copy << "\n";
  copy->destroy();
}
