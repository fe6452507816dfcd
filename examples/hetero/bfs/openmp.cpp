// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Bfs::openmp() {
  const int *start = graph.start.data(), *edges = graph.edges.data();
  int *level = this->level.data();
  for (int count = 1, depth = 1; count > 0; ++depth) {
    int found = 0;
    const int *frontier = this->frontier.data();
    int *next = this->next.data();
#pragma omp parallel for schedule(dynamic, 256)
    for (int i = 0; i < count; ++i) {
      int node = frontier[i];
      for (int e = start[node]; e < start[node + 1]; ++e) {
        int other = edges[e], unseen = -1;
        if (__atomic_load_n(&level[other], __ATOMIC_RELAXED) < 0 &&
            __atomic_compare_exchange_n(&level[other], &unseen, depth, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
          next[__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED)] = other;
      }
    }
    std::swap(this->frontier, this->next);
    count = found;
  }
}
