// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves on memory: accumulation, ports, atomics, scratch memory with barriers.
#include "RandomGenerator.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::conformance;

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
