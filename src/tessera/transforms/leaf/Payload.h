// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node of the graph as a function over buffers: the payload that schedule scripts work on and
// targets lower. The grid of a leaf becomes a linalg.generic where it can, otherwise an scf.forall over the
// instances; a group becomes an scf.forall with its children inside.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// What the caller must pass for one argument of a payload function.
struct PayloadArg {
  enum Kind {
    Operand, ///< a value of the graph: a tensor or memref as a memref, a scalar as itself
    Result   ///< memory for a result that the instances yield; a scalar as a memref of rank 0
  } kind;
  Value operand;       ///< of kind Operand
  unsigned result = 0; ///< of kind Result
};

struct PayloadOptions {
  /// Chunks of a reduction's grid. They depend on the grid alone, so that results do not depend on threads.
  int64_t reductionChunks = 64;
  /// Private copies of a buffer that instances accumulate into, unless it has more elements than the second
  /// figure.
  int64_t accumulateChunks = 16, maxPrivateElements = 1 << 20;
  /// Copies for one chunk, a power of two, of a buffer of at most so many elements.
  int64_t accumulateLanes = 4, maxLaneElements = 4096;
  /// Let float multiplications and additions contract into fused ones, and ignore the sign of zero in maxima.
  bool contract = true;
};

struct Payload {
  func::FuncOp func;
  SmallVector<PayloadArg> args;
};

/// Builds the function `name` for `node` at the end of `module`. Emits a diagnostic on failure. Operands that
/// are constants of the graph are copied into the function instead of becoming arguments.
FailureOr<Payload> buildPayload(dfg::NodeOp node, StringRef name, ModuleOp module,
                                const PayloadOptions &options);

} // namespace tessera
