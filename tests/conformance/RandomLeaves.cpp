// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves on tensors: over a grid, on whole tensors, with loops and vectors inside.
#include "RandomGenerator.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::conformance;

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
