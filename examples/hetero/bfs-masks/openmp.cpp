// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void BfsMasks::openmp() {
  const int *start = graph.start.data(), *edges = graph.edges.data();
  int *cost = this->cost.data(), nodes = graph.nodes;
  uint8_t *active = this->active.data(), *updating = this->updating.data(), *visited = this->visited.data();
  int more = 1;
  for (int depth = 1; more; ++depth) {
    more = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < nodes; ++i)
      if (active[i])
        for (int e = start[i]; e < start[i + 1]; ++e) {
          int other = edges[e];
          if (!visited[other]) {
            __atomic_store_n(&cost[other], depth, __ATOMIC_RELAXED);
            __atomic_store_n(&updating[other], uint8_t(1), __ATOMIC_RELAXED);
          }
        }
#pragma omp parallel for schedule(static) reduction(| : more)
    for (int i = 0; i < nodes; ++i) {
      uint8_t now = updating[i];
      active[i] = now;
      visited[i] |= now;
      more |= now;
      updating[i] = 0;
    }
  }
}
