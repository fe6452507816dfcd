// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a graph costs beside its work: 100 layers of 10 nodes that only add one to a number, each after two of
// the layer before, against oneTBB's flow graph of the same shape; and the launch of a graph of six. Our
// programs are written by handmade.py, so no compiler can fuse the nodes away.
//
// usage: bench_core_graph_overhead LAYERS.tsx SIX.tsx THREADS ROUNDS
#include "Rounds.h"
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

using namespace bench;
namespace flow = oneapi::tbb::flow;

namespace {

class Launcher {
public:
  Launcher(const char *path, unsigned threads) {
    tsr_options options;
    tsr_options_init(&options);
    options.threads = threads;
    check(tsr_program_load(path, nullptr, &options, &program), path);
    check(tsr_buffer_create(TSR_I64, 0, nullptr, &input), "buffer");
    void *memory = nullptr;
    check(tsr_buffer_map(input, TSR_WRITE, &memory), "map");
    *static_cast<int64_t *>(memory) = 0;
    check(tsr_buffer_create(TSR_I64, 0, nullptr, &output), "buffer");
  }
  size_t nodes() const { return tsr_program_node_count(program); }
  void run() { check(tsr_run(program, &input, 1, &output, 1), "run"); }
  /// What the last node wrote: its depth.
  int64_t result() {
    void *memory = nullptr;
    check(tsr_buffer_map(output, TSR_READ, &memory), "map");
    return *static_cast<int64_t *>(memory);
  }

private:
  tsr_program *program = nullptr;
  tsr_buffer *input = nullptr, *output = nullptr;
};

/// The same shape in a flow graph.
class Flow {
public:
  Flow(size_t layers, size_t width) : start(graph), depths((layers + 1) * width) {
    using Node = flow::continue_node<flow::continue_msg>;
    std::vector<Node *> previous;
    for (size_t l = 0; l < layers; ++l) {
      std::vector<Node *> current;
      for (size_t j = 0; j < width; ++j) {
        int64_t *in = &depths[l * width + j], *out = in + width;
        nodes.push_back(
            std::make_unique<Node>(graph, [in, out](const flow::continue_msg &) { *out = *in + 1; }));
        current.push_back(nodes.back().get());
        if (l == 0)
          flow::make_edge(start, *current.back());
        else {
          flow::make_edge(*previous[j], *current.back());
          if (width > 1)
            flow::make_edge(*previous[(j + 1) % width], *current.back());
        }
      }
      previous = current;
    }
  }
  void run() {
    start.try_put(flow::continue_msg());
    graph.wait_for_all();
  }
  int64_t result() const { return depths.back(); }

private:
  flow::graph graph;
  flow::broadcast_node<flow::continue_msg> start;
  std::vector<int64_t> depths;
  std::vector<std::unique_ptr<flow::continue_node<flow::continue_msg>>> nodes;
};

void compare(const char *name, const char *path, size_t layers, size_t width, unsigned threads, int rounds,
             int count) {
  Launcher ours(path, threads);
  if (ours.nodes() != layers * width) {
    std::fprintf(stderr, "error: %s has %zu nodes, expected %zu\n", path, ours.nodes(), layers * width);
    std::exit(1);
  }
  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  oneapi::tbb::task_arena arena(static_cast<int>(threads));
  // A flow graph belongs to the arena in which it was made.
  std::unique_ptr<Flow> theirs;
  arena.execute([&] { theirs = std::make_unique<Flow>(layers, width); });
  ours.run();
  arena.execute([&] { theirs->run(); });
  if (ours.result() != static_cast<int64_t>(layers) || theirs->result() != static_cast<int64_t>(layers)) {
    std::fprintf(stderr, "error: %s: expected depth %zu, but got %ld and %ld\n", name, layers,
                 static_cast<long>(ours.result()), static_cast<long>(theirs->result()));
    std::exit(1);
  }
  Report report{name,
                std::to_string(layers) + "x" + std::to_string(width) + ", " + threadsText(threads),
                "oneTBB flow",
                "",
                {},
                {}};
  alternate(report, rounds, [&] { ours.run(); }, [&] { arena.execute([&] { theirs->run(); }); }, count);
  report.print();
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: bench_core_graph_overhead LAYERS.tsx SIX.tsx THREADS ROUNDS\n");
    return 1;
  }
  unsigned threads = static_cast<unsigned>(std::atoi(argv[3]));
  int rounds = std::atoi(argv[4]);
  compare("1000 empty nodes", argv[1], 100, 10, threads, rounds, 20);
  compare("launch of 6 nodes", argv[2], 6, 1, threads, rounds, 500);
}
