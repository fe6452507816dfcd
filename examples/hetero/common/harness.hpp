// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every program here needs around its kernels: options, inputs, checks, and fair timing.
//
// A program defines a class P with
//   - static P load(const std::string &dir): the input of the benchmark's data folder, or a small generated
//   one;
//   - static P generate(long scale): a larger input from a fixed seed, on which one run takes 20 ms or more;
//   - void reset(): outputs as before the first run;
//   - void hetero(), void openmp(): one run each;
//   - std::string check() const: empty, or what is wrong, by a reference that no kernel shares;
// and says HARNESS_MAIN(P, "name", default scale).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace harness {

/// A reproducible stream of numbers, the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint64_t bits() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  float real(float low, float high) { return low + float(unit()) * (high - low); }
  int below(int n) { return int(bits() % uint64_t(n)); }

private:
  uint64_t state;
};

[[noreturn]] inline void fail(const std::string &why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

/// All bytes of a file.
inline std::vector<char> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail("cannot read " + path + "; give the data folder with --data DIR");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// All numbers of a text file, whatever separates them.
inline std::vector<double> readNumbers(const std::string &path) {
  std::vector<char> text = readFile(path);
  text.push_back(0);
  std::vector<double> numbers;
  for (char *p = text.data(), *end; *p; p = end) {
    double v = std::strtod(p, &end);
    if (end == p)
      ++end;
    else
      numbers.push_back(v);
  }
  return numbers;
}

template <class T> std::vector<T> takeArray(const std::vector<char> &bytes, size_t offset, size_t count) {
  if (offset + count * sizeof(T) > bytes.size())
    fail("an input file is shorter than its header says");
  std::vector<T> out(count);
  std::memcpy(out.data(), bytes.data() + offset, count * sizeof(T));
  return out;
}

/// The first place where two arrays differ by more than `relative` of the larger magnitude plus `absolute`;
/// empty when there is none.
template <class A, class B>
std::string compare(const A &got, const B &expected, double relative, double absolute, const char *what) {
  if (got.size() != expected.size())
    return std::string(what) + ": " + std::to_string(got.size()) + " values, expected " +
           std::to_string(expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    double a = double(got[i]), b = double(expected[i]);
    if (!(std::fabs(a - b) <= relative * std::max(std::fabs(a), std::fabs(b)) + absolute))
      return std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(a) + ", expected " +
             std::to_string(b);
  }
  return "";
}

inline double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class P> int run(int argc, char **argv, const char *name, long scale) {
  std::string data;
  int rounds = 0;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    if (option == "--help") {
      std::printf(
          "%s [--data DIR] [--bench ROUNDS] [--scale N]\n"
          "  checks a run on the benchmark's own input (or a small generated one); with --bench measures\n"
          "  Tessera and OpenMP by turns on a larger input made from a seed\n",
          name);
      return 0;
    }
    if (i + 1 == argc)
      fail("option " + option + " needs a value; see --help");
    if (option == "--data")
      data = argv[++i];
    else if (option == "--bench")
      rounds = std::atoi(argv[++i]);
    else if (option == "--scale")
      scale = std::atol(argv[++i]);
    else
      fail("unknown option " + option + "; see --help");
  }
  auto checked = [&](P &p, const char *who) {
    std::string wrong = p.check();
    if (!wrong.empty())
      fail(std::string(name) + " (" + who + "): " + wrong);
  };
  if (rounds == 0) {
    P p = P::load(data);
    p.reset();
    p.hetero();
    checked(p, "Tessera");
    p.reset();
    p.openmp();
    checked(p, "OpenMP");
    std::printf("%s: ok\n", name);
    return 0;
  }
  P p = P::generate(scale);
  p.reset();
  p.hetero();
  checked(p, "Tessera");
  p.reset();
  p.openmp();
  checked(p, "OpenMP");
  std::vector<double> times[2];
  for (int r = 0; r < rounds; ++r)
    // By turns, and each first every other time.
    for (int turn = 0; turn < 2; ++turn) {
      bool ours = (turn + r) % 2 == 0;
      p.reset();
      double start = now();
      ours ? p.hetero() : p.openmp();
      times[ours ? 0 : 1].push_back(now() - start);
    }
  auto list = [](const std::vector<double> &values) {
    std::string text;
    for (double v : values)
      text += (text.empty() ? "" : ", ") + std::to_string(v);
    return text;
  };
  std::printf("{\"case\": \"%s\", \"peer\": \"openmp\", \"ours\": [%s], \"peer_times\": [%s]}\n", name,
              list(times[0]).c_str(), list(times[1]).c_str());
  return 0;
}

} // namespace harness

#define HARNESS_MAIN(P, name, scale)                                                                         \
  int main(int argc, char **argv) { return harness::run<P>(argc, argv, name, scale); }
