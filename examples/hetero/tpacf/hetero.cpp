// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

// The first border that the cosine is not below, by bisection.
static int findBin(const double *border, double dot) {
  int low = 0, high = Tpacf::bins;
  while (high > low + 1) {
    int middle = (low + high) / 2;
    if (dot >= border[middle])
      high = middle;
    else
      low = middle;
  }
  if (dot >= border[low])
    return low;
  return dot < border[high] ? high + 1 : high;
}

static void correlate(const double *x, size_t xBytes, const double *y, size_t yBytes, const double *z,
                      size_t zBytes, const double *border, size_t borderBytes, long *dd, size_t ddBytes,
                      long *dr, size_t drBytes, long *rr, size_t rrBytes, int points, int sets) {
  void *section = __hetero_section_begin();
  // Points outside: there are many of them, for tasks of like size; sets are few.
  for (int i = 0; i < points; ++i)
    for (int s = 0; s < sets + 1; ++s) {
      __hetero_parallel_loop(2, 9, x, xBytes, y, yBytes, z, zBytes, border, borderBytes, dd, ddBytes, dr,
                             drBytes, rr, rrBytes, points, sets, 3, dd, ddBytes, dr, drBytes, rr, rrBytes,
                             "correlate");
      int own = s * points + i;
      double px = x[own], py = y[own], pz = z[own];
      for (int j = i + 1; j < points; ++j) {
        int other = s * points + j;
        int bin = findBin(border, px * x[other] + py * y[other] + pz * z[other]);
        if (s > 0)
          __atomic_fetch_add(&rr[bin], 1, __ATOMIC_RELAXED);
        else
          __atomic_fetch_add(&dd[bin], 1, __ATOMIC_RELAXED);
      }
      if (s > 0)
        for (int j = 0; j < points; ++j) {
          int bin = findBin(border, px * x[j] + py * y[j] + pz * z[j]);
          __atomic_fetch_add(&dr[bin], 1, __ATOMIC_RELAXED);
        }
    }
  __hetero_section_end(section);
}

void Tpacf::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)correlate, 9, x.data(), bytes(x), y.data(), bytes(y), z.data(),
                              bytes(z), border.data(), bytes(border), dd.data(), bytes(dd), dr.data(),
                              bytes(dr), rr.data(), bytes(rr), points, sets, 3, dd.data(), bytes(dd),
                              dr.data(), bytes(dr), rr.data(), bytes(rr));
  __hetero_wait(run);
}

HARNESS_MAIN(Tpacf, "tpacf", 12)
