// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A directed graph as rows of edges, read from Rodinia's text form or made from a seed.
#pragma once
#include "harness.hpp"
#include <deque>

struct Graph {
  int nodes = 0, source = 0;
  std::vector<int> start, edges; // edges of node i: start[i] … start[i + 1]

  static Graph read(const std::string &path) {
    std::vector<double> numbers = harness::readNumbers(path);
    size_t at = 0;
    auto take = [&] {
      if (at == numbers.size())
        harness::fail(path + " ends too early");
      return int(numbers[at++]);
    };
    Graph g;
    g.nodes = take();
    std::vector<int> count;
    for (int i = 0; i < g.nodes; ++i) {
      g.start.push_back(take());
      count.push_back(take());
    }
    g.source = take();
    int edges = take();
    g.start.push_back(edges);
    for (int i = 0; i < edges; ++i) {
      g.edges.push_back(take());
      take(); // its cost, unused here
    }
    return g;
  }
  static Graph random(int nodes, int degree) {
    harness::Random random(12);
    Graph g;
    g.nodes = nodes;
    for (int i = 0; i < nodes; ++i) {
      g.start.push_back(int(g.edges.size()));
      for (int n = 1 + random.below(2 * degree - 1); n > 0; --n)
        g.edges.push_back(random.below(nodes));
    }
    g.start.push_back(int(g.edges.size()));
    return g;
  }
  /// The distance of each node from the source, -1 for those out of reach: one node at a time.
  std::vector<int> levels() const {
    std::vector<int> level(nodes, -1);
    std::deque<int> queue = {source};
    level[source] = 0;
    while (!queue.empty()) {
      int node = queue.front();
      queue.pop_front();
      for (int e = start[node]; e < start[node + 1]; ++e)
        if (level[edges[e]] < 0) {
          level[edges[e]] = level[node] + 1;
          queue.push_back(edges[e]);
        }
    }
    return level;
  }
};
