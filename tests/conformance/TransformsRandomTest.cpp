// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs, random graph transformations: the oracle must give the same answer before and after.
// Everything is integers, so equal means equal bits. A failure prints its seed, the steps and the program;
// run it again with TESSERA_SEED, and with TESSERA_TRACE to see each step. TESSERA_RANDOM_COUNT sets how many
// graphs are tried.
#include "RandomGraph.h"

#include "tessera/driver/Registry.h"
#include "tessera/oracle/Oracle.h"
#include "tessera/transforms/graph/Rewrites.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {

using Random = std::mt19937;

unsigned pick(Random &random, size_t count) {
  return std::uniform_int_distribution<unsigned>(0, count - 1)(random);
}

/// Writes a program of one graph over 2-D and 1-D tensors, scalars and a piece of memory.
class Generator {
public:
  explicit Generator(Random &random)
      : random(random), rows(2 + pick(random, 4)), columns(2 + pick(random, 5)) {
    bool dynamic = pick(random, 3) == 0;
    matrix = dynamic ? "tensor<?x?xi32>"
                     : "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xi32>";
    vector = dynamic ? "tensor<?xi32>" : "tensor<" + std::to_string(columns) + "xi32>";
    std::string extents = dynamic ? "  %g0 = arith.constant 0 : index\n  %g1 = arith.constant 1 : index\n"
                                    "  %gh = tensor.dim %gx, %g0 : " +
                                        matrix + "\n  %gw = tensor.dim %gx, %g1 : " + matrix + "\n"
                                  : "  %gh = arith.constant " + std::to_string(rows) +
                                        " : index\n  %gw = arith.constant " + std::to_string(columns) +
                                        " : index\n";
    matrices = {"%gx", "%gy"};
    scalars = {"%gs"};
    for (unsigned i = 0, n = 2 + pick(random, 7); i < n; ++i)
      addNode();
    std::string values, types, names;
    auto give = [&](const std::string &value, const std::string &type) {
      names += (names.empty() ? "r" : ", r") + std::to_string(outputs++) + ": " + type;
      values += (values.empty() ? "" : ", ") + value;
      types += (types.empty() ? "" : ", ") + type;
    };
    give(matrices.back(), matrix);
    give(matrices[pick(random, matrices.size())], matrix);
    give(scalars.back(), "i32");
    if (!vectors.empty())
      give(vectors.back(), vector);
    give(memory, "memref<4xi32>");
    text = "dfg.graph @g(%gx: " + matrix + ", %gy: " + matrix + ", %gs: i32, %gm: memref<4xi32>) -> (" +
           names + ") {\n" + extents + body + "  dfg.return " + values + " : " + types + "\n}\n";
  }

  std::string text;

  std::vector<oracle::Array> inputs(MLIRContext *context) {
    Type i32 = IntegerType::get(context, 32);
    auto array = [&](std::vector<int64_t> shape) {
      size_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      std::vector<char> bytes(4 * count);
      for (size_t i = 0; i < count; ++i) {
        int32_t value = int32_t(pick(random, 200)) - 100;
        std::memcpy(&bytes[4 * i], &value, 4);
      }
      return oracle::Array{i32, shape, bytes};
    };
    return {array({rows, columns}), array({rows, columns}), array({}), array({4})};
  }

private:
  std::string anyOp() {
    static const char *ops[] = {"addi", "subi", "muli", "maxsi", "minsi", "xori"};
    return std::string("arith.") + ops[pick(random, 6)];
  }
  std::string anyReduction() {
    static const char *kinds[] = {"addi", "maxsi", "minsi", "xori", "muli"};
    return kinds[pick(random, 5)];
  }
  const std::string &anyOf(const std::vector<std::string> &values) {
    return values[pick(random, values.size())];
  }
  std::string fresh() { return std::to_string(next++); }

  std::string pointwise(const std::string &id, const std::string &a, const std::string &b,
                        const std::string &s, const std::string &h, const std::string &w,
                        const std::string &indent) {
    return indent + "%v" + id + " = dfg.node @n" + id + " grid(%i = " + h + ", %j = " + w +
           ") (each %a = " + a + " : " + matrix + ", each %b = " + b + " : " + matrix + ", %c = " + s +
           " : i32) -> " + matrix + " {\n" + indent + "  %p = " + anyOp() + " %a, %b : i32\n" + indent +
           "  %q = " + anyOp() + " %p, %c : i32\n" + indent + "  dfg.yield %q : i32\n" + indent + "}\n";
  }

