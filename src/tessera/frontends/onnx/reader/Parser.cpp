// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function a message of onnx.proto. Unknown fields are skipped, as the format asks; a known field of
// another wire type, or a single message given twice, is refused instead of merged, since no writer of ONNX
// makes one.
#include "tessera/frontends/onnx/reader/Parser.h"

#include <algorithm>

namespace tessera::onnx {

//===--- Helpers ---===//

/// A message being read: its fields one after the other, until the end or the first fatal problem.
class Parser::Message {
public:
  Message(Parser &parser, const char *name, Bytes bytes) : parser(parser), name(name), reader(bytes) {
    if (++parser.depth > parser.options.maxDepth)
      parser.problems.fatal(parser.context,
                            concat("messages are nested more than ", parser.options.maxDepth, " deep"));
  }
  ~Message() { --parser.depth; }

  bool next() {
    if (parser.problems.isFatal())
      return false;
    if (reader.next(field))
      return true;
    if (reader.error())
      broken(concat("has ", reader.error()));
    return false;
  }
  uint32_t number() const { return field.number; }
  Bytes raw() const { return field.bytes; }

  /// The content of a field with a length.
  Bytes bytes() { return expect(Wire::Length) ? field.bytes : Bytes(); }
  std::string_view view() {
    Bytes b = bytes();
    return {reinterpret_cast<const char *>(b.data()), b.size()};
  }
  std::string text() { return std::string(view()); }
  void text(std::vector<std::string> &out) {
    parser.count();
    if (!parser.problems.isFatal())
      out.push_back(text());
  }
  int64_t integer() { return expect(Wire::Varint) ? static_cast<int64_t>(field.word) : 0; }
  float real() { return expect(Wire::Fixed32) ? std::bit_cast<float>(static_cast<uint32_t>(field.word)) : 0; }
  /// The content of a message that may appear once.
  Bytes once(bool &seen) {
    if (seen)
      broken(concat("gives field ", field.number, " twice"));
    seen = true;
    return bytes();
  }
  /// A run of elements of a repeated field, packed or single.
  void run(std::vector<Bytes> &out, Wire element) {
    if (field.wire != Wire::Length && !expect(element))
      return;
    // A word of a fixed size must not be cut: later code divides by it.
    size_t size = element == Wire::Fixed32 ? 4 : element == Wire::Fixed64 ? 8 : 1;
    if (field.bytes.size() % size)
      return broken(concat("has a packed field of ", field.bytes.size(), " bytes, not a multiple of ", size));
    if (!field.bytes.empty())
      out.push_back(field.bytes);
  }
  void integers(std::vector<int64_t> &out) {
    if (field.wire != Wire::Length) {
      out.push_back(integer());
      return;
    }
    WireReader packed(field.bytes);
    for (uint64_t value; !packed.atEnd();) {
      if (!packed.varint(value))
        return broken(concat("has ", packed.error()));
      out.push_back(static_cast<int64_t>(value));
    }
  }
  void reals(std::vector<float> &out) {
    std::vector<Bytes> runs;
    run(runs, Wire::Fixed32);
    for (Bytes b : runs) {
      size_t old = out.size();
      out.resize(old + b.size() / 4);
      std::memcpy(out.data() + old, b.data(), b.size());
    }
  }
  void broken(std::string_view what) {
    parser.problems.fatal(parser.context, concat("broken file: the ", name, " field at byte ",
                                                 reader.fieldStart() - parser.begin, " ", what));
  }

private:
  bool expect(Wire wire) {
    if (field.wire == wire)
      return true;
    broken(concat("(number ", field.number, ") has wire type ", static_cast<int>(field.wire), ", expected ",
                  static_cast<int>(wire)));
    return false;
  }

