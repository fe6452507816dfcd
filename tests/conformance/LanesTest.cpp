// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances in the lanes of vectors: loops that end at different times, branches that some lanes do not take,
// and what such lanes must not do: read out of bounds, or divide by zero.
#include "CpuBackend.h"

#include "mlir/Parser/Parser.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;

namespace {

struct Case {
  const char *name, *body;
};

// Each body computes %v : i32 from its element %e : i32, the table %t : tensor<5xi32>, its id %i and the
// scalar %s : i32.
const Case cases[] = {
    {"while", R"(
      %v, %n = scf.while (%a = %e, %b = %zero) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi sgt, %a, %one : i32
        scf.condition(%more) %b, %a : i32, i32
      } do {
      ^bb0(%b: i32, %a: i32):
        %h = arith.shrsi %a, %one : i32
        %c = arith.addi %b, %one : i32
        scf.yield %h, %c : i32, i32
      })"},
    {"for_to_a_varying_bound", R"(
      %n = arith.index_cast %e : i32 to index
      %v = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> i32 {
        %w = arith.remui %k, %c5 : index
        %x = tensor.extract %t[%w] : tensor<5xi32>
        %y = arith.addi %acc, %x : i32
        scf.yield %y : i32
      })"},
    {"reads_only_where_taken", R"(
      %small = arith.cmpi slt, %e, %five : i32
      %v = scf.for %k = %c0 to %c40 step %c1 iter_args(%acc = %zero) -> i32 {
        %x = scf.if %small -> i32 {
          %at = arith.index_cast %e : i32 to index
          %r = tensor.extract %t[%at] : tensor<5xi32>
          scf.yield %r : i32
        } else {
          scf.yield %one : i32
        }
        %y = arith.addi %acc, %x : i32
        scf.yield %y : i32
      })"},
    {"divides_only_where_taken", R"(
      %some = arith.cmpi ne, %e, %zero : i32
      %v = scf.for %k = %c0 to %c40 step %c1 iter_args(%acc = %one) -> i32 {
        %x = scf.if %some -> i32 {
          %q = arith.divsi %s, %e : i32
          scf.yield %q : i32
        } else {
          scf.yield %one : i32
        }
        %y = arith.xori %acc, %x : i32
        scf.yield %y : i32
      })"},
    {"uniform_read_that_nobody_takes", R"(
      %never = arith.cmpi slt, %e, %zero : i32
      %far = arith.index_cast %s : i32 to index
      %v = scf.for %k = %c0 to %c40 step %c1 iter_args(%acc = %zero) -> i32 {
        %x = scf.if %never -> i32 {
          %m = arith.muli %far, %far : index
          %r = tensor.extract %t[%m] : tensor<5xi32>
          scf.yield %r : i32
        } else {
          scf.yield %one : i32
        }
        %y = arith.addi %acc, %x : i32
        scf.yield %y : i32
      })"},
    {"while_in_a_branch_in_a_while", R"(
      %v, %z = scf.while (%a = %e, %b = %zero) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi sgt, %a, %zero : i32
        scf.condition(%more) %b, %a : i32, i32
      } do {
      ^bb0(%b: i32, %a: i32):
        %odd = arith.andi %a, %one : i32
        %isOdd = arith.cmpi eq, %odd, %one : i32
        %g = scf.if %isOdd -> i32 {
          %p = scf.while (%x = %a) : (i32) -> i32 {
            %big = arith.cmpi sgt, %x, %five : i32
            scf.condition(%big) %x : i32
          } do {
          ^bb0(%x: i32):
            %d = arith.subi %x, %five : i32
            scf.yield %d : i32
          }
          scf.yield %p : i32
        } else {
          scf.yield %five : i32
        }
        %c = arith.addi %b, %g : i32
        %h = arith.subi %a, %one : i32
        scf.yield %h, %c : i32, i32
      })"},
};

class Lanes : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Lanes, EqualTheOracle) {
  std::string text = std::string(R"(
dfg.graph @g(%x: tensor<?xi32>, %table: tensor<5xi32>, %scalar: i32) -> (y: tensor<?xi32>) {
  %z = arith.constant 0 : index
  %n = tensor.dim %x, %z : tensor<?xi32>
  %y = dfg.node @body grid(%i = %n) (each %e = %x : tensor<?xi32>, %t = %table : tensor<5xi32>, %s = %scalar : i32) -> tensor<?xi32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c40 = arith.constant 40 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %five = arith.constant 5 : i32
)") + GetParam().body +
                     "\n    dfg.yield %v : i32\n  }\n  dfg.return %y : tensor<?xi32>\n}\n";
  Session session;
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&session.context()));
  ASSERT_TRUE(module) << text;
  auto graph = *module->getOps<dfg::GraphOp>().begin();
  Type i32 = IntegerType::get(&session.context(), 32);
  auto array = [&](std::vector<int64_t> shape, const std::vector<int32_t> &values) {
    oracle::Array a{i32, std::move(shape), std::vector<char>(values.size() * 4)};
    std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
    return a;
  };
  // Whole vectors, a rest, and all values that a branch asks for.
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 77; ++i)
    values.push_back(i * 37 % 23);
  std::vector<oracle::Array> inputs = {array({77}, values), array({5}, {3, -1, 4, 1, -5}),
                                       array({}, {1000003})};
  auto expected = oracle::runGraph(graph, inputs);
  ASSERT_TRUE(succeeded(expected));
  auto actual = runInstalled(session, *module, "g", inputs, BackendOptions());
  ASSERT_TRUE(succeeded(actual));
  EXPECT_EQ((*expected)[0].bytes, (*actual)[0].bytes);
}

INSTANTIATE_TEST_SUITE_P(Bodies, Lanes, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.name);
                         });