  void addNode() {
    std::string id = fresh(), v = "%v" + id, a = anyOf(matrices), b = anyOf(matrices), s = anyOf(scalars);
    std::string grid = "grid(%i = %gh, %j = %gw) ", each = "(each %e = " + a + " : " + matrix;
    std::string node = " = dfg.node @n" + id + " ";
    switch (pick(random, 11)) {
    case 0:
      body += pointwise(id, a, b, s, "%gh", "%gw", "  ");
      matrices.push_back(v);
      return;
    case 1: { // a window that clamps at the border
      bool own = pick(random, 2);
      body +=
          "  " + v + node + grid + "(%t = " + a + " : " + matrix +
          (own ? ", each %e = " + a + " : " + matrix : "") + ") -> " + matrix +
          " {\n    %z = arith.constant 0 : index\n    %o = arith.constant 1 : index\n"
          "    %l = arith.subi %i, %o : index\n    %u = arith.maxsi %l, %z : index\n    %n = dfg.extent 1\n"
          "    %m = arith.subi %n, %o : index\n    %r0 = arith.addi %j, %o : index\n"
          "    %r = arith.minsi %r0, %m : index\n    %p = tensor.extract %t[%u, %r] : " +
          matrix + "\n    %q = tensor.extract %t[%i, %j] : " + matrix + "\n    %s = " + anyOp() +
          " %p, %q : i32\n" +
          (own ? "    %k = " + anyOp() + " %s, %e : i32\n    dfg.yield %k : i32\n"
               : "    dfg.yield %s : i32\n") +
          "  }\n";
      matrices.push_back(v);
      return;
    }
    case 2: // a copy
      body += "  " + v + node + grid + each + ") -> " + matrix + " {\n    dfg.yield %e : i32\n  }\n";
      matrices.push_back(v);
      return;
    case 3:
      body += "  " + v + node + grid + each + ") -> i32 " + (pick(random, 3) ? "reduce<" : "fold<") +
              anyReduction() + "> {\n    %p = " + anyOp() + " %e, %e : i32\n    dfg.yield %p : i32\n  }\n";
      scalars.push_back(v);
      return;
    case 4:
      body += "  " + v + node + grid + each + ") -> " + vector + " " +
              (pick(random, 3) ? "reduce<" : "fold<") + anyReduction() +
              "> over [0] {\n    dfg.yield %e : i32\n  }\n";
      vectors.push_back(v);
      return;
    case 5: // two results, one of them reduced
      body += "  " + v + ", %u" + id + node + grid + each + ") -> (" + matrix + ", i32 reduce<" +
              anyReduction() + ">) {\n    %p = " + anyOp() +
              " %e, %e : i32\n    dfg.yield %p, %e : i32, i32\n  }\n";
      matrices.push_back(v);
      scalars.push_back("%u" + id);
      return;
    case 6:
      body +=
          "  " + v + node + grid + each + ", acc<addi> %t = " + memory +
          " : memref<4xi32>) {\n"
          "    %f = arith.constant 3 : i32\n    %k = arith.andi %e, %f : i32\n"
          "    %l = arith.index_cast %k : i32 to index\n    dfg.accumulate %e, %t[%l] : memref<4xi32>\n  }\n";
      memory = v;
      return;
    case 7: // reads memory as well
      body +=
          "  " + v + node + grid + each + ", in %t = " + memory + " : memref<4xi32>) -> " + matrix +
          " {\n    %z = arith.constant 2 : index\n    %p = memref.load %t[%z] : memref<4xi32>\n    %q = " +
          anyOp() + " %p, %e : i32\n    dfg.yield %q : i32\n  }\n";
      matrices.push_back(v);
      return;
    case 8: // work that all instances do alike
      body += "  " + v + node + grid + each + ", %c = " + s + " : i32) -> " + matrix +
              " {\n    %k = arith.constant 7 : i32\n    %p = arith.divsi %c, %k : i32\n    %r = arith.addi "
              "%p, %k : i32\n"
              "    %q = " +
              anyOp() + " %r, %e : i32\n    dfg.yield %q : i32\n  }\n";
      matrices.push_back(v);
      return;
    case 9: // two loops over memory of its own
      body += "  " + v + node + grid + each + ") -> " + matrix +
              " {\n    %z = arith.constant 0 : index\n    %o = arith.constant 1 : index\n    %n = "
              "arith.constant 5 : index\n"
              "    %t = memref.alloc() : memref<5xi32>\n    scf.for %k = %z to %n step %o {\n"
              "      %c = arith.index_cast %k : index to i32\n      %p = " +
              anyOp() +
              " %e, %c : i32\n"
              "      memref.store %p, %t[%k] : memref<5xi32>\n    }\n"
              "    %s = scf.for %k = %z to %n step %o iter_args(%q = %e) -> i32 {\n"
              "      %p = memref.load %t[%k] : memref<5xi32>\n      %r = " +
              anyOp() +
              " %q, %p : i32\n"
              "      scf.yield %r : i32\n    }\n    memref.dealloc %t : memref<5xi32>\n    dfg.yield %s : "
              "i32\n  }\n";
      matrices.push_back(v);
      return;
    default: { // hierarchy
      std::string p = fresh(), q = fresh();
      body += "  " + v + " = dfg.node @n" + id + " (%a" + id + " = " + a + " : " + matrix + ", %c" + id +
              " = " + s + " : i32, %h" + id + " = %gh : index, %w" + id + " = %gw : index) -> " + matrix +
              " {\n" + pointwise(p, "%a" + id, "%a" + id, "%c" + id, "%h" + id, "%w" + id, "    ") +
              pointwise(q, "%v" + p, "%a" + id, "%c" + id, "%h" + id, "%w" + id, "    ") +
              "    dfg.yield %v" + q + " : " + matrix + "\n  }\n";
      matrices.push_back(v);
    }
    }
  }

