// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs, results and the choice of nodes.
#include "RandomGenerator.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tessera;
using namespace tessera::conformance;

Dim Generator::makeDim() {
  int64_t size = random.below(10) == 0 ? 1 : random.range(2, 7);
  bool isDynamic = options.dynamicExtents && random.below(2) == 0;
  poolSizes.push_back(size);
  return Dim{"", isDynamic ? -1 : size, nextDim++};
}

// One more result: gathered, reduced or folded, over all or some dimensions.
void Generator::addResult(Results &results, Body &body, const std::vector<Dim> &dims) {
  std::string type = element();
  Tensor made{name("v"), type, dims};
  unsigned kind = dims.empty() ? 0 : random.below(6);
  if (kind == 4 && options.floatReductions && isFloatType(type)) {
    addFloatSum(results, body, dims);
    return;
  }
  std::string suffix;
  std::string value = body.bounded(body.expression(type, random.range(1, 3)), type);
  if (kind == 3 || kind == 4) {
    std::vector<std::string> kinds =
        isFloatType(type) ? std::vector<std::string>{"minimumf", "maximumf"}
                          : std::vector<std::string>{"addi",  "muli", "minsi", "maxsi", "minui",
                                                     "maxui", "andi", "ori",   "xori"};
    suffix = " reduce<" + kinds[random.below(kinds.size())] + ">";
    if (options.combiners && type == "i32" && random.below(2))
      suffix = " reduce<@largest>";
  } else if (kind == 5) {
    suffix = isFloatType(type) ? " fold<addf>" : (random.below(2) ? " fold<addi>" : " fold<maxsi>");
  }
  if (!suffix.empty()) {
    made.dims.clear();
    if (dims.size() > 1 && random.below(2)) {
      size_t reduced = random.below(dims.size());
      suffix += " over [" + std::to_string(reduced) + "]";
      for (size_t d = 0; d < dims.size(); ++d)
        if (d != reduced)
          made.dims.push_back(dims[d]);
    }
  }
  results.head += (results.head.empty() ? "" : ", ") + made.type() + suffix;
  results.yields.push_back(value);
  results.types.push_back(type);
  results.made.push_back(made);
}

// A sum in free order, with what its bound needs. Nothing else reads it: an inexact value must not steer
// exact ones.
void Generator::addFloatSum(Results &results, Body &body, const std::vector<Dim> &dims) {
  static const char *floats[] = {"f32", "f64", "f16", "bf16"};
  std::string type = floats[random.below(options.halfTypes ? 4 : 2)];
  std::string value = body.bounded(body.expression(type, 2), type);
  std::string magnitude = body.op("math.absf " + value + " : " + type);
  std::string one = body.op("arith.constant 1 : i64");
  std::string stem = name("s");
  for (auto [suffix, element, yielded, mode] :
       {std::tuple{"", type, value, "addf"}, std::tuple{"_abs", type, magnitude, "addf"},
        std::tuple{"_count", std::string("i64"), one, "addi"}}) {
    Tensor made{stem + suffix, element, {}};
    results.head += (results.head.empty() ? "" : ", ") + made.type() + " reduce<" + mode + ">";
    results.yields.push_back(yielded);
    results.types.push_back(element);
    made.isUsed = true;
    results.made.push_back(made);
  }
}

void Generator::writeNode(StringRef stem, const std::vector<Dim> &dims, const std::string &ports, Body &body,
                          Results &results) {
  std::string names;
  for (const Tensor &made : results.made)
    names += (names.empty() ? "" : ", ") + made.name;
  bool isMany = results.made.size() > 1;
  text += "  " + names + " = dfg.node @" + nodeName(stem) + (dims.empty() ? "" : " " + gridOf(dims)) + " (" +
          ports + ") -> " + (isMany ? "(" : "") + results.head + (isMany ? ")" : "") + " {\n";
  text += body.text();
  text += "    dfg.yield " + llvm::join(results.yields, ", ") + " : " + llvm::join(results.types, ", ") +
          "\n  }\n";
  for (Tensor &made : results.made)
    // A sum in free order is a result and nothing else.
    (StringRef(made.name).starts_with("%s") ? finished : tensors).push_back(made);
}

std::string Generator::commonPorts(Body &body, const Tensor &like) {
  std::string ports;
  unsigned wanted = random.range(1, 3);
  for (size_t t = tensors.size(); t-- > 0 && wanted > 0;) {
    Tensor &tensor = tensors[t];
    bool isEach = sameDims(tensor, like);
    if ((!isEach && !tensor.dims.empty()) || random.below(2))
      continue;
    tensor.isUsed = true;
    --wanted;
    std::string arg = name("e");
    ports += (ports.empty() ? "" : ", ") + std::string(isEach && !like.dims.empty() ? "each " : "") + arg +
             " = " + tensor.name + " : " + tensor.type();
    body.add(arg, tensor.element);
  }
  return ports;
}