  Parser &parser;
  const char *name;
  WireReader reader;
  Field field;
};

/// Names a function, node, attribute or initializer in messages while it lives.
class Parser::Push {
public:
  Push(Parser &parser, Context link) : parser(parser), link(link) {
    this->link.outer = parser.context;
    parser.context = &this->link;
  }
  ~Push() { parser.context = link.outer; }

private:
  Parser &parser;
  Context link;
};

void Parser::count(size_t n) {
  objects += n;
  if (objects > options.maxObjects)
    problems.fatal(context, concat("more than ", options.maxObjects, " nodes, values and attributes"),
                   StatusCode::Unsupported);
}

DataType Parser::dataType(int64_t number) {
  if (number >= 0 && number <= lastDataType)
    return static_cast<DataType>(number);
  problem(concat("unknown element type ", number));
  return DataType::Undefined;
}

static std::string standardDomain(std::string domain) { return domain == "ai.onnx" ? std::string() : domain; }

//===--- Models, graphs, functions ---===//

void Parser::model(Bytes bytes, Model &out) {
  bool hasGraph = false;
  Message m(*this, "ModelProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      out.irVersion = m.integer();
      break;
    case 2:
      out.producerName = m.text();
      break;
    case 3:
      out.producerVersion = m.text();
      break;
    case 4:
      out.domain = m.text();
      break;
    case 5:
      out.modelVersion = m.integer();
      break;
    case 6:
      out.doc = m.text();
      break;
    case 7:
      graph(m.once(hasGraph), out.graph);
      break;
    case 8:
      opset(m.bytes(), out.opsets.emplace_back());
      break;
    case 14:
      entry(m.bytes(), out.metadata);
      break;
    case 25: {
      Function one;
      function(m.bytes(), one);
      out.functions.push_back(std::move(one));
      break;
    }
    }
  if (!hasGraph && !problems.isFatal())
    problems.fatal(context, "holds no graph; is it an ONNX model?");
}

void Parser::graph(Bytes bytes, Graph &out) {
  Message m(*this, "GraphProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      addNode(m.bytes(), out.nodes);
      break;
    case 2:
      out.name = m.text();
      break;
    case 5: {
      Tensor one;
      Push link(*this, {.initializer = &one, .index = out.initializers.size()});
      tensor(m.bytes(), one);
      out.initializers.push_back(std::move(one));
      break;
    }
    case 10:
      out.doc = m.text();
      break;
    case 11:
      valueInfo(m.bytes(), out.inputs.emplace_back());
      break;
    case 12:
      valueInfo(m.bytes(), out.outputs.emplace_back());
      break;
    case 13:
      valueInfo(m.bytes(), out.valueInfo.emplace_back());
      break;
    case 15: {
      SparseTensor one;
      Push link(*this, {.initializer = &one.values, .index = out.sparseInitializers.size()});
      sparse(m.bytes(), one);
      out.sparseInitializers.push_back(std::move(one));
      break;
    }
    case 16:
      entry(m.bytes(), out.metadata);
      break;
    }
}

void Parser::function(Bytes bytes, Function &out) {
  // The name first, whatever the order in the file: messages about the nodes show it.
  for (Message m(*this, "FunctionProto", bytes); m.next();)
    if (m.number() == 1)
      out.name = m.text();
  Push link(*this, {.function = &out});
  count();
  Message m(*this, "FunctionProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 4:
      m.text(out.inputs);
      break;
    case 5:
      m.text(out.outputs);
      break;
    case 6:
      m.text(out.attributes);
      break;
    case 7:
      addNode(m.bytes(), out.nodes);
      break;
    case 8:
      out.doc = m.text();
      break;
    case 9:
      opset(m.bytes(), out.opsets.emplace_back());
      break;
    case 10:
      out.domain = standardDomain(m.text());
      break;
    case 11: {
      Attribute one;
      attribute(m.bytes(), one);
      out.defaults.push_back(std::move(one));
      break;
    }
    case 12:
      valueInfo(m.bytes(), out.valueInfo.emplace_back());
      break;
    case 13:
      out.overload = m.text();
      break;
    case 14:
      entry(m.bytes(), out.metadata);
      break;
    }
}

void Parser::addNode(Bytes bytes, std::vector<Node> &out) {
  count();
  if (++nodes > options.maxNodes)
    problems.fatal(context, concat("more than ", options.maxNodes, " nodes"), StatusCode::Unsupported);
  Node one;
  Push link(*this, {.node = &one, .index = out.size()});
  node(bytes, one);
  if (!problems.isFatal())
    out.push_back(std::move(one));
}

void Parser::node(Bytes bytes, Node &out) {
  for (Message m(*this, "NodeProto", bytes); m.next();)
    if (m.number() == 3)
      out.name = m.text();
    else if (m.number() == 4)
      out.opType = m.text();
  Message m(*this, "NodeProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      m.text(out.inputs);
      break;
    case 2:
      m.text(out.outputs);
      break;
    case 5: {
      Attribute one;
      attribute(m.bytes(), one);
      out.attributes.push_back(std::move(one));
      break;
    }
    case 6:
      out.doc = m.text();
      break;
    case 7:
      out.domain = standardDomain(m.text());
      break;
    case 8:
      out.overload = m.text();
      break;
    case 9:
      entry(m.bytes(), out.metadata);
      break;
    }
}

void Parser::opset(Bytes bytes, OpsetImport &out) {
  count();
  Message m(*this, "OperatorSetIdProto", bytes);
  while (m.next())
    if (m.number() == 1)
      out.domain = standardDomain(m.text());
    else if (m.number() == 2)
      out.version = m.integer();
}

void Parser::entry(Bytes bytes, Metadata &out) {
  count();
  auto &[key, value] = out.emplace_back();
  Message m(*this, "StringStringEntryProto", bytes);
  while (m.next())
    if (m.number() == 1)
      key = m.text();
    else if (m.number() == 2)
      value = m.text();
}

//===--- Attributes ---===//

// The attribute type whose value is in a field of AttributeProto.
static AttributeType typeOfField(uint32_t number) {
  switch (number) {
  case 2:
    return AttributeType::Float;
  case 3:
    return AttributeType::Int;
  case 4:
    return AttributeType::String;
  case 5:
    return AttributeType::Tensor;
  case 6:
    return AttributeType::Graph;
  case 7:
    return AttributeType::Floats;
  case 8:
    return AttributeType::Ints;
  case 9:
    return AttributeType::Strings;
  case 10:
    return AttributeType::Tensors;
  case 11:
    return AttributeType::Graphs;
  case 14:
    return AttributeType::Type;
  case 15:
    return AttributeType::Types;
  case 22:
    return AttributeType::SparseTensor;
  case 23:
    return AttributeType::SparseTensors;
  }
  return AttributeType::Undefined;
}

void Parser::attribute(Bytes bytes, Attribute &out) {
  count();
  Push link(*this, {.attribute = &out});
  for (Message m(*this, "AttributeProto", bytes); m.next();)
    if (m.number() == 1)
      out.name = m.text();
  int64_t declared = 0;
  uint32_t held = 0; // A bit for each AttributeType that has a value.
  bool hasTensor = false, hasGraph = false, hasType = false, hasSparse = false;
  Message m(*this, "AttributeProto", bytes);
  while (m.next()) {
    if (AttributeType type = typeOfField(m.number()); type != AttributeType::Undefined)
      held |= 1u << static_cast<unsigned>(type);
    switch (m.number()) {
    case 2:
      out.f = m.real();
      break;
    case 3:
      out.i = m.integer();
      break;
    case 4:
      out.s = m.text();
      break;
    case 5:
    case 10: {
      Bytes content = m.number() == 5 ? m.once(hasTensor) : m.bytes();
      tensor(content, out.tensors.emplace_back());
      break;
    }
    case 6:
    case 11: {
      Bytes content = m.number() == 6 ? m.once(hasGraph) : m.bytes();
      count();
      graph(content, out.graphs.emplace_back());
      break;
    }
    case 7:
      m.reals(out.floats);
      break;
    case 8:
      m.integers(out.ints);
      break;
    case 9:
      m.text(out.strings);
      break;
    case 13:
      out.doc = m.text();
      break;
    case 14:
    case 15: {
      Bytes content = m.number() == 14 ? m.once(hasType) : m.bytes();
      type(content, out.types.emplace_back());
      break;
    }
    case 20:
      declared = m.integer();
      break;
    case 21:
      out.reference = m.text();
      break;
    case 22:
    case 23: {
      Bytes content = m.number() == 22 ? m.once(hasSparse) : m.bytes();
      sparse(content, out.sparseTensors.emplace_back());
      break;
    }
    }
  }
  if (!problems.isFatal())
    finishAttribute(out, declared, held);
}

// Attribute.type must say what is there; files of the first versions leave it out.
void Parser::finishAttribute(Attribute &out, int64_t declared, uint32_t held) {
  if (declared < 0 || declared > static_cast<int64_t>(AttributeType::Types))
    return problem(concat("unknown attribute type ", declared));
  out.type = static_cast<AttributeType>(declared);
  if (!out.reference.empty()) {
    if (held)
      problem(concat("refers to '", printable(out.reference), "' but holds a value as well"));
    return;
  }
  if (!declared && std::popcount(held) == 1)
    out.type = static_cast<AttributeType>(std::countr_zero(held));
  else if (!declared)
    return problem(held ? "holds values of several types and does not say which is meant" : "holds no value");
  uint32_t own = 1u << static_cast<unsigned>(out.type);
  if (uint32_t others = held & ~own)
    return problem(concat("is of type ", attributeTypeName(out.type), " but holds ",
                          attributeTypeName(static_cast<AttributeType>(std::countr_zero(others)))));
  bool needsValue = out.type == AttributeType::Tensor || out.type == AttributeType::Graph ||
                    out.type == AttributeType::SparseTensor || out.type == AttributeType::Type;
  if (needsValue && !held)
    problem(concat("is of type ", attributeTypeName(out.type), " but holds none"));
}

//===--- Types ---===//

void Parser::valueInfo(Bytes bytes, ValueInfo &out) {
  count();
  bool hasType = false;
  Push link(*this, {.value = &out});
  Message m(*this, "ValueInfoProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      out.name = m.text();
      break;
    case 2:
      type(m.once(hasType), out.type);
      break;
    case 3:
      out.doc = m.text();
      break;
    case 4:
      entry(m.bytes(), out.metadata);
      break;
    }
}

void Parser::type(Bytes bytes, Type &out) {
  count();
  bool hasKind = false;
  Message m(*this, "TypeProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      out.kind = Type::Kind::Tensor;
      tensorType(m.once(hasKind), out);
      break;
    case 4:
      out.kind = Type::Kind::Sequence;
      innerType(m.once(hasKind), out, "TypeProto.Sequence", 1);
      break;
    case 5:
      out.kind = Type::Kind::Map;
      innerType(m.once(hasKind), out, "TypeProto.Map", 2);
      break;
    case 6:
      out.denotation = m.text();
      break;
    case 8:
      out.kind = Type::Kind::SparseTensor;
      tensorType(m.once(hasKind), out);
      break;
    case 9:
      out.kind = Type::Kind::Optional;
      innerType(m.once(hasKind), out, "TypeProto.Optional", 1);
      break;
    }
}

void Parser::tensorType(Bytes bytes, Type &out) {
  bool hasShape = false;
  Message m(*this, "TypeProto.Tensor", bytes);
  while (m.next())
    if (m.number() == 1)
      out.element = dataType(m.integer());
    else if (m.number() == 2)
      shape(m.once(hasShape), out.shape.emplace());
}

void Parser::innerType(Bytes bytes, Type &out, const char *name, uint32_t innerField) {
  bool hasInner = false;
  Message m(*this, name, bytes);
  while (m.next())
    if (m.number() == innerField) {
      auto inner = std::make_shared<Type>();
      type(m.once(hasInner), *inner);
      out.inner = std::move(inner);
    } else if (m.number() == 1) {
      out.key = dataType(m.integer());
    }
}

void Parser::shape(Bytes bytes, std::vector<Dim> &out) {
  Message m(*this, "TensorShapeProto", bytes);
  while (m.next()) {
    if (m.number() != 1)
      continue;
    count();
    Dim dim;
    Message d(*this, "TensorShapeProto.Dimension", m.bytes());
    while (d.next())
      switch (d.number()) {
      case 1:
        dim.param.clear();
        dim.value = d.integer();
        if (*dim.value < 0)
          dim.value.reset();
        break;
      case 2:
        dim.value.reset();
        dim.param = d.text();
        break;
      case 3:
        dim.denotation = d.text();
        break;
      }
    out.push_back(std::move(dim));
  }
  if (out.size() > options.maxRank)
    problem(concat("a type of ", out.size(), " dimensions; at most ", options.maxRank, " are supported"));
}

//===--- Tensors and values ---===//

void Parser::tensor(Bytes bytes, Tensor &out) {
  count();
  RawTensor raw;
  Message m(*this, "TensorProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      m.integers(out.dims);
      break;
    case 2:
      raw.dataType = m.integer();
      break;
    case 3:
      raw.hasSegment = true;
      break;
    case 4:
      m.run(raw.floats, Wire::Fixed32);
      break;
    case 5:
      m.run(raw.int32s, Wire::Varint);
      break;
    case 6:
      raw.strings.push_back(m.view());
      break;
    case 7:
      m.run(raw.int64s, Wire::Varint);
      break;
    case 8:
      out.name = m.text();
      break;
    case 9:
      raw.raw = m.bytes();
      break;
    case 10:
      m.run(raw.doubles, Wire::Fixed64);
      break;
    case 11:
      m.run(raw.uint64s, Wire::Varint);
      break;
    case 12:
      out.doc = m.text();
      break;
    case 13:
      entry(m.bytes(), raw.external);
      break;
    case 14:
      raw.dataLocation = m.integer();
      break;
    case 16:
      entry(m.bytes(), out.metadata);
      break;
    }
  if (!problems.isFatal())
    finishTensor(raw, out);
}

void Parser::sparse(Bytes bytes, SparseTensor &out) {
  count();
  bool hasValues = false, hasIndices = false;
  Message m(*this, "SparseTensorProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      tensor(m.once(hasValues), out.values);
      break;
    case 2:
      tensor(m.once(hasIndices), out.indices);
      break;
    case 3:
      m.integers(out.dims);
      break;
    }
  if (problems.isFatal())
    return;
  if (!hasValues || !hasIndices)
    return problem(concat("sparse tensor without ", hasValues ? "indices" : "values"));
  finishSparse(out);
}

void Parser::sequence(Bytes bytes, Value &out, bool optional) {
  count();
  out.kind = optional ? Value::Kind::Optional : Value::Kind::Sequence;
  Message m(*this, optional ? "OptionalProto" : "SequenceProto", bytes);
  while (m.next())
    switch (m.number()) {
    case 1:
      out.name = m.text();
      break;
    case 3:
    case 4:
    case 5:
    case 7: {
      Value item;
      if (m.number() == 3) {
        tensor(m.bytes(), item.tensor);
      } else if (m.number() == 4) {
        item.kind = Value::Kind::SparseTensor;
        sparse(m.bytes(), item.sparse);
      } else {
        sequence(m.bytes(), item, m.number() == 7);
      }
      out.items.push_back(std::move(item));
      break;
    }
    case 6:
      problem("maps are not supported");
      break;
    }
  if (optional && out.items.size() > 1)
    problem(concat("an optional of ", out.items.size(), " values"));
}

} // namespace tessera::onnx
