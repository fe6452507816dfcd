// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface called wrongly: null pointers and wrong counts in every place give a
// status, never a crash. First each function by name, then all of them at random.
#include "tessera/runtime.h"
#include "tessera/runtime/Testing.h"

#include <random>

using namespace tessera::testing;

namespace {
/// A program with two inputs and two outputs, and what its calls need.
struct Objects {
  std::string bytes;
  tsr_module *module = nullptr;
  tsr_program *program = nullptr;
  tsr_stream *stream = nullptr;
  tsr_buffer *x = nullptr, *y = nullptr;

  Objects() {
    PlanBuilder b("pair");
    int x0 = b.input("x", {-1}), y0 = b.input("y", {-1});
    int n = b.dim(x0, 0), m = b.dim(y0, 0), u = b.temp({n}), v = b.temp({m});
    b.simple("n0", "k_add1", {x0}, {u}, {{"value", x0}, {"value", u}}, n);
    b.simple("n1", "k_add1", {y0}, {v}, {{"value", y0}, {"value", v}}, m);
    b.output("u", u);
    b.output("v", v);
    bytes = tsxBytes(b.plan());
    EXPECT_EQ(tsr_module_load_memory(bytes.data(), bytes.size(), &module), TSR_OK);
    tsr_options options;
    tsr_options_init(&options);
    options.threads = 1;
    options.profile = 1;
    EXPECT_EQ(tsr_program_open(module, nullptr, &options, &program), TSR_OK);
    EXPECT_EQ(tsr_stream_open(program, &stream), TSR_OK);
    const int64_t shape[] = {3};
    EXPECT_EQ(tsr_buffer_create(TSR_F32, 1, shape, &x), TSR_OK);
    EXPECT_EQ(tsr_buffer_create(TSR_F32, 1, shape, &y), TSR_OK);
  }
  ~Objects() {
    tsr_buffer_free(x);
    tsr_buffer_free(y);
    tsr_stream_free(stream);
    tsr_program_free(program);
    tsr_module_free(module);
  }
};

struct Call {
  const char *name;
  std::function<tsr_status()> call;
  const char *message;
};

// Of getters: whether the answer is that of no object.
tsr_status none(bool empty) { return empty ? TSR_INVALID_ARGUMENT : TSR_OK; }
} // namespace

