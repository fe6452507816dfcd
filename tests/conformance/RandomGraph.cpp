// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator. It writes text: what it makes can be read, kept and cut down by hand.
#include "RandomGraph.h"

#include "RandomBody.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tessera;
using namespace tessera::conformance;

namespace {

// An extent that values share: its number, or -1 when only its SSA value is known.
struct Dim {
  std::string value;
  int64_t size;
  unsigned id;
};

struct Tensor {
  std::string name, element;
  std::vector<Dim> dims;
  bool isUsed = false;

  std::string type() const {
    if (dims.empty())
      return element;
    return "tensor<" + shape() + element + ">";
  }
  std::string memref() const { return "memref<" + shape() + element + ">"; }
  std::string shape() const {
    std::string text;
    for (const Dim &dim : dims)
      text += (dim.size < 0 ? "?" : std::to_string(dim.size)) + "x";
    return text;
  }
};

class Generator {
public:
  Generator(uint64_t seed, const RandomOptions &options) : random(seed), options(options) {}

  RandomProgram run(MLIRContext &context);

private:
  void makeInputs();
  void makeNode();

  void pointwise();
  void stencil();
  void gatherByIndex();
  void product();
  void histogram();
  void memoryPorts();
  void group();
  void scratch();
  void tiles();
  void internal();
  void callGraph();
  void extentFromData();
  void groupMemory();
  void atomics();
  void linalgLeaf();
  void vectorLeaf();
  void flags();
  void whileLeaf();

  std::string element() {
    static const char *all[] = {"i8", "i16", "i32", "i64", "index", "f32", "f64", "f16", "bf16"};
    return all[random.below(options.halfTypes ? 9 : 7)];
  }
  std::string name(StringRef stem) { return "%" + stem.str() + std::to_string(next++); }
  std::string nodeName(StringRef stem) { return stem.str() + std::to_string(next++); }

  // A tensor of at least this rank (and of exactly `exact`, when given); none when there is no such.
  Tensor *pick(unsigned minRank, int exact = -1, bool isInteger = false) {
    std::vector<Tensor *> found;
    for (Tensor &t : tensors)
      if (t.dims.size() >= minRank && (exact < 0 || t.dims.size() == static_cast<size_t>(exact)) &&
          (!isInteger || !isFloatType(t.element)))
        found.push_back(&t);
    if (found.empty())
      return nullptr;
    Tensor *choice = found[random.below(found.size())];
    choice->isUsed = true;
    return choice;
  }
  static bool sameDims(const Tensor &a, const Tensor &b) {
    if (a.dims.size() != b.dims.size())
      return false;
    for (size_t d = 0; d < a.dims.size(); ++d)
      if (a.dims[d].id != b.dims[d].id)
        return false;
    return true;
  }
  static std::string gridOf(ArrayRef<Dim> dims) {
    static const char *ids[] = {"%i", "%j", "%k"};
    std::string text = "grid(";
    for (size_t d = 0; d < dims.size(); ++d)
      text += (d ? ", " : "") + std::string(ids[d]) + " = " + dims[d].value;
    return text + ")";
  }
  // Ids as values of the body.
  static void addIds(Body &body, size_t rank) {
    static const char *ids[] = {"%i", "%j", "%k"};
    for (size_t d = 0; d < rank; ++d)
      body.add(ids[d], "index");
  }

  // Results of a leaf that has a body and a grid: their types in the node's head and the tensors they make.
  // Yields the values.
  struct Results {
    std::string head, names;
    std::vector<Tensor> made;
    std::vector<std::string> yields, types;
  };
  void addResult(Results &results, Body &body, const std::vector<Dim> &dims);
  void addFloatSum(Results &results, Body &body, const std::vector<Dim> &dims);
  void writeNode(StringRef stem, const std::vector<Dim> &dims, const std::string &ports, Body &body,
                 Results &results);
  // Each ports from tensors over these dimensions and whole scalars, added to the body.
  std::string commonPorts(Body &body, const Tensor &like);
  Dim makeDim();

  Random random;
  RandomOptions options;
  unsigned next = 0, nextDim = 0;
  std::string text, graphs;
  std::vector<Tensor> inputs, tensors, finished;
  std::vector<Dim> pool;
  std::vector<Tensor> inputMemories, memories;
  std::vector<int64_t> poolSizes;
};

} // namespace

