// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on the CPU: results, arena, segments, states, threads, errors.
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/trace/Trace.h"

#include <thread>

using namespace tessera;
using namespace tessera::testing;

// image -> add1 -> twice (in place) -> add(image) -> out
static PlanBuilder chainPlan() {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0);
  int t = b.temp({n}), u = b.alias(t, {n}), out = b.temp({n});
  b.simple("first", "k_add1", {x}, {t}, {{"value", x}, {"value", t}}, n);
  b.simple("second", "k_twice", {t}, {u}, {{"value", u}}, n);
  b.simple("third", "k_add", {u, x}, {out}, {{"value", u}, {"value", x}, {"value", out}}, n);
  b.output("out", out);
  return b;
}

TEST(Program, RunsAGraphWithAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u, 3u}) {
    ProgramOptions options;
    options.threads = threads;
    auto program = openProgram(chainPlan(), options);
    ASSERT_TRUE(program);
    for (int64_t n : {1, 7, 1000, 100000}) {
      std::vector<float> x(static_cast<size_t>(n));
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i);
      for (unsigned repeat = 0; repeat < 6; ++repeat) {
        program->limitThreads(repeat); // none counts as one, more than there are as all
        auto out = content(*launch(*program, {floats(x)})[0]);
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(out[i], (x[i] + 1) * 2 + x[i]) << n << " " << i;
      }
    }
    auto empty = launch(*program, {floats({})});
    EXPECT_EQ(empty[0]->shape(), std::vector<int64_t>{0});
  }
}

TEST(Program, TasksRunExactlyOnce) {
  for (unsigned threads : {1u, 2u, 5u})
    for (auto [I, J, K] :
         {std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(1, 2, 50), std::tuple(40, 1, 3)}) {
      PlanBuilder b;
      int x = b.input("x", {I, J, K}, "i32");
      int i = b.constant(I), j = b.constant(J), k = b.constant(K);
      Json step = {{"kernel", "k_visit"},
                   {"args", Json(Args{{"value", x}, {"expr", j}, {"expr", k}})},
                   {"grid", {i, j, k}}};
      b.node("visit", {x}, {x}, Json::array({b.version("cpu", Json::array({step}))}));
      b.output("out", x);
      ProgramOptions options;
      options.threads = threads;
      auto program = openProgram(b, options);
      ASSERT_TRUE(program);
      EXPECT_TRUE(program->plan().inputs[0].written);
      auto buffer = Buffer::create(ElementType::I32, {I, J, K}).take();
      auto out = launch(*program, {buffer});
      for (const BufferRef &which : {buffer, out[0]}) {
        const int32_t *visits = reinterpret_cast<const int32_t *>(*which->hostRead());
        for (int t = 0; t < I * J * K; ++t)
          ASSERT_EQ(visits[t], 1);
      }
    }
}

TEST(Program, ScratchIsPrivateAndAligned) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), bytes = b.constant(1000), out = b.temp({n});
  Json step = b.step("k_scratch", {{"value", x}, {"value", out}, {"expr", bytes}}, n);
  step["scratch"] = bytes;
  b.node("scratch", {x}, {out}, Json::array({b.version("cpu", Json::array({step}))}));
  b.output("out", out);
  ProgramOptions options;
  options.threads = 4;
  auto program = openProgram(b, options);
  ASSERT_TRUE(program);
  for (int repeat = 0; repeat < 5; ++repeat)
    EXPECT_EQ(content(*launch(*program, {floats(std::vector<float>(3000, 2.0f))})[0]),
              std::vector<float>(3000, 5.0f));
}

TEST(Program, ChainedStepsRunWithoutABarrier) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), t = b.temp({n}), out = b.temp({n});
  Json first = b.step("k_add1", {{"value", x}, {"value", t}}, n);
  Json second = b.step("k_add1", {{"value", t}, {"value", out}}, n);
  second["grid"] = first["grid"];
  second["chain"] = true;
  b.node("two", {x}, {out}, Json::array({b.version("cpu", {first, second}, {t})}));
  b.output("out", out);
  ProgramOptions options;
  options.threads = 2;
  auto program = openProgram(b, options);
  ASSERT_TRUE(program);
  for (int repeat = 0; repeat < 5; ++repeat)
    EXPECT_EQ(content(*launch(*program, {floats(std::vector<float>(5000, 1.0f))})[0]),
              std::vector<float>(5000, 3.0f));
}