TEST(CApiNull, EveryFunctionAnswersWithAStatus) {
  Objects o;
  tsr_buffer *in[] = {o.x, o.y}, *out[] = {nullptr, nullptr};
  tsr_launch *launch = nullptr;
  tsr_port_info info;
  tsr_node_profile profile;
  tsr_module *module = nullptr;
  tsr_program *program = nullptr;
  tsr_buffer *buffer = nullptr;
  void *memory = nullptr;
  size_t index = 0;
  const int64_t shape[] = {3};
  const char *counts = "program 'pair' has 2 inputs and 2 outputs, but got ";
  const Call calls[] = {
      {"load", [&] { return tsr_module_load(nullptr, &module); }, "expected a path"},
      {"load to", [&] { return tsr_module_load("x.tsx", nullptr); }, "a place for the module"},
      {"memory", [&] { return tsr_module_load_memory(nullptr, 8, &module); }, "expected bytes"},
      {"memory to", [&] { return tsr_module_load_memory(o.bytes.data(), 8, nullptr); }, "a place"},
      {"programs", [&] { return none(tsr_module_program_count(nullptr) == 0); }, "expected a module"},
      {"program name", [&] { return none(!tsr_module_program_name(nullptr, 0)); }, "expected a module"},
      {"open", [&] { return tsr_program_open(nullptr, nullptr, nullptr, &program); }, "expected a module"},
      {"open to", [&] { return tsr_program_open(o.module, nullptr, nullptr, nullptr); }, "a place"},
      {"program load", [&] { return tsr_program_load(nullptr, nullptr, nullptr, &program); }, "a path"},
      {"program load to", [&] { return tsr_program_load("x", nullptr, nullptr, nullptr); },
       "expected a place for the program"},
      {"name", [&] { return none(!tsr_program_name(nullptr)); }, "expected a program"},
      {"inputs", [&] { return none(!tsr_program_input_count(nullptr)); }, "expected a program"},
      {"outputs", [&] { return none(!tsr_program_output_count(nullptr)); }, "expected a program"},
      {"nodes", [&] { return none(!tsr_program_node_count(nullptr)); }, "expected a program"},
      {"input", [&] { return tsr_program_input_info(nullptr, 0, &info); }, "expected a program"},
      {"input to", [&] { return tsr_program_input_info(o.program, 0, nullptr); }, "a place for the port"},
      {"input 9", [&] { return tsr_program_input_info(o.program, SIZE_MAX, &info); }, "has no port"},
      {"output", [&] { return tsr_program_output_info(nullptr, 0, &info); }, "expected a program"},
      {"output to", [&] { return tsr_program_output_info(o.program, 0, nullptr); }, "a place for the port"},
      {"find", [&] { return tsr_program_find_input(nullptr, "x", &index); }, "expected a program"},
      {"find name", [&] { return tsr_program_find_input(o.program, nullptr, &index); }, "expected a name"},
      {"find to", [&] { return tsr_program_find_input(o.program, "x", nullptr); }, "a place for the index"},
      {"find out", [&] { return tsr_program_find_output(nullptr, "u", &index); }, "expected a program"},
      {"find out name", [&] { return tsr_program_find_output(o.program, nullptr, &index); }, "a name"},
      {"find out to", [&] { return tsr_program_find_output(o.program, "u", nullptr); }, "a place"},
      {"profile", [&] { return tsr_program_profile(nullptr, 0, &profile); }, "expected a program"},
      {"profile to", [&] { return tsr_program_profile(o.program, 0, nullptr); }, "a place for the profile"},
      {"profile 9", [&] { return tsr_program_profile(o.program, 9, &profile); }, "program has no node 9"},
      {"create", [&] { return tsr_buffer_create(TSR_F32, 1, nullptr, &buffer); }, "expected a shape"},
      {"create to", [&] { return tsr_buffer_create(TSR_F32, 1, shape, nullptr); }, "a place for the buffer"},
      {"create 17", [&] { return tsr_buffer_create(TSR_F32, SIZE_MAX, shape, &buffer); }, "at most 16"},
      {"wrap", [&] { return tsr_buffer_wrap(TSR_F32, 1, shape, nullptr, 0, &buffer); }, "host memory"},
      {"wrap shape", [&] { return tsr_buffer_wrap(TSR_F32, 1, nullptr, in, 0, &buffer); }, "a shape"},
      {"wrap to", [&] { return tsr_buffer_wrap(TSR_F32, 1, shape, in, 0, nullptr); }, "a place"},
      {"retain", [&] { return none(!tsr_buffer_retain(nullptr)); }, "expected a buffer"},
      {"type", [&] { return none(tsr_buffer_type(nullptr) == TSR_TYPE_LIMIT); }, "expected a buffer"},
      {"rank", [&] { return none(!tsr_buffer_rank(nullptr)); }, "expected a buffer"},
      {"shape", [&] { return none(!tsr_buffer_shape(nullptr)); }, "expected a buffer"},
      {"bytes", [&] { return none(!tsr_buffer_bytes(nullptr)); }, "expected a buffer"},
      {"map", [&] { return tsr_buffer_map(nullptr, TSR_READ, &memory); }, "expected a buffer"},
      {"map to", [&] { return tsr_buffer_map(o.x, TSR_READ, nullptr); }, "a place for the pointer"},
      {"range", [&] { return tsr_buffer_map_range(nullptr, 0, 1, TSR_READ, &memory); }, "a buffer"},
      {"range to", [&] { return tsr_buffer_map_range(o.x, 0, 1, TSR_READ, nullptr); }, "a place"},
      {"range far", [&] { return tsr_buffer_map_range(o.x, 8, SIZE_MAX, TSR_READ, &memory); },
       "lies outside"},
      {"run", [&] { return tsr_run(nullptr, in, 2, out, 2); }, "expected a program"},
      {"run in", [&] { return tsr_run(o.program, nullptr, 2, out, 2); }, "expected an array of inputs"},
      {"run out", [&] { return tsr_run(o.program, in, 2, nullptr, 2); }, "expected an array of outputs"},
      {"run few", [&] { return tsr_run(o.program, in, 1, out, 2); }, counts},
      {"run many", [&] { return tsr_run(o.program, in, SIZE_MAX, out, SIZE_MAX); }, counts},
      {"async", [&] { return tsr_run_async(nullptr, in, 2, out, 2, &launch); }, "expected a program"},
      {"async in", [&] { return tsr_run_async(o.program, nullptr, 2, out, 2, &launch); }, "of inputs"},
      {"async out", [&] { return tsr_run_async(o.program, in, 2, nullptr, 2, &launch); }, "of outputs"},
      {"async many", [&] { return tsr_run_async(o.program, in, 9, out, 9, &launch); }, counts},
      {"async to", [&] { return tsr_run_async(o.program, in, 2, out, 2, nullptr); }, "place for the launch"},
      {"wait", [&] { return tsr_wait(nullptr); }, "expected a launch"},
      {"stream", [&] { return tsr_stream_open(nullptr, &o.stream); }, "expected a program"},
      {"stream to", [&] { return tsr_stream_open(o.program, nullptr); }, "a place for the stream"},
      {"capacity", [&] { return none(!tsr_stream_capacity(nullptr)); }, "expected a stream"},
      {"push", [&] { return tsr_stream_push(nullptr, in, 2, out, 2); }, "expected a stream"},
      {"push in", [&] { return tsr_stream_push(o.stream, nullptr, 2, out, 2); }, "of inputs"},
      {"push many", [&] { return tsr_stream_push(o.stream, in, SIZE_MAX, out, 2); }, counts},
      {"try push", [&] { return tsr_stream_try_push(nullptr, in, 2, out, 2, 0); }, "expected a stream"},
      {"try push in", [&] { return tsr_stream_try_push(o.stream, nullptr, 2, out, 2, 0); }, "of inputs"},
      {"pop", [&] { return tsr_stream_pop(nullptr, out, 2); }, "expected a stream"},
      {"pop to", [&] { return tsr_stream_pop(o.stream, nullptr, 2); }, "expected an array of outputs"},
      {"pop many", [&] { return tsr_stream_pop(o.stream, out, SIZE_MAX); }, "has 2 outputs, but got"},
      {"try pop", [&] { return tsr_stream_try_pop(nullptr, out, 2, 0); }, "expected a stream"},
      {"try pop to", [&] { return tsr_stream_try_pop(o.stream, nullptr, 2, 0); }, "of outputs"},
      {"close", [&] { return tsr_stream_close(nullptr); }, "expected a stream"},
      {"trace", [&] { return tsr_trace_write(nullptr); }, "expected a path"},
      {"device", [&] { return none(!tsr_device_name(SIZE_MAX)); }, ""},
      {"description", [&] { return none(!tsr_device_description(SIZE_MAX)); }, ""},
  };
  for (const Call &call : calls) {
    EXPECT_EQ(call.call(), TSR_INVALID_ARGUMENT) << call.name;
    EXPECT_NE(std::string(tsr_last_error()).find(call.message), std::string::npos)
        << call.name << ": " << tsr_last_error();
  }
  tsr_options_init(nullptr);
  tsr_stream_cancel(nullptr);
  tsr_module_free(nullptr);
  tsr_program_free(nullptr);
  tsr_buffer_free(nullptr);
  tsr_stream_free(nullptr);
  // All that was refused has changed nothing: the next call works.
  ASSERT_EQ(tsr_run(o.program, in, 2, out, 2), TSR_OK) << tsr_last_error();
  for (tsr_buffer *made : out)
    tsr_buffer_free(made);
}

