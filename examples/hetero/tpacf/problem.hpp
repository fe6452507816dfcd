// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two-point angular correlation: histograms of the angles between points on the sky (Parboil's tpacf).
#pragma once
#include "../common/harness.hpp"

struct Tpacf {
  static constexpr int bins = 20;
  int points, sets;            // points of each set; random sets beside the observed one
  std::vector<double> x, y, z; // of all sets, the observed one first
  std::vector<double> border;  // cosines, from the largest down
  std::vector<long> dd, dr,
      rr; // pairs within the observed set, across, within the random sets; bins + 2 each
  std::vector<double> reference;

  void borders() {
    for (int k = 0; k <= bins; ++k)
      border.push_back(std::cos(std::pow(10.0, k / 5.0) / 60.0 * M_PI / 180));
  }
  void add(double ascension, double declination) {
    double ra = ascension * M_PI / 180, dec = declination * M_PI / 180;
    x.push_back(std::cos(ra) * std::cos(dec));
    y.push_back(std::sin(ra) * std::cos(dec));
    z.push_back(std::sin(dec));
  }
  static Tpacf load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::string base = dir + "/parboil/tpacf/small/";
    Tpacf p;
    p.points = 487, p.sets = 100;
    p.borders();
    for (int s = 0; s <= p.sets; ++s) {
      std::vector<double> sky = harness::readNumbers(
          base + "input/" + (s ? "Randompnts." + std::to_string(s) : std::string("Datapnts.1")));
      for (int i = 0; i < p.points; ++i)
        p.add(sky[2 * i], sky[2 * i + 1]);
    }
    p.reference = harness::readNumbers(base + "output/tpacf.out");
    return p;
  }
  static Tpacf generate(long scale) {
    Tpacf p;
    p.points = int(scale) * 128, p.sets = 3;
    p.borders();
    harness::Random random(7);
    for (int i = 0; i < p.points * (p.sets + 1); ++i)
      p.add(random.unit() * 360, std::asin(random.unit() * 2 - 1) * 180 / M_PI);
    return p;
  }
  void reset() {
    dd.assign(bins + 2, 0);
    dr = rr = dd;
  }
  void hetero();
  void openmp();
  /// By counting the borders that a pair lies beyond, instead of searching among them.
  std::string check() const {
    std::vector<long> d(bins + 2), m(bins + 2), r(bins + 2);
    auto bin = [&](int i, int j) {
      double dot = x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
      int at = 0;
      while (at <= bins && dot < border[at])
        ++at;
      return at;
    };
    if (reference.empty()) {
      for (int s = 0; s <= sets; ++s)
        for (int i = 0; i < points; ++i) {
          for (int j = i + 1; j < points; ++j)
            ++(s ? r : d)[bin(s * points + i, s * points + j)];
          for (int j = 0; s && j < points; ++j)
            ++m[bin(i, s * points + j)];
        }
    } else {
      for (int k = 1; k <= bins; ++k)
        d[k] = long(reference[3 * k - 3]), m[k] = long(reference[3 * k - 2]),
        r[k] = long(reference[3 * k - 1]);
      d[0] = dd[0], m[0] = dr[0], r[0] = rr[0];
      d[bins + 1] = dd[bins + 1], m[bins + 1] = dr[bins + 1], r[bins + 1] = rr[bins + 1];
    }
    // A pair on a border may go either way by rounding.
    auto near = [&](const std::vector<long> &got, const std::vector<long> &expected, const char *what) {
      return harness::compare(got, expected, 1e-4, 4, what);
    };
    std::string wrong = near(dd, d, "DD");
    if (wrong.empty())
      wrong = near(dr, m, "DR");
    return wrong.empty() ? near(rr, r, "RR") : wrong;
  }
};
