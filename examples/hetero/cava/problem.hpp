// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A camera's pipeline from the raw sensor to a picture: scale, demosaic, denoise, colour transform, gamut
// map, tone map, descale (the stages of CAVA, with its camera model).
#pragma once
#include "../common/harness.hpp"

struct Cava {
  int rows, columns, points;
  std::vector<uint8_t> raw, picture;           // rows x columns x 3
  std::vector<float> control, weights, linear; // points x 3; points x 3; 4 x 3: constant, then a matrix
  std::vector<float> transform, tone;          // 3 x 3; 256 x 3
  std::vector<float> scaled, mosaic, quiet, coloured, mapped, toned; // one for each stage

  static Cava load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    Cava p;
    std::vector<char> bytes = harness::readFile(dir + "/cava/raw_tulip-small.bin");
    std::vector<int> head = harness::takeArray<int>(bytes, 0, 3);
    p.rows = head[0], p.columns = head[1];
    p.raw = harness::takeArray<uint8_t>(bytes, 12, size_t(p.rows) * p.columns * 3);
    std::string model = dir + "/cava/NikonD7000/raw2jpg_";
    std::vector<double> control = harness::readNumbers(model + "ctrlPoints.txt"),
                        weights = harness::readNumbers(model + "coefs.txt"),
                        transform = harness::readNumbers(model + "transform.txt"),
                        tone = harness::readNumbers(model + "respFcns.txt");
    p.points = int(control[0]);
    p.control.assign(control.begin() + 1, control.begin() + 1 + p.points * 3);
    p.weights.assign(weights.begin() + 1, weights.begin() + 1 + p.points * 3);
    p.linear.assign(weights.begin() + 1 + p.points * 3, weights.begin() + 1 + p.points * 3 + 12);
    // The count, the matrix without white balance, then for each light its code, matrix and white point: the
    // third is sunny.
    p.transform.assign(transform.begin() + 10 + 2 * 13 + 1, transform.begin() + 10 + 2 * 13 + 10);
    p.tone.assign(tone.begin() + 4, tone.begin() + 4 + 768);
    return p;
  }
  static Cava generate(long scale) {
    Cava p;
    harness::Random random(20);
    p.rows = int(scale) * 20, p.columns = int(scale) * 24 + 1, p.points = 256;
    p.raw.resize(size_t(p.rows) * p.columns * 3);
    for (int r = 0; r < p.rows; ++r)
      for (int c = 0; c < p.columns; ++c)
        p.raw[(size_t(r) * p.columns + c) * 3 + channelAt(r, c)] = uint8_t(random.below(256));
    auto fill = [&](std::vector<float> &v, size_t n, float low, float high) {
      v.resize(n);
      for (float &e : v)
        e = random.real(low, high);
    };
    fill(p.control, p.points * 3, 0, 1);
    fill(p.weights, p.points * 3, -0.01f, 0.01f);
    p.linear = {0.1f, 0.1f, 0.1f, 0.9f, 0.05f, 0, 0, 0.8f, 0.1f, 0.05f, 0, 0.9f};
    p.transform = {1.6f, -0.5f, -0.1f, -0.1f, 1.4f, -0.3f, 0, -0.5f, 1.5f};
    for (int i = 0; i < 256; ++i)
      for (int c = 0; c < 3; ++c)
        p.tone.push_back(std::pow(float(i) / 255, 1 / 2.2f + 0.01f * float(c)));
    return p;
  }
  /// The sensor's filters: green red / blue green.
  static constexpr int channelAt(int r, int c) { return r % 2 == c % 2 ? 1 : r % 2 ? 2 : 0; }

  void reset() {
    picture.assign(raw.size(), 0);
    scaled.assign(raw.size(), 0);
    mosaic = quiet = coloured = mapped = toned = scaled;
  }
  void hetero();
  void openmp();
  /// The same pipeline pixel by pixel in double precision, with sorting for the median and without stored
  /// stages where it can be.
  std::string check() const {
    size_t n = raw.size();
    std::vector<double> a(n), b(n), c(n);
    auto at = [&](const std::vector<double> &v, int r, int col, int ch) {
      return v[(size_t(r) * columns + col) * 3 + ch];
    };
    for (size_t i = 0; i < n; ++i)
      a[i] = raw[i] / 255.0;
    for (int r = 0; r < rows; ++r)
      for (int col = 0; col < columns; ++col)
        for (int ch = 0; ch < 3; ++ch) {
          double sum = 0;
          int count = 0;
          for (int dr = -1; dr <= 1; ++dr)
            for (int dc = -1; dc <= 1; ++dc) {
              int y = r + dr, x = col + dc;
              bool own = channelAt(r, col) == ch;
              if (y < 0 || x < 0 || y >= rows || x >= columns || channelAt(y, x) != ch || (own && (dr || dc)))
                continue;
              sum += at(a, y, x, ch), ++count;
            }
          b[(size_t(r) * columns + col) * 3 + ch] = count ? sum / count : 0;
        }
    c = b;
    for (int r = 1; r + 1 < rows; ++r)
      for (int col = 1; col + 1 < columns; ++col)
        for (int ch = 0; ch < 3; ++ch) {
          std::vector<double> around;
          for (int dr = -1; dr <= 1; ++dr)
            for (int dc = -1; dc <= 1; ++dc)
              around.push_back(at(b, r + dr, col + dc, ch));
          std::sort(around.begin(), around.end());
          c[(size_t(r) * columns + col) * 3 + ch] = around[4];
        }
    size_t off = 0;
    for (size_t i = 0; i < n; i += 3) {
      double v[3], m[3];
      for (int ch = 0; ch < 3; ++ch)
        v[ch] =
            std::max(0.0, c[i] * transform[ch] + c[i + 1] * transform[3 + ch] + c[i + 2] * transform[6 + ch]);
      for (int ch = 0; ch < 3; ++ch)
        m[ch] = linear[ch] + v[0] * linear[3 + ch] + v[1] * linear[6 + ch] + v[2] * linear[9 + ch];
      for (int k = 0; k < points; ++k) {
        double d = 0;
        for (int ch = 0; ch < 3; ++ch)
          d += (v[ch] - control[k * 3 + ch]) * (v[ch] - control[k * 3 + ch]);
        for (int ch = 0; ch < 3; ++ch)
          m[ch] += std::sqrt(d) * weights[k * 3 + ch];
      }
      for (int ch = 0; ch < 3; ++ch) {
        int index = int(std::clamp(m[ch], 0.0, 1.0) * 255);
        int expected = int(std::min(255.0, double(tone[index * 3 + ch]) * 255));
        int step = std::abs(int(tone[std::min(255, index + 1) * 3 + ch] * 255) -
                            int(tone[std::max(0, index - 1) * 3 + ch] * 255));
        int difference = std::abs(expected - int(picture[i + ch]));
        if (difference > step + 1)
          return "pixel " + std::to_string(i / 3) + " is " + std::to_string(picture[i + ch]) + ", expected " +
                 std::to_string(expected);
        off += difference > 0;
      }
    }
    // A value may fall to the other side of a step of the tone table by rounding.
    return off > n / 100 + 10 ? std::to_string(off) + " values differ" : "";
  }
};
