// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truths that iterations combine by '||' and '&&': in memory, through a reference, in variables of a task and
// of a graph, of numbers and of bool. As a graph and as Clang compiles the same function.
#include <tessera/hetero.hpp>

#include <cstdint>
#include <cstdio>

static int mistakes = 0;

template <typename T, int Kind> static void combine(const int *a, size_t aBytes, T *r, size_t rBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, aBytes, r, rBytes, n, 1, r, rBytes, "combine");
    T &all = *r;
    if constexpr (Kind == 0)
      *r = *r || a[i] == 17;
    else if constexpr (Kind == 1)
      *r = *r && a[i] != 17;
    else if constexpr (Kind == 2)
      *r = a[i] == 300 || *r;
    else if constexpr (Kind == 3)
      all = all || a[i];
    else
      all = all && a[i];
  }
}
template <typename T, int Kind> static void local(const int *a, size_t aBytes, T *r, size_t rBytes, int n) {
  void *section = __hetero_section_begin();
  void *task = __hetero_task_begin(3, a, aBytes, r, rBytes, n, 1, r, rBytes, "local");
  T some = *r;
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, aBytes, n, "some");
    if constexpr (Kind == 0)
      some = some || a[i] == 17;
    else if constexpr (Kind == 1) {
      if (a[i] > 100)
        some = some && a[i] != 117;
    } else if constexpr (Kind == 2) {
      for (int k = 0; k < 3; ++k)
        some = some || a[i] + k == 300;
      some = a[i] < 0 || some;
    } else if constexpr (Kind == 3)
      some = some && a[i] >= 0;
    else if (a[i] > 1000)
      some = some || a[i];
  }
  *r = some;
  __hetero_task_end(task);
  __hetero_section_end(section);
}

constexpr int count = 1000;
static int a[count];

template <typename T, int Kind> static void check(const char *name) {
  for (int n : {0, 1, 500, count})
    for (int start : {0, 1, 5, -128}) {
      T r = T(start), e = r, l = r, f = r;
      __hetero_wait(
          __hetero_launch((void *)combine<T, Kind>, 3, a, sizeof(a), &r, sizeof(r), n, 1, &r, sizeof(r)));
      combine<T, Kind>(a, sizeof(a), &e, sizeof(e), n);
      __hetero_wait(
          __hetero_launch((void *)local<T, Kind>, 3, a, sizeof(a), &l, sizeof(l), n, 1, &l, sizeof(l)));
      local<T, Kind>(a, sizeof(a), &f, sizeof(f), n);
      if (r != e || l != f)
        std::printf("%s %d of %d from %d: %d and %d instead of %d and %d\n", name, Kind, n, start, int(r),
                    int(l), int(e), int(f)),
            ++mistakes;
    }
}
template <typename T> static void checkAll(const char *name) {
  check<T, 0>(name), check<T, 1>(name), check<T, 2>(name), check<T, 3>(name), check<T, 4>(name);
}

// The same by lambdas, alone and in a graph.
static void lambdas() {
  tessera::span x(a, count);
  int any = 0, all = 3, both = 7;
  bool none = true;
  tessera::parallel_for(tessera::extent(count), [&](size_t i) {
    any = any || x[i] == 17;
    all = all && x[i] < 300;
  });
  tessera::run([&] {
    int inner = 0;
    bool flag = true;
    tessera::parallel_for(tessera::extent(count), [&](size_t i) {
      inner = inner || x[i] == 250;
      flag = flag && x[i] != 18;
      if (x[i] > 400)
        flag = false;
    });
    tessera::task([&] {
      both = inner;
      none = flag;
    });
  });
  if (any != 1 || all != 1 || both != 1 || none)
    std::printf("lambdas: %d %d %d %d\n", any, all, both, none), ++mistakes;
}

int main() {
  for (int i = 0; i < count; ++i)
    a[i] = (i * 7919) % 251;
  checkAll<int>("int");
  checkAll<uint8_t>("uint8_t");
  checkAll<int64_t>("int64_t");
  checkAll<bool>("bool");
  lambdas();
  std::printf("%d mistakes\n", mistakes);
}
