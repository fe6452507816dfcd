// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream of four stages against oneTBB's parallel_pipeline: the same function for every stage, the same
// number of items on their way. Times are milliseconds for a thousand items. Our program is written by
// handmade.py.
//
// usage: bench_core_stream STREAM.tsx THREADS ROUNDS
#include "Rounds.h"
#include <cmath>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

using namespace bench;

// kernels.c, compiled into this program as well.
extern "C" void stage(const uint64_t *args, const int64_t begin[3], const int64_t end[3], void *scratch);
extern "C" void step(const uint64_t *args, const int64_t begin[3], const int64_t end[3], void *scratch);

namespace {

bool empty = false; // stages that do next to nothing
int64_t length = 0; // of an item, from the program
int64_t items = 0;  // of a round: enough of short ones that waking a thread up does not count

void work(const float *x, float *y) {
  const uint64_t args[] = {reinterpret_cast<uint64_t>(x), reinterpret_cast<uint64_t>(y),
                           static_cast<uint64_t>(length)};
  const int64_t begin[3] = {0, 0, 0}, end[3] = {1, 1, 1};
  (empty ? step : stage)(args, begin, end, nullptr);
}

// Lives as long as the program; as far apart as the runtime's own temporaries, so that both sides take the
// same way through the function.
struct Item {
  float *data[4];
  Item() {
    for (float *&d : data)
      d = static_cast<float *>(
          std::aligned_alloc(256, (static_cast<size_t>(length) * sizeof(float) + 255) / 256 * 256));
  }
};

double theirs(std::vector<Item> &pool, const std::vector<float> &input, double &sum) {
  namespace tbb = oneapi::tbb;
  int64_t next = 0;
  sum = 0;
  double start = now();
  tbb::parallel_pipeline(
      pool.size(),
      tbb::make_filter<void,
                       Item *>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control &control) -> Item * {
        if (next == items) {
          control.stop();
          return nullptr;
        }
        // No more than pool.size() items are on their way, and they leave in order.
        Item *item = &pool[static_cast<size_t>(next++) % pool.size()];
        work(input.data(), item->data[0]);
        return item;
      }) & tbb::make_filter<Item *, Item *>(tbb::filter_mode::parallel, [](Item *i) {
        work(i->data[0], i->data[1]);
        return i;
      }) & tbb::make_filter<Item *, Item *>(tbb::filter_mode::parallel, [](Item *i) {
        work(i->data[1], i->data[2]);
        return i;
      }) & tbb::make_filter<Item *, void>(tbb::filter_mode::serial_in_order, [&](Item *i) {
        work(i->data[2], i->data[3]);
        sum += i->data[3][7];
      }));
  return (now() - start) * 1000 / static_cast<double>(items);
}

double ours(tsr_program *program, tsr_buffer *input, std::vector<tsr_buffer *> &pool, double &sum) {
  tsr_stream *stream = nullptr;
  check(tsr_stream_open(program, &stream), "stream");
  size_t capacity = tsr_stream_capacity(stream);
  sum = 0;
  auto pop = [&] {
    tsr_buffer *output = nullptr;
    check(tsr_stream_pop(stream, &output, 1), "pop");
    void *memory = nullptr;
    check(tsr_buffer_map(output, TSR_READ, &memory), "map");
    sum += static_cast<float *>(memory)[7];
    tsr_buffer_free(output);
  };
  double start = now();
  int64_t popped = 0;
  for (int64_t i = 0; i < items; ++i) {
    if (static_cast<size_t>(i - popped) >= capacity)
      pop(), ++popped;
    // As on the other side, an output is used again when its item has left.
    check(tsr_stream_push(stream, &input, 1, &pool[static_cast<size_t>(i) % pool.size()], 1), "push");
  }
  check(tsr_stream_close(stream), "close");
  for (; popped < items; ++popped)
    pop();
  double time = now() - start;
  tsr_stream_free(stream);
  return time * 1000 / static_cast<double>(items);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_core_stream STREAM.tsx THREADS ROUNDS\n");
    return 1;
  }
  unsigned threads = static_cast<unsigned>(std::atoi(argv[2]));
  int rounds = std::atoi(argv[3]);
  tsr_options options;
  tsr_options_init(&options);
  options.threads = threads;
  tsr_program *program = nullptr;
  check(tsr_program_load(argv[1], nullptr, &options, &program), argv[1]);
  tsr_stream *probe = nullptr;
  check(tsr_stream_open(program, &probe), "stream");
  size_t capacity = tsr_stream_capacity(probe);
  tsr_stream_free(probe);

  tsr_port_info info;
  check(tsr_program_input_info(program, 0, &info), "input");
  length = info.shape[0];
  items = length > 10000 ? 1000 : 20000;
  empty = length == 8;
  std::vector<float> input(static_cast<size_t>(length));
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = 0.001f * static_cast<float>(i);
  const int64_t shape[] = {length};
  tsr_buffer *buffer = nullptr;
  check(tsr_buffer_create(TSR_F32, 1, shape, &buffer), "buffer");
  void *memory = nullptr;
  check(tsr_buffer_map(buffer, TSR_WRITE, &memory), "map");
  std::copy(input.begin(), input.end(), static_cast<float *>(memory));

  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  oneapi::tbb::task_arena arena(static_cast<int>(threads));
  // oneTBB is given the better of our capacity and four items for each thread.
  std::vector<Item> pool(std::max<size_t>(capacity, 4 * threads));
  std::vector<tsr_buffer *> outputs(capacity + 1);
  for (tsr_buffer *&output : outputs)
    check(tsr_buffer_create(TSR_F32, 1, shape, &output), "buffer");
  double a = 0, b = 0;
  Report report{"4-stage stream",
                (empty ? "empty stages" : std::to_string(length) + " floats") + ", " + threadsText(threads),
                "oneTBB pipeline",
                "",
                {},
                {}};
  for (int r = 0; r <= rounds; ++r) {
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
    double t = ours(program, buffer, outputs, a);
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
    double u = 0;
    arena.execute([&] { u = theirs(pool, input, b); });
    if (r == 0) { // the first round warms up, and its answers are compared
      if (std::fabs(a - b) > 1e-3 * std::fabs(b)) {
        std::fprintf(stderr, "error: stream: the two answers differ: %g and %g\n", a, b);
        return 1;
      }
      continue;
    }
    report.ours.push_back(t), report.theirs.push_back(u);
  }
  report.print();
}
