// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with a model, and where: the reader's list of problems, and the chain of functions, nodes and
// attributes that a message names. Internal to the reader.
#pragma once

#include "tessera/frontends/onnx/reader/Reader.h"

namespace tessera::onnx {

/// Where in a model the reader is. A link lives on the stack of the function that made it.
struct Context {
  const Context *outer = nullptr;
  const Function *function = nullptr;
  const Node *node = nullptr;
  const Attribute *attribute = nullptr;
  const Tensor *initializer = nullptr;
  const ValueInfo *value = nullptr;
  /// The position of a node or initializer, for those without a name.
  size_t index = 0;
};

/// "node 'a' (Conv)", or "node #3 (Conv)" for one without a name.
std::string nodeLabel(const Node &node, size_t index);

/// "function 'f': node 'a' (Conv): attribute 'value': ", or "".
std::string describe(const Context *context);

/// The problems found so far. A broken file ends reading; others are collected.
class Problems {
public:
  explicit Problems(const ReadOptions &options) : limit(options.maxProblems) {}

  void add(const Context *context, std::string_view text);
  /// Ends reading: nothing after it would make sense.
  void fatal(const Context *context, std::string_view text, StatusCode code = StatusCode::Corrupt);

  bool isFatal() const { return stopped; }
  bool full() const { return lines.size() >= limit; }
  bool empty() const { return total == 0; }
  size_t count() const { return total; }
  const std::vector<std::string> &all() const { return lines; }
  /// All problems as one failure; `name` is the file's. Success when there are none.
  Status status(const std::string &name) const;

private:
  std::vector<std::string> lines;
  size_t limit, total = 0;
  bool stopped = false;
  StatusCode code = StatusCode::InvalidArgument;
};

/// Checks what Model.h promises of a model's graphs and functions.
void verifyModel(const Model &model, Problems &problems);

} // namespace tessera::onnx
