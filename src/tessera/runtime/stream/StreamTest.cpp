// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams: order, states, back pressure, errors, close and cancel.
#include "tessera/runtime/stream/Stream.h"
#include "tessera/runtime/Testing.h"

#include <atomic>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

// Four stages that add 1; `work` rounds of delay in each.
static PlanBuilder pipeline(int64_t depth, int64_t work) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), rounds = b.constant(work), previous = x;
  for (int i = 0; i < 4; ++i) {
    int next = b.temp({n});
    b.simple("stage" + std::to_string(i), "k_work", {previous}, {next},
             {{"value", previous}, {"value", next}, {"expr", rounds}}, n);
    b.nodes.back()["depth"] = depth;
    previous = next;
  }
  b.output("out", previous);
  return b;
}

static PlanBuilder accumulator() {
  PlanBuilder b;
  int x = b.input("x", {2});
  int n = b.constant(2);
  int init = b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", 0}, {"bytes", 64}});
  int y = b.temp({n}), next = b.temp({n}), out = b.temp({n});
  int state = b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {n}}, {"init", init}, {"next", next}});
  b.simple("before", "k_add1", {x}, {y}, {{"value", x}, {"value", y}}, n);
  b.simple("acc", "k_add", {y, state}, {next}, {{"value", y}, {"value", state}, {"value", next}}, n);
  b.simple("after", "k_add1", {next}, {out}, {{"value", next}, {"value", out}}, n);
  b.output("sum", out);
  for (Json &node : b.nodes)
    node["depth"] = 2;
  return b;
}

static ProgramOptions threads(unsigned count) {
  ProgramOptions options;
  options.threads = count;
  return options;
}

static Status push(Stream &stream, BufferRef input, Stream::Timeout timeout = Stream::forever) {
  BufferRef in[] = {std::move(input)}, out[] = {nullptr};
  return stream.push(in, out, timeout);
}

TEST(Stream, KeepsOrderAndOverlaps) {
  for (unsigned count : {1u, 2u, 4u}) {
    auto program = openProgram(pipeline(2, 10), threads(count));
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    EXPECT_EQ(stream->capacity(), 8u);
    std::thread producer([&] {
      for (int i = 0; i < 200; ++i)
        ASSERT_TRUE(push(*stream, floats({static_cast<float>(i), 0})).ok());
      stream->close();
    });
    for (int i = 0; i < 200; ++i) {
      BufferRef out[1];
      Status status = stream->pop(out);
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(content(*out[0])[0], static_cast<float>(i + 4));
    }
    BufferRef out[1];
    EXPECT_EQ(stream->pop(out).code(), StatusCode::Closed);
    producer.join();
    EXPECT_EQ(push(*stream, floats({1})).message(), "the stream is closed");
  }
}

TEST(Stream, OneThreadCanPushAndPop) {
  auto program = openProgram(pipeline(1, 0), threads(2));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  int popped = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(push(*stream, floats({static_cast<float>(i)})).ok());
    if (stream->size() == stream->capacity()) {
      BufferRef out[1];
      ASSERT_TRUE(stream->pop(out).ok());
      ASSERT_EQ(content(*out[0])[0], static_cast<float>(popped++ + 4));
    }
  }
  stream->close();
  BufferRef out[1];
  while (stream->pop(out).ok())
    ASSERT_EQ(content(*out[0])[0], static_cast<float>(popped++ + 4));
  EXPECT_EQ(popped, 100);
}

TEST(Stream, PushWaitsWhenFull) {
  auto program = openProgram(pipeline(1, 0), threads(1));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(push(*stream, floats({1})).ok());
  EXPECT_EQ(push(*stream, floats({1}), std::chrono::milliseconds(1)).message(),
            "the stream is full: 4 items wait; pop some");
  BufferRef out[1];
  ASSERT_TRUE(stream->pop(out).ok());
  EXPECT_TRUE(push(*stream, floats({1}), std::chrono::milliseconds(1)).ok());
  auto empty = Stream::open(program).take();
  EXPECT_EQ(empty->pop(out, std::chrono::milliseconds(1)).message(), "no item was done in time");
}

