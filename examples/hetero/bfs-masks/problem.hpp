// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breadth-first search with masks over all nodes and two kernels a level (Rodinia's bfs).
#pragma once
#include "../common/graph.hpp"

struct BfsMasks {
  Graph graph;
  std::vector<int> cost;
  std::vector<uint8_t> active, updating, visited;

  static BfsMasks load(const std::string &dir) {
    BfsMasks p;
    p.graph = dir.empty() ? Graph::random(600, 5) : Graph::read(dir + "/rodinia/bfs/graph4096.txt");
    return p;
  }
  static BfsMasks generate(long scale) {
    BfsMasks p;
    p.graph = Graph::random(int(scale) * 1000, 6);
    return p;
  }
  void reset() {
    cost.assign(graph.nodes, -1);
    active.assign(graph.nodes, 0);
    updating = visited = active;
    cost[graph.source] = 0;
    active[graph.source] = visited[graph.source] = 1;
  }
  void hetero();
  void openmp();
  std::string check() const { return harness::compare(cost, graph.levels(), 0, 0, "cost"); }
};
