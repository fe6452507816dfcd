// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void assign(const float *input, size_t inputBytes, const float *centres, size_t centresBytes,
                   int *member, size_t memberBytes, float *sums, size_t sumsBytes, int *counts,
                   size_t countsBytes, int points, int features, int clusters) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < points; ++i) {
    __hetero_parallel_loop(1, 8, input, inputBytes, centres, centresBytes, member, memberBytes, sums,
                           sumsBytes, counts, countsBytes, points, features, clusters, 3, member, memberBytes,
                           sums, sumsBytes, counts, countsBytes, "assign");
    float best = 3.0e38f;
    int nearest = 0;
    for (int k = 0; k < clusters; ++k) {
#pragma clang fp reassociate(on)
      float distance = 0;
      for (int f = 0; f < features; ++f) {
        float e = input[i * features + f] - centres[k * features + f];
        distance += e * e;
      }
      if (distance < best) {
        best = distance;
        nearest = k;
      }
    }
    member[i] = nearest;
    __atomic_fetch_add(&counts[nearest], 1, __ATOMIC_RELAXED);
    for (int f = 0; f < features; ++f)
      __hetero_atomic_add(&sums[nearest * features + f], input[i * features + f]);
  }
  __hetero_section_end(section);
}

void Kmeans::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)assign, 8, input.data(), bytes(input), centres.data(), bytes(centres),
                                member.data(), bytes(member), sums.data(), bytes(sums), counts.data(),
                                bytes(counts), points, features, clusters, 3, member.data(), bytes(member),
                                sums.data(), bytes(sums), counts.data(), bytes(counts));
    __hetero_wait(run);
    move();
  }
}

HARNESS_MAIN(Kmeans, "kmeans", 340)
