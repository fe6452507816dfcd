// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From bytes to the structs of Model.h, message by message. Internal to the reader: it checks that the bytes
// are well formed and that each tensor has its data; how the parts of a graph fit together is verifyModel's
// affair.
#pragma once

#include "tessera/base/File.h"
#include "tessera/frontends/onnx/reader/Problems.h"
#include "tessera/frontends/onnx/reader/Wire.h"

#include <map>

namespace tessera::onnx {

/// Finds the files of external data, in one folder and nowhere else.
class ExternalFiles {
public:
  explicit ExternalFiles(std::string folder) : folder(std::move(folder)) {}
  /// Maps the file at `location`, relative to the folder; each file once.
  Result<std::shared_ptr<const MappedFile>> open(const std::string &location);

private:
  std::string folder;
  std::map<std::string, std::shared_ptr<const MappedFile>> files;
};

/// A TensorProto's data as it stands in the file; its fields come in any order, so it is understood at the
/// end.
struct RawTensor {
  int64_t dataType = 0, dataLocation = 0;
  bool hasSegment = false;
  std::optional<Bytes> raw;
  /// Runs of elements; one packed field is one run, as is each element that is not packed.
  std::vector<Bytes> floats, doubles, int32s, int64s, uint64s;
  std::vector<std::string_view> strings;
  Metadata external;
};

class Parser {
public:
  Parser(Bytes file, const std::string &folder, const ReadOptions &options, Problems &problems)
      : options(options), problems(problems), begin(file.data()), external(folder) {}

  void model(Bytes bytes, Model &out);
  void tensor(Bytes bytes, Tensor &out);
  void sequence(Bytes bytes, Value &out, bool optional);

private:
  class Message;
  class Push;

  void graph(Bytes bytes, Graph &out);
  void function(Bytes bytes, Function &out);
  void node(Bytes bytes, Node &out);
  void attribute(Bytes bytes, Attribute &out);
  void finishAttribute(Attribute &out, int64_t type, uint32_t fields);
  void valueInfo(Bytes bytes, ValueInfo &out);
  void type(Bytes bytes, Type &out);
  void tensorType(Bytes bytes, Type &out);
  void innerType(Bytes bytes, Type &out, const char *name, uint32_t innerField);
  void shape(Bytes bytes, std::vector<Dim> &out);
  void opset(Bytes bytes, OpsetImport &out);
  void entry(Bytes bytes, Metadata &out);
  void sparse(Bytes bytes, SparseTensor &out);
  void finishSparse(SparseTensor &out);
  void addNode(Bytes bytes, std::vector<Node> &out);
  DataType dataType(int64_t number);

  // Data.cpp: the elements of a tensor.
  void finishTensor(RawTensor &raw, Tensor &out);
  void readExternal(const RawTensor &raw, int64_t needed, Tensor &out);
  void readStrings(RawTensor &raw, int64_t count, Tensor &out);
  void readWords(const std::vector<Bytes> &runs, Tensor &out);
  void readVarints(const std::vector<Bytes> &runs, const char *field, Tensor &out);
  void normalizeBools(Tensor &out);
  bool checkShape(const Tensor &tensor);

  void count(size_t objects = 1);
  void problem(std::string_view text) { problems.add(context, text); }

  const ReadOptions &options;
  Problems &problems;
  const std::byte *begin;
  ExternalFiles external;
  const Context *context = nullptr;
  unsigned depth = 0;
  size_t objects = 0, nodes = 0;
};

} // namespace tessera::onnx
