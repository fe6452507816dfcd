// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void expand(const int *start, size_t startBytes, const int *edges, size_t edgesBytes, int *cost,
                   size_t costBytes, uint8_t *active, size_t activeBytes, uint8_t *updating,
                   size_t updatingBytes, uint8_t *visited, size_t visitedBytes, int *more, size_t moreBytes,
                   int nodes, int depth) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < nodes; ++i) {
    __hetero_parallel_loop(1, 8, start, startBytes, edges, edgesBytes, cost, costBytes, active, activeBytes,
                           updating, updatingBytes, visited, visitedBytes, nodes, depth, 2, cost, costBytes,
                           updating, updatingBytes, "expand");
    if (active[i])
      for (int e = start[i]; e < start[i + 1]; ++e) {
        int other = edges[e];
        if (!visited[other]) {
          // Several nodes may reach it; they all write the same.
          __atomic_store_n(&cost[other], depth, __ATOMIC_RELAXED);
          __atomic_store_n(&updating[other], uint8_t(1), __ATOMIC_RELAXED);
        }
      }
  }
  for (int i = 0; i < nodes; ++i) {
    __hetero_parallel_loop(1, 5, active, activeBytes, updating, updatingBytes, visited, visitedBytes, more,
                           moreBytes, nodes, 4, active, activeBytes, updating, updatingBytes, visited,
                           visitedBytes, more, moreBytes, "update");
    uint8_t now = updating[i];
    active[i] = now;
    if (now) {
      visited[i] = 1;
      __atomic_store_n(&more[0], 1, __ATOMIC_RELAXED);
    }
    updating[i] = 0;
  }
  __hetero_section_end(section);
}

void BfsMasks::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  int more = 1;
  for (int depth = 1; more; ++depth) {
    more = 0;
    void *run = __hetero_launch((void *)expand, 9, graph.start.data(), bytes(graph.start), graph.edges.data(),
                                bytes(graph.edges), cost.data(), bytes(cost), active.data(), bytes(active),
                                updating.data(), bytes(updating), visited.data(), bytes(visited), &more,
                                sizeof(more), graph.nodes, depth, 5, cost.data(), bytes(cost), active.data(),
                                bytes(active), updating.data(), bytes(updating), visited.data(),
                                bytes(visited), &more, sizeof(more));
    __hetero_wait(run);
  }
}

HARNESS_MAIN(BfsMasks, "bfs-masks", 1000)
