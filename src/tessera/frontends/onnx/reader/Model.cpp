// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types with their names and sizes, elements as numbers, and look-ups in a model.
#include "tessera/frontends/onnx/reader/Model.h"
#include "tessera/base/Half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::onnx {

static constexpr struct {
  std::string_view name;
  unsigned bits;
} dataTypes[] = {{"undefined", 0},  {"f32", 32},  {"u8", 8},       {"i8", 8},         {"u16", 16},
                 {"i16", 16},       {"i32", 32},  {"i64", 64},     {"string", 0},     {"bool", 8},
                 {"f16", 16},       {"f64", 64},  {"u32", 32},     {"u64", 64},       {"c64", 64},
                 {"c128", 128},     {"bf16", 16}, {"f8e4m3fn", 8}, {"f8e4m3fnuz", 8}, {"f8e5m2", 8},
                 {"f8e5m2fnuz", 8}, {"u4", 4},    {"i4", 4},       {"f4e2m1", 4},     {"f8e8m0", 8},
                 {"u2", 2},         {"i2", 2}};
static_assert(std::size(dataTypes) == lastDataType + 1);

std::string_view dataTypeName(DataType type) { return dataTypes[static_cast<size_t>(type)].name; }
unsigned dataTypeBits(DataType type) { return dataTypes[static_cast<size_t>(type)].bits; }

std::string_view attributeTypeName(AttributeType type) {
  static constexpr std::string_view names[] = {
      "undefined", "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
      "strings",   "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types"};
  return names[static_cast<size_t>(type)];
}

std::optional<int64_t> elementCount(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : dims) {
    empty |= extent == 0;
    if (extent < 0 || __builtin_mul_overflow(product, extent ? extent : 1, &product))
      return std::nullopt;
  }
  return empty ? 0 : product;
}

std::optional<int64_t> byteSize(DataType type, int64_t count) {
  int64_t bits = dataTypeBits(type), bytes;
  if (!bits || count < 0)
    return std::nullopt;
  if (bits < 8) {
    int64_t perByte = 8 / bits;
    return count / perByte + (count % perByte != 0);
  }
  if (__builtin_mul_overflow(count, bits / 8, &bytes))
    return std::nullopt;
  return bytes;
}

uint64_t elementBits(const Tensor &tensor, int64_t index) {
  size_t bits = dataTypeBits(tensor.type), at = static_cast<size_t>(index);
  uint64_t value = 0;
  if (bits >= 8) {
    std::memcpy(&value, tensor.data.data() + at * (bits / 8), bits / 8);
    return value;
  }
  size_t perByte = 8 / bits;
  value = static_cast<uint64_t>(tensor.data[at / perByte]);
  return value >> (at % perByte * bits) & ((1u << bits) - 1);
}

static int64_t signExtend(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

static bool isSigned(DataType type) {
  return type == DataType::I8 || type == DataType::I16 || type == DataType::I32 || type == DataType::I64 ||
         type == DataType::I4 || type == DataType::I2;
}

static bool isInteger(DataType type) {
  return isSigned(type) || type == DataType::U8 || type == DataType::U16 || type == DataType::U32 ||
         type == DataType::U64 || type == DataType::U4 || type == DataType::U2 || type == DataType::Bool;
}

std::vector<int8_t> unpackSubByte(const Tensor &tensor) {
  unsigned bits = dataTypeBits(tensor.type);
  std::vector<int8_t> out;
  if (bits != 2 && bits != 4)
    return out;
  int64_t count = tensor.count();
  out.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = elementBits(tensor, i);
    out.push_back(
        static_cast<int8_t>(isSigned(tensor.type) ? signExtend(value, bits) : static_cast<int64_t>(value)));
  }
  return out;
}

std::optional<std::vector<int64_t>> integerValues(const Tensor &tensor) {
  if (!isInteger(tensor.type))
    return std::nullopt;
  int64_t count = tensor.count();
  std::vector<int64_t> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = elementBits(tensor, i);
    int64_t value =
        isSigned(tensor.type) ? signExtend(bits, dataTypeBits(tensor.type)) : static_cast<int64_t>(bits);
    if (tensor.type == DataType::U64 && value < 0)
      return std::nullopt;
    out[static_cast<size_t>(i)] = value;
  }
  return out;
}

// A float of `exponentBits` and `mantissaBits` below one sign bit, without the special values, which differ
// by type.
static double smallFloat(uint64_t bits, unsigned exponentBits, unsigned mantissaBits, int bias) {
  uint64_t mantissa = bits & ((1u << mantissaBits) - 1);
  uint64_t exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  int scale = static_cast<int>(exponent ? exponent : 1) - bias - static_cast<int>(mantissaBits);
  double value = std::ldexp(static_cast<double>(exponent ? mantissa | 1u << mantissaBits : mantissa), scale);
  return bits >> (exponentBits + mantissaBits) & 1 ? -value : value;
}

std::optional<double> numberAt(const Tensor &tensor, int64_t index) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (tensor.type == DataType::Complex128 || dataTypeBits(tensor.type) == 0)
    return std::nullopt;
  uint64_t bits = elementBits(tensor, index);
  switch (tensor.type) {
  case DataType::F32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  case DataType::F64:
    return std::bit_cast<double>(bits);
  case DataType::F16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case DataType::BF16:
    return bfloatToFloat(static_cast<uint16_t>(bits));
  case DataType::F8E4M3FN:
    return (bits & 127) == 127 ? nan : smallFloat(bits, 4, 3, 7);
  case DataType::F8E4M3FNUZ:
    return bits == 128 ? nan : smallFloat(bits, 4, 3, 8);
  case DataType::F8E5M2:
    if ((bits & 127) == 124)
      return bits & 128 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return (bits & 127) > 124 ? nan : smallFloat(bits, 5, 2, 15);
  case DataType::F8E5M2FNUZ:
    return bits == 128 ? nan : smallFloat(bits, 5, 2, 16);
  case DataType::F8E8M0:
    return bits == 255 ? nan : std::ldexp(1.0, static_cast<int>(bits) - 127);
  case DataType::F4E2M1:
    return smallFloat(bits, 2, 1, 1);
  default:
    if (!isInteger(tensor.type))
      return std::nullopt;
    return isSigned(tensor.type) ? static_cast<double>(signExtend(bits, dataTypeBits(tensor.type)))
                                 : static_cast<double>(bits);
  }
}

const Attribute *Node::find(std::string_view wanted) const {
  for (const Attribute &attribute : attributes)
    if (attribute.name == wanted)
      return &attribute;
  return nullptr;
}

std::optional<int64_t> Model::opset(std::string_view wanted) const {
  if (wanted == "ai.onnx")
    wanted = "";
  for (const OpsetImport &import : opsets)
    if (import.domain == wanted)
      return import.version;
  return std::nullopt;
}

const Function *Model::function(const Node &node) const {
  for (const Function &candidate : functions)
    if (candidate.name == node.opType && candidate.domain == node.domain &&
        candidate.overload == node.overload)
      return &candidate;
  return nullptr;
}

} // namespace tessera::onnx
