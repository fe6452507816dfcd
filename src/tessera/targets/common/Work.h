// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much a node computes, as an expr of the plan: for profiles (GFLOP/s), for policies that compare
// devices, and for the decision whether a step is worth sharing out to threads. An estimate, not a promise.
#pragma once

#include "tessera/targets/common/Exprs.h"

namespace tessera::plan {

/// Float operations of one execution of the node. A loop whose length the plan does not know counts as 16
/// rounds; a call of a mathematical function as 10 operations.
ExprId countFlops(dfg::NodeOp node, Env &env);

/// The same as a number, where nothing is known of open extents and lengths: each counts once.
double countFlopsOnce(Operation *op);
/// How often that work is done: the product of the open extents of the grid, or else of the value with most
/// of them; none where all are known.
std::optional<ExprId> countOpen(dfg::NodeOp node, Env &env);

} // namespace tessera::plan
