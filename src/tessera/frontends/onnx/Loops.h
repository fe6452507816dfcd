// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that stay loops, and what branches and loops share.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

/// The operand that gives a dynamic extent of an operation's result; null where it is computed otherwise.
Value extentOperand(Operation *def, int64_t d);
/// Where an extent comes from, one operation further: from one dimension, or from several that are aligned at
/// the innermost one, of which those that are not 1 are equal. From nowhere when the operation makes it.
SmallVector<std::pair<Value, int64_t>, 2> sourcesOf(std::pair<Value, int64_t> of);

/// A part of a body failed and said so: the node only hands the failure on.
bool poisoned(NodeContext &c, ArrayRef<Val> values);
/// The only element of a tensor; null when it has none or several, which was then said.
Value scalarOf(NodeContext &c, Value t);

/// Loop whose number of steps is not known: it carries values of fixed types, and collects one of each step
/// in tensors that are made before the first.
void whileLoop(NodeContext &c, const ::tessera::onnx::Graph &graph);

/// A Scan's words; `inputAxes` and the like have an entry for each of its inputs and outputs.
struct ScanShape {
  size_t states = 0, inputs = 0, outputs = 0;
  SmallVector<int64_t> inputAxes, outputAxes, inputDirections, outputDirections;
};
/// Scan over sequences of a length that is only known at launch; gives states, then stacked outputs.
std::vector<Val> scanLoop(NodeContext &c, const ::tessera::onnx::Graph &graph, ArrayRef<Val> inputs,
                          const ScanShape &s);

} // namespace tessera::onnximport
