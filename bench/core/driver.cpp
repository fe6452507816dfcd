// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one case of the core suite: an installed program of ours and its OpenMP rival, in the same process on
// the same inputs, in alternating rounds. Checks that both gave the same answer before anything is reported.
//
// usage: bench_core_driver CASE PROGRAM.tsx PEERS.so THREADS ROUNDS [SCALE]
#include "Rounds.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <random>

using namespace bench;

namespace {

struct FreeMemory {
  void operator()(void *p) const { std::free(p); }
};
/// Aligned to a cache line, touched, owned here and lent to the runtime.
template <typename T> struct Array {
  std::vector<int64_t> shape;
  int64_t count = 1;
  std::unique_ptr<T, FreeMemory> memory;

  explicit Array(std::vector<int64_t> extents) : shape(std::move(extents)) {
    for (int64_t e : shape)
      count *= e;
    size_t bytes = (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    memory.reset(static_cast<T *>(std::aligned_alloc(64, bytes)));
    if (!memory) {
      std::fprintf(stderr, "error: out of memory: asked %zu bytes\n", bytes);
      std::exit(1);
    }
    std::memset(memory.get(), 0, bytes);
  }
  T *data() const { return memory.get(); }
  T &operator[](int64_t i) const { return memory.get()[i]; }

  tsr_buffer *wrap(tsr_type type, bool readOnly) const {
    tsr_buffer *buffer = nullptr;
    check(tsr_buffer_wrap(type, shape.size(), shape.data(), memory.get(), readOnly, &buffer), "wrap");
    return buffer;
  }
};

void fill(const Array<float> &a, float low, float high) {
  std::mt19937 random(42);
  std::uniform_real_distribution<float> value(low, high);
  for (int64_t i = 0; i < a.count; ++i)
    a[i] = value(random);
}

/// Our side: the program, its buffers by port name, one call to run it.
class Ours {
public:
  Ours(const char *path, unsigned threads) {
    tsr_options options;
    tsr_options_init(&options);
    options.threads = threads;
    check(tsr_program_load(path, nullptr, &options, &program), path);
    inputs.resize(tsr_program_input_count(program));
    outputs.resize(tsr_program_output_count(program));
  }
  template <typename T> void input(const char *name, const Array<T> &a, tsr_type type) {
    size_t i = 0;
    check(tsr_program_find_input(program, name, &i), name);
    inputs[i] = a.wrap(type, true);
  }
  template <typename T> void output(const char *name, const Array<T> &a, tsr_type type) {
    size_t i = 0;
    check(tsr_program_find_output(program, name, &i), name);
    outputs[i] = a.wrap(type, false);
  }
  void run() { check(tsr_run(program, inputs.data(), inputs.size(), outputs.data(), outputs.size()), "run"); }

private:
  tsr_program *program = nullptr;
  std::vector<tsr_buffer *> inputs, outputs;
};

class Peers {
public:
  Peers(const char *path, int threads) : library(dlopen(path, RTLD_NOW)) {
    if (!library) {
      std::fprintf(stderr, "error: %s\n", dlerror());
      std::exit(1);
    }
    get<void (*)(int)>("peer_threads")(threads);
  }
  template <typename F> F get(const char *name) {
    void *f = dlsym(library, name);
    if (!f) {
      std::fprintf(stderr, "error: %s\n", dlerror());
      std::exit(1);
    }
    return reinterpret_cast<F>(f);
  }

private:
  void *library;
};

void mustAgree(bool agrees, const std::string &name, const std::string &how) {
  if (agrees)
    return;
  std::fprintf(stderr, "error: %s: the two answers differ: %s\n", name.c_str(), how.c_str());
  std::exit(1);
}

template <typename T> double largestDifference(const Array<T> &a, const Array<T> &b) {
  double worst = 0;
  for (int64_t i = 0; i < a.count; ++i)
    worst = std::fmax(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

struct Setup {
  std::string name;
  const char *program;
  Peers peers;
  unsigned threads;
  int rounds;
  double scale;

  /// Runs both once, lets `agree` look at the results, then measures.
  void measure(const std::string &size, const char *peer, Ours &ours, const std::function<void()> &theirs,
               const std::function<void()> &agree) {
    ours.run();
    theirs();
    agree();
    Report report{name, size + ", " + threadsText(threads), peer, "", {}, {}};
    alternate(report, rounds, [&] { ours.run(); }, theirs);
    report.print();
  }
  int64_t scaled(double n) const { return std::max<int64_t>(4, static_cast<int64_t>(n * scale)); }
};

std::string number(int64_t n) { return std::to_string(n); }

void saxpy(Setup &s) {
  int64_t n = s.scaled(1 << 24);
  Array<float> a({}), x({n}), y({n}), z({n}), w({n});
  a[0] = 2.5f;
  fill(x, -1, 1), fill(y, -1, 1);
  Ours ours(s.program, s.threads);
  ours.input("a", a, TSR_F32), ours.input("x", x, TSR_F32), ours.input("y", y, TSR_F32),
      ours.output("z", z, TSR_F32);
  auto peer = s.peers.get<void (*)(float, const float *, const float *, float *, int64_t)>("peer_saxpy");
  s.measure(
      number(n), "openmp", ours, [&] { peer(a[0], x.data(), y.data(), w.data(), n); },
      [&] { mustAgree(largestDifference(z, w) < 1e-5, s.name, number(n)); });
}

void stencil(Setup &s) {
  int64_t n = s.scaled(256);
  Array<float> x({n + 2, n + 2, n + 2}), y({n, n, n}), w({n, n, n});
  fill(x, -1, 1);
  Ours ours(s.program, s.threads);
  ours.input("x", x, TSR_F32), ours.output("y", y, TSR_F32);
  auto peer = s.peers.get<void (*)(const float *, float *, int64_t, int64_t, int64_t)>("peer_stencil");
  s.measure(
      number(n) + "^3", "openmp", ours, [&] { peer(x.data(), w.data(), n, n, n); },
      [&] { mustAgree(largestDifference(y, w) < 1e-5, s.name, number(n)); });
}

void mandelbrot(Setup &s) {
  int64_t h = s.scaled(600), w = s.scaled(800);
  Array<int64_t> height({}), width({});
  Array<int32_t> limit({}), steps({h, w}), theirs({h, w});
  height[0] = h, width[0] = w, limit[0] = 256;
  Ours ours(s.program, s.threads);
  ours.input("height", height, TSR_INDEX), ours.input("width", width, TSR_INDEX),
      ours.input("limit", limit, TSR_I32);
  ours.output("steps", steps, TSR_I32);
  auto peer = s.peers.get<void (*)(int32_t *, int64_t, int64_t, int32_t)>("peer_mandelbrot");
  s.measure(
      number(h) + "x" + number(w), "openmp", ours, [&] { peer(theirs.data(), h, w, limit[0]); },
      [&] {
        // The rival contracts products and sums, so points close to the border may differ.
        int64_t different = 0;
        for (int64_t i = 0; i < steps.count; ++i)
          different += steps[i] != theirs[i];
        mustAgree(different * 50 <= steps.count, s.name, number(different) + " points");
      });
}

void sum(Setup &s) {
  int64_t n = s.scaled(1 << 25);
  Array<float> x({n}), total({});
  fill(x, 0, 1);
  Ours ours(s.program, s.threads);
  ours.input("x", x, TSR_F32), ours.output("total", total, TSR_F32);
  auto peer = s.peers.get<float (*)(const float *, int64_t)>("peer_sum");
  float result = 0;
  s.measure(
      number(n), "openmp", ours, [&] { result = peer(x.data(), n); },
      [&] {
        double exact = 0;
        for (int64_t i = 0; i < n; ++i)
          exact += x[i];
        mustAgree(std::fabs(total[0] - exact) < 1e-3 * exact && std::fabs(result - exact) < 1e-3 * exact,
                  s.name, std::to_string(total[0]) + " and " + std::to_string(result));
      });
}

void histogram(Setup &s) {
  int64_t n = s.scaled(1 << 26);
  Array<uint8_t> x({n});
  Array<int32_t> counts({256}), theirs({256});
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < n; ++i) // the sum of two dice: some bins are busier than others
    x[i] = static_cast<uint8_t>((random() & 127) + (random() >> 57));
  Ours ours(s.program, s.threads);
  ours.input("x", x, TSR_I8), ours.output("counts", counts, TSR_I32);
  auto peer = s.peers.get<void (*)(const uint8_t *, int64_t, int32_t *)>("peer_histogram");
  s.measure(
      number(n), "openmp", ours, [&] { peer(x.data(), n, theirs.data()); },
      [&] { mustAgree(largestDifference(counts, theirs) == 0, s.name, "counts"); });
}

void matmul(Setup &s) {
  int64_t n = s.scaled(768);
  Array<float> a({n, n}), b({n, n}), c({n, n}), d({n, n});
  fill(a, -1, 1), fill(b, -1, 1);
  Ours ours(s.program, s.threads);
  ours.input("a", a, TSR_F32), ours.input("b", b, TSR_F32), ours.output("c", c, TSR_F32);
  using Function = void (*)(const float *, const float *, float *, int64_t, int64_t, int64_t);
  Function ijk = s.peers.get<Function>("peer_matmul_ijk"), ikj = s.peers.get<Function>("peer_matmul_ikj");
  // The better of the two loop orders is the rival.
  auto best = [&](Function f) {
    double t = 1e30;
    for (int i = 0; i < 3; ++i)
      t = std::fmin(t, time([&] { f(a.data(), b.data(), d.data(), n, n, n); }));
    return t;
  };
  bool second = best(ikj) < best(ijk);
  Function peer = second ? ikj : ijk;
  s.measure(
      number(n) + "^3", second ? "openmp ikj" : "openmp ijk", ours,
      [&] { peer(a.data(), b.data(), d.data(), n, n, n); },
      [&] { mustAgree(largestDifference(c, d) < 1e-5 * static_cast<double>(n), s.name, number(n)); });
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: bench_core_driver CASE PROGRAM.tsx PEERS.so THREADS ROUNDS [SCALE]\n");
    return 1;
  }
  const int threads = std::atoi(argv[4]);
  Setup setup{argv[1],
              argv[2],
              Peers(argv[3], threads),
              static_cast<unsigned>(threads),
              std::atoi(argv[5]),
              argc > 6 ? std::atof(argv[6]) : 1};
  const std::pair<const char *, void (*)(Setup &)> cases[] = {
      {"saxpy", saxpy}, {"stencil", stencil},     {"mandelbrot", mandelbrot},
      {"sum", sum},     {"histogram", histogram}, {"matmul", matmul}};
  for (auto [name, run] : cases)
    if (setup.name == name) {
      run(setup);
      return 0;
    }
  std::fprintf(stderr, "error: unknown case '%s'\n", argv[1]);
  return 1;
}
