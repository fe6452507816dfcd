// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams of installed programs against streams of the oracle: the same items in the same order, states
// carried from one activation to the next, whatever is in flight.
#include "CpuBackend.h"

#include "tessera/runtime.h"

#include "mlir/Parser/Parser.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;

// A running mean, the difference to the last frame, and the number of frames so far: two tensor states and a
// scalar one, over three nodes of different depth.
static const char *const program = R"(
dfg.graph @watch(%frame: tensor<?xf32>, %start: tensor<?xf32>) -> (mean: tensor<?xf32>, change: f32, count: i32) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %n = tensor.dim %frame, %c0 : tensor<?xf32>
  %last = dfg.state init(%start : tensor<?xf32>) : tensor<?xf32>
  %average = dfg.state init(%start : tensor<?xf32>) : tensor<?xf32>
  %seen = dfg.state init(%none : i32) : i32
  %change = dfg.node @difference grid(%i = %n) (each %a = %frame : tensor<?xf32>, each %b = %last : tensor<?xf32>) -> f32 reduce<maximumf> attributes {depth = 3 : i64} {
    %s = arith.subf %a, %b : f32
    %m = math.absf %s : f32
    dfg.yield %m : f32
  }
  %mean = dfg.node @smooth grid(%i = %n) (each %a = %frame : tensor<?xf32>, each %m = %average : tensor<?xf32>) -> tensor<?xf32> attributes {depth = 1 : i64} {
    %half = arith.constant 0.5 : f32
    %s = arith.addf %a, %m : f32
    %h = arith.mulf %s, %half : f32
    dfg.yield %h : f32
  }
  %count = dfg.node @tick (%k = %seen : i32) -> i32 {
    %one = arith.constant 1 : i32
    %next = arith.addi %k, %one : i32
    dfg.yield %next : i32
  }
  dfg.update %last, %frame : tensor<?xf32>
  dfg.update %average, %mean : tensor<?xf32>
  dfg.update %seen, %count : i32
  dfg.return %mean, %change, %count : tensor<?xf32>, f32, i32
}
)";

// The same with known extents and a node that computes in one of three activations.
static std::string reusing() {
  std::string text = program;
  for (size_t at; (at = text.find("tensor<?xf32>")) != std::string::npos;)
    text.replace(at, 13, "tensor<301xf32>");
  const std::string depth = "{depth = 1 : i64}";
  text.replace(text.find(depth), depth.size(), "{depth = 1 : i64, dfg.knob = \"reuse:2/3@1\"}");
  return text;
}

// Results that come late: a tensor by one activation, whose node another one's reads; a number by three.
static const char *const relaxing = R"(
dfg.graph @watch(%frame: tensor<301xf32>, %start: tensor<301xf32>) -> (mean: tensor<301xf32>, change: f32, count: i32) {
  %n = arith.constant 301 : index
  %none = arith.constant 0 : i32
  %seen = dfg.state init(%none : i32) : i32
  %level = dfg.node @level grid(%i = %n) (each %a = %frame : tensor<301xf32>) -> f32 reduce<maximumf> attributes {dfg.approximate, dfg.knob = "stale:3", dfg.first = [0.5 : f32]} {
    dfg.yield %a : f32
  }
  %blur = dfg.node @blur grid(%i = %n) (each %a = %frame : tensor<301xf32>, each %b = %start : tensor<301xf32>) -> tensor<301xf32> attributes {dfg.approximate, dfg.knob = "stale:1"} {
    %s = arith.addf %a, %b : f32
    dfg.yield %s : f32
  }
  %mean = dfg.node @apply grid(%i = %n) (each %a = %frame : tensor<301xf32>, each %b = %blur : tensor<301xf32>, %l = %level : f32) -> tensor<301xf32> attributes {depth = 3 : i64} {
    %s = arith.subf %a, %b : f32
    %p = arith.mulf %s, %l : f32
    dfg.yield %p : f32
  }
  %change = dfg.node @most grid(%i = %n) (each %a = %blur : tensor<301xf32>) -> f32 reduce<maximumf> {
    dfg.yield %a : f32
  }
  %count = dfg.node @tick (%k = %seen : i32) -> i32 {
    %one = arith.constant 1 : i32
    %next = arith.addi %k, %one : i32
    dfg.yield %next : i32
  }
  dfg.update %seen, %count : i32
  dfg.return %mean, %change, %count : tensor<301xf32>, f32, i32
}
)";