TEST(CApiNull, BuffersOfALaunchMayBeFreedAtOnce) {
  Objects o;
  tsr_buffer *in[] = {o.x, o.y}, *given[2];
  const int64_t shape[] = {3};
  alignas(64) float memory[2][16] = {};
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(tsr_buffer_wrap(TSR_F32, 1, shape, memory[i], 0, &given[i]), TSR_OK);
  tsr_launch *launch = nullptr;
  ASSERT_EQ(tsr_run_async(o.program, in, 2, given, 2, &launch), TSR_OK);
  tsr_buffer_free(given[0]);
  tsr_buffer_free(given[1]);
  ASSERT_EQ(tsr_wait(launch), TSR_OK);
  EXPECT_EQ(memory[0][2], 1);
  EXPECT_EQ(memory[1][2], 1);
}

TEST(CApiNull, AtRandom) {
  Objects o;
  std::mt19937 random(5);
  auto maybe = [&](auto *pointer) { return random() % 4 ? pointer : nullptr; };
  const size_t counts[] = {0, 1, 2, 2, 2, 2, 3, 1000, SIZE_MAX / 2, SIZE_MAX};
  auto count = [&] { return counts[random() % std::size(counts)]; };
  int good = 0;
  const int rounds = std::getenv("TESSERA_FULL") ? 200000 : 5000;
  for (int i = 0; i < rounds; ++i) {
    // Arrays of exactly the size that is right: whoever believes a wrong count reads behind them.
    auto in = std::make_unique<tsr_buffer *[]>(2), out = std::make_unique<tsr_buffer *[]>(2);
    in[0] = maybe(o.x), in[1] = maybe(o.y);
    tsr_buffer **inputs = maybe(in.get()), **outputs = maybe(out.get());
    tsr_launch *launch = nullptr;
    void *memory = nullptr;
    size_t index;
    tsr_port_info info;
    tsr_status status = TSR_OK;
    switch (random() % 8) {
    case 0:
    case 1:
      status = tsr_run(maybe(o.program), inputs, count(), outputs, count());
      break;
    case 2:
      status = tsr_run_async(maybe(o.program), inputs, count(), outputs, count(), maybe(&launch));
      if (status == TSR_OK)
        status = tsr_wait(launch);
      break;
    case 3:
    case 4:
      status = tsr_stream_try_push(maybe(o.stream), inputs, count(), outputs, count(), 0);
      break;
    case 5:
      status = tsr_stream_try_pop(maybe(o.stream), outputs, count(), 0);
      break;
    case 6:
      status = tsr_buffer_map_range(maybe(o.x), count(), count(), static_cast<tsr_access>(random() % 6),
                                    maybe(&memory));
      break;
    default:
      status = tsr_program_find_input(maybe(o.program), maybe("y"), maybe(&index));
      (void)tsr_program_output_info(maybe(o.program), count(), maybe(&info));
    }
    good += status == TSR_OK;
    EXPECT_TRUE(status == TSR_OK || *tsr_last_error());
    tsr_buffer_free(out[0]);
    tsr_buffer_free(out[1]);
  }
  EXPECT_GT(good, rounds / 20);
  EXPECT_LT(good, rounds);
}
