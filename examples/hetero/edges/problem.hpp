// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edge detection on a stream of frames: smooth, estimate the Laplacian by dilation and erosion, find where it
// changes its sign, measure the gradient and its maximum over the frame, and keep the crossings where the
// gradient is strong. No edges are looked for in a margin of five pixels, which stays zero.
#pragma once
#include "../common/harness.hpp"

struct Edges {
  static constexpr int margin = 5;
  static constexpr float theta = 0.1f;
  static constexpr float weights[7] = {0.07015933f, 0.13107488f, 0.19071282f, 0.21610594f,
                                       0.19071282f, 0.13107488f, 0.07015933f};
  int frames, height, width;
  std::vector<std::vector<float>> input;
  std::vector<std::vector<uint8_t>> output;

  static Edges load(const std::string &) { return make(6, 70, 93); }
  static Edges generate(long scale) { return make(int(scale), 480, 640); }
  /// A disc and a bar that move before a slope, with noise.
  static Edges make(int frames, int height, int width) {
    Edges p{frames, height, width, {}, {}};
    harness::Random random(21);
    for (int f = 0; f < frames; ++f) {
      std::vector<float> frame(size_t(height) * width);
      float cx = width * (0.2f + 0.6f * f / frames), cy = height * 0.4f, radius = height * 0.2f;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          float v = 0.2f * x / width + 0.1f * y / height;
          if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius)
            v += 0.5f;
          if (y > height * 0.7f && y < height * 0.8f && (x + 3 * f) % 40 < 20)
            v += 0.3f;
          frame[size_t(y) * width + x] = v + random.real(0, 0.05f);
        }
      p.input.push_back(frame);
    }
    return p;
  }
  void reset() { output.assign(frames, std::vector<uint8_t>(size_t(height) * width, 0)); }
  void hetero();
  void openmp();

  /// In double precision, from the definitions. A pixel whose decision hangs on less than rounding is not
  /// compared.
  std::string check() const {
    size_t undecided = 0;
    for (int f = 0; f < frames; ++f) {
      size_t n = size_t(height) * width;
      std::vector<double> rows(n), smooth(n), laplacian(n), gradient(n);
      auto at = [&](int y, int x) { return size_t(y) * width + x; };
      for (int y = 0; y < height; ++y)
        for (int x = 3; x < width - 3; ++x)
          for (int d = -3; d <= 3; ++d)
            rows[at(y, x)] += double(weights[d + 3]) * input[f][at(y, x + d)];
      for (int y = 3; y < height - 3; ++y)
        for (int x = 3; x < width - 3; ++x)
          for (int d = -3; d <= 3; ++d)
            smooth[at(y, x)] += double(weights[d + 3]) * rows[at(y + d, x)];
      for (int y = 4; y < height - 4; ++y)
        for (int x = 4; x < width - 4; ++x) {
          double low = 1e30, high = -1e30;
          for (int k = 0; k < 9; ++k) {
            double v = smooth[at(y + k / 3 - 1, x + k % 3 - 1)];
            low = v < low ? v : low, high = v > high ? v : high;
          }
          laplacian[at(y, x)] = low + high - 2 * smooth[at(y, x)];
        }
      double strongest = 0;
      const int sobel[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
      for (int y = margin; y < height - margin; ++y)
        for (int x = margin; x < width - margin; ++x) {
          double gx = 0, gy = 0;
          for (int k = 0; k < 9; ++k) {
            double v = smooth[at(y + k / 3 - 1, x + k % 3 - 1)];
            gx += sobel[k] * v, gy += sobel[k % 3 * 3 + k / 3] * v;
          }
          gradient[at(y, x)] = std::sqrt(gx * gx + gy * gy);
          strongest = std::max(strongest, gradient[at(y, x)]);
        }
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          bool edge = false;
          if (y >= margin && y < height - margin && x >= margin && x < width - margin) {
            double least = std::min({laplacian[at(y - 1, x)], laplacian[at(y + 1, x)],
                                     laplacian[at(y, x - 1)], laplacian[at(y, x + 1)]});
            double here = laplacian[at(y, x)], steep = gradient[at(y, x)] - theta * strongest;
            if (std::fabs(least) < 1e-6 || std::fabs(here) < 1e-6 || std::fabs(steep) < 1e-6) {
              ++undecided;
              continue;
            }
            edge = least < 0 && here >= 0 && steep >= 0;
          }
          if (output[f][at(y, x)] != (edge ? 255 : 0))
            return "frame " + std::to_string(f) + ", pixel " + std::to_string(y) + ", " + std::to_string(x) +
                   (edge ? " is no edge, but should be one" : " is an edge, but should be none");
        }
    }
    if (undecided * 200 > size_t(frames) * height * width)
      return std::to_string(undecided) + " pixels cannot be decided";
    return "";
  }
};
