// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer values of a graph or of a payload function as exprs of the plan, so that the runtime can evaluate
// extents and task counts at launch without a compiler.
#pragma once

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/targets/common/PlanBuilder.h"

namespace tessera::plan {

/// What the plan knows of values: integers as exprs, shaped values as values of the plan.
struct Env {
  Program &program;
  llvm::DenseMap<mlir::Value, ExprId> exprs;
  llvm::DenseMap<mlir::Value, int> values;
  /// For an instance's part of a value: how many leading extents of the value are the grid's.
  llvm::DenseMap<mlir::Value, unsigned> partOf;

  /// How often a loop is taken to run whose length is not known, in estimates of work.
  int64_t unknownRounds = 16;

  explicit Env(Program &program) : program(program) {}

  /// The expr of an integer or index value: known, or built from constants, extents and integer arithmetic.
  /// None when it depends on anything else.
  std::optional<ExprId> translate(mlir::Value v);
  std::optional<ExprId> translate(OpFoldResult v);
  /// Extent `d` of a shaped value that the plan knows, or that is made from one.
  std::optional<ExprId> translateDim(mlir::Value v, int64_t d);
  /// What is known inside a node, where its arguments stand for its operands or for parts of them.
  Env inside(dfg::NodeOp node);
  /// Extent `d` of what a node yields as result `r`.
  std::optional<ExprId> translateResultDim(dfg::NodeOp node, unsigned r, unsigned d);

private:
  std::optional<ExprId> build(mlir::Value v);
};

/// The plan's element type; none when it has no such.
std::optional<ElementType> elementTypeOf(Type type);
/// Where something stands in the source, "file:line:column", or the name of the model's node; may be empty.
std::string placeOf(Location loc);
/// Bytes of one element in memory.
unsigned typeBytes(Type type);

} // namespace tessera::plan
