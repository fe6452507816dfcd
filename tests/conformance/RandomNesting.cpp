// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes in nodes, graphs that are called, extents that other nodes compute.
#include "RandomGenerator.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::conformance;

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