  Random &random;
  int64_t rows, columns;
  std::string matrix, vector, body, memory = "%gm";
  std::vector<std::string> matrices, vectors, scalars;
  unsigned next = 0, outputs = 0;
};

/// One random step; true when it applied. `what` says which.
bool transform(Random &random, ModuleOp program, std::string &what) {
  IRRewriter rewriter(program.getContext());
  SmallVector<NodeOp> nodes;
  SmallVector<scf::ForOp> loops;
  program.walk([&](NodeOp node) { nodes.push_back(node); });
  program.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  if (nodes.empty())
    return false;
  NodeOp a = nodes[pick(random, nodes.size())], b = nodes[pick(random, nodes.size())];
  auto number = [&](int64_t below) { return int64_t(pick(random, below)); };
  Refusal no;
  auto did = [&](StringRef verb, auto &&result) {
    what = verb.str();
    return succeeded(result);
  };
  switch (pick(random, 13)) {
  case 0: {
    // Mostly along an edge: two random nodes rarely have one.
    for (Value input : b.getInputs())
      if (auto producer = input.getDefiningOp<NodeOp>())
        a = producer;
    return did("fuse_nodes", fuseProducer(rewriter, a, b, FuseOptions{number(2) == 1, 300}, no));
  }
  case 1:
    return did("fuse_siblings", fuseSiblings(rewriter, a, b, no));
  case 2: {
    SmallVector<int64_t> sizes;
    for (unsigned d = 0; d < a.getRank(); ++d)
      sizes.push_back(number(4));
    return did("tile_grid", tileGrid(rewriter, a, sizes, no));
  }
  case 3:
    return did("split_grid", splitGrid(rewriter, a, number(2), 1 + number(3), no));
  case 4: {
    SmallVector<int64_t> dims;
    for (unsigned d = 0; d < a.getRank(); ++d)
      if (number(2))
        dims.push_back(d);
    return did("sequentialise", sequentialise(rewriter, a, dims, no));
  }
  case 5:
    return did("unroll_grid", unrollGrid(rewriter, a, number(2), 2 + number(2), no));
  case 6:
    for (unsigned i = 0; i < a.getInputs().size(); ++i)
      if (a.getPort(i).getMode() == PortMode::Acc)
        return did("privatise", privatiseAccumulator(rewriter, a, i, 1 + number(4), no));
    return false;
  case 7:
    return !loops.empty() &&
           did("unroll_loop", unrollLoop(rewriter, loops[pick(random, loops.size())], number(4), no));
  case 8:
    for (unsigned i = 0; i < loops.size(); ++i)
      for (unsigned k = 0; k < loops.size(); ++k)
        if (did("fuse_loops", fuseLoops(rewriter, loops[i], loops[k], no)))
          return true;
    return false;
  case 9:
    return did("hoist", hoistInvariant(rewriter, a, no));
  case 10: {
    SmallVector<CallOp> calls;
    program.walk([&](CallOp call) { calls.push_back(call); });
    if (!calls.empty() && number(2))
      return did("flatten", flattenCall(rewriter, calls.front(), no));
    return did("flatten", flattenNode(rewriter, a, no));
  }
  case 11: {
    SmallVector<NodeOp> set{a};
    if (b != a)
      set.push_back(b);
    std::string name = "o" + std::to_string(number(1000000));
    return number(2) ? did("outline", outlineNodes(rewriter, set, name, no))
                     : did("outline", outlineGraph(rewriter, set, name, no));
  }
  default:
    what = "simplify";
    return simplify(rewriter, program);
  }
}