TEST(Stream, StatesGoFromItemToItem) {
  float zeros[16] = {100, 200};
  for (unsigned count : {1u, 2u, 3u})
    for (const char *device : {"cpu", "null"}) {
      ProgramOptions options = threads(count);
      options.devices = {device};
      auto program = openProgram(accumulator(), options, std::string(reinterpret_cast<char *>(zeros), 64));
      ASSERT_TRUE(program);
      auto stream = Stream::open(program).take();
      std::thread producer([&] {
        for (int i = 0; i < 100; ++i)
          ASSERT_TRUE(push(*stream, floats({static_cast<float>(i), 0})).ok());
      });
      float sum = 100, ones = 200;
      for (int i = 0; i < 100; ++i) {
        BufferRef out[1];
        ASSERT_TRUE(stream->pop(out).ok());
        sum += static_cast<float>(i) + 1;
        ones += 1;
        ASSERT_EQ(content(*out[0]), (std::vector<float>{sum + 1, ones + 1})) << i;
      }
      producer.join();
    }
}

TEST(Stream, AnErrorIsReportedAtItsPopAndTheRestGoesOn) {
  auto program = openProgram(pipeline(2, 0), threads(2));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  for (int i = 0; i < 6; ++i) {
    BufferRef in[] = {floats({static_cast<float>(i)})};
    BufferRef out[] = {i == 3 ? floats({1, 2, 3}) : nullptr};
    ASSERT_TRUE(stream->push(in, out).ok());
  }
  stream->close();
  for (int i = 0; i < 6; ++i) {
    BufferRef out[1];
    Status status = stream->pop(out);
    if (i == 3)
      EXPECT_EQ(status.message(),
                "output 'out': expected f32 of shape 1, but the buffer holds f32 of shape 3");
    else
      EXPECT_EQ(content(*out[0])[0], static_cast<float>(i + 4));
  }
}

TEST(Stream, PushChecksItsInputs) {
  auto program = openProgram(pipeline(1, 0));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  EXPECT_EQ(push(*stream, Buffer::create(ElementType::F64, {1}).take()).message(),
            "input 'x': expected f32 of shape ?, but the buffer holds f64 of shape 1");
  EXPECT_EQ(stream->push({}, {}).message(), "program 'test' has 1 inputs and 1 outputs, but got 0 and 0");
}

TEST(Stream, CancelAndDestroyWithItemsInFlight) {
  for (int round = 0; round < 20; ++round) {
    auto program = openProgram(pipeline(4, 1000), threads(2));
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(push(*stream, floats(std::vector<float>(100, 1.0f))).ok());
    if (round % 2) {
      stream->cancel();
      BufferRef out[1];
      int cancelled = 0, done = 0;
      for (int i = 0; i < 10; ++i) {
        Status status = stream->pop(out);
        status.ok() ? ++done : ++cancelled;
        if (!status.ok()) {
          EXPECT_EQ(status.message(), "the stream was cancelled");
        }
      }
      EXPECT_EQ(cancelled + done, 10);
      EXPECT_EQ(stream->pop(out).code(), StatusCode::Closed);
    }
  }
}

TEST(Stream, OutputsAreRecycled) {
  auto program = openProgram(pipeline(1, 0), threads(1));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  std::vector<Buffer *> seen;
  auto input = floats({1, 2});
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(push(*stream, input).ok());
    BufferRef out[1];
    ASSERT_TRUE(stream->pop(out).ok());
    if (std::find(seen.begin(), seen.end(), out[0].get()) == seen.end())
      seen.push_back(out[0].get());
  }
  EXPECT_LE(seen.size(), stream->capacity());
}

