// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters of points: assign each to the nearest centre, move the centres, again (Rodinia's kmeans).
#pragma once
#include "../common/harness.hpp"

struct Kmeans {
  int points, features, clusters, steps;
  std::vector<float> input, centres, sums;
  std::vector<int> member, counts;

  static Kmeans load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::vector<double> numbers = harness::readNumbers(dir + "/rodinia/kmeans/100");
    Kmeans p;
    p.features = 34, p.points = int(numbers.size()) / (p.features + 1), p.clusters = 5, p.steps = 5;
    for (size_t i = 0; i < numbers.size(); ++i)
      if (i % (p.features + 1)) // the first of each line is a number of its own
        p.input.push_back(float(numbers[i]));
    return p;
  }
  static Kmeans generate(long scale) {
    Kmeans p;
    p.points = int(scale) * 1000, p.features = 34, p.clusters = 5, p.steps = 5;
    harness::Random random(16);
    for (int i = 0; i < p.points; ++i) {
      int around = random.below(p.clusters);
      for (int f = 0; f < p.features; ++f)
        p.input.push_back(float((around * 7 + f * 3) % 11) + random.real(-2, 2));
    }
    return p;
  }
  void reset() {
    centres.assign(input.begin(), input.begin() + clusters * features);
    member.assign(points, -1);
    sums.assign(clusters * features, 0);
    counts.assign(clusters, 0);
  }
  /// New centres from the sums; a few numbers, left to the host.
  void move() {
    for (int c = 0; c < clusters; ++c)
      for (int f = 0; f < features; ++f)
        if (counts[c])
          centres[c * features + f] = sums[c * features + f] / float(counts[c]);
    std::fill(sums.begin(), sums.end(), 0.0f);
    std::fill(counts.begin(), counts.end(), 0);
  }
  void hetero();
  void openmp();
  std::string check() const {
    std::vector<double> c(input.begin(), input.begin() + clusters * features);
    std::vector<int> m(points);
    for (int s = 0; s < steps; ++s) {
      std::vector<double> total(c.size());
      std::vector<int> n(clusters);
      for (int i = 0; i < points; ++i) {
        double best = 1e300;
        for (int k = 0; k < clusters; ++k) {
          double d = 0;
          for (int f = 0; f < features; ++f) {
            double e = input[size_t(i) * features + f] - c[k * features + f];
            d += e * e;
          }
          if (d < best)
            best = d, m[i] = k;
        }
        ++n[m[i]];
        for (int f = 0; f < features; ++f)
          total[m[i] * features + f] += input[size_t(i) * features + f];
      }
      for (int k = 0; k < clusters; ++k)
        for (int f = 0; f < features; ++f)
          if (n[k])
            c[k * features + f] = total[k * features + f] / n[k];
    }
    int other = 0; // points between two centres may go either way by rounding
    for (int i = 0; i < points; ++i)
      other += member[i] != m[i];
    if (other > points / 1000 + 1)
      return std::to_string(other) + " points are in other clusters";
    return harness::compare(centres, c, 1e-3, 5e-3, "centre");
  }
};