std::string toText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().assumeVerified());
  return text;
}

int64_t fromEnvironment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

/// Counts what was applied, so that a transformation that never applies is noticed.
using Applied = std::map<std::string, unsigned>;

class TransformsRandom : public testing::Test {
protected:
  TransformsRandom() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    trace = std::getenv("TESSERA_TRACE");
    first = fromEnvironment("TESSERA_SEED", 1);
    count = std::getenv("TESSERA_SEED") ? 1 : fromEnvironment("TESSERA_RANDOM_COUNT", 200);
  }

  static const DialectRegistry &makeRegistry() {
    static DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  static GraphOp findGraph(ModuleOp program, StringRef name) {
    for (GraphOp graph : program.getOps<GraphOp>())
      if (graph.getSymName() == name)
        return graph;
    return {};
  }

  /// Twelve random steps, each checked against the answer before.
  void check(Random &random, const std::string &text, StringRef name, ArrayRef<oracle::Array> inputs,
             int64_t seed) {
    OwningOpRef<ModuleOp> program = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(program) << "seed " << seed << "\n" << text;
    auto before = oracle::runGraph(findGraph(*program, name), inputs);
    ASSERT_TRUE(succeeded(before)) << "seed " << seed << "\n" << text;
    std::string steps;
    for (unsigned step = 0; step < 12; ++step) {
      std::string what, old = toText(*program);
      if (!transform(random, *program, what))
        continue;
      ++applied[what];
      steps += what + "\n";
      if (trace)
        llvm::errs() << "seed " << seed << "\n" << what << "\n" << old;
      ASSERT_TRUE(succeeded(verify(*program))) << "seed " << seed << "\n" << steps << old << toText(*program);
      GraphOp main = findGraph(*program, name);
      auto after = oracle::runGraph(main, inputs);
      ASSERT_TRUE(succeeded(after)) << "seed " << seed << "\n" << steps << old << toText(*program);
      std::optional<std::string> differs = conformance::compareOutputs(main, *before, *after);
      ASSERT_FALSE(differs) << "seed " << seed << "\n"
                            << *differs << "\n"
                            << steps << old << toText(*program);
      if (old.size() > 60000)
        break; // unrolling an unrolled node again and again
    }
  }

  MLIRContext context;
  Applied applied;
  bool trace;
  int64_t first, count;
};

TEST_F(TransformsRandom, SmallGraphsKeepTheirMeaning) {
  for (int64_t seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
    Random random(seed);
    Generator generator(random);
    check(random, generator.text, "g", generator.inputs(&context), seed);
  }
  if (count < 100)
    return;
  for (const char *verb :
       {"fuse_nodes", "fuse_siblings", "tile_grid", "split_grid", "sequentialise", "unroll_grid", "privatise",
        "unroll_loop", "fuse_loops", "hoist", "flatten", "outline", "simplify"})
    EXPECT_GT(applied[verb], 0u) << verb << " was never applied";
}

TEST_F(TransformsRandom, GeneralGraphsKeepTheirMeaning) {
  for (int64_t seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
    Random random(seed);
    conformance::RandomProgram program = conformance::makeRandomProgram(context, seed);
    check(random, program.text, "main", program.inputs, seed);
  }
}

} // namespace
