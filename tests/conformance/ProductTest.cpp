// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products written as a triple loop, which the default schedule turns into register tiles, at extents
// that divide the tiles and at extents that do not. Mode strict must be the oracle's bits; mode fast may fuse
// a product with a sum, so its error is bounded by the length of the sum times the unit roundoff times the
// sum of magnitudes (at most 16 k here).
#include "CpuBackend.h"

#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;

namespace {

struct Case {
  int64_t m, k, n;
  const char *type;
  bool dynamic;
};

std::string program(const Case &c) {
  auto tensor = [&](int64_t rows, int64_t columns) {
    std::string shape = c.dynamic ? "?x?" : std::to_string(rows) + "x" + std::to_string(columns);
    return "tensor<" + shape + "x" + c.type + ">";
  };
  std::string a = tensor(c.m, c.k), b = tensor(c.k, c.n), r = tensor(c.m, c.n), t = c.type;
  bool integer = t[0] == 'i';
  std::string s = integer ? "i" : "f";
  return "dfg.graph @g(%a: " + a + ", %b: " + b + ") -> (c: " + r + ") {\n" +
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" +
         "  %m = tensor.dim %a, %c0 : " + a + "\n  %n = tensor.dim %b, %c1 : " + b + "\n" +
         "  %c = dfg.node @product grid(%i = %m, %j = %n) (%l = %a : " + a + ", %r = %b : " + b + ") -> " +
         r + " {\n" + "    %zero = arith.constant 0 : index\n    %one = arith.constant 1 : index\n" +
         "    %start = arith.constant " + (integer ? "0" : "0.0") + " : " + t + "\n" +
         "    %k = tensor.dim %l, %one : " + a + "\n" +
         "    %sum = scf.for %p = %zero to %k step %one iter_args(%acc = %start) -> " + t + " {\n" +
         "      %x = tensor.extract %l[%i, %p] : " + a + "\n      %y = tensor.extract %r[%p, %j] : " + b +
         "\n" + "      %t = arith.mul" + s + " %x, %y : " + t + "\n      %u = arith.add" + s +
         " %acc, %t : " + t + "\n" + "      scf.yield %u : " + t + "\n    }\n    dfg.yield %sum : " + t +
         "\n  }\n  dfg.return %c : " + r + "\n}\n";
}

template <typename T> void fill(oracle::Array &array, unsigned seed) {
  for (size_t i = 0; i * sizeof(T) < array.bytes.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    T v = T(int(seed >> 20) % 2001 - 1000) / T(250);
    std::memcpy(&array.bytes[i * sizeof(T)], &v, sizeof(T));
  }
}

oracle::Array makeArray(Type type, int64_t rows, int64_t columns, unsigned seed) {
  oracle::Array array{type, {rows, columns}, std::vector<char>(rows * columns * oracle::elementBytes(type))};
  if (type.isF32())
    fill<float>(array, seed);
  else if (type.isF64())
    fill<double>(array, seed);
  else
    fill<int32_t>(array, seed);
  return array;
}

double at(const oracle::Array &array, size_t i) {
  if (array.elementType.isF64())
    return reinterpret_cast<const double *>(array.bytes.data())[i];
  return reinterpret_cast<const float *>(array.bytes.data())[i];
}

class Products : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Products, EqualTheOracle) {
  const Case &c = GetParam();
  Session session;
  auto module = parseSourceString<ModuleOp>(program(c), ParserConfig(&session.context()));
  ASSERT_TRUE(module);
  auto graph = *module->getOps<dfg::GraphOp>().begin();
  Type type = getElementTypeOrSelf(graph.getArgumentTypes()[0]);
  std::vector<oracle::Array> inputs = {makeArray(type, c.m, c.k, 1), makeArray(type, c.k, c.n, 2)};
  auto expected = oracle::runGraph(graph, inputs);
  ASSERT_TRUE(succeeded(expected));
  for (bool strict : {true, false}) {
    BackendOptions options;
    options.strict = strict;
    auto actual = runInstalled(session, *module, "g", inputs, options);
    ASSERT_TRUE(succeeded(actual));
    ASSERT_EQ((*expected)[0].shape, (*actual)[0].shape);
    if (strict || isa<IntegerType>(type)) {
      EXPECT_EQ((*expected)[0].bytes, (*actual)[0].bytes) << (strict ? "strict" : "fast");
      continue;
    }
    double unit = type.isF64() ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < c.m * c.n; ++i)
      ASSERT_LE(std::abs(at((*expected)[0], i) - at((*actual)[0], i)), 2 * unit * c.k * (16.0 * c.k))
          << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Products,
                         testing::Values(Case{64, 64, 64, "f32", false}, Case{48, 256, 512, "f32", false},
                                         Case{60, 50, 40, "f32", false}, Case{7, 5, 3, "f32", false},
                                         Case{64, 64, 64, "f64", false}, Case{61, 300, 70, "f64", true},
                                         Case{33, 17, 29, "i32", false}, Case{100, 513, 257, "f32", true},
                                         Case{8, 1, 32, "f32", false}, Case{1, 64, 1, "f32", false},
                                         Case{0, 4, 4, "f32", true}, Case{5, 0, 5, "f32", true}));
