// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One mistake a function, each found by a type.
#include <tessera/hetero.hpp>

using namespace tessera;

static void scale(const float *in, size_t inBytes, float *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "scale");
    out[i] = in[i];
  }
}

void noEffect(int n) {
  parallel_for(extent(n), [](size_t) {});
}
void dimension(float *p, int n) {
  span x(p, n);
  span y(p, n, n);
  parallel_for(extent(n, n), [=](size_t i, size_t j) { x(i, j) = 0; });
  parallel_for(extent(n, n, n), [=](size_t i, size_t j, size_t k) { y(i, j, k) = 0; });
}
void extentOfFour(float *p, int n) { extent(n, n, n, n); }
void spanOfFour(float *p, int n) { span(p, n, n, n, n); }
void pointer(float *x, int n) { graph<scale>()(x, out(x, n), n); }
void constant(const float *x, int n) { graph<scale>()(in(x, n), out(x, n), n); }
void uncounted(const float *x, float *y, int n) { graph<scale>()(in(x), out(y, n), n); }
void fewer(const float *x, float *y, int n) { graph<scale>()(in(x, n), out(y, n)); }
void onlyReads(const float *x, int n) { graph<scale>()(in(x, n), in(x, n), n); }
void made(const float *x, int n) { graph<scale>()(in(x, n), between<float>(n), n); }
void streams(const float *x, float *y, int n) {
  stream<scale> other(in(x, n), n);
  stream<scale> none(in(x, n), between<float>(n), n);
  stream<scale> items(in(x, n), out(y, n), n);
  items.push(out(y, n));
  items.push(n, out(y, n));
}
float captures(const float *p, int n, float by) {
  span x(p, n);
  return reduce(operation<0.0f>([=](float a, float b) { return a + by * b; }), extent(n), 0.0f,
                [=](size_t i) { return x[i]; });
}
