// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams: items in order, memory of their own between tasks, states, threads, and clean ends.
#include "heterocc.h"

#include <cstdio>
#include <thread>
#include <vector>

// Each item: smooth a row into memory of its own, then add what the item says.
static void smooth(const int *row, size_t rowBytes, int *out, size_t outBytes, int add, int *between,
                   size_t betweenBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, row, rowBytes, between, betweenBytes, n, 1, between, betweenBytes, "smooth");
    between[i] = row[i > 0 ? i - 1 : 0] + row[i] + row[i + 1 < n ? i + 1 : n - 1];
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, between, betweenBytes, out, outBytes, add, n, 1, out, outBytes, "add");
    out[i] = between[n - 1 - i] + add;
  }
}

// A state: how many items there were, and the largest value so far.
static void number(const int *row, size_t rowBytes, int *out, size_t outBytes, int n) {
  static int count = 0, unused = 1;
  static int largest = -1;
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, row, rowBytes, n, 0, "largest");
    if (row[i] > largest)
      largest = row[i];
  }
  count = count + 1;
  void *t = __hetero_task_begin(1, out, outBytes, 1, out, outBytes, "write");
  out[0] = count;
  out[1] = largest;
  __hetero_task_end(t);
}

static void accumulate(const int *row, size_t rowBytes, long *total, size_t totalBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, row, rowBytes, total, totalBytes, n, 1, total, totalBytes, "sum");
    *total += row[i];
  }
}
static void scale(const float *in, size_t inBytes, float *out, size_t outBytes, float by, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, in, inBytes, out, outBytes, by, n, 1, out, outBytes, "scale");
    out[i] = in[i] * by;
  }
}

int main() {
  const int n = 300, items = 40;
  size_t bytes = n * sizeof(int);
  std::vector<std::vector<int>> rows(items, std::vector<int>(n)), outs(items, std::vector<int>(n));
  for (int k = 0; k < items; ++k)
    for (int i = 0; i < n; ++i)
      rows[k][i] = (i * 7 + k * 13) % 101;
  auto isRight = [&](int k) {
    for (int i = 0; i < n; ++i) {
      int j = n - 1 - i;
      int sum = rows[k][j > 0 ? j - 1 : 0] + rows[k][j] + rows[k][j + 1 < n ? j + 1 : n - 1];
      if (outs[k][i] != sum + k)
        return false;
    }
    return true;
  };
  // One thread that pushes everything before it pops: what is done need not be fetched at once.
  int *none = nullptr;
  void *stream = __hetero_launch_stream((void *)smooth, 5, rows[0].data(), bytes, outs[0].data(), bytes, 0,
                                        none, bytes, n, 1, outs[0].data(), bytes);
  for (int k = 0; k < items; ++k)
    __hetero_push(stream, 3, rows[k].data(), bytes, outs[k].data(), bytes, k);
  int right = 0, inOrder = 0;
  for (int k = 0; k < items; ++k) {
    inOrder += __hetero_pop(stream) == outs[k].data();
    right += isRight(k);
  }
  __hetero_wait(stream);
  std::printf("%d right, %d in order\n", right, inOrder);

  // One thread pushes, another pops; all objects with each item.
  for (auto &out : outs)
    out.assign(n, -1);
  stream = __hetero_launch_stream((void *)smooth, 5, rows[0].data(), bytes, outs[0].data(), bytes, 0, none,
                                  bytes, n, 1, outs[0].data(), bytes);
  std::thread camera([&] {
    for (int k = 0; k < items; ++k)
      __hetero_push(stream, 5, rows[k].data(), bytes, outs[k].data(), bytes, k, none, bytes, n);
    __hetero_close(stream);
  });
  right = 0;
  int got = 0;
  while (void *result = __hetero_pop(stream)) {
    right += result == outs[got].data() && isRight(got);
    ++got;
  }
  camera.join();
  __hetero_wait(stream);
  std::printf("%d of %d right\n", right, got);

  // Numbers that one item leaves to the next belong to the stream: a second one begins again.
  for (int round = 0; round < 2; ++round) {
    int small[2][2] = {};
    // Only the first of each row: 0, 13, 26, …
    void *counts = __hetero_launch_stream((void *)number, 3, rows[0].data(), bytes, &small[0],
                                          sizeof(small[0]), 1, 1, &small[0], sizeof(small[0]));
    for (int k = 0; k < 2 + round; ++k)
      __hetero_push(counts, 2, rows[k].data(), bytes, &small[k % 2], sizeof(small[0]));
    __hetero_wait(counts);
    std::printf("%d items, largest %d\n", small[(1 + round) % 2][0], small[(1 + round) % 2][1]);
  }

  // Memory that items share is a state, too: they run one after the other.
  long total = 0, expected = 0;
  void *sums = __hetero_launch_stream((void *)accumulate, 3, rows[0].data(), bytes, &total, sizeof(total), n,
                                      1, &total, sizeof(total));
  for (int k = 0; k < items; ++k) {
    __hetero_push(sums, 1, rows[k].data(), bytes);
    for (int v : rows[k])
      expected += v;
  }
  __hetero_wait(sums);
  std::printf("total off by %ld\n", total - expected);

  // Numbers of another type than the parameter's; and a stream that nobody ends.
  std::vector<float> in(n, 3.0f), out(n);
  void *scales = __hetero_launch_stream((void *)scale, 4, in.data(), bytes, out.data(), bytes, 1.0f, n, 1,
                                        out.data(), bytes);
  __hetero_push(scales, 3, in.data(), bytes, out.data(), bytes, 2);
  std::printf("scaled %d\n", __hetero_pop(scales) == out.data() && out[n - 1] == 6.0f);
  std::vector<float> *kept = new std::vector<float>(n), *keptIn = new std::vector<float>(n);
  __hetero_push(scales, 3, keptIn->data(), bytes, kept->data(), bytes, 0.5);
}
