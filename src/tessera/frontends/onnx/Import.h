// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The importer as a function: an ONNX model that the reader checked becomes a module with one graph, whose
// single leaf holds the operations of `nn`. The front end and the acceptance runner call it.
#pragma once

#include "tessera/frontends/onnx/reader/Reader.h"
#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace tessera::onnximport {

struct ImportOptions {
  /// What messages call the model, and the graph's name.
  std::string file = "model.onnx";
  /// Graph inputs whose content is known when importing; they do not become inputs of the program.
  std::map<std::string, ::tessera::onnx::Tensor> bound;
  /// An open extent of inputs that is known after all: the one of an axis, or all that bear a name in the
  /// model.
  struct Extent {
    std::string name; ///< of the input, or of the extent
    std::optional<int64_t> axis;
    int64_t size;
  };
  std::vector<Extent> extents;
  /// Problems reported together; the rest is only counted.
  size_t maxProblems = 50;
  /// Nodes after functions and loops are written out, at most.
  size_t maxNodes = 2'000'000;
};

struct Imported {
  /// Null when there were problems.
  OwningOpRef<ModuleOp> module;
  /// Each names its node.
  std::vector<std::string> problems;
  /// Graph inputs that decide shapes, or other things that must be known, and are not bound.
  std::vector<std::string> unbound;
  /// Some node uses an operator that is not supported; its name.
  std::vector<std::string> unsupported;
};

/// Emits nothing: problems are returned.
Imported importModel(const ::tessera::onnx::Model &model, const ImportOptions &options, MLIRContext *context);

/// The dialects that importModel builds.
void loadDialects(MLIRContext *context);

} // namespace tessera::onnximport
