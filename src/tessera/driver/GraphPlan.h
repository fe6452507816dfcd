// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a placed graph to the plan of an installed program: values, extents, order, and for each node the
// steps of its versions.
#pragma once

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/targets/Target.h"

namespace tessera {

/// Constants of all programs of a file, each content once.
class ConstantPool {
public:
  /// Where these bytes are; adds them, aligned to 64, when they are new.
  uint64_t add(StringRef bytes);
  const std::string &content() const { return data; }
  uint64_t savedBytes() const { return saved; }

private:
  std::string data;
  llvm::StringMap<uint64_t> known; // by SHA-256
  uint64_t saved = 0;
};

/// The elements of a constant as the runtime stores them: row-major, i1 and odd widths in whole bytes. Emits
/// a diagnostic at `op` on failure.
FailureOr<std::string> storedBytes(ElementsAttr attr, Operation *op);

/// The plan of one graph so far: everything but the steps of the nodes' versions.
struct GraphPlan {
  plan::Program program;
  plan::Env env;
  /// Index of the plan's node for each node of the graph.
  llvm::MapVector<Operation *, int> nodes;
  GraphPlan() : env(program) {}
  GraphPlan(const GraphPlan &) = delete;
};

/// Makes values and nodes for a normalised graph; with `inPlace` results may take over the memory of
/// operands. Emits a diagnostic on failure.
LogicalResult planGraph(dfg::GraphOp graph, ConstantPool &constants, bool inPlace, GraphPlan &result);

/// What the plan knows of the arguments of a node's payload. Marks those whose memory is an operand's.
plan::Env planPayload(GraphPlan &graph, dfg::NodeOp node, Payload &payload);

/// Rewrites what a plan cannot say directly into nodes: fills of buffers, views of tensors, returned values
/// that no node computes. Flattening comes before.
LogicalResult normaliseGraph(dfg::GraphOp graph);

} // namespace tessera