// The number of positive elements decides the size of the output.
static PlanBuilder segmentPlan() {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), one = b.constant(1);
  int count = b.temp({}, "i64");
  int loaded = b.expr({"load", count});
  int out = b.temp({loaded});
  b.simple("count", "k_count", {x}, {count}, {{"value", x}, {"expr", n}, {"value", count}}, one);
  b.simple("iota", "k_iota", {}, {out}, {{"value", out}}, loaded);
  b.output("out", out);
  return b;
}

TEST(Program, AnExtentBornInsideTheGraphEndsASegment) {
  auto program = openProgram(segmentPlan());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->plan().segments, 2);
  EXPECT_EQ(content(*launch(*program, {floats({1, -1, 2, -2, 3})})[0]), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(content(*launch(*program, {floats({1, 1, 1, 1, 1})})[0]), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(content(*launch(*program, {floats({-1})})[0]), std::vector<float>());
}

TEST(Program, AnOutputMayBeAViewWhoseSizeIsBornInItsProducer) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), one = b.constant(1);
  int count = b.temp({}, "i64"), all = b.temp({n});
  int loaded = b.expr({"load", count});
  int view = b.alias(all, {loaded});
  b.simple("count", "k_count", {x}, {count}, {{"value", x}, {"expr", n}, {"value", count}}, one);
  b.simple("copy", "k_add1", {x}, {all}, {{"value", x}, {"value", all}}, n);
  b.output("out", view);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats({5, -6, 7})})[0]), (std::vector<float>{6, -5}));
}

TEST(Program, RelocatedTablesWork) {
  PlanBuilder b;
  int x = b.input("x", {4});
  int n = b.constant(4), out = b.temp({n});
  b.simple("table", "k_table_add", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.output("out", out);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats({0, 0, 0, 0})})[0]), (std::vector<float>{1, 10, 1, 10}));
}

TEST(Program, OutputsThatShareMemoryOrNameInputsAreCopied) {
  PlanBuilder b;
  int x = b.input("x", {2});
  int n = b.constant(2), out = b.temp({n});
  b.simple("add", "k_add1", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.output("a", out);
  b.output("b", out);
  b.output("same", x);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  auto outs = launch(*program, {floats({1, 2})});
  EXPECT_EQ(content(*outs[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(content(*outs[1]), (std::vector<float>{2, 3}));
  EXPECT_EQ(content(*outs[2]), (std::vector<float>{1, 2}));
}

TEST(Program, ConcurrentLaunchesAreIndependent) {
  ProgramOptions options;
  options.threads = 2;
  auto program = openProgram(chainPlan(), options);
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        size_t n = static_cast<size_t>(100 + 997 * ((t + i) % 5));
        auto input = floats(std::vector<float>(n, static_cast<float>(t)));
        Buffer *raw[] = {input.get()};
        BufferRef out[1];
        if (!program->launch(raw, out).ok() ||
            content(*out[0]) != std::vector<float>(n, static_cast<float>((t + 1) * 2 + t)))
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Program, TemporariesOfOneArenaDoNotOverlap) {
  // A ladder of nodes whose values die quickly: the arena is smaller than their sum.
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), previous = x;
  for (int i = 0; i < 40; ++i) {
    int next = b.temp({n});
    b.simple("n" + std::to_string(i), "k_add1", {previous}, {next}, {{"value", previous}, {"value", next}},
             n);
    previous = next;
  }
  b.output("out", previous);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats(std::vector<float>(1000, 0.0f))})[0]),
            std::vector<float>(1000, 40.0f));
  std::vector<std::span<const int64_t>> dims(program->plan().values.size());
  int64_t extent[] = {1000};
  dims[0] = extent;
  std::vector<int32_t> versions(40, 0);
  auto prepared = prepare(program->plan(), 0, nullptr, dims, {}, {versions, {}});
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ((*prepared)->arenaBytes, 2u * 4096);
}

