// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same blur without markers: the loop is a lambda, and the memory has extents.
#include <tessera/hetero.hpp>

#include <cstdio>
#include <vector>

void blur(const float *input, float *output, int height, int width) {
  tessera::span in(input, height, width);
  tessera::span out(output, height, width);
  tessera::parallel_for(tessera::extent(height - 2, width - 2), [=](size_t y, size_t x) {
    float sum = 0;
    for (int dy = 0; dy <= 2; ++dy)
      for (int dx = 0; dx <= 2; ++dx)
        sum += in(y + dy, x + dx);
    out(y + 1, x + 1) = sum / 9;
  });
}

int main() {
  const int height = 48, width = 64;
  std::vector<float> image(height * width), blurred(height * width);
  for (int i = 0; i < height * width; ++i)
    image[i] = i % width < width / 2 ? 0.0f : 9.0f;
  blur(image.data(), blurred.data(), height, width);
  for (int x = width / 2 - 2; x < width / 2 + 2; ++x)
    std::printf("%g ", blurred[5 * width + x]);
  float most = tessera::reduce(tessera::maximum, tessera::extent(height * width), 0.0f,
                               [&](size_t i) { return blurred[i]; });
  std::printf("at most %g\n", most);
}
