// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A histogram whose bins saturate at 255 (Parboil's histo).
#pragma once
#include "../common/harness.hpp"

struct Histo {
  int pixels, bins;
  std::vector<uint32_t> image;
  std::vector<int> counts;
  std::vector<uint8_t> histogram;
  std::vector<char> picture; // the benchmark's result, a bitmap of the histogram

  static Histo load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::vector<char> bytes = harness::readFile(dir + "/parboil/histo/default/input/img.bin");
    std::vector<int> head = harness::takeArray<int>(bytes, 0, 4);
    Histo p;
    p.pixels = head[0] * head[1], p.bins = head[2] * head[3];
    p.image = harness::takeArray<uint32_t>(bytes, 16, p.pixels);
    p.picture = harness::readFile(dir + "/parboil/histo/default/output/ref.bmp");
    return p;
  }
  static Histo generate(long scale) {
    Histo p;
    p.pixels = int(scale) * 100000, p.bins = 256 * 64;
    harness::Random random(6);
    p.image.resize(p.pixels);
    for (uint32_t &v : p.image) { // most in the middle
      double u = random.unit() + random.unit() + random.unit() + random.unit();
      v = uint32_t(u / 4 * p.bins);
    }
    return p;
  }
  void reset() {
    counts.assign(bins, 0);
    histogram.assign(bins, 0);
  }
  void hetero();
  void openmp();
  std::string check() const {
    std::vector<int> expected(bins);
    for (uint32_t v : image)
      expected[v] += expected[v] < 255;
    std::string wrong = harness::compare(histogram, expected, 0, 0, "histogram");
    if (!wrong.empty() || picture.empty())
      return wrong;
    // The bitmap shows each count as a colour (not all different), its rows of 256 bins from the bottom up.
    std::vector<int> colour(256, -1);
    for (int i = 0; i < bins; ++i) {
      const uint8_t *at = reinterpret_cast<const uint8_t *>(picture.data()) + 54 +
                          (size_t(bins / 256 - 1 - i / 256) * 256 + i % 256) * 3;
      int c = at[0] | at[1] << 8 | at[2] << 16, &known = colour[histogram[i]];
      if (known >= 0 && known != c)
        return "bin " + std::to_string(i) + " has another colour in the reference picture";
      known = c;
    }
    return "";
  }
};
