// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operators of ai.onnx.ml share: lists as attributes, classes with their labels, and what becomes of
// scores.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

inline constexpr const char *machineLearning = "ai.onnx.ml";

/// Numbers from the attribute `name`, or from the tensor `name`_as_tensor.
std::vector<double> numbersOf(NodeContext &c, StringRef name);
/// The operand as rows of numbers, N x F: a vector is one row. f64 stays, other types become f32.
Value rowsOf(NodeContext &c, Value x, DataType type);
/// The type in which rowsOf gives them.
DataType rowType(DataType type);
/// Scores (N x classes) after 'post_transform'; null after a failure.
Value transformed(NodeContext &c, Value scores, StringRef transform);
/// Labels of classes: integers, or strings.
struct Labels {
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  size_t size() const { return std::max(ints.size(), strings.size()); }
};
std::optional<Labels> labelsOf(NodeContext &c, StringRef ints, StringRef strings);
/// Output `i` is the label of each index (i64).
void setLabels(NodeContext &c, unsigned i, Value indices, const Labels &labels);
/// A vector of constants.
Value listOf(NodeContext &c, ArrayRef<double> values, DataType type);

} // namespace tessera::onnximport
