// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of payloads and kernels, each usable from a schedule script (transforms/schedule) and from code.
// They say why they do not apply instead of failing silently.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera::leaf {

/// Splits a full reduction into `chunks` partial ones that run in parallel and a combination of them in
/// order. The chunks depend on the extents alone, so the result has the same bits with any number of threads.
/// Returns the scf.forall over the chunks; on failure `why` says what stands against it.
FailureOr<scf::ForallOp> chunkReduction(RewriterBase &rewriter, linalg::GenericOp op, int64_t chunks,
                                        std::string &why);

/// Unrolls the loops under `root` that run a constant number of times, innermost first, while a loop's body
/// stays below `maxOps` operations and all together add at most four times as many. Returns how many were
/// unrolled.
unsigned unrollConstantLoops(Operation *root, int64_t maxTrip, int64_t maxOps);

/// Unrolls the innermost loops under `root` by a factor; a loop for what is left follows. Returns how many.
unsigned unrollInnermostLoops(Operation *root, int64_t factor);

/// Splits an innermost loop into border, interior and border, such that clamps of `iv + c` into a range
/// (arith.maxsi, arith.minsi) are gone in the interior. Returns the interior; fails when there is nothing to
/// split.
FailureOr<scf::ForOp> splitBorder(RewriterBase &rewriter, scf::ForOp loop, std::string &why);

/// Turns sums of products that a leaf computes in loops of its own (a matrix product written as a triple
/// loop) into reduction dimensions of its linalg.generic, so that they can be tiled and vectorised.
FailureOr<linalg::GenericOp> raiseReduction(RewriterBase &rewriter, linalg::GenericOp op, std::string &why);
/// What raising would make of an operation.
struct Raised {
  SmallVector<utils::IteratorType> iterators;
  SmallVector<AffineMap> inputs;
  AffineMap result;
  bool addsProducts = false; ///< it sums products of two inputs
};
/// Looks, and changes nothing.
FailureOr<Raised> findReduction(linalg::GenericOp op, std::string &why);

/// Puts a row of `lanes` instances, which must be the whole operation, into the lanes of vectors. Works for
/// bodies with loops and branches, which linalg's own vectorisation refuses.
LogicalResult vectorizeInstances(RewriterBase &rewriter, linalg::GenericOp op, int64_t lanes,
                                 std::string &why);

/// Whether that would pay: the body has loops that LLVM would not vectorise across instances, all of it has a
/// form on vectors, and lanes read neighbouring elements or at least the same row.
bool wantsLanes(linalg::GenericOp op);

/// Puts iterations of a loop over independent instances (SharedNotes::instances) that work on memory into the
/// lanes of vectors of `vectorBytes`. False, and nothing changed, where that is impossible or would not pay:
/// LLVM vectorises bodies without loops itself.
bool vectorizeLoop(RewriterBase &rewriter, scf::ForOp loop, int64_t vectorBytes);

/// Whether it would.
bool wantsLanes(scf::ForOp loop);

} // namespace tessera::leaf
