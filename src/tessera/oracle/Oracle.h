// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter: what a program means. It executes dfg graphs and host functions directly, one
// operation after the other, and shares no lowering with the back ends. Whatever the language leaves
// undefined (an index out of bounds, a division by zero, an element read before it was written, a race
// between instances) is reported as an error at the operation, never guessed.
//
// Choices it makes where a back end is free: instances run in row-major order, between two barriers too.
// `reduce` with a named float sum or product (and `dfg.accumulate` into such a port) collects in double, for
// f64 in long double, and rounds once at the end; all other reductions, and `fold`, combine in the element's
// type in row-major order, starting from the identity. Functions of the math dialect are computed with more
// precision than the type has and rounded once. Operations of the nn dialect compute in double and round once
// (nn/Nn.h). Fast-math flags are ignored. A launch runs at once. NaN has
// no particular payload.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <deque>
#include <memory>
#include <vector>

namespace tessera::oracle {

/// An array that goes in or comes out: row-major, little endian, scalars with an empty shape. An element
/// takes the next power of two of bytes that holds its width (`i1` one, `index` eight).
struct Array {
  Type elementType;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// Bytes of one element in an `Array`.
size_t elementBytes(Type elementType);

struct Options {
  /// Two instances that touch one element without order, one of them writing, are an error.
  bool detectRaces = true;
  /// Operations executed at most; 0 for no limit.
  uint64_t maxSteps = 0;
  /// Elements of one tensor or buffer at most.
  int64_t maxElements = int64_t(1) << 28;
};

/// Runs one activation of a graph. Memref inputs are copied in; memref results are copied out. On failure,
/// errors have been emitted at the operations they concern.
FailureOr<std::vector<Array>> runGraph(dfg::GraphOp graph, ArrayRef<Array> inputs,
                                       const Options &options = {});

/// Runs a host function of the same module as its graphs.
FailureOr<std::vector<Array>> runFunction(func::FuncOp function, ArrayRef<Array> inputs,
                                          const Options &options = {});

/// The results of one operation without regions on constants: null entries of `operands` are unknown, and
/// then there are no results. Fails silently when the operation has no meaning for these values, as a
/// division by zero has none, or when the oracle does not know it. Tensors come back as dense elements.
FailureOr<SmallVector<TypedAttr>> evaluate(Operation *op, ArrayRef<Attribute> operands);

class Interpreter;
struct GraphStates;

/// A graph opened as a stream: each push is one activation, executed at once; results are popped in order.
/// The module must outlive it and not change.
class Stream {
public:
  explicit Stream(dfg::GraphOp graph, const Options &options = {});
  Stream(Stream &&) noexcept;
  ~Stream();

  /// Runs one more activation.
  LogicalResult push(ArrayRef<Array> inputs);
  /// The results of the oldest activation that was not popped; fails when there is none.
  FailureOr<std::vector<Array>> pop();

private:
  dfg::GraphOp graph;
  std::unique_ptr<Interpreter> interpreter;
  std::unique_ptr<GraphStates> states;
  std::deque<std::vector<Array>> ready;
};

} // namespace tessera::oracle
