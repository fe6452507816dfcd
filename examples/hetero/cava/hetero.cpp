// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <cmath>
#include <tessera/hetero.h>

static inline void order(float &a, float &b) {
  float low = a < b ? a : b, high = a < b ? b : a;
  a = low;
  b = high;
}

// The median of nine by the fewest exchanges.
static inline float median(float a, float b, float c, float d, float e, float f, float g, float h, float i) {
  order(b, c), order(e, f), order(h, i), order(a, b), order(d, e), order(g, h), order(b, c), order(e, f),
      order(h, i);
  order(a, d), order(f, i), order(e, h), order(d, g), order(b, e), order(c, f), order(e, h), order(e, c),
      order(g, e);
  order(e, c);
  return e;
}

static void develop(const uint8_t *raw, size_t rawBytes, float *scaled, size_t scaledBytes, float *mosaic,
                    size_t mosaicBytes, float *quiet, size_t quietBytes, float *coloured,
                    size_t colouredBytes, float *mapped, size_t mappedBytes, float *toned, size_t tonedBytes,
                    uint8_t *picture, size_t pictureBytes, const float *control, size_t controlBytes,
                    const float *weights, size_t weightsBytes, const float *linear, size_t linearBytes,
                    const float *transform, size_t transformBytes, const float *tone, size_t toneBytes,
                    int rows, int columns, int points) {
  void *section = __hetero_section_begin();
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int ch = 0; ch < 3; ++ch) {
        __hetero_parallel_loop(3, 4, raw, rawBytes, scaled, scaledBytes, rows, columns, 1, scaled,
                               scaledBytes, "scale");
        scaled[(r * columns + c) * 3 + ch] = float(raw[(r * columns + c) * 3 + ch]) * (1.0f / 255.0f);
      }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      __hetero_parallel_loop(2, 4, scaled, scaledBytes, mosaic, mosaicBytes, rows, columns, 1, mosaic,
                             mosaicBytes, "demosaic");
      int own = r % 2 == c % 2 ? 1 : r % 2 ? 2 : 0;
      for (int ch = 0; ch < 3; ++ch) {
        float sum = 0;
        int count = 0;
        for (int dr = -1; dr <= 1; ++dr)
          for (int dc = -1; dc <= 1; ++dc) {
            int y = r + dr, x = c + dc;
            int there = y % 2 == x % 2 ? 1 : y % 2 ? 2 : 0;
            bool inside = y >= 0 && x >= 0 && y < rows && x < columns;
            if (inside && there == ch && (own != ch || (dr == 0 && dc == 0))) {
              sum += scaled[(y * columns + x) * 3 + ch];
              count += 1;
            }
          }
        mosaic[(r * columns + c) * 3 + ch] = count > 0 ? sum / float(count) : 0.0f;
      }
    }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int ch = 0; ch < 3; ++ch) {
        __hetero_parallel_loop(3, 4, mosaic, mosaicBytes, quiet, quietBytes, rows, columns, 1, quiet,
                               quietBytes, "denoise");
        if (r > 0 && c > 0 && r < rows - 1 && c < columns - 1)
          quiet[(r * columns + c) * 3 + ch] =
              median(mosaic[((r - 1) * columns + c - 1) * 3 + ch], mosaic[((r - 1) * columns + c) * 3 + ch],
                     mosaic[((r - 1) * columns + c + 1) * 3 + ch], mosaic[(r * columns + c - 1) * 3 + ch],
                     mosaic[(r * columns + c) * 3 + ch], mosaic[(r * columns + c + 1) * 3 + ch],
                     mosaic[((r + 1) * columns + c - 1) * 3 + ch], mosaic[((r + 1) * columns + c) * 3 + ch],
                     mosaic[((r + 1) * columns + c + 1) * 3 + ch]);
        else
          quiet[(r * columns + c) * 3 + ch] = mosaic[(r * columns + c) * 3 + ch];
      }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int ch = 0; ch < 3; ++ch) {
        __hetero_parallel_loop(3, 5, quiet, quietBytes, coloured, colouredBytes, transform, transformBytes,
                               rows, columns, 1, coloured, colouredBytes, "transform");
        float v = quiet[(r * columns + c) * 3] * transform[ch] +
                  quiet[(r * columns + c) * 3 + 1] * transform[3 + ch] +
                  quiet[(r * columns + c) * 3 + 2] * transform[6 + ch];
        coloured[(r * columns + c) * 3 + ch] = v > 0.0f ? v : 0.0f;
      }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      __hetero_parallel_loop(2, 8, coloured, colouredBytes, mapped, mappedBytes, control, controlBytes,
                             weights, weightsBytes, linear, linearBytes, rows, columns, points, 1, mapped,
                             mappedBytes, "gamut");
      float x = coloured[(r * columns + c) * 3], y = coloured[(r * columns + c) * 3 + 1],
            z = coloured[(r * columns + c) * 3 + 2];
      float m0 = 0, m1 = 0, m2 = 0;
      for (int k = 0; k < points; ++k) {
        float dx = x - control[k * 3], dy = y - control[k * 3 + 1], dz = z - control[k * 3 + 2];
        float d = std::sqrt(dx * dx + dy * dy + dz * dz);
        m0 += d * weights[k * 3];
        m1 += d * weights[k * 3 + 1];
        m2 += d * weights[k * 3 + 2];
      }
      mapped[(r * columns + c) * 3] = m0 + linear[0] + x * linear[3] + y * linear[6] + z * linear[9];
      mapped[(r * columns + c) * 3 + 1] = m1 + linear[1] + x * linear[4] + y * linear[7] + z * linear[10];
      mapped[(r * columns + c) * 3 + 2] = m2 + linear[2] + x * linear[5] + y * linear[8] + z * linear[11];
    }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int ch = 0; ch < 3; ++ch) {
        __hetero_parallel_loop(3, 5, mapped, mappedBytes, toned, tonedBytes, tone, toneBytes, rows, columns,
                               1, toned, tonedBytes, "tone");
        float v = mapped[(r * columns + c) * 3 + ch];
        v = v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
        toned[(r * columns + c) * 3 + ch] = tone[int(v * 255.0f) * 3 + ch];
      }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      for (int ch = 0; ch < 3; ++ch) {
        __hetero_parallel_loop(3, 4, toned, tonedBytes, picture, pictureBytes, rows, columns, 1, picture,
                               pictureBytes, "descale");
        float v = toned[(r * columns + c) * 3 + ch] * 255.0f;
        picture[(r * columns + c) * 3 + ch] = uint8_t(v > 255.0f ? 255.0f : v);
      }
  __hetero_section_end(section);
}

void Cava::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch(
      (void *)develop, 16, raw.data(), bytes(raw), scaled.data(), bytes(scaled), mosaic.data(), bytes(mosaic),
      quiet.data(), bytes(quiet), coloured.data(), bytes(coloured), mapped.data(), bytes(mapped),
      toned.data(), bytes(toned), picture.data(), bytes(picture), control.data(), bytes(control),
      weights.data(), bytes(weights), linear.data(), bytes(linear), transform.data(), bytes(transform),
      tone.data(), bytes(tone), rows, columns, points, 1, picture.data(), bytes(picture));
  __hetero_wait(run);
}

HARNESS_MAIN(Cava, "cava", 36)
