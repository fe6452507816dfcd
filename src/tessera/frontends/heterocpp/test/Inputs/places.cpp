// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches wherever C++ runs code, and through all that copies, moves or renames calls; places/marked.h is
// found under -isystem.
#include <cstdio>
#include <marked.h>
#include <memory>
#include <new>
template <typename T> void add(T *x, size_t bytes, int n, T a) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, bytes, n, a, 1, x, bytes);
    x[i] += a;
  }
}
#define RUN(f, x, n, a)                                                                                      \
  (__hetero_wait(__hetero_launch((void *)f, 3, x, n * sizeof(*x), n, a, 1, x, n * sizeof(*x))), x[0])
static float g[4] = {1, 2, 3, 4};
static void *handle = __hetero_launch((void *)twice_kernel, 2, g, sizeof(g), 4, 1, g, sizeof(g));
static float first = RUN(add<float>, g, 4, 1.0f);
static float d[4] = {1, 2, 3, 4};
float withDefault(float x = RUN(add<float>, d, 4, 2.0f)) { return x; }
struct Init {
  float v[2] = {1, 2};
  float at = RUN(add<float>, v, 2, 3.0f);
  Init() {}
  Init(int) : at(RUN(add<float>, v, 2, 4.0f)) {}
};
struct Aggregate {
  float v[2] = {1, 2};
  float at = RUN(add<float>, v, 2, 3.0f);
};
template <typename T> struct Tmpl {
  T v[2] = {1, 2};
  T at = RUN(add<T>, v, 2, T(5));
};
struct VB {
  virtual ~VB() {}
};
struct D1 : virtual VB {
  float v[2] = {1, 2};
  D1() try { (void)RUN(add<float>, v, 2, 6.0f); } catch (...) {
  }
  ~D1() { (void)RUN(add<float>, out, 2, 1.0f); }
  static float out[2];
};
float D1::out[2];
struct D2 : D1 {
  D2() : D1() { RUN(add<float>, v, 2, 7.0f); }
};
static float statics() {
  static float v[2] = {1, 2};
  static float at = RUN(add<float>, v, 2, 8.0f);
  return at;
}
#define TWO(x)                                                                                               \
  RUN(add<float>, x, 2, 1.0f);                                                                               \
  RUN(add<float>, x, 2, 10.0f)
extern "C" float plain(float *x) { return RUN(add<float>, x, 2, 9.0f); }
namespace {
float anonymous(float *x) { return RUN(add<float>, x, 2, 11.0f); }
} // namespace
__attribute__((always_inline)) inline float inlined(float *x) { return RUN(add<float>, x, 2, 12.0f); }
extern "C" float aliased(float *x) __attribute__((alias("plain")));
template <typename T> __attribute__((noinline)) T region(T a) {
  T v[2] = {1, 2};
  size_t bytes = sizeof(v);
  T *p = v;
  void *h = __hetero_launch_begin(2, p, bytes, a, 1, p, bytes);
  for (int i = 0; i < 2; ++i) {
    __hetero_parallel_loop(1, 2, p, bytes, a, 1, p, bytes);
    p[i] += a;
  }
  __hetero_launch_end(h);
  __hetero_wait(h);
  return v[0];
}
float G[2] = {1, 2};
template <typename T> void shared() {
  __hetero_wait(__hetero_launch((void *)add<float>, 3, G, sizeof(G), 2, 13.0f, 1, G, sizeof(G)));
}
int sw(int k, float *p, size_t bytes) {
  void *h;
  switch (k) {
  case 1:
    h = __hetero_launch_begin(1, p, bytes, 1, p, bytes);
    for (int i = 0; i < 2; ++i) {
      __hetero_parallel_loop(1, 1, p, bytes, 1, p, bytes);
      p[i] += 100;
    }
    __hetero_launch_end(h);
    __hetero_wait(h);
    break;
  default:
    return 0;
  }
  return 1;
}
int main() {
  std::printf("g %g %g\n", g[0], first);
  std::printf("default %g %g\n", withDefault(), withDefault());
  Init a, b(1);
  Aggregate c{};
  Tmpl<float> t;
  Tmpl<double> t2;
  std::printf("init %g %g %g %g %g\n", a.at, b.at, c.at, t.at, t2.at);
  {
    D2 d;
    D1 e;
    std::printf("virtual %g %g\n", d.v[0], e.v[0]);
  }
  std::printf("destroyed %g\n", D1::out[0]);
  std::printf("static %g %g\n", statics(), statics());
  float v[2] = {1, 2};
  TWO(v);
  std::printf("macro %g\n", v[0]);
# 100 "other.cpp"
  RUN(add<float>, v, 2, 1.0f);
# 100 "other.cpp"
  RUN(add<float>, v, 2, 2.0f);
  std::printf("line %g\n", v[0]);
  std::printf("plain %g alias %g anonymous %g inlined %g\n", plain(v), aliased(v), anonymous(v), inlined(v));
  std::printf("region %g %g %g\n", (double)region(1.0f), region(2.0), (double)region(3));
  shared<int>();
  shared<char>();
  std::printf("shared %g\n", G[0]);
  auto generic = [](auto x) {
    decltype(x) w[2] = {x, x};
    RUN(add<decltype(x)>, w, 2, x);
    auto inner = [&](auto y) { return RUN(add<decltype(x)>, w, 2, decltype(x)(y)); };
    return inner(3);
  };
  std::printf("generic %g %d\n", generic(1.5), generic(4));
  struct Local {
    float v[2] = {1, 2};
    float go() { return RUN(add<float>, v, 2, 3.0f); }
  };
  std::printf("local %g\n", Local().go());
  {
    InHeader h;
    befriend(h);
    std::printf("header %g\n", h.v[0]);
  }
  alignas(InHeader) char raw[sizeof(InHeader)];
  InHeader *made = new (raw) InHeader;
  made->~InHeader();
  std::printf("destroyed %g\n", made->v[2]);
  std::unique_ptr<float[], decltype(&__hetero_free)> own((float *)__hetero_malloc(8), __hetero_free);
  own[0] = 5;
  own[1] = 6;
  twice(own.get(), 2);
  std::printf("own %g\n", own[1]);
  double dn = 2;
  int w3[3] = {1, 1, 1};
  __hetero_wait(__hetero_launch((void *)add<int>, 3, w3, sizeof(w3), dn, 5.7, 1, w3, sizeof(w3)));
  std::printf("converted %d %d\n", w3[1], w3[2]);
  int ok = sw(1, v, sizeof(v));
  std::printf("switch %d %g\n", ok, v[0]);
  float c1 = (RUN(add<float>, v, 2, 1.0f), RUN(add<float>, v, 2, 1.0f));
  std::printf("comma %g\n", c1);
}
