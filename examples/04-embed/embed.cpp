// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 4: the runtime inside a program of one's own. It opens the program of lesson 1, asks what it wants,
// runs it on memory of its own from two threads at once, and shows what a mistake looks like. usage: embed
// hello.tsx
#include <tessera/tessera.hpp>

#include <cstdio>
#include <numeric>
#include <thread>

static void runOn(tsr::Program &program, float first, float &result) {
  // The program reads our memory in place; nothing is copied.
  std::vector<float> x(100);
  std::iota(x.begin(), x.end(), first);
  tsr::Buffer input = tsr::Buffer::wrap<float>({int64_t(x.size())}, x);
  result = program.run({input})[0].read<float>()[0];
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed hello.tsx\n");
    return 1;
  }
  try {
    tsr::Program program = tsr::Program::load(argv[1], "energy", tsr::Options().threads(2));
    for (const tsr::Port &port : program.inputs())
      std::printf("input '%s' of rank %zu\n", port.name.c_str(), port.shape.size());

    // One program may be launched from many threads at once.
    float a = 0, b = 0;
    std::thread other([&] { runOn(program, 0, a); });
    runOn(program, 1, b);
    other.join();
    std::printf("energy of 0 … 99: %.0f, of 1 … 100: %.0f\n", a, b);

    // Without exceptions the C interface, tessera/runtime.h, says the same with a status.
    try {
      program.run({tsr::Buffer::of<double>({2}, {1.0, 2.0})});
    } catch (const tsr::Error &error) {
      std::printf("refused: %s\n", error.what());
    }
  } catch (const tsr::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
