// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of absolute differences of 4x4 blocks against a reference frame at 33 x 33 displacements, and their
// sums for 8x8 and 16x16 blocks: the motion search of a video encoder (Parboil's sad).
#pragma once
#include "../common/harness.hpp"

struct Sad {
  static constexpr int range = 16, side = 2 * range + 1, places = side * side;
  int width, height;
  std::vector<uint16_t> frame, previous;
  std::vector<uint16_t> small, medium, large; // blocks x places, for 4x4, 8x8, 16x16

  static Sad load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    Sad p;
    auto read = [&](const char *file) {
      std::vector<char> bytes = harness::readFile(dir + "/parboil/sad/default/input/" + file);
      std::vector<uint16_t> head = harness::takeArray<uint16_t>(bytes, 0, 2);
      p.width = head[0], p.height = head[1];
      return harness::takeArray<uint16_t>(bytes, 4, size_t(p.width) * p.height);
    };
    p.previous = read("reference.bin");
    p.frame = read("frame.bin");
    return p;
  }
  static Sad generate(long scale) {
    Sad p;
    p.width = 64 * int(scale), p.height = 48 * int(scale);
    harness::Random random(10);
    p.previous.resize(size_t(p.width) * p.height);
    for (uint16_t &v : p.previous)
      v = uint16_t(random.below(256));
    p.frame = p.previous;
    for (int y = 0; y < p.height; ++y) // moved by 3, 2, with some noise
      for (int x = 0; x < p.width; ++x)
        p.frame[size_t(y) * p.width + x] = uint16_t(
            (p.previous[size_t((y + 2) % p.height) * p.width + (x + 3) % p.width] + random.below(3)) & 255);
    return p;
  }
  void reset() {
    small.assign(size_t(width / 4) * (height / 4) * places, 1);
    medium.assign(size_t(width / 8) * (height / 8) * places, 1);
    large.assign(size_t(width / 16) * (height / 16) * places, 1);
  }
  void hetero();
  void openmp();
  std::string check() const {
    // Large blocks straight from the pixels, at a spread of places.
    harness::Random random(11);
    auto direct = [&](int size, int bx, int by, int place) {
      int sum = 0, dx = place % side - range, dy = place / side - range;
      for (int y = by * size; y < (by + 1) * size; ++y)
        for (int x = bx * size; x < (bx + 1) * size; ++x) {
          int py = std::clamp(y + dy, 0, height - 1), px = std::clamp(x + dx, 0, width - 1);
          sum += std::abs(int(frame[size_t(y) * width + x]) - int(previous[size_t(py) * width + px]));
        }
      return sum;
    };
    for (int sample = 0; sample < 4000; ++sample) {
      int size = 4 << random.below(3), bx = random.below(width / size), by = random.below(height / size),
          place = random.below(places);
      const std::vector<uint16_t> &out = size == 4 ? small : size == 8 ? medium : large;
      if (out[(size_t(by) * (width / size) + bx) * places + place] != uint16_t(direct(size, bx, by, place)))
        return "block " + std::to_string(bx) + ", " + std::to_string(by) + " of size " +
               std::to_string(size) + " is wrong";
    }
    return "";
  }
};