// States that change places, and one that follows another.
static const char *const rotating = R"(
dfg.graph @watch(%frame: tensor<301xf32>, %start: tensor<301xf32>) -> (mean: tensor<301xf32>, change: f32, count: i32) {
  %n = arith.constant 301 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %a = dfg.state init(%one : i32) : i32
  %b = dfg.state init(%two : i32) : i32
  %now = dfg.state init(%start : tensor<301xf32>) : tensor<301xf32>
  %last = dfg.state init(%start : tensor<301xf32>) : tensor<301xf32>
  %mean = dfg.node @difference grid(%i = %n) (each %x = %now : tensor<301xf32>, each %y = %last : tensor<301xf32>) -> tensor<301xf32> {
    %s = arith.subf %x, %y : f32
    dfg.yield %s : f32
  }
  %change = dfg.node @most grid(%i = %n) (each %e = %last : tensor<301xf32>) -> f32 reduce<maximumf> attributes {depth = 3 : i64} {
    dfg.yield %e : f32
  }
  %count = dfg.node @both (%x = %a : i32, %y = %b : i32) -> i32 {
    %ten = arith.constant 10 : i32
    %t = arith.muli %x, %ten : i32
    %s = arith.addi %t, %y : i32
    dfg.yield %s : i32
  }
  dfg.update %a, %b : i32
  dfg.update %b, %a : i32
  dfg.update %now, %frame : tensor<301xf32>
  dfg.update %last, %now : tensor<301xf32>
  dfg.return %mean, %change, %count : tensor<301xf32>, f32, i32
}
)";

class InstalledStreams : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Programs, InstalledStreams, testing::Values(program, reusing(), relaxing, rotating));

TEST_P(InstalledStreams, EqualTheOracle) {
  Session session;
  auto module = parseSourceString<ModuleOp>(GetParam(), ParserConfig(&session.context()));
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> original = module->clone(); // installation rewrites it
  auto graph = *original->getOps<dfg::GraphOp>().begin();
  FailureOr<std::string> file = installModule(session, *module, BackendOptions());
  ASSERT_TRUE(succeeded(file));
  constexpr int64_t extent = 301, frames = 40;
  Type f32 = Float32Type::get(&session.context());
  auto makeFrame = [&](int seed) {
    oracle::Array a{f32, {extent}, std::vector<char>(extent * 4)};
    for (int64_t i = 0; i < extent; ++i) {
      float v = float((i * 7919 + seed * 104729) % 1000) / 8 - 60;
      std::memcpy(&a.bytes[i * 4], &v, 4);
    }
    return a;
  };
  for (unsigned threads : {1u, 2u}) {
    oracle::Stream expected(graph);
    tsr_module *loaded = nullptr;
    tsr_program *opened = nullptr;
    tsr_stream *stream = nullptr;
    tsr_options options;
    tsr_options_init(&options);
    options.threads = threads;
    ASSERT_EQ(tsr_module_load_memory(file->data(), file->size(), &loaded), TSR_OK) << tsr_last_error();
    ASSERT_EQ(tsr_program_open(loaded, "watch", &options, &opened), TSR_OK) << tsr_last_error();
    ASSERT_EQ(tsr_stream_open(opened, &stream), TSR_OK) << tsr_last_error();
    auto toBuffer = [&](const oracle::Array &a) {
      tsr_buffer *b = nullptr;
      void *memory = nullptr;
      EXPECT_EQ(tsr_buffer_create(TSR_F32, 1, a.shape.data(), &b), TSR_OK);
      EXPECT_EQ(tsr_buffer_map(b, TSR_WRITE, &memory), TSR_OK);
      std::memcpy(memory, a.bytes.data(), a.bytes.size());
      return b;
    };
    oracle::Array start = makeFrame(-1);
    tsr_buffer *first = toBuffer(start);
    int64_t popped = 0;
    auto pop = [&] {
      tsr_buffer *out[3] = {};
      ASSERT_EQ(tsr_stream_pop(stream, out, 3), TSR_OK) << tsr_last_error();
      auto want = expected.pop();
      ASSERT_TRUE(succeeded(want));
      for (int i = 0; i < 3; ++i) {
        void *memory = nullptr;
        ASSERT_EQ(tsr_buffer_map(out[i], TSR_READ, &memory), TSR_OK);
        ASSERT_EQ(tsr_buffer_bytes(out[i]), (*want)[i].bytes.size());
        EXPECT_EQ(std::memcmp(memory, (*want)[i].bytes.data(), (*want)[i].bytes.size()), 0)
            << "frame " << popped << ", output " << i << ", " << threads << " threads";
        tsr_buffer_free(out[i]);
      }
      ++popped;
    };
    size_t capacity = tsr_stream_capacity(stream);
    for (int64_t f = 0; f < frames; ++f) {
      oracle::Array frame = makeFrame(f);
      ASSERT_TRUE(succeeded(expected.push({frame, start})));
      tsr_buffer *in[2] = {toBuffer(frame), first};
      tsr_buffer *none[3] = {};
      ASSERT_EQ(tsr_stream_push(stream, in, 2, none, 3), TSR_OK) << tsr_last_error();
      tsr_buffer_free(in[0]);
      // Sometimes full, sometimes empty.
      while (f + 1 - popped >= int64_t(capacity) || (f % 7 == 6 && popped <= f))
        pop();
    }
    ASSERT_EQ(tsr_stream_close(stream), TSR_OK);
    while (popped < frames)
      pop();
    tsr_buffer_free(first);
    tsr_stream_free(stream);
    tsr_program_free(opened);
    tsr_module_free(loaded);
  }
}