void Generator::makeInputs() {
  for (unsigned d = 0; d < 3; ++d)
    pool.push_back(makeDim());
  for (unsigned t = 0, count = random.range(1, 3); t < count; ++t) {
    Tensor tensor{"%in" + std::to_string(t), element(), {}};
    for (unsigned d = 0, rank = t == 0 ? 2 : random.range(1, 3); d < rank; ++d)
      tensor.dims.push_back(pool[random.below(3)]);
    inputs.push_back(tensor);
  }
  if (random.below(2))
    inputs.push_back(Tensor{"%scalar", element(), {}});
  // Extents that only an input knows are asked for; the others are constants.
  for (Dim &dim : pool) {
    dim.value = "%dim" + std::to_string(dim.id);
    if (dim.size >= 0) {
      text += "  " + dim.value + " = arith.constant " + std::to_string(dim.size) + " : index\n";
      continue;
    }
    for (Tensor &tensor : inputs)
      for (size_t d = 0; d < tensor.dims.size(); ++d)
        if (tensor.dims[d].id == dim.id && text.find(dim.value + " =") == std::string::npos)
          text += "  " + dim.value + "_c = arith.constant " + std::to_string(d) + " : index\n  " + dim.value +
                  " = tensor.dim " + tensor.name + ", " + dim.value + "_c : " + tensor.type() + "\n";
  }
  for (Tensor &tensor : inputs)
    for (Dim &dim : tensor.dims)
      dim.value = pool[dim.id].value;
  tensors = inputs;
}

void Generator::makeNode() {
  while (true) {
    switch (random.below(18)) {
    case 0:
    case 1:
      return pointwise();
    case 2:
      return stencil();
    case 3:
      return gatherByIndex();
    case 4:
      return product();
    case 5:
      if (options.accumulate && options.memoryPorts)
        return histogram();
      break;
    case 6:
      if (options.memoryPorts)
        return memoryPorts();
      break;
    case 7:
      if (options.barriers)
        return scratch();
      break;
    case 8:
      if (options.hierarchy)
        return group();
      break;
    case 9:
      if (options.hierarchy)
        return internal();
      break;
    case 10:
      if (options.calls)
        return callGraph();
      break;
    case 11:
      if (options.dataDependentExtents)
        return extentFromData();
      break;
    case 12:
      if (options.linalg && random.below(2))
        return linalgLeaf();
      return tiles();
    case 13:
      if (options.controlFlow)
        return whileLeaf();
      break;
    case 14:
      if (options.memoryPorts && options.hierarchy)
        return groupMemory();
      break;
    case 15:
      if (options.memoryPorts && options.atomics)
        return atomics();
      break;
    case 16:
      if (options.vectors)
        return vectorLeaf();
      break;
    case 17:
      return flags();
    }
  }
}

RandomProgram Generator::run(MLIRContext &context) {
  makeInputs();
  for (unsigned n = 0, count = random.range(1, options.maxNodes); n < count; ++n)
    makeNode();
  // What nobody used is a result, so that no node is dead; of the rest, every second one.
  std::vector<std::pair<std::string, std::string>> results;
  for (size_t t = inputs.size(); t < tensors.size(); ++t)
    if (!tensors[t].isUsed || random.below(2))
      results.push_back({tensors[t].name, tensors[t].type()});
  for (const Tensor &t : finished)
    results.push_back({t.name, t.type()});
  for (const Tensor &m : memories)
    results.push_back({m.name, m.memref()});
  std::string args, types, values, valueTypes;
  for (const Tensor &t : inputs)
    args += (args.empty() ? "" : ", ") + t.name + ": " + t.type();
  for (auto &[value, type] : results) {
    types += (types.empty() ? "" : ", ") + value.substr(1) + ": " + type;
    values += (values.empty() ? "" : ", ") + value;
    valueTypes += (valueTypes.empty() ? "" : ", ") + type;
  }
  RandomProgram program;
  if (text.find("@largest") != std::string::npos)
    graphs = "dfg.combiner @largest(%a: i32, %b: i32) identity -2147483648 : i32 {\n  %c = arith.cmpi sgt, "
             "%a, %b : i32\n"
             "  %m = arith.select %c, %a, %b : i32\n  dfg.yield %m : i32\n}\n" +
             graphs;
  program.text = graphs + "dfg.graph @main(" + args + ") -> (" + types + ") {\n" + text + "  dfg.return " +
                 (values.empty() ? "" : values + " : " + valueTypes) + "\n}\n";
  for (const Tensor &t : inputs) {
    std::vector<int64_t> shape;
    for (const Dim &dim : t.dims)
      shape.push_back(poolSizes[dim.id]);
    program.inputs.push_back(randomArray(context, random, t.element, shape));
  }
  return program;
}

RandomProgram conformance::makeRandomProgram(MLIRContext &context, uint64_t seed,
                                             const RandomOptions &options) {
  return Generator(seed, options).run(context);
}
