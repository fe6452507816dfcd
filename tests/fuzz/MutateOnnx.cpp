// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations of ONNX models that keep them readable: a model is taken apart into its messages, and nodes,
// names, extents, attributes and tensors are changed, exchanged, doubled and dropped. One in four inputs is
// mutated as bytes instead.
#include "Fuzz.h"

#include <algorithm>
#include <map>

// The names of messages are also those of the reader's classes.
namespace modelmutation {

/// The messages of an ONNX file that have others inside or that are worth changing by field.
enum Kind {
  Leaf,
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Value,
  Type,
  TensorType,
  Shape,
  Dim,
  Opset,
  Function
};

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t varint = 0;         ///< of wire type 0
  std::string bytes;           ///< of the other types; unused where there are fields
  Kind kind = Leaf;            ///< of a message inside
  std::vector<Field> children; ///< of a message inside
};

using Random = std::mt19937_64;

static Kind kindOf(Kind parent, uint32_t field) {
  static const std::map<std::pair<Kind, uint32_t>, Kind> kinds = {
      {{Model, 7}, Graph},      {{Model, 8}, Opset},      {{Model, 25}, Function}, {{Graph, 1}, Node},
      {{Graph, 5}, Tensor},     {{Graph, 11}, Value},     {{Graph, 12}, Value},    {{Graph, 13}, Value},
      {{Node, 5}, Attribute},   {{Attribute, 5}, Tensor}, {{Attribute, 6}, Graph}, {{Attribute, 10}, Tensor},
      {{Attribute, 11}, Graph}, {{Value, 2}, Type},       {{Type, 1}, TensorType}, {{TensorType, 2}, Shape},
      {{Shape, 1}, Dim},        {{Function, 7}, Node},    {{Function, 9}, Opset}};
  auto it = kinds.find({parent, field});
  return it == kinds.end() ? Leaf : it->second;
}

static bool readVarint(const std::string &in, size_t &at, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && at < in.size(); shift += 7) {
    uint8_t byte = static_cast<uint8_t>(in[at++]);
    value |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

static bool parse(const std::string &in, Kind kind, std::vector<Field> &out, int depth = 0) {
  for (size_t at = 0; at < in.size();) {
    uint64_t tag, size;
    if (!readVarint(in, at, tag))
      return false;
    Field field;
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire = tag & 7;
    if (field.wire == 0) {
      if (!readVarint(in, at, field.varint))
        return false;
    } else {
      if (field.wire == 1 || field.wire == 5)
        size = field.wire == 1 ? 8 : 4;
      else if (field.wire != 2 || !readVarint(in, at, size))
        return false;
      if (size > in.size() - at)
        return false;
      field.bytes = in.substr(at, size);
      at += size;
      Kind inside = field.wire == 2 && depth < 32 ? kindOf(kind, field.number) : Leaf;
      if (inside != Leaf && parse(field.bytes, inside, field.children, depth + 1))
        field.kind = inside;
      else
        field.children.clear();
    }
    out.push_back(std::move(field));
  }
  return true;
}

static void writeVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

static std::string write(const std::vector<Field> &fields) {
  std::string out;
  for (const Field &field : fields) {
    writeVarint(out, uint64_t(field.number) << 3 | field.wire);
    if (field.wire == 0) {
      writeVarint(out, field.varint);
      continue;
    }
    std::string inside = field.kind == Leaf ? field.bytes : write(field.children);
    if (field.wire == 2)
      writeVarint(out, inside.size());
    out += inside;
  }
  return out;
}

/// All messages of a kind in a model, with the message around each.
static void collect(Field &field, Kind kind, std::vector<Field *> &out) {
  if (field.kind == kind)
    out.push_back(&field);
  for (Field &child : field.children)
    collect(child, kind, out);
}

static Field *pick(Field &root, Kind kind, Random &random) {
  std::vector<Field *> all;
  collect(root, kind, all);
  return all.empty() ? nullptr : all[random() % all.size()];
}

/// Numbers that break arithmetic, and some that are nearly right.
static uint64_t anyNumber(uint64_t old, Random &random) {
  static const int64_t numbers[] = {0,  1,  2,  3,  4,  5,         7,         8,       16,
                                    17, 64, -1, -2, -3, INT64_MAX, INT64_MIN, 1 << 20, 1LL << 33};
  switch (random() % 4) {
  case 0:
    return old + 1;
  case 1:
    return old - 1;
  default:
    return static_cast<uint64_t>(numbers[random() % std::size(numbers)]);
  }
}

static void changeNumbers(std::string &packed, Random &random) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at < packed.size();) {
    uint64_t value;
    if (!readVarint(packed, at, value))
      return;
    values.push_back(value);
  }
  if (!values.empty() && random() % 4 == 0)
    values.pop_back();
  else if (values.empty() || random() % 4 == 0)
    values.push_back(anyNumber(0, random));
  else {
    uint64_t &value = values[random() % values.size()];
    value = anyNumber(value, random);
  }
  packed.clear();
  for (uint64_t value : values)
    writeVarint(packed, value);
}

