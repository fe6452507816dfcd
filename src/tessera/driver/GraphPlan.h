// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a placed graph to the plan of an installed program: values, extents, order, and for each node the
// steps of its versions.
#pragma once

#include "tessera/driver/TargetList.h"
#include "tessera/ir/dfg/Dfg.h"

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

struct FormPlan;

/// The plan of one graph so far: everything but the steps of the nodes' versions.
struct GraphPlan {
  plan::Program own;
  plan::Program &program; ///< the own one; of a form, that of its graph
  plan::Env env;
  /// Index of the plan's node for each node of the graph.
  llvm::MapVector<Operation *, int> nodes;
  /// Operations in one execution of each; the first step of each version has them.
  std::vector<plan::ExprId> flops;
  llvm::MapVector<Operation *, std::unique_ptr<FormPlan>> forms;
  /// By node of the graph and target of the version.
  DenseMap<std::pair<Operation *, StringRef>, plan::Expected> expected;
  GraphPlan() : program(own), env(program) {}
  explicit GraphPlan(plan::Program &program) : program(program), env(program) {}
  GraphPlan(const GraphPlan &) = delete;
};

/// The plan of a form: its values are those of the program, its nodes only become steps.
struct FormPlan {
  explicit FormPlan(plan::Program &program) : plan(program) {}
  GraphPlan plan;
  std::vector<int> temps; ///< that nobody outside knows
};

/// Makes values and nodes for a normalised graph; with `inPlace` results may take over the memory of
/// operands. Emits a diagnostic on failure.
LogicalResult planGraph(dfg::GraphOp graph, ConstantPool &constants, const TargetList &targets, bool inPlace,
                        GraphPlan &result);

/// The same for a form of a node that is planned in `graph`, which keeps it.
FailureOr<FormPlan *> planForm(dfg::NodeOp node, dfg::GraphOp form, ConstantPool &constants,
                               const TargetList &targets, bool inPlace, GraphPlan &graph);

/// What the plan knows of the arguments of a node's payload. Marks those whose memory is an operand's.
plan::Env planPayload(GraphPlan &graph, dfg::NodeOp node, Payload &payload);

/// Rewrites what a plan cannot say directly into nodes: fills of buffers, views of tensors, returned values
/// that no node computes. Flattening comes before.
LogicalResult normaliseGraph(dfg::GraphOp graph);
/// The same for a form of `node`; what it returns is what one of its nodes makes, never a view.
LogicalResult normaliseForm(dfg::NodeOp node, dfg::GraphOp form);

} // namespace tessera