TEST(Stream, ManyThreadsPushAndPop) {
  // Each item is pushed once and popped once, whichever threads do it; with and without workers and states.
  float zeros[16] = {};
  std::string constants(reinterpret_cast<char *>(zeros), 64);
  for (unsigned count : {1u, 3u})
    for (bool states : {false, true}) {
      auto program = states ? openProgram(accumulator(), threads(count), constants)
                            : openProgram(pipeline(2, 0), threads(count));
      ASSERT_TRUE(program);
      auto stream = Stream::open(program).take();
      constexpr int each = 300;
      std::atomic<int> popped{0}, pushers{3};
      std::vector<std::thread> all;
      for (int t = 0; t < 3; ++t)
        all.emplace_back([&] {
          for (int i = 0; i < each; ++i)
            EXPECT_TRUE(push(*stream, floats({1, 2})).ok());
          if (--pushers == 0)
            stream->close();
        });
      for (int t = 0; t < 2; ++t)
        all.emplace_back([&] {
          BufferRef out[1];
          while (stream->pop(out).ok())
            ++popped;
        });
      for (std::thread &thread : all)
        thread.join();
      EXPECT_EQ(popped, 3 * each);
    }
}

TEST(Stream, ASleepingReaderIsWoken) {
  for (unsigned count : {1u, 2u}) {
    auto program = openProgram(pipeline(1, 0), threads(count));
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    std::thread reader([&] {
      for (int i = 0; i < 20; ++i) {
        BufferRef out[1];
        ASSERT_TRUE(stream->pop(out).ok());
        ASSERT_EQ(content(*out[0])[0], static_cast<float>(i + 4));
      }
      BufferRef out[1];
      EXPECT_EQ(stream->pop(out).code(), StatusCode::Closed);
    });
    for (int i = 0; i < 20; ++i) {
      // Longer than anybody spins.
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 4));
      ASSERT_TRUE(push(*stream, floats({static_cast<float>(i)})).ok());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    stream->close();
    reader.join();
  }
}

TEST(Stream, ShapesMayChangeFromItemToItem) {
  for (unsigned count : {1u, 2u}) {
    auto program = openProgram(pipeline(1, 0), threads(count));
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    for (int i = 0; i < 200; ++i) {
      size_t size = static_cast<size_t>(1 + i % 3 * 40);
      ASSERT_TRUE(push(*stream, floats(std::vector<float>(size, static_cast<float>(i)))).ok());
      BufferRef out[1];
      ASSERT_TRUE(stream->pop(out).ok());
      ASSERT_EQ(content(*out[0]), std::vector<float>(size, static_cast<float>(i + 4)));
    }
  }
}

TEST(Stream, OutputsMustBeAligned) {
  auto program = openProgram(pipeline(1, 0));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  alignas(64) float memory[4] = {};
  BufferRef in[] = {floats({1})}, out[] = {Buffer::wrap(ElementType::F32, {1}, memory + 1).take()};
  EXPECT_EQ(stream->push(in, out).message(),
            "output 'out': a stream needs memory aligned to 64 bytes; let the stream make the buffer");
}

// The state's extent follows the items, and the stream's memory for it does not.
TEST(Stream, StatesKeepTheirShape) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), next = b.temp({n});
  int init = b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", 0}, {"bytes", 64}});
  int state = b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {n}}, {"init", init}, {"next", next}});
  b.simple("acc", "k_add", {x, state}, {next}, {{"value", x}, {"value", state}, {"value", next}}, n);
  b.output("sum", next);
  auto program = openProgram(b, {}, std::string(64, '\0'));
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  BufferRef out[1];
  ASSERT_TRUE(push(*stream, floats({1, 2})).ok());
  ASSERT_TRUE(stream->pop(out).ok());
  out[0] = nullptr;
  ASSERT_TRUE(push(*stream, floats({1, 2, 3})).ok());
  EXPECT_EQ(
      stream->pop(out).message(),
      "this item's state has 12 bytes, but the stream began with 8; open another stream for other shapes");
}
