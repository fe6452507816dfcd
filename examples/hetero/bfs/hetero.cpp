// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void expand(const int *start, size_t startBytes, const int *edges, size_t edgesBytes,
                   const int *frontier, size_t frontierBytes, int *next, size_t nextBytes, int *level,
                   size_t levelBytes, int *found, size_t foundBytes, int count, int depth) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < count; ++i) {
    __hetero_parallel_loop(1, 8, start, startBytes, edges, edgesBytes, frontier, frontierBytes, next,
                           nextBytes, level, levelBytes, found, foundBytes, count, depth, 3, next, nextBytes,
                           level, levelBytes, found, foundBytes, "expand");
    int node = frontier[i];
    for (int e = start[node]; e < start[node + 1]; ++e) {
      int other = edges[e], unseen = -1;
      // Whoever changes the level puts the node into the queue.
      if (__atomic_load_n(&level[other], __ATOMIC_RELAXED) < 0 &&
          __atomic_compare_exchange_n(&level[other], &unseen, depth, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        int place = __atomic_fetch_add(&found[0], 1, __ATOMIC_RELAXED);
        next[place] = other;
      }
    }
  }
  __hetero_section_end(section);
}

void Bfs::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  for (int count = 1, depth = 1; count > 0; ++depth) {
    found = 0;
    void *run =
        __hetero_launch((void *)expand, 8, graph.start.data(), bytes(graph.start), graph.edges.data(),
                        bytes(graph.edges), frontier.data(), bytes(frontier), next.data(), bytes(next),
                        level.data(), bytes(level), &found, sizeof(found), count, depth, 3, next.data(),
                        bytes(next), level.data(), bytes(level), &found, sizeof(found));
    __hetero_wait(run);
    std::swap(frontier, next);
    count = found;
  }
}

HARNESS_MAIN(Bfs, "bfs", 1000)
