// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages that the other tests do not come across: of the C interface, of sizes that
// are only known at launch, and of malformed parts of a plan.
#include "tessera/runtime.h"
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/stream/Stream.h"

#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::testing;

static void expectIn(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

static PlanBuilder increment() {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), y = b.temp({n});
  b.simple("n0", "k_add1", {x}, {y}, {{"value", x}, {"value", y}}, n);
  b.output("y", y);
  return b;
}

TEST(Errors, OfTheCInterface) {
  auto refused = [](tsr_status status, const char *message) {
    EXPECT_EQ(status, TSR_INVALID_ARGUMENT);
    expectIn(tsr_last_error(), message);
  };
  refused(tsr_module_load(nullptr, nullptr), "expected a path and a place for the module");
  refused(tsr_module_load_memory(nullptr, 0, nullptr), "expected bytes and a place for the module");
  refused(tsr_program_open(nullptr, nullptr, nullptr, nullptr),
          "expected a module and a place for the program");
  std::string bytes = tsxBytes(increment().plan());
  tsr_module *module = nullptr;
  ASSERT_EQ(tsr_module_load_memory(bytes.data(), bytes.size(), &module), TSR_OK);
  tsr_options options;
  tsr_options_init(&options);
  options.policy = static_cast<tsr_policy>(9);
  tsr_program *program = nullptr;
  refused(tsr_program_open(module, nullptr, &options, &program), "unknown policy 9");
  ASSERT_EQ(tsr_program_open(module, nullptr, nullptr, &program), TSR_OK);
  tsr_module_free(module);
  tsr_port_info info;
  refused(tsr_program_output_info(program, 3, &info), "program 'test' has no port 3 of this kind");
  tsr_node_profile profile;
  refused(tsr_program_profile(program, 0, &profile), "the program was opened without 'profile'");
  tsr_program_free(program);
  refused(tsr_buffer_create(TSR_F32, 17, nullptr, nullptr),
          "expected a shape of at most 16 extents and a place for the buffer");
  refused(tsr_buffer_map_range(nullptr, 0, 0, TSR_READ, nullptr),
          "expected a buffer and a place for the pointer");
  tsr_buffer *buffer = nullptr;
  ASSERT_EQ(tsr_buffer_create(TSR_F32, 0, nullptr, &buffer), TSR_OK);
  void *memory = nullptr;
  refused(tsr_buffer_map(buffer, static_cast<tsr_access>(8), &memory), "unknown access 8");
  tsr_buffer_free(buffer);
}

TEST(Errors, OfProfiles) {
  std::string bytes = tsxBytes(increment().plan());
  tsr_module *module = nullptr;
  ASSERT_EQ(tsr_module_load_memory(bytes.data(), bytes.size(), &module), TSR_OK);
  tsr_options options;
  tsr_options_init(&options);
  options.profile = 1;
  tsr_program *program = nullptr;
  ASSERT_EQ(tsr_program_open(module, nullptr, &options, &program), TSR_OK);
  tsr_node_profile profile;
  EXPECT_EQ(tsr_program_profile(program, 5, &profile), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "program has no node 5");
  tsr_program_free(program);
  tsr_module_free(module);
}

// The message of a launch with `input`, on the CPU and on the null device, which must both refuse it.
static std::string launchError(const PlanBuilder &b, BufferRef input, const std::string &constants = "",
                               const char *device = "cpu") {
  ProgramOptions options;
  options.devices = {device};
  auto program = openProgram(b, options, constants);
  if (!program)
    return "";
  Buffer *in[] = {input.get()};
  std::vector<BufferRef> out(program->plan().outputs.size());
  Status status = program->launch(in, out);
  EXPECT_FALSE(status.ok());
  return status.message();
}

TEST(Errors, OfGridsAndScratch) {
  for (const char *device : {"cpu", "null"}) {
    PlanBuilder b = increment();
    b.nodes[0]["versions"][0]["steps"][0]["grid"][0] = b.constant(-1);
    expectIn(launchError(b, floats({1}), "", device), "kernel 'k_add1': grid is negative or too large");
    b = increment();
    b.nodes[0]["versions"][0]["steps"][0]["scratch"] = b.constant(int64_t(1) << 50);
    expectIn(launchError(b, floats({1}), "", device),
             "kernel 'k_add1': scratch of 1125899906842624 bytes is not possible");
  }
}

TEST(Errors, OfSizesKnownAtLaunch) {
  PlanBuilder b = increment();
  int big = b.constant(100);
  int alias = b.alias(1, {big});
  b.output("alias", alias);
  expectIn(launchError(b, floats({1})), "larger than the memory it names");

  b = increment();
  int more = b.alias(1, {b.constant(100)});
  int z = b.temp({0});
  b.simple("n1", "k_add1", {more}, {z}, {{"value", more}, {"value", z}}, 0);
  b.output("z", z);
  expectIn(launchError(b, floats({1})), "needs 400 bytes, but the memory it names (value 1) has 4");

  b = increment();
  int constant = b.value(
      {{"kind", "const"}, {"type", "f32"}, {"shape", {b.constant(100)}}, {"offset", 0}, {"bytes", 64}});
  z = b.temp({0});
  b.simple("n1", "k_add1", {constant}, {z}, {{"value", constant}, {"value", z}}, 0);
  b.output("z", z);
  expectIn(launchError(b, floats({1}), std::string(64, '\0')),
           "constant needs 400 bytes, but the file holds 64");

  b = increment();
  int init = b.value(
      {{"kind", "const"}, {"type", "f32"}, {"shape", {b.constant(16)}}, {"offset", 0}, {"bytes", 64}});
  int next = b.temp({0});
  int state = b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {0}}, {"init", init}, {"next", next}});
  b.simple("n1", "k_add1", {state}, {next}, {{"value", state}, {"value", next}}, 0);
  b.output("s", next);
  expectIn(launchError(b, floats({1}), std::string(64, '\0')), "state of 4 bytes, but it starts from 64");
}

