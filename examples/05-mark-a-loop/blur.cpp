// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One marked loop nest: a blur of an image.
#include "heterocc.h"

#include <cstdio>
#include <vector>

void blur(const float *in, float *out, int height, int width) {
  size_t bytes = sizeof(float) * height * width;
  void *launch = __hetero_launch_begin(4, in, bytes, out, bytes, height, width, 1, out, bytes, "blur");
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x) {
      __hetero_parallel_loop(2, 4, in, bytes, out, bytes, height, width, 1, out, bytes, "box");
      float sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          sum += in[(y + dy) * width + x + dx];
      out[y * width + x] = sum / 9;
    }
  __hetero_launch_end(launch);
  __hetero_wait(launch);
}

int main() {
  const int height = 48, width = 64;
  std::vector<float> image(height * width), blurred(height * width);
  for (int i = 0; i < height * width; ++i)
    image[i] = i % width < width / 2 ? 0.0f : 9.0f;
  blur(image.data(), blurred.data(), height, width);
  for (int x = width / 2 - 2; x < width / 2 + 2; ++x)
    std::printf("%g ", blurred[5 * width + x]);
  std::printf("\n");
}
