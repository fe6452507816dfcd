// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator of random programs. It writes text: what it makes can be read, kept and cut down by hand.
// Leaves are in RandomLeaves.cpp, what uses memory in RandomMemory.cpp, groups and graphs of their own in
// RandomNesting.cpp.
#pragma once

#include "RandomBody.h"
#include "RandomGraph.h"

namespace tessera::conformance {

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

/// Writes one program.
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

} // namespace tessera::conformance