TEST(Errors, OfOutputsAndStreams) {
  PlanBuilder b = increment();
  int z = b.temp({0});
  b.simple("n1", "k_add1", {0}, {z}, {{"value", 0}, {"value", z}}, 0);
  b.output("z", z);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  auto x = floats({1}), both = floats({1});
  Buffer *in[] = {x.get()};
  std::vector<BufferRef> out = {both, both};
  EXPECT_EQ(program->launch(in, out).message(), "outputs 'y' and 'z' are bound to the same buffer");
  auto stream = Stream::open(program).take();
  stream->close();
  EXPECT_EQ(stream->pop(out).message(), "the stream is closed and empty");
  EXPECT_EQ(stream->pop({}).message(), "program 'test' has 2 outputs, but got 0");
}

TEST(Errors, OfMalformedPlans) {
  auto refused = [](const std::function<void(Json &)> &change, const std::string &message) {
    Json plan = increment().plan();
    change(plan["programs"][0]);
    auto parsed = parsePlan(plan.dump(), 0);
    ASSERT_FALSE(parsed.ok()) << message;
    expectIn(parsed.status().message(), message);
  };
  refused([](Json &p) { p["nodes"][0] = 1; }, "expected an object");
  refused([](Json &p) { p["values"][0] = 1; }, "expected an object");
  refused([](Json &p) { p["inputs"][0] = 1; }, "expected an object");
  refused([](Json &p) { p["nodes"][0]["versions"][0] = 1; }, "expected an object");
  refused([](Json &p) { p["nodes"][0]["versions"][0]["steps"][0] = 1; }, "expected an object");
  refused([](Json &p) { p["nodes"][0]["versions"][0]["steps"][0]["chain"] = 1; },
          "field 'chain': expected true or false");
  refused([](Json &p) { p["nodes"][0]["name"] = 1; }, "field 'name': expected a string");
  refused([](Json &p) { p["nodes"] = 1; }, "expected an array of at most");
  refused(
      [](Json &p) {
        p["values"].push_back({{"kind", "temp"}, {"type", "f32"}, {"shape", {0}}});
        p["values"].push_back({{"kind", "state"}, {"type", "f32"}, {"shape", {0}}, {"init", 0}, {"next", 2}});
      },
      "value 3: no node writes its 'next', value 2");
}

TEST(Errors, OfViewsThatDoNotFit) {
  PlanBuilder b = increment();
  b.program["checks"] = {{0, b.constant(4), "extent 0 of what it takes", "cast"}};
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats({1, 2, 3, 4})})[0]), (std::vector<float>{2, 3, 4, 5}));
  BufferRef input = floats({1, 2, 3});
  Buffer *raw[] = {input.get()};
  std::vector<BufferRef> outputs(1);
  EXPECT_EQ(program->launch(raw, outputs).message(),
            "node 'cast': expected extent 0 of what it takes to be 4, but got 3");
}

TEST(Errors, OfViewsLargerThanTheirMemory) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), y = b.temp({n}), z = b.alias(y, {b.constant(4)});
  b.simple("n0", "k_add1", {x}, {y}, {{"value", x}, {"value", y}}, n);
  b.output("z", z);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  BufferRef input = floats({1, 2, 3});
  Buffer *raw[] = {input.get()};
  std::vector<BufferRef> outputs(1);
  EXPECT_EQ(program->launch(raw, outputs).message(), "output 'z' is larger than the memory it names");
}

TEST(Errors, OfBuffersAndTheCache) {
  EXPECT_EQ(
      Buffer::create(ElementType::F32, {-1}).status().message(),
      "a buffer of f32 of shape ? is not possible; expected at most 16 extents, each 0 or more, of less "
      "than 2^63 bytes in all");
  EXPECT_EQ(Module::loadCached({"/nowhere/a.tsx", "key"}).status().message(),
            "'/nowhere/a.tsx' is not in the cache");
  std::string path = ::testing::TempDir() + "tessera_cached.tsx", bytes = tsxBytes(increment().plan());
  ASSERT_TRUE(writeFile(path, std::string_view(bytes)).ok());
  chmod(path.c_str(), 0600);
  EXPECT_EQ(Module::loadCached({path, "key"}).status().message(), "'" + path + "' is another program's");
  unlink(path.c_str());
}

TEST(Errors, OfTemporariesWithoutEnd) {
  PlanBuilder b = increment();
  int big = b.constant(int64_t(1) << 46);
  for (int i = 0; i < 5; ++i) {
    int t = b.temp({big});
    b.simple("big" + std::to_string(i), "k_add1", {0}, {t}, {{"value", 0}, {"value", t}}, 0);
  }
  expectIn(launchError(b, floats({1})), "temporaries need more than 2^50 bytes for these inputs");
}

// An input that the program changes, in memory that it must not change: aligned or not.
TEST(Errors, OfReadOnlyInputsThatAreChanged) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), y = b.alias(x, {n});
  b.simple("n0", "k_twice", {x}, {y}, {{"value", x}}, n);
  b.output("y", y);
  auto program = openProgram(b);
  ASSERT_TRUE(program);
  alignas(64) float memory[4] = {};
  for (float *from : {memory, memory + 1}) {
    auto input = Buffer::wrap(ElementType::F32, {2}, from, /*readOnly=*/true).take();
    Buffer *in[] = {input.get()};
    std::vector<BufferRef> out(1);
    EXPECT_EQ(program->launch(in, out).message(),
              "input 'x' is changed by the program, but the buffer is read-only; give it a copy");
  }
}
