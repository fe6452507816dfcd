// Two filters in C++ that write memory: a blur over rows, one over columns. The program prints the mean of a
// picture's squares afterwards, which hangs on every pixel.
#include <cmath>
#include <cstdio>
#include <tessera/hetero.h>
#include <vector>

static void smooth(const float *image, size_t imageBytes, float *between, size_t betweenBytes, float *out,
                   size_t outBytes, int height, int width) {
  void *section = __hetero_section_begin();
  for (int y = 8; y < height - 8; ++y)
    for (int x = 0; x < width; ++x) {
      __hetero_parallel_loop(2, 4, image, imageBytes, between, betweenBytes, height, width, 1, between,
                             betweenBytes, "rows");
      float sum = 0;
      for (int d = -8; d <= 8; ++d)
        sum += image[(y + d) * width + x];
      between[y * width + x] = sum / 17;
    }
  for (int y = 8; y < height - 8; ++y)
    for (int x = 8; x < width - 8; ++x) {
      __hetero_parallel_loop(2, 4, between, betweenBytes, out, outBytes, height, width, 1, out, outBytes,
                             "columns");
      float sum = 0;
      for (int d = -8; d <= 8; ++d)
        sum += between[y * width + x + d];
      out[y * width + x] = std::sqrt(std::fabs(sum / 17));
    }
  __hetero_section_end(section);
}

int main() {
  const int height = 128, width = 128;
  const size_t n = size_t(height) * width, bytes = n * sizeof(float);
  std::vector<float> image(n), between(n), out(n);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      image[size_t(y) * width + x] = float((x * 7 + y * y) % 256) / 255;
  void *run = __hetero_launch((void *)smooth, 5, image.data(), bytes, between.data(), bytes, out.data(),
                              bytes, height, width, 1, out.data(), bytes);
  __hetero_wait(run);
  double sum = 0;
  for (float v : out)
    sum += double(v) * v;
  std::printf("mean %.9f\n", sum / double(n));
}
