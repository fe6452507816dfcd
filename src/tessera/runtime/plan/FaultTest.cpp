// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that find something wrong with their data make the launch fail, and only that one.
#include "tessera/runtime/plan/Fault.h"
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/stream/Stream.h"

namespace tessera {
using namespace testing;

namespace {
// One node whose kernel wants indices from 0 to 9, and reports in two cells.
PlanBuilder within(const char *kind = "offset") {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), ten = b.constant(10);
  int out = b.temp({n}), cells = b.value({{"kind", "fault"}, {"type", "i64"}, {"shape", {b.constant(4)}}});
  Json step = b.step("k_within", {{"value", x}, {"value", out}, {"expr", ten}, {"value", cells}}, n);
  step["faults"] = {{"value", cells},
                    {"sites", Json::array({Json::array({kind, "rows", "net.mlir:7:3"}),
                                           Json::array({"divisor", "a division", ""})})}};
  b.node("look", {x, cells}, {out, cells}, Json::array({b.version("cpu", Json::array({step}))}));
  b.output("out", out);
  return b;
}

std::string run(Program &program, std::vector<float> x) {
  auto input = floats(std::move(x));
  Buffer *in[] = {input.get()};
  BufferRef out[1];
  Status status = program.launch(in, out);
  EXPECT_EQ(status.ok() ? StatusCode::InvalidArgument : status.code(), StatusCode::InvalidArgument);
  return status.message();
}
} // namespace

TEST(Fault, ALaunchFailsAndTheNextOneDoesNot) {
  auto program = openProgram(within());
  ASSERT_TRUE(program);
  EXPECT_EQ(run(*program, {1, 9}), "");
  EXPECT_EQ(run(*program, {1, 10}),
            "net.mlir:7:3: node 'look': expected an index of rows from 0 to 9, but got 10");
  EXPECT_EQ(run(*program, {1, 9}), "");
  // Negative ones count as the worst; another shape has cells of its own.
  EXPECT_EQ(run(*program, {12, -3, 30}),
            "net.mlir:7:3: node 'look': expected an index of rows from 0 to 9, but got -3");
  EXPECT_EQ(run(*program, {1, 2, 3}), "");
  EXPECT_EQ(run(*program, {1000, 2, 3}),
            "node 'look': a division overflows: the smallest number is divided by 1000");
}

TEST(Fault, TheMessageDoesNotDependOnThreads) {
  std::vector<float> x(20000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 7919 % 20000 * 2 + 1);
  std::string first;
  for (unsigned threads : {1u, 2u, 4u, 8u}) {
    ProgramOptions options;
    options.threads = threads;
    auto program = openProgram(within("index"), options);
    ASSERT_TRUE(program);
    for (int i = 0; i < 8; ++i) {
      std::string message = run(*program, x);
      EXPECT_EQ(message, "net.mlir:7:3: node 'look': expected an index of rows from -10 to 9, but got 39999");
    }
  }
}

TEST(Fault, AnItemOfAStreamFailsAndTheRestGoesOn) {
  for (unsigned threads : {1u, 2u}) {
    ProgramOptions options;
    options.threads = threads;
    auto program = openProgram(within("length"), options);
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    for (float v : {1.0f, 11.0f, 3.0f, 12.0f, 4.0f}) {
      BufferRef in[] = {floats({v})}, out[1];
      ASSERT_TRUE(stream->push(in, out).ok());
      Status status = stream->pop(out);
      if (v < 10)
        EXPECT_EQ(status.message(), "");
      else
        EXPECT_EQ(status.message(),
                  "net.mlir:7:3: node 'look': expected a length of rows from 0 to 10, but got " +
                      std::to_string(static_cast<int>(v)));
    }
  }
}

TEST(Fault, EveryKindHasItsWords) {
  Node node;
  node.name = "n";
  auto said = [&](FaultKind kind, int64_t value, int64_t limit) {
    FaultCell cell{static_cast<uint64_t>(value) << 1 | 1, limit};
    return readFaults(node, {{kind, "it", ""}}, &cell).message();
  };
  EXPECT_EQ(said(FaultKind::Index, 0, 0), "node 'n': index 0 of it, which has no elements");
  EXPECT_EQ(said(FaultKind::Divisor, 0, 0), "node 'n': it divides by zero");
  EXPECT_EQ(said(FaultKind::Access, -1, 4), "node 'n': it at -1 of 4 elements");
}

TEST(Fault, PlansAreChecked) {
  auto refused = [](const std::function<void(Json &)> &change) {
    Json plan = within().plan();
    change(plan["programs"][0]);
    return parsePlan(plan.dump(), 0).status().message();
  };
  auto faults = [](Json &p) -> Json & { return p["nodes"][0]["versions"][0]["steps"][0]["faults"]; };
  EXPECT_NE(refused([&](Json &p) { faults(p) = 1; }).find("field 'faults': expected an object"),
            std::string::npos);
  EXPECT_NE(refused([&](Json &p) {
              faults(p)["sites"][0] = {"what", "a", "b"};
            }).find("field 'faults': expected [kind, \"what\", \"where\"]"),
            std::string::npos);
  EXPECT_NE(
      refused([&](Json &p) { faults(p)["sites"].push_back({"index", "a", "b"}); })
          .find("kernel 'k_within' reports in value 2, which is not of kind fault with a cell for each of "
                "its 3 sites"),
      std::string::npos);
  EXPECT_NE(refused([&](Json &p) {
              faults(p)["value"] = 1;
            }).find("reports in value 1, which is not of kind fault"),
            std::string::npos);
}

} // namespace tessera