static std::string launchError(Program &program, std::vector<BufferRef> inputs,
                               std::vector<BufferRef> outputs) {
  std::vector<Buffer *> raw;
  for (BufferRef &input : inputs)
    raw.push_back(input.get());
  Status status = program.launch(raw, outputs);
  EXPECT_FALSE(status.ok());
  return status.message();
}

TEST(Program, ErrorsOfLaunches) {
  auto program = openProgram(chainPlan());
  ASSERT_TRUE(program);
  auto x = floats({1, 2, 3});
  EXPECT_EQ(launchError(*program, {}, {nullptr}),
            "program 'test' has 1 inputs and 1 outputs, but got 0 and 1");
  EXPECT_EQ(launchError(*program, {nullptr}, {nullptr}), "input 'x' is missing; expected f32 of shape ?");
  auto wide = Buffer::create(ElementType::F64, {3}).take();
  EXPECT_EQ(launchError(*program, {wide}, {nullptr}),
            "input 'x': expected f32 of shape ?, but the buffer holds f64 of shape 3");
  EXPECT_EQ(launchError(*program, {x}, {floats({1, 2})}),
            "output 'out': expected f32 of shape 3, but the buffer holds f32 of shape 2");
  EXPECT_EQ(launchError(*program, {x}, {x}), "output 'out' shares memory with input 'x'; use another buffer");
  alignas(64) static float memory[3];
  auto constant = Buffer::wrap(ElementType::F32, {3}, memory, true).take();
  EXPECT_EQ(launchError(*program, {x}, {constant}), "output 'out': the buffer is read-only");
  // The program is unharmed.
  EXPECT_EQ(content(*launch(*program, {x})[0]), (std::vector<float>{5, 8, 11}));
}

TEST(Program, UnalignedMemoryOfTheCallerIsCopied) {
  auto program = openProgram(chainPlan());
  ASSERT_TRUE(program);
  alignas(64) float memory[40] = {};
  memory[1] = 1, memory[2] = 2;
  auto in = Buffer::wrap(ElementType::F32, {2}, memory + 1, true).take();
  auto out = Buffer::wrap(ElementType::F32, {2}, memory + 21).take();
  Buffer *raw[] = {in.get()};
  BufferRef outs[] = {out};
  ASSERT_TRUE(program->launch(raw, outs).ok());
  EXPECT_EQ(memory[21], 5);
  EXPECT_EQ(memory[22], 8);
  EXPECT_EQ(outs[0], out);
  outs[0] = Buffer::wrap(ElementType::F32, {2}, memory + 21, true).take();
  EXPECT_EQ(program->launch(raw, outs).message(), "output 'out': the buffer is read-only");
}

TEST(Program, ErrorsOfSizes) {
  PlanBuilder b;
  int x = b.input("x", {-1}, "f32");
  int n = b.dim(x, 0), zero = b.constant(0), huge = b.constant(INT64_MAX);
  int quotient = b.expr({"floordiv", n, zero}), product = b.expr({"mul", n, huge});
  int minus = b.expr({"sub", zero, n});
  int which = b.input("which", {}, "i32");
  int w = b.expr({"load", which}), two = b.constant(2);
  int isZero = b.expr({"eq", w, zero}), isTwo = b.expr({"eq", w, two});
  int first = b.expr({"select", isZero, quotient, product});
  int extent = b.expr({"select", isTwo, minus, first});
  int out = b.temp({extent});
  b.simple("iota", "k_iota", {}, {out}, {{"value", out}}, extent);
  b.output("out", out);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  auto scalar = [](int32_t number) {
    auto buffer = Buffer::create(ElementType::I32, {}).take();
    std::memcpy(*buffer->hostWrite(), &number, 4);
    return buffer;
  };
  auto error = [&](int32_t number) {
    return launchError(*program, {floats({1, 2, 3}), scalar(number)}, {nullptr});
  };
  EXPECT_NE(error(0).find("divides by zero for these inputs"), std::string::npos);
  EXPECT_NE(error(1).find("overflows 64 bits for these inputs"), std::string::npos);
  EXPECT_NE(error(2).find("an extent is -3 for these inputs; expected 0 or more"), std::string::npos);
}

