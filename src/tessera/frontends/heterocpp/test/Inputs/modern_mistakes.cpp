// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/hetero.hpp>

using namespace tessera;

void captures(float *x, int n, float a) {
  parallel_for(extent(n), [=](size_t i) { span(x, n)[i] = a; }, out(x, n));
}
void noEffect(float *x, int n) {
  parallel_for(extent(n), [](size_t i, auto x) { (void)x[i]; }, in(x, n));
}
void pointer(float *x, int n) {
  parallel_for(extent(n), [](size_t i, float *x, auto y) { y[i] = x[i]; }, x, out(x, n));
}
void dimension(float *x, int n) {
  parallel_for(extent(n, n), [](size_t i, size_t j, auto x) { x(i, j) = 0; }, out(x, n));
}
void writes(float *x, int n) {
  reduce(sum, extent(n), 0.0f, [](size_t i, auto x) { return x[i]; }, inout(x, n));
}
