// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface, and the C++ layer over it.
#include "tessera/runtime.h"
#include "tessera/runtime/Testing.h"
#include "tessera/tessera.hpp"

using namespace tessera::testing;

static std::string file(int64_t depth = 2) {
  PlanBuilder b("increment");
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), out = b.temp({n});
  b.simple("n0", "k_add1", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.nodes[0]["depth"] = depth;
  b.output("y", out);
  return tsxBytes(b.plan());
}

TEST(CApi, LaunchAndIntrospection) {
  std::string bytes = file();
  tsr_module *module = nullptr;
  ASSERT_EQ(tsr_module_load_memory(bytes.data(), bytes.size(), &module), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_module_program_count(module), 1u);
  EXPECT_STREQ(tsr_module_program_name(module, 0), "increment");
  EXPECT_EQ(tsr_module_program_name(module, 1), nullptr);
  tsr_options options;
  tsr_options_init(&options);
  options.threads = 1;
  options.profile = 1;
  options.devices = "cpu";
  tsr_program *program = nullptr;
  ASSERT_EQ(tsr_program_open(module, nullptr, &options, &program), TSR_OK) << tsr_last_error();
  tsr_module_free(module);
  tsr_port_info info;
  ASSERT_EQ(tsr_program_input_info(program, 0, &info), TSR_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.type, TSR_F32);
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(tsr_program_output_info(program, 7, &info), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_program_output_is_unsigned(program, 0), 0);
  EXPECT_EQ(tsr_program_output_word(program, 0, 0), nullptr);
  EXPECT_EQ(tsr_program_output_word(program, 7, 0), nullptr);
  EXPECT_EQ(tsr_program_output_word(nullptr, 0, 0), nullptr);
  EXPECT_EQ(tsr_program_input_is_unsigned(program, 7), 0);
  EXPECT_EQ(tsr_program_input_is_unsigned(nullptr, 0), 0);
  size_t index;
  EXPECT_EQ(tsr_program_find_input(program, "X", &index), TSR_NOT_FOUND);
  EXPECT_STREQ(tsr_last_error(), "unknown input 'X'; did you mean 'x'? inputs: x");

  alignas(64) float x[3] = {1, 2, 3}, *y;
  int64_t shape[] = {3};
  tsr_buffer *in, *out = nullptr;
  ASSERT_EQ(tsr_buffer_wrap(TSR_F32, 1, shape, x, 1, &in), TSR_OK);
  ASSERT_EQ(tsr_run(program, &in, 1, &out, 1), TSR_OK) << tsr_last_error();
  ASSERT_EQ(tsr_buffer_map(out, TSR_READ, reinterpret_cast<void **>(&y)), TSR_OK);
  EXPECT_EQ(y[2], 4);
  EXPECT_EQ(tsr_buffer_shape(out)[0], 3);
  void *pointer;
  EXPECT_EQ(tsr_buffer_map(in, TSR_WRITE, &pointer), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "the buffer is read-only");
  EXPECT_EQ(tsr_buffer_map_range(out, 8, 8, TSR_READ, &pointer), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "range of 8 bytes at 8 lies outside the buffer of 12 bytes");
  tsr_launch *launch;
  ASSERT_EQ(tsr_run_async(program, &in, 1, &out, 1, &launch), TSR_OK);
  EXPECT_EQ(tsr_wait(launch), TSR_OK);
  // More than there are threads for.
  std::vector<tsr_launch *> launches(40);
  std::vector<tsr_buffer *> results(launches.size(), nullptr);
  for (size_t i = 0; i < launches.size(); ++i)
    ASSERT_EQ(tsr_run_async(program, &in, 1, &results[i], 1, &launches[i]), TSR_OK);
  for (size_t i = 0; i < launches.size(); ++i) {
    ASSERT_EQ(tsr_wait(launches[i]), TSR_OK) << tsr_last_error();
    ASSERT_EQ(tsr_buffer_map(results[i], TSR_READ, reinterpret_cast<void **>(&y)), TSR_OK);
    EXPECT_EQ(y[1], 3);
    tsr_buffer_free(results[i]);
  }
  tsr_buffer *nothing = nullptr, *none = nullptr;
  ASSERT_EQ(tsr_run_async(program, &nothing, 1, &none, 1, &launch), TSR_OK);
  EXPECT_EQ(tsr_wait(launch), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "input 'x' is missing; expected f32 of shape ?");
  tsr_node_profile profile;
  ASSERT_EQ(tsr_program_profile(program, 0, &profile), TSR_OK);
  EXPECT_EQ(profile.count, 42u);
  EXPECT_STREQ(profile.device, "cpu:0");
  tsr_buffer_free(in);
  tsr_buffer_free(out);
  tsr_program_free(program);
}

TEST(CApi, Errors) {
  tsr_program *program = nullptr;
  EXPECT_EQ(tsr_program_load("/nonexistent.tsx", nullptr, nullptr, &program), TSR_NOT_FOUND);
  EXPECT_NE(std::string(tsr_last_error()).find("cannot open '/nonexistent.tsx'"), std::string::npos);
  tsr_options options = {};
  std::string bytes = file();
  tsr_module *module = nullptr;
  ASSERT_EQ(tsr_module_load_memory(bytes.data(), bytes.size(), &module), TSR_OK);
  EXPECT_EQ(tsr_program_open(module, nullptr, &options, &program), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "options of 0 bytes are not known; call tsr_options_init first");
  tsr_module_free(module);
  tsr_buffer *buffer = nullptr;
  EXPECT_EQ(tsr_buffer_create(static_cast<tsr_type>(99), 0, nullptr, &buffer), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "unknown element type 99");
}

TEST(CppLayer, LaunchesAndStreams) {
  std::string bytes = file(4);
  tsr::Program program(tsr::Module(bytes.data(), bytes.size()), "increment", tsr::Options().threads(2));
  EXPECT_EQ(program.inputs()[0].name, "x");
  std::vector<float> data = {1, 2, 3};
  auto outputs = program.run({tsr::Buffer::wrap<float>({3}, data)});
  EXPECT_EQ(outputs[0].read<float>()[2], 4);
  EXPECT_THROW(outputs[0].read<double>(), tsr::Error);
  EXPECT_THROW(program.run({}), tsr::Error);
  try {
    tsr::Program::load("/nonexistent.tsx");
    FAIL();
  } catch (const tsr::Error &error) {
    EXPECT_EQ(error.status(), TSR_NOT_FOUND);
  }
  tsr::Stream stream(program);
  for (int i = 0; i < 3; ++i)
    stream.push({tsr::Buffer::of<float>({1}, {static_cast<float>(i)})});
  stream.close();
  int count = 0;
  while (auto item = stream.pop())
    EXPECT_EQ((*item)[0].read<float>()[0], static_cast<float>(++count));
  EXPECT_EQ(count, 3);
}
