// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DevicePeaks.h. Vectors of the compiler's own kind, built for each instruction set that may be there.
#include "tessera/targets/cpu/DevicePeaks.h"
#include "tessera/base/CpuInfo.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace tessera::cpu {

using Clock = std::chrono::steady_clock;
static double seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

namespace {
template <int Bytes> struct VectorOf {
  typedef float Type __attribute__((vector_size(Bytes)));
};
} // namespace

// Keeps a vector where it is: in a register, where the machine names the class of those.
#if defined(__x86_64__)
#define TESSERA_KEEP(v) asm volatile("" : "+x"(v))
#elif defined(__aarch64__)
#define TESSERA_KEEP(v) asm volatile("" : "+w"(v))
#else
#define TESSERA_KEEP(v) asm volatile("" : "+m"(v))
#endif

// Twelve sums hide the latency of two multiply-adds at a time; the result keeps them alive.
template <int Bytes> [[gnu::always_inline]] inline float multiply(long rounds) {
  using V = typename VectorOf<Bytes>::Type;
  V sums[12] = {}, x = V{} + 0.999f, y = V{} + 1e-3f;
  for (long r = 0; r < rounds; ++r)
    for (V &sum : sums) {
      sum = sum * x + y;
      TESSERA_KEEP(sum);
    }
  V all = sums[0];
  for (int i = 1; i < 12; ++i)
    all += sums[i];
  return all[0];
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) static float multiply512(long rounds) {
  using V = VectorOf<64>::Type;
  V sums[12] = {}, x = V{} + 0.999f, y = V{} + 1e-3f;
  for (long r = 0; r < rounds; ++r)
    for (V &sum : sums) {
      sum = sum * x + y;
      asm volatile("" : "+v"(sum));
    }
  for (int i = 1; i < 12; ++i)
    sums[0] += sums[i];
  return sums[0][0];
}
__attribute__((target("avx2,fma"))) static float multiply256(long rounds) {
  using V = VectorOf<32>::Type;
  V sums[12] = {}, x = V{} + 0.999f, y = V{} + 1e-3f;
  for (long r = 0; r < rounds; ++r)
    for (V &sum : sums) {
      sum = sum * x + y;
      asm volatile("" : "+x"(sum));
    }
  for (int i = 1; i < 12; ++i)
    sums[0] += sums[i];
  return sums[0][0];
}
static float multiply128(long rounds) { return multiply<16>(rounds); }
#else
static float multiply128(long rounds) {
  using V = VectorOf<16>::Type;
  V sums[12] = {}, x = V{} + 0.999f, y = V{} + 1e-3f;
  for (long r = 0; r < rounds; ++r)
    for (V &sum : sums)
      sum = sum * x + y;
  V all = sums[0];
  for (int i = 1; i < 12; ++i)
    all += sums[i];
  return all[0];
}
#endif

// Sums of a buffer; four streams of the widest vectors are as fast as the load units.
[[gnu::always_inline]] inline uint64_t readWith(const std::vector<uint64_t> &data) {
  typedef uint64_t V __attribute__((vector_size(64), aligned(8)));
  V sums[4] = {};
  const size_t count = data.size() / 32 * 32;
  for (size_t i = 0; i < count; i += 32)
    for (size_t k = 0; k < 4; ++k)
      sums[k] ^= *reinterpret_cast<const V *>(data.data() + i + 8 * k);
  V all = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  return all[0] ^ all[7];
}

using Reader = uint64_t (*)(const std::vector<uint64_t> &);
static uint64_t read128(const std::vector<uint64_t> &data) { return readWith(data); }
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static uint64_t read512(const std::vector<uint64_t> &data) {
  return readWith(data);
}
__attribute__((target("avx2"))) static uint64_t read256(const std::vector<uint64_t> &data) {
  return readWith(data);
}
#endif

// Nobody reads the results. Stores to a variable that is never read are optimised away with all that led to
// them, so the compiler is told of a reader, and that memory may have changed since.
template <typename T> static void use(T value) { asm volatile("" : : "g"(&value) : "memory"); }

// Runs `work` on all threads at once, `rounds` times; the best round's seconds.
template <typename Work> static double best(unsigned threads, int rounds, Work work) {
  double least = 1e9;
  for (int r = 0; r < rounds; ++r) {
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> others;
    auto wait = [&] {
      ready.fetch_add(1);
      while (ready.load() < threads)
        ;
    };
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back([&, t] {
        wait();
        work(t);
      });
    wait();
    auto begin = Clock::now();
    work(0);
    for (std::thread &thread : others)
      thread.join();
    least = std::min(least, seconds(begin));
  }
  return least;
}

DevicePeaks measurePeaks(unsigned threads) {
  DevicePeaks result;
  result.threads = std::max(threads, 1u);
  const CpuInfo &cpu = cpuInfo();
  float (*kernel)(long) = multiply128;
  Reader reader = read128;
  double lanes = 4;
#if defined(__x86_64__)
  if (cpu.has("avx512f")) {
    kernel = multiply512;
    reader = read512;
    lanes = 16;
  } else if (cpu.has("avx2") && cpu.has("fma")) {
    kernel = multiply256;
    reader = read256;
    lanes = 8;
  }
#endif
  // Short rounds: on a busy machine some of many pass undisturbed.
  const long rounds = 50000;
  const int tries = 32;
  double time = best(result.threads, tries, [&](unsigned) { use(kernel(rounds)); });
  result.gflops = 2.0 * 12 * lanes * double(rounds) * result.threads / time / 1e9;

  const uint64_t l1 = cpu.l1d ? cpu.l1d : 32 << 10, l2 = cpu.l2 ? cpu.l2 : 1 << 20;
  result.nearBytes = double(l1) * result.threads;
  result.cacheBytes = double(l2) * result.threads;
  auto bandwidth = [&](uint64_t bytes, int passes, int rounds = 4) {
    std::vector<std::vector<uint64_t>> data(result.threads, std::vector<uint64_t>(bytes / 8, 1));
    double t = best(result.threads, rounds, [&](unsigned i) {
      for (int p = 0; p < passes; ++p)
        use(reader(data[i]));
    });
    return double(bytes) * passes * result.threads / t / 1e9;
  };
  result.nearGBs = bandwidth(l1 / 2, 1000, tries);
  // A quarter of it: data that other programs left there make way only slowly.
  result.cacheGBs = std::min(result.nearGBs, bandwidth(l2 / 4, 64, tries));
  // A guest sees the whole of a cache that it shares; a part of it is what it can count on.
  const uint64_t l3 = std::min<uint64_t>(cpu.l3, 32 << 20);
  result.sharedBytes = double(l3);
  result.sharedGBs = l3 > 2 * l2 ? bandwidth(l3 / 4 / result.threads, 8) : result.cacheGBs;
  result.memoryGBs = bandwidth(std::max<uint64_t>(64 << 20, 2 * cpu.l3) / result.threads, 1);
  return result;
}

} // namespace tessera::cpu
