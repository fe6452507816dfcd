// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

static inline void order(float &a, float &b) {
  float low = std::min(a, b), high = std::max(a, b);
  a = low, b = high;
}

void Cava::openmp() {
  int rows = this->rows, columns = this->columns, points = this->points, width = columns * 3;
  float *scaled = this->scaled.data(), *mosaic = this->mosaic.data(), *quiet = this->quiet.data(),
        *coloured = this->coloured.data(), *mapped = this->mapped.data();
  const float *transform = this->transform.data(), *tone = this->tone.data();
  size_t n = raw.size();
  // The control points by coordinate, so that the loop over them runs in vectors.
  std::vector<float> soa(size_t(points) * 6);
  for (int k = 0; k < points; ++k)
    for (int ch = 0; ch < 3; ++ch)
      soa[size_t(ch) * points + k] = control[k * 3 + ch],
                                soa[size_t(3 + ch) * points + k] = weights[k * 3 + ch];
  const float *cx = soa.data(), *cy = cx + points, *cz = cy + points, *w0 = cz + points, *w1 = w0 + points,
              *w2 = w1 + points;
#pragma omp parallel
  {
#pragma omp for simd schedule(static)
    for (size_t i = 0; i < n; ++i)
      scaled[i] = float(raw[i]) * (1.0f / 255.0f);
#pragma omp for schedule(static)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        int own = channelAt(r, c);
        float sum[3] = {}, count[3] = {};
        for (int y = std::max(0, r - 1); y <= std::min(rows - 1, r + 1); ++y)
          for (int x = std::max(0, c - 1); x <= std::min(columns - 1, c + 1); ++x) {
            int there = channelAt(y, x);
            if (there == own && (y != r || x != c))
              continue;
            sum[there] += scaled[(size_t(y) * columns + x) * 3 + there];
            count[there] += 1;
          }
        for (int ch = 0; ch < 3; ++ch)
          mosaic[(size_t(r) * columns + c) * 3 + ch] = count[ch] > 0 ? sum[ch] / count[ch] : 0;
      }
#pragma omp for schedule(static)
    for (int r = 0; r < rows; ++r) {
      const float *row = mosaic + size_t(r) * width;
      float *out = quiet + size_t(r) * width;
      if (r == 0 || r == rows - 1) {
        std::copy(row, row + width, out);
        continue;
      }
      for (int i = 0; i < 3; ++i)
        out[i] = row[i], out[width - 3 + i] = row[width - 3 + i];
#pragma omp simd
      for (int i = 3; i < width - 3; ++i) {
        float a = row[i - width - 3], b = row[i - width], c = row[i - width + 3], d = row[i - 3], e = row[i],
              f = row[i + 3], g = row[i + width - 3], h = row[i + width], k = row[i + width + 3];
        order(b, c), order(e, f), order(h, k), order(a, b), order(d, e), order(g, h), order(b, c),
            order(e, f), order(h, k);
        order(a, d), order(f, k), order(e, h), order(d, g), order(b, e), order(c, f), order(e, h),
            order(e, c), order(g, e);
        order(e, c);
        out[i] = e;
      }
    }
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; i += 3)
      for (int ch = 0; ch < 3; ++ch)
        coloured[i + ch] = std::max(0.0f, quiet[i] * transform[ch] + quiet[i + 1] * transform[3 + ch] +
                                              quiet[i + 2] * transform[6 + ch]);
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; i += 3) {
      float x = coloured[i], y = coloured[i + 1], z = coloured[i + 2], m0 = 0, m1 = 0, m2 = 0;
#pragma omp simd reduction(+ : m0, m1, m2)
      for (int k = 0; k < points; ++k) {
        float dx = x - cx[k], dy = y - cy[k], dz = z - cz[k], d = std::sqrt(dx * dx + dy * dy + dz * dz);
        m0 += d * w0[k], m1 += d * w1[k], m2 += d * w2[k];
      }
      mapped[i] = m0 + linear[0] + x * linear[3] + y * linear[6] + z * linear[9];
      mapped[i + 1] = m1 + linear[1] + x * linear[4] + y * linear[7] + z * linear[10];
      mapped[i + 2] = m2 + linear[2] + x * linear[5] + y * linear[8] + z * linear[11];
    }
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; i += 3)
      for (int ch = 0; ch < 3; ++ch) {
        float v = std::min(std::max(mapped[i + ch], 0.0f), 1.0f);
        toned[i + ch] = tone[int(v * 255.0f) * 3 + ch];
      }
#pragma omp for simd schedule(static)
    for (size_t i = 0; i < n; ++i)
      picture[i] = uint8_t(std::min(toned[i] * 255.0f, 255.0f));
  }
}