TEST(Program, ErrorsOfOpening) {
  auto module = loadModule(chainPlan().plan());
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(Program::open(*module, "tset", {}).status().message(),
            "unknown program 'tset'; did you mean 'test'? programs: test");
  ProgramOptions options;
  options.devices = {"nul"};
  // Devices of other folders may follow.
  std::string unknown = Program::open(*module, "", options).status().message();
  EXPECT_TRUE(unknown.starts_with("unknown device 'nul'; did you mean 'null'? devices: cpu, null, null:1"))
      << unknown;
  Json plan = chainPlan().plan();
  plan["programs"].push_back(plan["programs"][0]);
  plan["programs"][1]["name"] = "other";
  auto two = loadModule(plan);
  ASSERT_TRUE(two.ok()) << two.status().message();
  EXPECT_EQ(Program::open(*two, "", {}).status().message(),
            "'test.tsx' holds several programs; choose one of: test, other");
  PlanBuilder gpu = chainPlan();
  gpu.nodes[0]["versions"][0]["target"] = "cuda";
  auto cuda = loadModule(gpu.plan());
  ASSERT_TRUE(cuda.ok()) << cuda.status().message();
  EXPECT_EQ(Program::open(*cuda, "", {}).status().message(),
            "node 'first' has versions for cuda, but the devices in use are cpu:0");
  EXPECT_EQ(parsePolicy("etf").status().message(),
            "unknown policy 'etf'; did you mean 'eft'? policies: static, eft, energy");
}

TEST(Program, ProfileAndTrace) {
  ProgramOptions options;
  options.profile = true;
  auto program = openProgram(chainPlan(), options);
  ASSERT_TRUE(program);
  trace::start();
  launch(*program, {floats({1})});
  launch(*program, {floats({1})});
  trace::stop();
  auto profile = program->profile()->snapshot();
  ASSERT_EQ(profile.size(), 3u);
  EXPECT_EQ(profile[0].count, 2u);
  EXPECT_EQ(profile[0].device, "cpu:0");
  Json json = Json::parse(trace::toJson());
  int events = 0;
  for (const Json &event : json["traceEvents"])
    events += event["ph"] == "X";
  EXPECT_EQ(events, 6);
}

TEST(Program, StatesStartFromInitInAPlainLaunch) {
  PlanBuilder b;
  int x = b.input("x", {2});
  int n = b.constant(2);
  std::vector<float> zeros(16, 0.5f);
  std::string constants(reinterpret_cast<char *>(zeros.data()), 64);
  int init = b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", 0}, {"bytes", 64}});
  int next = b.temp({n});
  int state = b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {n}}, {"init", init}, {"next", next}});
  b.simple("acc", "k_add", {x, state}, {next}, {{"value", x}, {"value", state}, {"value", next}}, n);
  b.output("sum", next);
  auto program = openProgram(b, {}, constants);
  ASSERT_TRUE(program);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(content(*launch(*program, {floats({1, 2})})[0]), (std::vector<float>{1.5f, 2.5f}));
}

TEST(Program, ProfileOfANodeIsTheSumOfItsSteps) {
  // A long step and a short one: the node is never as fast as the short one.
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), one = b.constant(1), work = b.constant(123);
  int y = b.temp({n}), z = b.temp({n});
  Json first = b.step("k_add1", {{"value", x}, {"value", y}}, n);
  Json second = b.step("k_add1", {{"value", y}, {"value", z}}, one);
  first["flops"] = second["flops"] = work;
  b.node("both", {x, z}, {y, z}, Json::array({PlanBuilder::version("cpu", Json::array({first, second}))}));
  b.output("out", z);
  ProgramOptions options;
  options.profile = true;
  auto program = openProgram(b, options);
  ASSERT_TRUE(program);
  for (int i = 0; i < 5; ++i)
    launch(*program, {floats(std::vector<float>(100000, 1.0f))});
  NodeProfile profile = program->profile()->snapshot()[0];
  EXPECT_EQ(profile.count, 5u);
  EXPECT_GT(profile.minNs, 2000u);
  EXPECT_EQ(profile.flops, 246);
}