/// A name for an operand: of another node's operand or result, or none.
static std::string anyName(Field &root, Random &random) {
  if (random() % 16 == 0)
    return "";
  Field *node = pick(root, random() % 2 ? Node : Value, random);
  if (!node)
    return "x";
  std::vector<std::string> names;
  for (const Field &field : node->children)
    if (field.number == 1 || (node->kind == Node && field.number == 2))
      names.push_back(field.bytes);
  return names.empty() ? "x" : names[random() % names.size()];
}

static void changeNode(Field &node, Field &root, Field &other, Random &random) {
  std::vector<Field *> names, op, attributes;
  for (Field &field : node.children)
    (field.number <= 2 ? names : field.number == 4 ? op : attributes).push_back(&field);
  switch (random() % 4) {
  case 0:
    if (!names.empty())
      names[random() % names.size()]->bytes = anyName(root, random);
    break;
  case 1: // Another operator over the same operands.
    if (Field *model = pick(random() % 2 ? root : other, Node, random); model && !op.empty())
      for (const Field &field : model->children)
        if (field.number == 4)
          op[0]->bytes = field.bytes;
    break;
  case 2: // One operand more or one fewer.
    if (!names.empty() && random() % 2)
      node.children.erase(node.children.begin() + (names[random() % names.size()] - node.children.data()));
    else
      node.children.insert(node.children.begin(), Field{1, 2, 0, anyName(root, random), Leaf, {}});
    break;
  default: // An attribute of another node.
    if (Field *attribute = pick(random() % 2 ? root : other, Attribute, random))
      node.children.push_back(*attribute);
  }
}

static void changeAttribute(Field &attribute, Random &random) {
  for (Field &field : attribute.children)
    if (field.number == 3 && field.wire == 0)
      field.varint = anyNumber(field.varint, random);
    else if (field.number == 8 && field.wire == 2)
      changeNumbers(field.bytes, random);
    else if (field.number == 8)
      field.varint = anyNumber(field.varint, random);
    else if (field.number == 4 && !field.bytes.empty() && random() % 2)
      field.bytes[random() % field.bytes.size()] = "abijkN.,->"[random() % 10];
}

static void changeTensor(Field &tensor, Random &random) {
  if (tensor.children.empty())
    return;
  Field &field = tensor.children[random() % tensor.children.size()];
  if (field.wire == 0) // An extent or the element type.
    field.varint = field.number == 2 ? random() % 24 : anyNumber(field.varint, random);
  else if (!field.bytes.empty() && field.number != 8)
    field.bytes[random() % field.bytes.size()] = static_cast<char>(random());
}

/// An extent becomes another number, a name or unknown.
static void changeDim(Field &dim, Random &random) {
  dim.children.clear();
  if (uint64_t how = random() % 4; how == 0)
    dim.children.push_back({2, 2, 0, std::string(1, "NTHW"[random() % 4]), Leaf, {}});
  else if (how != 1)
    dim.children.push_back({1, 0, anyNumber(random() % 8, random), "", Leaf, {}});
}

/// A message moves, is doubled or is dropped.
static void changeOrder(std::vector<Field> &fields, Random &random) {
  if (fields.empty())
    return;
  size_t at = random() % fields.size();
  switch (random() % 3) {
  case 0:
    std::swap(fields[at], fields[random() % fields.size()]);
    break;
  case 1: {
    Field copy = fields[at];
    fields.insert(fields.begin() + static_cast<long>(random() % fields.size()), std::move(copy));
    break;
  }
  default:
    fields.erase(fields.begin() + static_cast<long>(at));
  }
}

static void mutateModel(std::string &input, const std::string &otherInput, Random &random) {
  Field root, other;
  root.kind = other.kind = Model;
  if (random() % 4 == 0 || !parse(input, Model, root.children) || !parse(otherInput, Model, other.children)) {
    fuzzMutateBytes(input, otherInput, random);
    return;
  }
  for (uint64_t n = 1 + random() % 4; n; --n) {
    static const Kind kinds[] = {Node, Node, Node,  Attribute, Attribute, Tensor,
                                 Dim,  Dim,  Graph, Opset,     Node};
    Field *field = pick(root, kinds[random() % std::size(kinds)], random);
    if (!field)
      continue;
    if (field->kind == Node && random() % 8 == 0) {
      if (Field *replacement = pick(other, Node, random))
        field->children = replacement->children;
    } else if (field->kind == Node)
      changeNode(*field, root, other, random);
    else if (field->kind == Attribute)
      changeAttribute(*field, random);
    else if (field->kind == Tensor)
      changeTensor(*field, random);
    else if (field->kind == Dim)
      changeDim(*field, random);
    else
      changeOrder(field->children, random);
  }
  input = write(root.children);
}

} // namespace modelmutation

void fuzzMutate(std::string &input, const std::string &other, std::mt19937_64 &random) {
  modelmutation::mutateModel(input, other, random);
}
