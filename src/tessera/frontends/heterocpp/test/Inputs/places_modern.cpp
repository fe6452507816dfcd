// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lambdas that are launched in coroutines, members' initialisers and lambdas; graphs that the host calls as
// well.
#include <coroutine>
#include <cstdio>
#include <tessera/hetero.hpp>
#include <vector>
struct Task {
  struct promise_type {
    float value = 0;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(float v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
};
Task co(std::vector<float> &v) {
  for (int k = 0; k < 3; ++k) {
    tessera::parallel_for(tessera::extent(v.size()), [&](size_t i) { v[i] += k + 1; });
    co_yield v[0];
    float s = tessera::reduce(tessera::sum, tessera::extent(v.size()), 0.0f, [&](size_t i) { return v[i]; });
    co_yield s;
  }
}
struct M {
  std::vector<float> v = std::vector<float>(5, 1.0f);
  float sum =
      tessera::reduce(tessera::sum, tessera::extent(v.size()), 0.0f, [this](size_t i) { return v[i]; });
  M() {
    tessera::parallel_for(tessera::extent(v.size()), [this](size_t i) { v[i] *= 3; });
  }
};
// Graphs are computed when the program runs.
constexpr int early(int x) {
#ifdef __cpp_if_consteval
  if not consteval {
    if (x > 2)
      return x;
  }
  if consteval {
    return 7;
  } else {
    return x + 1;
  }
#else
  return x > 2 ? x : x + 1;
#endif
}
constexpr int twice(int n) { return 2 * n; }
template <typename F> void apply(F f) { f(); }
int main() {
  std::vector<float> v(4, 1.0f);
  size_t n = v.size();
  auto loops = [&] {
    tessera::parallel_for<"a">(tessera::extent(n), [&](size_t i) { v[i] += 1; });
    tessera::parallel_for<"b">(tessera::extent(n), [&](size_t i) { v[i] *= 2; });
  };
  tessera::run(loops);
  std::printf("run %g\n", v[0]);
  loops();
  std::printf("called %g\n", v[0]);
  apply(loops);
  std::printf("applied %g\n", v[0]);
  Task t = co(v);
  for (int k = 0; k < 6; ++k) {
    t.h.resume();
    std::printf("resumed %g\n", t.h.promise().value);
  }
  t.h.destroy();
  M m;
  std::printf("member %g %g\n", m.sum, m.v[0]);
  auto outer = [&](auto x) {
    return [&, x](auto y) {
      tessera::parallel_for(tessera::extent(n), [&v, x, y](size_t i) { v[i] += x * y; });
      return v[1];
    };
  };
  std::printf("nested %g\n", outer(2)(3.5f));
  static float at = [&] {
    tessera::parallel_for(tessera::extent(twice(2)), [&v](size_t i) { v[i] = i; });
    return v[3];
  }();
  std::printf("static %g\n", at);
  auto task = [&] {
    tessera::task([&] {
      tessera::parallel_for(tessera::extent(n), [&](size_t i) { v[i] += 10; });
      v[0] = 7;
    });
  };
  tessera::run(task);
  task();
  std::printf("task %g %g\n", v[0], v[1]);
  auto red = [&] {
    float s = tessera::reduce(tessera::sum, tessera::extent(n), 0.0f, [&](size_t i) { return v[i]; });
    tessera::parallel_for(tessera::extent(n), [=, &v](size_t i) { v[i] += s; });
  };
  tessera::run(red);
  std::printf("reduced %g\n", v[1]);
  red();
  std::printf("reduced %g\n", v[1]);
  tessera::parallel_for(tessera::extent(n), [&](size_t i) { v[i] = early(int(i)); });
  std::printf("early %g %g %g\n", v[0], v[2], v[3]);
}
