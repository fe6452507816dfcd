// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads ONNX files. The bytes are not trusted: every length, count and nesting depth is checked, nothing
// outside the model's folder is opened, and what is returned has the structure that Model.h promises.
// Problems are collected, so that one run shows all of them.
#pragma once

#include "tessera/base/Status.h"
#include "tessera/frontends/onnx/reader/Model.h"

namespace tessera::onnx {

struct ReadOptions {
  /// Nodes in all graphs and functions together.
  size_t maxNodes = 1'000'000;
  /// Nodes, values, attributes, tensors, types and strings together: an empty one takes two bytes in a file
  /// and some hundred in memory.
  size_t maxObjects = 16'000'000;
  /// Messages within messages.
  unsigned maxDepth = 100;
  /// Dimensions of a tensor.
  size_t maxRank = 64;
  /// Problems reported together; the rest is only counted.
  size_t maxProblems = 20;
  /// Receives each problem by itself, without the file's name, where it is not null. They also are the lines
  /// of the Status.
  std::vector<std::string> *problems = nullptr;
};

/// Maps `path` and reads it; external data is looked for in its folder.
Result<Model> readModel(const std::string &path, const ReadOptions &options = {});

/// Reads a model from `bytes`, which must outlive it. Messages begin with `name`. External data is looked for
/// in `folder`; with an empty one it is refused.
Result<Model> parseModel(std::span<const std::byte> bytes, const std::string &name, const std::string &folder,
                         const ReadOptions &options = {});

/// Reads a file that holds one tensor, as the backend suite's inputs and outputs.
Result<Tensor> readTensor(const std::string &path, const ReadOptions &options = {});
Result<Tensor> parseTensor(std::span<const std::byte> bytes, const std::string &name,
                           const std::string &folder, const ReadOptions &options = {});

/// The same for a file that holds a sequence or an optional; the file does not say which, the model's type
/// does. Maps in them are refused.
Result<Value> readSequence(const std::string &path, const ReadOptions &options = {});
Result<Value> parseSequence(std::span<const std::byte> bytes, const std::string &name,
                            const std::string &folder, const ReadOptions &options = {});
Result<Value> readOptional(const std::string &path, const ReadOptions &options = {});
Result<Value> parseOptional(std::span<const std::byte> bytes, const std::string &name,
                            const std::string &folder, const ReadOptions &options = {});

/// `text` with control characters written as \xNN and cut at 120 characters, for messages.
std::string printable(std::string_view text);

} // namespace tessera::onnx
