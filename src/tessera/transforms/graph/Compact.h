// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that compute only some of the positions along one dimension of their grid. Not for users outside this
// folder.
#pragma once

#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tessera::graph {

/// Index arithmetic on gaps. Positions `p` with (p - offset) mod rate < skip are left out.
struct Gaps {
  OpBuilder &b;
  Location loc;
  Perforation by;

  Value number(int64_t n) { return arith::ConstantIndexOp::create(b, loc, n); }
  template <typename Op> Value make(Value x, int64_t y) {
    return Op::create(b, loc, x, number(y)).getResult();
  }

  /// How many positions below `n` are computed.
  Value computedBelow(Value n);
  /// The position that is computed as number `c`.
  Value position(Value c);
};

/// Called in the new body: the values that an instance yields, the extent of the dimension and how many
/// positions of it are computed.
using YieldHook = function_ref<void(SmallVectorImpl<Value> &yielded, Value extent, Value computed)>;

/// The node with the computed positions only, in front of the node itself; the last one where none would be.
/// Gathered results are as long as what is computed.
dfg::NodeOp buildCompact(RewriterBase &rewriter, dfg::NodeOp node, const Perforation &by,
                         YieldHook hook = nullptr);

} // namespace tessera::graph
