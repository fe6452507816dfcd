// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

// One frame. What the nodes hand on belongs to the frame; only the edges go out.
static void detect(const float *image, size_t imageBytes, uint8_t *edges, size_t edgesBytes, float *smooth,
                   size_t smoothBytes, float *laplacian, size_t laplacianBytes, uint8_t *crossing,
                   size_t crossingBytes, float *gradient, size_t gradientBytes, int height, int width) {
  void *section = __hetero_section_begin();
  for (int y = 3; y < height - 3; ++y)
    for (int x = 3; x < width - 3; ++x) {
      __hetero_parallel_loop(2, 4, image, imageBytes, smooth, smoothBytes, height, width, 1, smooth,
                             smoothBytes, "smooth");
      float sum = 0;
      for (int dy = -3; dy <= 3; ++dy) {
        float row = 0;
        for (int dx = -3; dx <= 3; ++dx)
          row += image[(y + dy) * width + x + dx] * Edges::weights[dx + 3];
        sum += row * Edges::weights[dy + 3];
      }
      smooth[y * width + x] = sum;
    }
  for (int y = 4; y < height - 4; ++y)
    for (int x = 4; x < width - 4; ++x) {
      __hetero_parallel_loop(2, 4, smooth, smoothBytes, laplacian, laplacianBytes, height, width, 1,
                             laplacian, laplacianBytes, "laplacian");
      float here = smooth[y * width + x], low = here, high = here;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          float v = smooth[(y + dy) * width + x + dx];
          low = v < low ? v : low;
          high = v > high ? v : high;
        }
      laplacian[y * width + x] = low + high - 2 * here;
    }
  for (int y = 5; y < height - 5; ++y)
    for (int x = 5; x < width - 5; ++x) {
      __hetero_parallel_loop(2, 4, laplacian, laplacianBytes, crossing, crossingBytes, height, width, 1,
                             crossing, crossingBytes, "crossings");
      const float *l = laplacian + y * width + x;
      bool below = l[-width] < 0 || l[width] < 0 || l[-1] < 0 || l[1] < 0;
      crossing[y * width + x] = below && l[0] >= 0;
    }
  float strongest = 0;
  for (int y = 5; y < height - 5; ++y) {
    __hetero_parallel_loop(1, 4, smooth, smoothBytes, gradient, gradientBytes, height, width, 1, gradient,
                           gradientBytes, "gradient");
    float *out = gradient + y * width;
    for (int x = 5; x < width - 5; ++x) {
      const float *up = smooth + (y - 1) * width + x, *here = up + width, *down = here + width;
      float gx = up[1] + 2 * here[1] + down[1] - up[-1] - 2 * here[-1] - down[-1];
      float gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
      out[x] = std::sqrt(gx * gx + gy * gy);
    }
    // The maximum of the row while it is near, sixteen side by side as the rival has them.
    float lanes[16] = {};
    int x = 5;
    for (; x + 16 <= width - 5; x += 16)
      for (int k = 0; k < 16; ++k)
        lanes[k] = out[x + k] > lanes[k] ? out[x + k] : lanes[k];
    for (; x < width - 5; ++x)
      lanes[0] = out[x] > lanes[0] ? out[x] : lanes[0];
    float most = 0;
    for (int k = 0; k < 16; ++k)
      most = lanes[k] > most ? lanes[k] : most;
    strongest = most > strongest ? most : strongest;
  }
  for (int y = 5; y < height - 5; ++y)
    for (int x = 5; x < width - 5; ++x) {
      __hetero_parallel_loop(2, 5, gradient, gradientBytes, crossing, crossingBytes, edges, edgesBytes,
                             height, width, 1, edges, edgesBytes, "reject");
      bool steep = gradient[y * width + x] >= Edges::theta * strongest;
      edges[y * width + x] = crossing[y * width + x] && steep ? 255 : 0;
    }
  __hetero_section_end(section);
}

void Edges::hetero() {
  size_t pixels = size_t(height) * width, bytes = pixels * sizeof(float);
  float *own = nullptr; // memory of each frame: the stream makes it
  uint8_t *marks = nullptr;
  void *stream = __hetero_launch_stream((void *)detect, 8, input[0].data(), bytes, output[0].data(), pixels,
                                        own, bytes, own, bytes, marks, pixels, own, bytes, height, width, 1,
                                        output[0].data(), pixels);
  for (int f = 0; f < frames; ++f)
    __hetero_push(stream, 2, input[f].data(), bytes, output[f].data(), pixels);
  __hetero_wait(stream);
}

HARNESS_MAIN(Edges, "edges", 60)
