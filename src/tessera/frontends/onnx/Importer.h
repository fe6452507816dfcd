// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a model's graphs: scopes of names, calls of functions, the leaf that is being filled, and the
// problems that were met.
#pragma once

#include "tessera/frontends/onnx/Context.h"
#include "tessera/frontends/onnx/Import.h"

#include <map>
#include <set>
#include <unordered_map>

namespace tessera::onnximport {

/// The names of one graph, or of the body of one call of a function.
struct Scope {
  Scope *outer = nullptr;
  std::unordered_map<std::string, Val> values;
  /// Attributes of the call, for references; null outside functions.
  const std::unordered_map<std::string, const ::tessera::onnx::Attribute *> *attributes = nullptr;
  /// What the nodes here import.
  const std::vector<::tessera::onnx::OpsetImport> *opsets = nullptr;
  unsigned depth = 0;

  Val find(const std::string &name) const;
};

/// A dimension of a tensor.
using DimOf = std::pair<Value, int64_t>;

/// One of several ways that was taken where an extent decides about a rank.
struct Decision {
  unsigned way, ways;
};
using Decisions = std::vector<Decision>;

class Importer {
public:
  Importer(const ::tessera::onnx::Model &model, const ImportOptions &options, MLIRContext *context,
           Decisions decisions = {});
  Imported run();

  /// Converts all nodes; what fails is recorded and poisons its outputs.
  void importNodes(const std::vector<Node> &nodes, Scope &scope);
  /// A graph below a node: its initializers and nodes in a new scope, whose inputs are given; its outputs.
  std::vector<Val> importBody(const ::tessera::onnx::Graph &graph, ArrayRef<Val> inputs, Scope &outer);
  /// The SSA tensor of a value; made where it is a constant. Null for a poisoned one.
  Value materialise(const Val &val, NodeContext *context = nullptr);
  /// Its elements, or null.
  KnownPtr known(const Val &val);
  Val fromTensor(const ::tessera::onnx::Tensor &tensor);
  Val fromSparse(const ::tessera::onnx::SparseTensor &sparse);
  Val fromKnown(Known known);
  Val fromValue(Value value, DataType type);
  /// The strings of a constant, or of a value that has a table; nothing for others.
  std::optional<WordTable> wordTable(const Val &x);
  Val fromWords(Value indices, std::vector<std::string> table);
  Val fromItems(std::vector<Val> items);

  void problem(std::string text);
  /// Forgets the problems behind the first `count`: what had them is not part of the program.
  void forgive(size_t count);
  /// Graph inputs that `val` was computed from.
  std::set<std::string> roots(const Val &val) const;
  /// The constant at the head of the leaf.
  Value constant(TypedAttr attr, Location loc);
  /// An extent in terms of the leaf's inputs where it follows from operations that keep extents.
  Value dimValue(Value tensor, int64_t dim);
  /// The tensor and dimension that an extent is traced to.
  DimOf traceDim(Value tensor, int64_t dim);
  /// Which of several ways to take; a later one is tried when what comes of an earlier one fails.
  unsigned decide(unsigned ways);
  /// To be called when operations are erased: what is known of their results goes, too.
  void forgetExtents() { traced.clear(); }

  const ::tessera::onnx::Model &model;
  const ImportOptions &options;
  OpBuilder b;
  Imported result;
  size_t problemCount = 0;
  /// What the last diagnostic said that an operation emitted.
  std::string said;
  /// Nodes converted so far: loops and functions multiply them.
  size_t converted = 0;
  /// Dimensions that were traced so far: once each.
  size_t traceSteps = 0;
  /// Those that were given, and those behind them that this import made.
  Decisions decisions;
  size_t decided = 0;

private:
  void importNode(const Node &node, size_t index, Scope &scope);
  void call(NodeContext &c, const ::tessera::onnx::Function &function);
  bool graphInputs(Scope &scope);
  void finish(Scope &scope);

  Block *leaf = nullptr;
  Operation *lastConstant = nullptr;
  std::vector<std::pair<Value, std::string>> ports; // block arguments that are inputs
  /// By domain and name.
  std::map<std::pair<std::string, std::string>, std::vector<const OperatorEntry *>> operators;
  std::vector<std::unique_ptr<::tessera::onnx::Tensor>> owned;
  DenseMap<Attribute, Value> constants;
  DenseMap<DimOf, Value> dims;
  DenseMap<DimOf, DimOf> traced;
  std::set<std::string> unbound, unsupported;

public:
  void needs(const std::set<std::string> &names) { unbound.insert(names.begin(), names.end()); }
  ::tessera::onnx::Tensor &keep(::tessera::onnx::Tensor tensor) {
    owned.push_back(std::make_unique<::tessera::onnx::Tensor>(std::move(tensor)));
    return *owned.back();
  }
};

} // namespace tessera::onnximport
