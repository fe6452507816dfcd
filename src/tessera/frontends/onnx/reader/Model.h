// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ONNX model as plain structs: what the file says, checked for structure, with no meaning given to
// operators. The structs follow the messages of onnx.proto; what only tools for training or for clusters use
// (training information, device configurations, quantisation annotations) is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::onnx {

struct Graph;

/// Element types; the numbers are those of TensorProto.DataType.
enum class DataType : uint8_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};
inline constexpr int64_t lastDataType = 26;

/// The type's spelling in messages: "f32", "u4", "f8e4m3fn", "string".
std::string_view dataTypeName(DataType type);

/// Bits of one element in a tensor's bytes; 0 for strings and Undefined.
unsigned dataTypeBits(DataType type);

/// Number of elements of a shape, or nullopt when an extent is negative or the product (with empty extents
/// taken as 1, so that strides fit too) does not fit into 63 bits.
std::optional<int64_t> elementCount(std::span<const int64_t> dims);

/// Bytes of `count` elements, sub-byte types packed, or nullopt when they do not fit into 63 bits or the type
/// has no fixed size.
std::optional<int64_t> byteSize(DataType type, int64_t count);

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// A constant. The reader has checked that the data is as long as the shape asks for.
struct Tensor {
  std::string name, doc;
  DataType type = DataType::Undefined;
  std::vector<int64_t> dims;
  /// The elements, dense, little endian, in row-major order; a bool is a byte 0 or 1. Sub-byte types are
  /// packed as ONNX packs them, the first element in the lowest bits. Points into the model's bytes, or into
  /// `owner`; it is not aligned.
  std::span<const std::byte> data;
  /// The elements of a tensor of strings; they point into the model's bytes.
  std::vector<std::string_view> strings;
  /// Keeps `data` alive where it is not part of the model's bytes: converted, or a file of external data.
  std::shared_ptr<const void> owner;
  /// The file that holds the data, as the model names it; empty where the model itself does.
  std::string externalLocation;
  Metadata metadata;

  int64_t count() const { return elementCount(dims).value_or(0); }
};

/// The bits of element `index` of a tensor of up to 64 bits an element. `index` must be less than count().
uint64_t elementBits(const Tensor &tensor, int64_t index);

/// The elements of a tensor of a 2- or 4-bit type, a byte each: integers with their sign, floats as their
/// bits. Empty for other types.
std::vector<int8_t> unpackSubByte(const Tensor &tensor);

/// The elements of an integer or bool tensor; nullopt for other types, and for a u64 that i64 does not hold.
std::optional<std::vector<int64_t>> integerValues(const Tensor &tensor);

/// The value of element `index` of a tensor of numbers, rounded to f64 where it is an integer of 64 bits;
/// nullopt for strings and complex numbers.
std::optional<double> numberAt(const Tensor &tensor, int64_t index);

/// A tensor of mostly zeros. The reader has checked that indices are in range, ascending and not repeated.
struct SparseTensor {
  /// The non-zero elements, one-dimensional; its name is the name of the whole.
  Tensor values;
  /// i64; linear indices (one dimension) or coordinates (number of values x rank).
  Tensor indices;
  std::vector<int64_t> dims;
};

/// One extent of a type's shape: a number, a symbol, or neither (unknown). Negative numbers, which some
/// exporters write for "unknown", are read as unknown.
struct Dim {
  std::optional<int64_t> value;
  std::string param;
  std::string denotation;
};

/// The type of a value.
struct Type {
  enum class Kind : uint8_t { None, Tensor, SparseTensor, Sequence, Optional, Map };
  Kind kind = Kind::None;
  /// Of tensors and sparse tensors.
  DataType element = DataType::Undefined;
  /// Of tensors; nullopt when not even the rank is known.
  std::optional<std::vector<Dim>> shape;
  /// Of maps.
  DataType key = DataType::Undefined;
  /// The element of sequences and optionals, the value of maps; null where the file does not say.
  std::shared_ptr<const Type> inner;
  std::string denotation;
};

struct ValueInfo {
  std::string name, doc;
  Type type;
  Metadata metadata;
};

/// The numbers are those of AttributeProto.AttributeType.
enum class AttributeType : uint8_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  Type = 13,
  Types = 14,
};

/// The type's spelling in messages: "int", "floats".
std::string_view attributeTypeName(AttributeType type);

/// An attribute. A single tensor, graph, sparse tensor or type is the only element of its vector. With
/// `reference`, it stands for the attribute of that name of the function it is in, and has no value.
struct Attribute {
  std::string name, doc, reference;
  AttributeType type = AttributeType::Undefined;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparseTensors;
  std::vector<Type> types;
};

/// An operator applied to values. An empty name among inputs or outputs is one that is left out.
struct Node {
  std::string opType, name, overload, doc;
  /// "" for the standard operators, also where the file says "ai.onnx".
  std::string domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
  Metadata metadata;

  /// The attribute `name`, or null.
  const Attribute *find(std::string_view name) const;
};

/// A graph. Its nodes are in topological order, each value is defined once, and each name that is used is
/// defined here or in a graph around it.
struct Graph {
  std::string name, doc;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  std::vector<ValueInfo> inputs, outputs, valueInfo;
  Metadata metadata;
};

/// A version of a domain's operators.
struct OpsetImport {
  /// "" for the standard operators, as in Node.
  std::string domain;
  int64_t version = 0;
};

/// An operator defined by nodes.
struct Function {
  std::string name, domain, overload, doc;
  std::vector<std::string> inputs, outputs;
  /// Attributes that a call must give, and those with a default.
  std::vector<std::string> attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetImport> opsets;
  std::vector<ValueInfo> valueInfo;
  Metadata metadata;
};

struct Model {
  int64_t irVersion = 0, modelVersion = 0;
  std::vector<OpsetImport> opsets;
  std::string producerName, producerVersion, domain, doc;
  Graph graph;
  std::vector<Function> functions;
  Metadata metadata;
  /// The mapped file that tensors point into; null after parseModel.
  std::shared_ptr<const void> owner;

  /// The version imported for `domain`, or nullopt.
  std::optional<int64_t> opset(std::string_view domain = "") const;
  /// The function that a node calls, or null when it is an operator.
  const Function *function(const Node &node) const;
};

/// What an input or output of a test case may be: a tensor, or a sequence or optional of values.
struct Value {
  enum class Kind : uint8_t { Tensor, SparseTensor, Sequence, Optional };
  Kind kind = Kind::Tensor;
  std::string name;
  Tensor tensor;
  SparseTensor sparse;
  /// Elements of a sequence; none or one of an optional.
  std::vector<Value> items;
  /// As in Model.
  std::shared_ptr<const void> owner;
};

} // namespace tessera::onnx
