// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that run while the host goes on, and those that must wait for each other.
#include "heterocc.h"

#include <cstdio>
#include <vector>

static void add(int *data, size_t dataBytes, int n, int value) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, data, dataBytes, n, value, 1, data, dataBytes, "add");
    data[i] += value;
  }
}
static void sum(const int *data, size_t dataBytes, long *total, size_t totalBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, data, dataBytes, total, totalBytes, n, 1, total, totalBytes, "sum");
    *total += data[i];
  }
}

int main() {
  int n = 20000;
  size_t bytes = n * sizeof(int);
  std::vector<int> a(n, 1), b(n, 2);
  long total = 0;
  static long other = 0; // it outlives main, as the last launch does
  // Two that have nothing in common, with work of the host between.
  void *first = __hetero_launch((void *)add, 3, a.data(), bytes, n, 10, 1, a.data(), bytes);
  void *second = __hetero_launch((void *)add, 3, b.data(), bytes, n, 20, 1, b.data(), bytes);
  std::printf("the host goes on\n");
  __hetero_wait(second);
  __hetero_wait(first);
  std::printf("%d %d\n", a[n - 1], b[n - 1]);
  // A chain on one buffer needs no waiting of the host.
  std::vector<void *> chain;
  for (int k = 0; k < 20; ++k) {
    chain.push_back(__hetero_launch((void *)add, 3, a.data(), bytes, n, k, 1, a.data(), bytes));
    chain.push_back(
        __hetero_launch((void *)sum, 3, a.data(), bytes, &total, sizeof(total), n, 1, &total, sizeof(total)));
  }
  for (void *handle : chain)
    __hetero_wait(handle);
  long expected = 0, value = 11;
  for (int k = 0; k < 20; ++k)
    expected += (value += k) * n;
  std::printf("%s\n", total == expected ? "the chain is right" : "the chain is wrong");
  // A region, and memory that is asked for instead of a wait.
  int *c = (int *)__hetero_malloc(bytes);
  __hetero_copy_mem(c, a.data(), bytes);
  void *region = __hetero_launch_begin(2, c, bytes, n, 1, c, bytes);
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, c, bytes, n, 1, c, bytes, "double");
    c[i] *= 2;
  }
  __hetero_launch_end(region);
  std::printf("between\n");
  __hetero_wait(region);
  std::printf("%d\n", c[7] - 2 * a[7]);
  region = __hetero_launch_begin(2, c, bytes, n, 1, c, bytes);
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, c, bytes, n, 1, c, bytes, "again");
    c[i] *= 2;
  }
  __hetero_launch_end(region);
  std::printf("asks\n");
  __hetero_request_mem(c, bytes);
  std::printf("%d\n", c[7] - 4 * a[7]);
  __hetero_free(c);
  // A handle that is thrown away: the launch ends before the host goes on.
  __hetero_launch((void *)sum, 3, b.data(), bytes, &other, sizeof(other), n, 1, &other, sizeof(other));
  std::printf("%ld\n", other);
  // Nobody waits for this one: it ends before the program does.
  void *last =
      __hetero_launch((void *)sum, 3, b.data(), bytes, &other, sizeof(other), n, 1, &other, sizeof(other));
  std::printf("done %d\n", last != nullptr);
}
