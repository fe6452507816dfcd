// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models of one node in a line of text, for tests of what the importer says about them.
#pragma once

#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <gtest/gtest.h>

namespace tessera::onnximport::testing {

using namespace tessera::onnx::testing;
namespace ox = tessera::onnx;

//===----------------------------------------------------------------------===//
// Models in a line of text
//===----------------------------------------------------------------------===//

inline int typeNumber(char letter) {
  return llvm::StringSwitch<int>(StringRef(&letter, 1))
      .Case("f", 1)
      .Case("u", 2)
      .Case("i", 6)
      .Case("l", 7)
      .Case("s", 8)
      .Case("b", 9)
      .Case("d", 11)
      .Case("z", 14)
      .Default(0);
}

inline Ints integers(StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, ',', -1, /*KeepEmpty=*/false);
  Ints values;
  for (StringRef part : parts) {
    int64_t value = 0;
    EXPECT_FALSE(part.getAsInteger(10, value)) << part.str();
    values.push_back(value);
  }
  return values;
}

inline SmallVector<float> floats(StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, ',', -1, /*KeepEmpty=*/false);
  SmallVector<float> values;
  for (StringRef part : parts)
    values.push_back(std::strtof(part.str().c_str(), nullptr));
  return values;
}

/// A value of these extents, '2x?x3'; one without a number is '?'.
inline Proto input(StringRef name, int type, StringRef extents) {
  SmallVector<StringRef> dims;
  extents.split(dims, 'x', -1, /*KeepEmpty=*/false);
  Proto shape;
  for (StringRef dim : dims)
    shape.add(1, dim == "?" ? Proto() : Proto().add(1, integers(dim)[0]));
  return Proto().add(1, std::string_view(name)).add(2, Proto().add(1, Proto().add(1, type).add(2, shape)));
}

/// A constant: a vector, or a scalar.
inline Proto constant(StringRef name, int type, StringRef values, bool isVector) {
  Proto tensor;
  size_t count = 0;
  if (type == 1 || type == 11) {
    for (float value : floats(values)) {
      type == 1 ? tensor.add(4, value) : tensor.add(10, double(value));
      ++count;
    }
  } else {
    for (int64_t value : integers(values)) {
      tensor.add(type == 7 ? 7 : 5, value);
      ++count;
    }
  }
  if (isVector)
    tensor.add(1, int64_t(count));
  return tensor.add(2, type).add(8, std::string_view(name));
}

// name=5, name=1.5, name=[1,2], name=[1.0,2.0], name='text', name=['a','b']
inline Proto attribute(StringRef text) {
  auto [name, value] = text.split('=');
  auto of = [name = name](int type) { return attributeProto(name, type); };
  bool isList = value.consume_front("[") && value.consume_back("]");
  if (value.contains('\'')) {
    Proto a = of(isList ? 8 : 3);
    SmallVector<StringRef> words;
    value.split(words, ',', isList ? -1 : 0);
    for (StringRef word : words)
      a.add(isList ? 9 : 4, std::string_view(word.trim('\'')));
    return a;
  }
  bool isFloat = value.contains('.');
  if (!isList)
    return isFloat ? of(1).add(2, floats(value)[0]) : of(2).add(3, integers(value)[0]);
  Proto a = of(isFloat ? 6 : 7);
  if (isFloat)
    for (float number : floats(value))
      a.add(7, number);
  else
    for (int64_t number : integers(value))
      a.add(8, number);
  return a;
}

/// A model of one node. `op` may name its opset, 'Cast@9', or a domain, 'com.microsoft:Gelu'. Inputs are
/// apart by spaces: 'f2x?' is an input of the model, 'l[1,2]' and 'l=1' are constants, 'shape(2x?)' is the
/// shape of an input, '-' is left out.
inline Proto oneNode(StringRef op, StringRef inputs, StringRef attributes, unsigned outputs = 1) {
  StringRef domain;
  if (op.contains(':'))
    std::tie(domain, op) = op.split(':');
  auto [type, version] = op.split('@');
  Proto graph, node;
  SmallVector<StringRef> tokens;
  inputs.split(tokens, ' ', -1, /*KeepEmpty=*/false);
  for (auto [i, token] : llvm::enumerate(tokens)) {
    std::string name = "x" + std::to_string(i);
    if (token == "-") {
      node.add(1, "");
      continue;
    }
    node.add(1, name);
    int element = typeNumber(token[0]);
    StringRef rest = token.drop_front();
    if (token.consume_front("shape(") && token.consume_back(")"))
      graph.add(11, input("of_" + name, 1, token))
          .add(1, nodeProto("Shape", "", {("of_" + name).c_str()}, {name.c_str()}));
    else if (rest.consume_front("[") && rest.consume_back("]"))
      graph.add(5, constant(name, element, rest, true));
    else if (rest.consume_front("="))
      graph.add(5, constant(name, element, rest, false));
    else
      graph.add(11, input(name, element, rest));
  }
  for (unsigned i = 0; i < outputs; ++i)
    node.add(2, "y" + std::to_string(i));
  node.add(3, "layer").add(4, std::string_view(type)).add(7, std::string_view(domain));
  SmallVector<StringRef> list;
  attributes.split(list, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef a : list)
    node.add(5, attribute(a));
  graph.add(1, node).add(12, input("y0", 1, ""));
  Proto model =
      Proto().add(1, 10).add(8, opsetProto(version.empty() || !domain.empty() ? 27 : integers(version)[0]));
  if (!domain.empty())
    model.add(8, opsetProto(version.empty() ? 1 : integers(version)[0], domain));
  return model.add(7, graph);
}

inline std::string problemsOf(const Proto &model, const onnximport::ImportOptions &options = {}) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto read = ox::parseModel(model.span(), "test", "");
  if (!read.ok())
    return "not read: " + read.status().message();
  onnximport::Imported imported = onnximport::importModel(*read, options, &context);
  EXPECT_EQ(bool(imported.module), imported.problems.empty());
  return llvm::join(imported.problems, "\n");
}

inline void expectProblem(const Proto &model, StringRef text, const onnximport::ImportOptions &options = {}) {
  std::string got = problemsOf(model, options);
  EXPECT_NE(got.find(text), std::string::npos) << "no '" << text.str() << "' in '" << got << "'";
}

//===----------------------------------------------------------------------===//
// One node
//===----------------------------------------------------------------------===//

/// A node, and a part of what is said about it.
struct Case {
  const char *op, *inputs, *attributes, *text;
  unsigned outputs = 1;
};

inline void expectProblems(ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(std::string(c.op) + " " + c.inputs + " " + c.attributes);
    expectProblem(oneNode(c.op, c.inputs, c.attributes, c.outputs), c.text);
  }
}

} // namespace tessera::onnximport::testing
