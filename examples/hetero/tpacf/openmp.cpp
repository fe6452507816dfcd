// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

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

void Tpacf::openmp() {
  const double *x = this->x.data(), *y = this->y.data(), *z = this->z.data(), *border = this->border.data();
  long *dd = this->dd.data(), *dr = this->dr.data(), *rr = this->rr.data();
  int points = this->points;
#pragma omp parallel for collapse(2) schedule(dynamic, 16)                                                   \
    reduction(+ : dd[ : bins + 2], dr[ : bins + 2], rr[ : bins + 2])
  for (int s = 0; s <= sets; ++s)
    for (int i = 0; i < points; ++i) {
      int own = s * points + i;
      double px = x[own], py = y[own], pz = z[own];
      long *self = s ? rr : dd;
      for (int j = i + 1; j < points; ++j) {
        int other = s * points + j;
        ++self[findBin(border, px * x[other] + py * y[other] + pz * z[other])];
      }
      if (s)
        for (int j = 0; j < points; ++j)
          ++dr[findBin(border, px * x[j] + py * y[j] + pz * z[j])];
    }
}
