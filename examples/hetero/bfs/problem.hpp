// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breadth-first search, level by level; the next level is collected in a queue (as Parboil's bfs does).
#pragma once
#include "../common/graph.hpp"

struct Bfs {
  Graph graph;
  std::vector<int> level, frontier, next;
  int found = 0; // nodes in the next level

  static Bfs load(const std::string &dir) {
    Bfs p;
    p.graph = dir.empty() ? Graph::random(500, 4) : Graph::read(dir + "/rodinia/bfs/graph4096.txt");
    return p;
  }
  static Bfs generate(long scale) {
    Bfs p;
    p.graph = Graph::random(int(scale) * 1000, 6);
    return p;
  }
  void reset() {
    level.assign(graph.nodes, -1);
    frontier.assign(graph.nodes, 0);
    next = frontier;
    level[graph.source] = 0;
    frontier[0] = graph.source;
  }
  void hetero();
  void openmp();
  std::string check() const { return harness::compare(level, graph.levels(), 0, 0, "level"); }
};
