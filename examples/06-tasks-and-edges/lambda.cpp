// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same graph without markers: loops and tasks are lambdas, and what they capture makes the edges.
#include <tessera/hetero.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const int n = 1000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i % 2 ? 7 : 3;
  float scale[2];
  tessera::run<"normalise">([&] {
    double sum = 0, squares = 0;
    tessera::parallel_for<"sum">(tessera::extent(n), [&](size_t i) { sum += x[i]; });
    tessera::parallel_for<"squares">(tessera::extent(n), [&](size_t i) { squares += (double)x[i] * x[i]; });
    tessera::task<"statistics">([&] {
      double mean = sum / n;
      scale[0] = mean;
      scale[1] = 1 / std::sqrt(squares / n - mean * mean);
    });
    tessera::parallel_for<"apply">(tessera::extent(n),
                                   [&](size_t i) { x[i] = (x[i] - scale[0]) * scale[1]; });
  });
  std::printf("mean %g, scale %g: %g %g\n", scale[0], scale[1], x[0], x[1]);
}
