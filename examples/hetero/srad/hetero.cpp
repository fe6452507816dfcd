// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void diffuse(float *image, size_t imageBytes, float *coefficient, size_t coefficientBytes,
                    float *north, size_t northBytes, float *south, size_t southBytes, float *west,
                    size_t westBytes, float *east, size_t eastBytes, float *sums, size_t sumsBytes, int rows,
                    int columns) {
  void *section = __hetero_section_begin();
  void *task = __hetero_task_begin(4, image, imageBytes, sums, sumsBytes, rows, columns, 1, sums, sumsBytes,
                                   "statistics");
  float sum = 0, squares = 0;
  for (int i = 0; i < rows * columns; ++i) {
    __hetero_parallel_loop(1, 3, image, imageBytes, rows, columns, 0, "sums");
    sum += image[i];
    squares += image[i] * image[i];
  }
  sums[0] = sum;
  sums[1] = squares;
  __hetero_task_end(task);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 9, image, imageBytes, coefficient, coefficientBytes, north, northBytes, south,
                             southBytes, west, westBytes, east, eastBytes, sums, sumsBytes, rows, columns, 5,
                             coefficient, coefficientBytes, north, northBytes, south, southBytes, west,
                             westBytes, east, eastBytes, "coefficients");
      float count = float(rows * columns), mean = sums[0] / count, variance = sums[1] / count - mean * mean;
      float q0 = variance / (mean * mean);
      int up = i > 0 ? i - 1 : 0, down = i < rows - 1 ? i + 1 : rows - 1;
      int left = j > 0 ? j - 1 : 0, right = j < columns - 1 ? j + 1 : columns - 1;
      float v = image[i * columns + j];
      float dn = image[up * columns + j] - v, ds = image[down * columns + j] - v;
      float dw = image[i * columns + left] - v, de = image[i * columns + right] - v;
      float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (v * v), l = (dn + ds + dw + de) / v;
      float num = 0.5f * g2 - l * l * (1.0f / 16.0f), den = 1.0f + 0.25f * l, q = num / (den * den);
      float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
      north[i * columns + j] = dn;
      south[i * columns + j] = ds;
      west[i * columns + j] = dw;
      east[i * columns + j] = de;
      coefficient[i * columns + j] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
    }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 8, image, imageBytes, coefficient, coefficientBytes, north, northBytes, south,
                             southBytes, west, westBytes, east, eastBytes, rows, columns, 1, image,
                             imageBytes, "update");
      int down = i < rows - 1 ? i + 1 : rows - 1, right = j < columns - 1 ? j + 1 : columns - 1;
      float c = coefficient[i * columns + j];
      image[i * columns + j] +=
          0.25f * Srad::lambda *
          (c * north[i * columns + j] + coefficient[down * columns + j] * south[i * columns + j] +
           c * west[i * columns + j] + coefficient[i * columns + right] * east[i * columns + j]);
    }
  __hetero_section_end(section);
}

void Srad::hetero() {
  size_t bytes = image.size() * sizeof(float);
  float sums[2];
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)diffuse, 9, image.data(), bytes, coefficient.data(), bytes,
                                north.data(), bytes, south.data(), bytes, west.data(), bytes, east.data(),
                                bytes, sums, sizeof(sums), rows, columns, 1, image.data(), bytes);
    __hetero_wait(run);
  }
}

HARNESS_MAIN(Srad, "srad", 112)