Dim Generator::makeDim() {
  int64_t size = random.below(10) == 0 ? 1 : random.range(2, 7);
  bool isDynamic = options.dynamicExtents && random.below(2) == 0;
  poolSizes.push_back(size);
  return Dim{"", isDynamic ? -1 : size, nextDim++};
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

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

void Generator::pointwise() {
  Tensor like = *pick(1);
  Body body(random, options.controlFlow, next);
  addIds(body, like.dims.size());
  std::string arg = name("e");
  body.add(arg, like.element);
  std::string ports = "each " + arg + " = " + like.name + " : " + like.type(), more = commonPorts(body, like);
  if (!more.empty())
    ports += ", " + more;
  Results results;
  for (unsigned r = 0, count = random.range(1, 3); r < count; ++r)
    addResult(results, body, like.dims);
  writeNode("pointwise", like.dims, ports, body, results);
}

// Neighbours in a window, clamped at the border.
void Generator::stencil() {
  Tensor like = *pick(1);
  Body body(random, options.controlFlow, next);
  static const char *ids[] = {"%i", "%j", "%k"};
  std::string all = name("w");
  std::vector<std::string> last;
  std::string zero = body.op("arith.constant 0 : index"), one = body.op("arith.constant 1 : index");
  for (size_t d = 0; d < like.dims.size(); ++d) {
    std::string extent = body.op("dfg.extent " + std::to_string(d));
    last.push_back(body.op("arith.subi " + extent + ", " + one + " : index"));
  }
  for (unsigned n = 0, count = random.range(2, 5); n < count; ++n) {
    std::string index;
    for (size_t d = 0; d < like.dims.size(); ++d) {
      std::string offset = body.op("arith.constant " + std::to_string(random.range(-2, 2)) + " : index");
      std::string at = body.op("arith.addi " + std::string(ids[d]) + ", " + offset + " : index");
      at = body.op("arith.maxsi " + at + ", " + zero + " : index");
      at = body.op("arith.minsi " + at + ", " + last[d] + " : index");
      index += (d ? ", " : "") + at;
    }
    body.add(body.op("tensor.extract " + all + "[" + index + "] : " + like.type()), like.element);
  }
  std::string ports = all + " = " + like.name + " : " + like.type();
  Results results;
  addResult(results, body, like.dims);
  writeNode("stencil", like.dims, ports, body, results);
}

void Generator::gatherByIndex() {
  Tensor *keys = pick(1, -1, /*isInteger=*/true);
  Tensor *table = pick(1, 1);
  if (!keys || !table)
    return pointwise();
  Tensor k = *keys, t = *table;
  Body body(random, options.controlFlow, next);
  std::string key = name("e"), all = name("w");
  std::string zero = body.op("arith.constant 0 : index");
  std::string extent = body.op("tensor.dim " + all + ", " + zero + " : " + t.type());
  std::string wide = body.convert(key, k.element, "index");
  std::string at = body.op("arith.remui " + wide + ", " + extent + " : index");
  body.add(body.op("tensor.extract " + all + "[" + at + "] : " + t.type()), t.element);
  body.add(key, k.element);
  Results results;
  addResult(results, body, k.dims);
  writeNode("lookup", k.dims,
            "each " + key + " = " + k.name + " : " + k.type() + ", " + all + " = " + t.name + " : " +
                t.type(),
            body, results);
}

// A loop over the inner extent, in the element's type and in order.
void Generator::product() {
  Tensor *first = pick(2, 2), *second = pick(2, 2);
  if (!first || !second)
    return stencil();
  Tensor a = *first, b = *second;
  std::string type = element();
  Body body(random, /*controlFlow=*/false, next);
  std::string left = name("w"), right = name("w"), v = name("acc"), k = name("l");
  std::string zero = body.op("arith.constant 0 : index"), one = body.op("arith.constant 1 : index");
  std::string inner = body.op("tensor.dim " + left + ", " + one + " : " + a.type());
  std::string outer = body.op("tensor.dim " + right + ", " + zero + " : " + b.type());
  std::string count = body.op("arith.minsi " + inner + ", " + outer + " : index");
  std::string init = body.constant(type);
  std::string sum = name("r");
  body.line(sum + " = scf.for " + k + " = " + zero + " to " + count + " step " + one + " iter_args(" + v +
            " = " + init + ") -> " + type + " {");
  std::string p = body.op("tensor.extract " + left + "[%i, " + k + "] : " + a.type());
  std::string q = body.op("tensor.extract " + right + "[" + k + ", %j] : " + b.type());
  p = body.convert(p, a.element, type);
  q = body.convert(q, b.element, type);
  std::string f = isFloatType(type) ? "f" : "i";
  std::string m = body.bounded(body.op("arith.mul" + f + " " + p + ", " + q + " : " + type), type);
  std::string s = body.bounded(body.op("arith.add" + f + " " + v + ", " + m + " : " + type), type);
  body.line("scf.yield " + s + " : " + type);
  body.line("}");
  Results results;
  std::vector<Dim> dims = {a.dims[0], b.dims[1]};
  Tensor made{name("v"), type, dims};
  results.head = made.type();
  results.yields = {sum};
  results.types = {type};
  results.made = {made};
  writeNode("product", dims,
            left + " = " + a.name + " : " + a.type() + ", " + right + " = " + b.name + " : " + b.type(), body,
            results);
}

void Generator::tiles() {
  Tensor like = *pick(1);
  std::vector<int64_t> tile;
  std::string splat;
  Tensor made{name("v"), element(), {}};
  for (const Dim &dim : like.dims) {
    int64_t extent = random.range(1, 3);
    splat += std::to_string(extent) + "x";
    made.dims.push_back(Dim{"", dim.size < 0 ? -1 : dim.size * extent, nextDim++});
  }
  Body body(random, options.controlFlow, next);
  addIds(body, like.dims.size());
  std::string arg = name("e");
  body.add(arg, like.element);
  std::string value = body.bounded(body.expression(made.element, 2), made.element);
  std::string type = "tensor<" + splat + made.element + ">";
  std::string yielded = body.op("tensor.splat " + value + " : " + type);
  Results results;
  results.head = made.type() + " tile";
  results.yields = {yielded};
  results.types = {type};
  text += "  " + made.name + " = dfg.node @" + nodeName("tile") + " " + gridOf(like.dims) + " (each " + arg +
          " = " + like.name + " : " + like.type() + ") -> " + results.head + " {\n" + body.text() +
          "    dfg.yield " + yielded + " : " + type + "\n  }\n";
  // Its extents have no SSA value yet: wiring asks for them.
  for (size_t d = 0; d < made.dims.size(); ++d) {
    std::string c = name("c"), value = name("d");
    if (made.dims[d].size >= 0) {
      text += "  " + value + " = arith.constant " + std::to_string(made.dims[d].size) + " : index\n";
    } else {
      text += "  " + c + " = arith.constant " + std::to_string(d) + " : index\n";
      text += "  " + value + " = tensor.dim " + made.name + ", " + c + " : " + made.type() + "\n";
    }
    made.dims[d].value = value;
  }
  // Large enough for a few nodes, too large to be tiled again and again.
  made.isUsed = false;
  tensors.push_back(made);
}

// Element by element on whole tensors, in a leaf without a grid.
void Generator::linalgLeaf() {
  Tensor like = *pick(1);
  std::string arg = name("w"), type = element();
  Tensor made{name("v"), type, like.dims};
  Body body(random, options.controlFlow, next);
  std::string extents;
  for (size_t d = 0; d < like.dims.size(); ++d)
    if (like.dims[d].size < 0) {
      std::string c = body.op("arith.constant " + std::to_string(d) + " : index");
      extents +=
          (extents.empty() ? "" : ", ") + body.op("tensor.dim " + arg + ", " + c + " : " + like.type());
    }
  std::string empty = body.op("tensor.empty(" + extents + ") : " + made.type());
  std::string dims, iterators;
  for (size_t d = 0; d < like.dims.size(); ++d) {
    dims += (d ? ", d" : "d") + std::to_string(d);
    iterators += d ? ", \"parallel\"" : "\"parallel\"";
  }
  std::string map = "affine_map<(" + dims + ") -> (" + dims + ")>";
  std::string result = name("r"), x = name("x"), o = name("o");
  body.line(result + " = linalg.generic {indexing_maps = [" + map + ", " + map + "], iterator_types = [" +
            iterators + "]} ins(" + arg + " : " + like.type() + ") outs(" + empty + " : " + made.type() +
            ") {");
  body.line("^bb0(" + x + ": " + like.element + ", " + o + ": " + type + "):");
  body.add(x, like.element);
  std::string value = body.bounded(body.expression(type, 2), type);
  body.line("linalg.yield " + value + " : " + type);
  body.line("} -> " + made.type());
  text += "  " + made.name + " = dfg.node @" + nodeName("linalg") + " (" + arg + " = " + like.name + " : " +
          like.type() + ") -> " + made.type() + " {\n" + body.text() + "    dfg.yield " + result + " : " +
          made.type() + "\n  }\n";
  tensors.push_back(made);
}

// One bit for each element, and a choice by it.
void Generator::flags() {
  Tensor like = *pick(1);
  Body first(random, false, next), second(random, options.controlFlow, next);
  std::string a = name("e"), b = name("e"), c = name("e");
  first.add(a, like.element);
  std::string x = first.expression("i32", 2), y = first.expression("i32", 1);
  std::string bit = first.op("arith.cmpi slt, " + x + ", " + y + " : i32");
  Tensor bits{name("p"), "i1", like.dims}, made{name("v"), element(), like.dims};
  text += "  " + bits.name + " = dfg.node @" + nodeName("test") + " " + gridOf(like.dims) + " (each " + a +
          " = " + like.name + " : " + like.type() + ") -> " + bits.type() + " {\n" + first.text() +
          "    dfg.yield " + bit + " : i1\n  }\n";
  second.add(c, like.element);
  std::string p = second.bounded(second.expression(made.element, 1), made.element),
              q = second.constant(made.element);
  std::string choice = second.op("arith.select " + b + ", " + p + ", " + q + " : " + made.element);
  text += "  " + made.name + " = dfg.node @" + nodeName("choose") + " " + gridOf(like.dims) + " (each " + b +
          " = " + bits.name + " : " + bits.type() + ", each " + c + " = " + like.name + " : " + like.type() +
          ") -> " + made.type() + " {\n" + second.text() + "    dfg.yield " + choice + " : " + made.element +
          "\n  }\n";
  bits.isUsed = random.below(2);
  if (!bits.isUsed)
    finished.push_back(bits);
  tensors.push_back(made);
}

// Hand-written vector code in a leaf without a grid: a read with padding past the end, lane arithmetic, a
// masked reduction and the lanes themselves.
void Generator::vectorLeaf() {
  Tensor *found = pick(1, 1);
  if (!found || found->element == "index")
    return pointwise();
  Tensor t = *found;
  Body body(random, false, next);
  std::string arg = name("w"), zero = body.op("arith.constant 0 : index"),
              lanes = std::to_string(4 << random.below(2));
  bool isFloat = isFloatType(t.element);
  std::string padding = body.op("arith.constant " + std::string(isFloat ? "1.0" : "1") + " : " + t.element);
  std::string type = "vector<" + lanes + "x" + t.element + ">", suffix = isFloat ? "f " : "i ";
  std::string x =
      body.op("vector.transfer_read " + arg + "[" + zero + "], " + padding + " : " + t.type() + ", " + type);
  std::string three =
      body.op("arith.constant " + std::string(isFloat ? "dense<0.5> : " : "dense<3> : ") + type);
  std::string y = body.op("arith.mul" + suffix + x + ", " + three + " : " + type);
  std::string order;
  for (int64_t lane = std::stoll(lanes); lane-- > 0;)
    order += std::to_string(lane) + (lane ? ", " : "");
  std::string back = body.op("vector.shuffle " + y + ", " + y + " [" + order + "] : " + type + ", " + type);
  std::string z = body.op("arith.sub" + suffix + back + ", " + x + " : " + type);
  std::string reduced = body.op("vector.reduction <" + std::string(isFloat ? "maximumf" : "add") + ">, " + z +
                                " : " + type + " into " + t.element);
  std::string last = body.op("vector.extract " + z + "[" + std::to_string(random.below(4)) +
                             "] : " + t.element + " from " + type);
  Tensor a{name("v"), t.element, {}}, b{name("v"), t.element, {}};
  text += "  " + a.name + ", " + b.name + " = dfg.node @" + nodeName("vector") + " (" + arg + " = " + t.name +
          " : " + t.type() + ") -> (" + a.type() + ", " + b.type() + ") {\n" + body.text() +
          "    dfg.yield " + reduced + ", " + last + " : " + t.element + ", " + t.element + "\n  }\n";
  tensors.push_back(a);
  tensors.push_back(b);
}

// A loop whose number of turns depends on the element.
void Generator::whileLeaf() {
  Tensor like = *pick(1);
  Body body(random, /*controlFlow=*/false, next);
  std::string arg = name("e"), result = name("r"), n = name("n"), v = name("x"), n2 = name("n"),
              v2 = name("x");
  std::string key = body.convert(arg, like.element, "i64");
  std::string three = body.op("arith.constant 3 : i64"), one = body.op("arith.constant 1 : i64");
  std::string zero = body.op("arith.constant 0 : i64"),
              turns = body.op("arith.andi " + key + ", " + three + " : i64");
  body.line(result + ":2 = scf.while (" + n + " = " + turns + ", " + v + " = " + key +
            ") : (i64, i64) -> (i64, i64) {");
  std::string go = body.op("arith.cmpi sgt, " + n + ", " + zero + " : i64");
  body.line("scf.condition(" + go + ") " + n + ", " + v + " : i64, i64");
  body.line("} do {");
  body.line("^bb0(" + n2 + ": i64, " + v2 + ": i64):");
  std::string less = body.op("arith.subi " + n2 + ", " + one + " : i64");
  body.add(v2, "i64");
  std::string changed = body.expression("i64", 2);
  body.line("scf.yield " + less + ", " + changed + " : i64, i64");
  body.line("}");
  Body outer(random, false, next);
  outer.text() = body.text();
  outer.add(result + "#1", "i64");
  outer.add(arg, like.element);
  Results results;
  addResult(results, outer, like.dims);
  writeNode("loop", like.dims, "each " + arg + " = " + like.name + " : " + like.type(), outer, results);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Generator::histogram() {
  Tensor *keys = pick(1, -1, /*isInteger=*/true);
  if (!keys)
    return pointwise();
  Tensor k = *keys;
  static const char *types[] = {"i8", "i16", "i32", "i64"};
  std::string type = types[random.below(4)], fill = name("z"), bins = std::to_string(random.range(2, 9));
  static const char *kinds[] = {"addi", "maxsi", "xori", "minui"};
  Tensor memory{name("m"), type, {Dim{"", std::stoll(bins), nextDim++}}};
  Tensor after = memory;
  after.name = name("m");
  text += "  " + fill + " = arith.constant " + std::to_string(random.range(-3, 3)) + " : " + type + "\n";
  text +=
      "  " + memory.name + " = dfg.buffer() fill(" + fill + " : " + type + ") : " + memory.memref() + "\n";
  Body body(random, options.controlFlow, next);
  std::string arg = name("e"), port = name("b");
  addIds(body, k.dims.size());
  body.add(arg, k.element);
  std::string wide = body.convert(arg, k.element, "index"),
              count = body.op("arith.constant " + bins + " : index");
  std::string at = body.op("arith.remui " + wide + ", " + count + " : index");
  std::string value = body.expression(type, 2);
  text += "  " + after.name + " = dfg.node @" + nodeName("histogram") + " " + gridOf(k.dims) + " (each " +
          arg + " = " + k.name + " : " + k.type() + ", acc<" + kinds[random.below(4)] + "> " + port + " = " +
          memory.name + " : " + memory.memref() + ") {\n" + body.text() + "    dfg.accumulate " + value +
          ", " + port + "[" + at + "] : " + memory.memref() + "\n  }\n";
  memories.push_back(after);
}

// Writes own elements of a fresh buffer, or updates those of memory that exists; reads another one whole.
void Generator::memoryPorts() {
  static const char *ids[] = {"%i", "%j", "%k"};
  bool isUpdate = !memories.empty() && random.below(2);
  Tensor memory, source;
  std::vector<Dim> dims;
  size_t chosen = 0;
  if (isUpdate) {
    chosen = random.below(memories.size());
    memory = memories[chosen];
    dims = memory.dims;
    for (Dim &dim : dims)
      if (dim.value.empty()) {
        dim.value = name("d");
        text += "  " + dim.value + " = arith.constant " + std::to_string(dim.size) + " : index\n";
      }
  } else {
    Tensor like = *pick(1);
    memory = Tensor{name("m"), element(), like.dims};
    dims = like.dims;
    std::string extents;
    for (const Dim &dim : dims)
      if (dim.size < 0)
        extents += (extents.empty() ? "" : ", ") + dim.value;
    text += "  " + memory.name + " = dfg.buffer(" + extents + ") : " + memory.memref() + "\n";
  }
  Body body(random, options.controlFlow, next);
  addIds(body, dims.size());
  Tensor shape{"", "", dims};
  std::string ports = commonPorts(body, shape), port = name("b"), index;
  for (size_t d = 0; d < dims.size(); ++d)
    index += (d ? ", " : "") + std::string(ids[d]);
  // Another memory, read at a wrapped position.
  if (memories.size() > 1 && random.below(2)) {
    size_t other = random.below(memories.size());
    if (!isUpdate || other != chosen) {
      const Tensor &m = memories[other];
      std::string read = name("b"), at;
      ports += (ports.empty() ? "in " : ", in ") + read + " = " + m.name + " : " + m.memref();
      for (size_t d = 0; d < m.dims.size(); ++d) {
        std::string c = body.op("arith.constant " + std::to_string(d) + " : index");
        std::string extent = body.op("memref.dim " + read + ", " + c + " : " + m.memref());
        std::string wrapped = body.op("arith.remui " + std::string(ids[random.below(dims.size())]) + ", " +
                                      extent + " : index");
        at += (d ? ", " : "") + wrapped;
      }
      body.add(body.op("memref.load " + read + "[" + at + "] : " + m.memref()), m.element);
    }
  }
  if (isUpdate)
    body.add(body.op("memref.load " + port + "[" + index + "] : " + memory.memref()), memory.element);
  std::string value = body.bounded(body.expression(memory.element, 2), memory.element);
  Tensor after = memory;
  after.name = name("m");
  after.dims = dims;
  text += "  " + after.name + " = dfg.node @" + nodeName(isUpdate ? "update" : "write") + " " + gridOf(dims) +
          " (" + ports + (ports.empty() ? "" : ", ") + (isUpdate ? "inout " : "out ") + port + " = " +
          memory.name + " : " + memory.memref() + ") {\n" + body.text() + "    memref.store " + value + ", " +
          port + "[" + index + "] : " + memory.memref() + "\n  }\n";
  if (isUpdate)
    memories[chosen] = after;
  else
    memories.push_back(after);
}

// Atomic updates at wrapped positions; what they return depends on the order and is not used.
void Generator::atomics() {
  Tensor *keys = pick(1, -1, /*isInteger=*/true);
  if (!keys)
    return pointwise();
  Tensor k = *keys;
  static const char *types[] = {"i32", "i64"};
  static const char *kinds[] = {"addi", "maxs", "minu", "ori", "andi"};
  std::string type = types[random.below(2)], fill = name("z"), bins = std::to_string(random.range(2, 6));
  Tensor memory{name("m"), type, {Dim{"", std::stoll(bins), nextDim++}}}, after = memory;
  after.name = name("m");
  text += "  " + fill + " = arith.constant " + std::to_string(random.range(-3, 3)) + " : " + type + "\n";
  text +=
      "  " + memory.name + " = dfg.buffer() fill(" + fill + " : " + type + ") : " + memory.memref() + "\n";
  Body body(random, options.controlFlow, next);
  std::string arg = name("e"), port = name("b");
  addIds(body, k.dims.size());
  body.add(arg, k.element);
  std::string wide = body.convert(arg, k.element, "index"),
              count = body.op("arith.constant " + bins + " : index");
  std::string at = body.op("arith.remui " + wide + ", " + count + " : index"),
              value = body.expression(type, 2);
  body.op("memref.atomic_rmw " + std::string(kinds[random.below(5)]) + " " + value + ", " + port + "[" + at +
          "] : (" + type + ", " + memory.memref() + ") -> " + type);
  text += "  " + after.name + " = dfg.node @" + nodeName("atomic") + " " + gridOf(k.dims) + " (each " + arg +
          " = " + k.name + " : " + k.type() + ", inout " + port + " = " + memory.name + " : " +
          memory.memref() + ") {\n" + body.text() + "  }\n";
  memories.push_back(after);
}

//===----------------------------------------------------------------------===//
// Groups and hierarchy
//===----------------------------------------------------------------------===//

// The instances exchange elements through scratch memory; with a group around, once for each row.
void Generator::scratch() {
  Tensor *found = nullptr;
  for (Tensor &t : tensors)
    if ((t.dims.size() == 1 || (t.dims.size() == 2 && options.hierarchy)) && t.dims.back().size > 0 &&
        random.below(2))
      found = &t;
  if (!found)
    return pointwise();
  found->isUsed = true;
  Tensor t = *found;
  bool isGroup = t.dims.size() == 2;
  std::string n = std::to_string(t.dims.back().size), type = element();
  Body body(random, false, next);
  std::string arg = name("e"), id = isGroup ? "%t" : "%i";
  std::string memory = body.op("dfg.scratch : memref<" + n + "x" + type + ">");
  body.add(id, "index");
  body.add(arg, t.element);
  std::string value = body.bounded(body.expression(type, 2), type);
  body.line("memref.store " + value + ", " + memory + "[" + id + "] : memref<" + n + "x" + type + ">");
  body.line("dfg.barrier");
  std::string extent = body.op("arith.constant " + n + " : index");
  std::string shift = body.op("arith.constant " + std::to_string(random.range(1, 3)) + " : index");
  std::string moved = body.op("arith.addi " + id + ", " + shift + " : index");
  std::string at = body.op("arith.remui " + moved + ", " + extent + " : index");
  std::string other = body.op("memref.load " + memory + "[" + at + "] : memref<" + n + "x" + type + ">");
  if (random.below(2)) {
    // A second phase overwrites what the first has read.
    body.line("dfg.barrier");
    std::string sum = body.bounded(body.op("arith.add" + std::string(isFloatType(type) ? "f " : "i ") +
                                           other + ", " + value + " : " + type),
                                   type);
    body.line("memref.store " + sum + ", " + memory + "[" + at + "] : memref<" + n + "x" + type + ">");
    body.line("dfg.barrier");
    other = body.op("memref.load " + memory + "[" + id + "] : memref<" + n + "x" + type + ">");
  }
  Tensor made{name("v"), type, t.dims};
  if (!isGroup) {
    text += "  " + made.name + " = dfg.node @" + nodeName("exchange") + " " + gridOf(t.dims) + " (each " +
            arg + " = " + t.name + " : " + t.type() + ") -> " + made.type() + " {\n" + body.text() +
            "    dfg.yield " + other + " : " + type + "\n  }\n";
  } else {
    Tensor row{name("row"), t.element, {t.dims[1]}}, inner{name("v"), type, {t.dims[1]}};
    std::string c = name("c");
    text += "  " + made.name + " = dfg.node @" + nodeName("group") + " grid(%i = " + t.dims[0].value +
            ") (each " + row.name + " = " + t.name + " : " + t.type() + ") -> " + made.type() + " {\n    " +
            c + " = arith.constant " + n + " : index\n    " + inner.name + " = dfg.node @" +
            nodeName("exchange") + " grid(%t = " + c + ") (each " + arg + " = " + row.name + " : " +
            row.type() + ") -> " + inner.type() + " {\n" + body.text() + "    dfg.yield " + other + " : " +
            type + "\n    }\n    dfg.yield " + inner.name + " : " + inner.type() + "\n  }\n";
  }
  tensors.push_back(made);
}

// A group whose two children work on its row: one maps it, the other combines it.
void Generator::group() {
  Tensor *found = pick(2, 2);
  if (!found)
    return pointwise();
  Tensor t = *found;
  Tensor row{name("row"), t.element, {t.dims[1]}}, mapped{name("v"), element(), {t.dims[1]}};
  Tensor made{name("v"), mapped.element, t.dims}, sums{name("v"), "i64", {t.dims[0]}};
  Body first(random, options.controlFlow, next), second(random, options.controlFlow, next);
  std::string a = name("e"), b = name("e"), c = name("c"), d = name("d"), sum = name("v");
  first.add(a, t.element);
  first.add("%j", "index");
  std::string x = first.bounded(first.expression(mapped.element, 2), mapped.element);
  second.add(b, mapped.element);
  std::string y = second.expression("i64", 2);
  text += "  " + made.name + ", " + sums.name + " = dfg.node @" + nodeName("group") +
          " grid(%i = " + t.dims[0].value + ") (each " + row.name + " = " + t.name + " : " + t.type() +
          ") -> (" + made.type() + ", " + sums.type() + ") {\n    " + c +
          " = arith.constant 0 : index\n    " + d + " = tensor.dim " + row.name + ", " + c + " : " +
          row.type() + "\n    " + mapped.name + " = dfg.node @" + nodeName("map") + " grid(%j = " + d +
          ") (each " + a + " = " + row.name + " : " + row.type() + ") -> " + mapped.type() + " {\n" +
          first.text() + "    dfg.yield " + x + " : " + mapped.element + "\n    }\n    " + sum +
          " = dfg.node @" + nodeName("sum") + " grid(%j = " + d + ") (each " + b + " = " + mapped.name +
          " : " + mapped.type() + ") -> i64 reduce<addi> {\n" + second.text() + "    dfg.yield " + y +
          " : i64\n    }\n    dfg.yield " + mapped.name + ", " + sum + " : " + mapped.type() + ", i64\n  }\n";
  tensors.push_back(made);
  tensors.push_back(sums);
}

// A group whose child writes the group's row of memory.
void Generator::groupMemory() {
  Tensor *found = pick(2, 2);
  if (!found)
    return pointwise();
  Tensor t = *found;
  Tensor row{name("row"), t.element, {t.dims[1]}}, memory{name("m"), element(), t.dims};
  Tensor after = memory, middle = memory;
  after.name = name("m");
  std::string extents, port = name("b"), inner = name("b"), c = name("c"), d = name("d"), e = name("e");
  for (const Dim &dim : t.dims)
    if (dim.size < 0)
      extents += (extents.empty() ? "" : ", ") + dim.value;
  Body body(random, options.controlFlow, next);
  body.add(e, t.element);
  body.add("%g", "index");
  std::string value = body.bounded(body.expression(memory.element, 2), memory.element);
  text += "  " + memory.name + " = dfg.buffer(" + extents + ") : " + memory.memref() + "\n";
  text += "  " + after.name + " = dfg.node @" + nodeName("group") + " grid(%i = " + t.dims[0].value +
          ") (each " + row.name + " = " + t.name + " : " + t.type() + ", out " + port + " = " + memory.name +
          " : " + memory.memref() + ") {\n    " + c + " = arith.constant 0 : index\n    " + d +
          " = tensor.dim " + row.name + ", " + c + " : " + row.type() + "\n    " + name("m") +
          " = dfg.node @" + nodeName("row") + " grid(%j = " + d + ") (%g = %i : index, each " + e + " = " +
          row.name + " : " + row.type() + ", out " + inner + " = " + port + " : " + memory.memref() +
          ") {\n" + body.text() + "    memref.store " + value + ", " + inner +
          "[%g, %j] : " + memory.memref() + "\n    }\n  }\n";
  memories.push_back(after);
}

// An internal node without a grid around one leaf.
void Generator::internal() {
  Tensor like = *pick(1);
  Tensor whole{name("w"), like.element, like.dims}, inner{name("v"), element(), like.dims};
  Tensor made{name("v"), inner.element, like.dims};
  Body body(random, options.controlFlow, next);
  std::string arg = name("e"), wiring, grid = "grid(";
  static const char *ids[] = {"%i", "%j", "%k"};
  addIds(body, like.dims.size());
  body.add(arg, like.element);
  std::string value = body.bounded(body.expression(inner.element, 2), inner.element);
  for (size_t d = 0; d < like.dims.size(); ++d) {
    std::string c = name("c"), extent = name("d");
    if (like.dims[d].size < 0)
      wiring += "    " + c + " = arith.constant " + std::to_string(d) + " : index\n    " + extent +
                " = tensor.dim " + whole.name + ", " + c + " : " + whole.type() + "\n";
    else
      wiring += "    " + extent + " = arith.constant " + std::to_string(like.dims[d].size) + " : index\n";
    grid += (d ? ", " : "") + std::string(ids[d]) + " = " + extent;
  }
  text += "  " + made.name + " = dfg.node @" + nodeName("internal") + " (" + whole.name + " = " + like.name +
          " : " + like.type() + ") -> " + made.type() + " {\n" + wiring + "    " + inner.name +
          " = dfg.node @" + nodeName("leaf") + " " + grid + ") (each " + arg + " = " + whole.name + " : " +
          whole.type() + ") -> " + inner.type() + " {\n" + body.text() + "    dfg.yield " + value + " : " +
          inner.element + "\n    }\n    dfg.yield " + inner.name + " : " + inner.type() + "\n  }\n";
  tensors.push_back(made);
}

void Generator::callGraph() {
  Tensor like = *pick(1);
  std::string callee = nodeName("sub"), type = element(), in = "tensor<", out;
  std::string arg = name("e"), wiring, ids;
  Tensor param{"%x", like.element, like.dims};
  for (Dim &dim : param.dims)
    dim.size = -1;
  Tensor made{name("v"), type, param.dims};
  Body body(random, options.controlFlow, next);
  addIds(body, like.dims.size());
  body.add(arg, like.element);
  std::string value = body.bounded(body.expression(type, 2), type);
  std::vector<Dim> local = param.dims;
  for (size_t d = 0; d < local.size(); ++d) {
    std::string c = "%c" + std::to_string(d);
    local[d].value = "%n" + std::to_string(d);
    wiring += "  " + c + " = arith.constant " + std::to_string(d) + " : index\n  " + local[d].value +
              " = tensor.dim %x, " + c + " : " + param.type() + "\n";
  }
  graphs += "dfg.graph private @" + callee + "(%x: " + param.type() + ") -> (y: " + made.type() + ") {\n" +
            wiring + "  %y = dfg.node @body " + gridOf(local) + " (each " + arg + " = %x : " + param.type() +
            ") -> " + made.type() + " {\n" + body.text() + "    dfg.yield " + value + " : " + type +
            "\n  }\n  dfg.return %y : " + made.type() + "\n}\n";
  std::string operand = like.name;
  if (like.type() != param.type()) {
    operand = name("x");
    text +=
        "  " + operand + " = tensor.cast " + like.name + " : " + like.type() + " to " + param.type() + "\n";
  }
  text += "  " + made.name + " = dfg.call @" + callee + "(" + operand + ") : (" + param.type() + ") -> " +
          made.type() + "\n";
  tensors.push_back(made);
}

// The extent of a grid is a result of another node: between 1 and 8.
void Generator::extentFromData() {
  Tensor like = *pick(1);
  std::string extent = name("n"), arg = name("e");
  Body body(random, false, next);
  std::string wide = body.convert(arg, like.element, "index");
  std::string seven = body.op("arith.constant 7 : index"), one = body.op("arith.constant 1 : index");
  std::string low = body.op("arith.andi " + wide + ", " + seven + " : index"),
              value = body.op("arith.addi " + low + ", " + one + " : index");
  text += "  " + extent + " = dfg.node @" + nodeName("extent") + " " + gridOf(like.dims) + " (each " + arg +
          " = " + like.name + " : " + like.type() + ") -> index reduce<maxui> {\n" + body.text() +
          "    dfg.yield " + value + " : index\n  }\n";
  std::vector<Dim> dims = {Dim{extent, -1, nextDim++}};
  Body counting(random, options.controlFlow, next);
  addIds(counting, 1);
  std::string ports = commonPorts(counting, Tensor{"", "", dims});
  Results results;
  Tensor made{name("v"), element(), dims};
  results.head = made.type();
  results.yields = {counting.bounded(counting.expression(made.element, 2), made.element)};
  results.types = {made.element};
  results.made = {made};
  writeNode("count", dims, ports, counting, results);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

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
