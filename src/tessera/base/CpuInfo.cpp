// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detection of the CPU through cpuid, the auxiliary vector, hwprobe and sysfs.
#include "tessera/base/CpuInfo.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tessera {

#if defined(__x86_64__)
static uint64_t readXcr0() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

static void detectArch(CpuInfo &info) {
  info.arch = "x86_64";
  unsigned a, b, c, d;
  unsigned leaf1c = 0, leaf7b = 0, leaf7c = 0, leaf7d = 0, leaf71a = 0, leaf71d = 0, ext1c = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    leaf1c = c;
    info.cacheLine = std::max(16u, ((b >> 8) & 255) * 8);
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
    leaf7b = b, leaf7c = c, leaf7d = d;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
    leaf71a = a, leaf71d = d;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    ext1c = c;
  uint64_t xcr0 = (leaf1c >> 27) & 1 ? readXcr0() : 0;
  bool ymm = (xcr0 & 6) == 6, zmm = (xcr0 & 0xe6) == 0xe6, tiles = (xcr0 & 0x60000) == 0x60000;
  auto add = [&](bool present, const char *name) {
    if (present)
      info.features.push_back(name);
  };
  auto bit = [](unsigned word, int n) { return ((word >> n) & 1) != 0; };
  add(bit(leaf1c, 0), "sse3");
  add(bit(leaf1c, 9), "ssse3");
  add(bit(leaf1c, 19), "sse4.1");
  add(bit(leaf1c, 20), "sse4.2");
  add(bit(leaf1c, 13), "cx16");
  add(bit(leaf1c, 22), "movbe");
  add(bit(leaf1c, 23), "popcnt");
  add(bit(leaf1c, 25), "aes");
  add(bit(leaf1c, 1), "pclmul");
  add(ymm && bit(leaf1c, 28), "avx");
  add(ymm && bit(leaf1c, 12), "fma");
  add(ymm && bit(leaf1c, 29), "f16c");
  add(ymm && bit(leaf7b, 5), "avx2");
  add(bit(leaf7b, 3), "bmi");
  add(bit(leaf7b, 8), "bmi2");
  add(bit(leaf7b, 29), "sha");
  add(bit(ext1c, 5), "lzcnt");
  add(ymm && bit(leaf71a, 4), "avxvnni");
  add(ymm && bit(leaf71d, 4), "avxvnniint8");
  add(ymm && bit(leaf71a, 23), "avxifma");
  add(bit(leaf7c, 8), "gfni");
  add(ymm && bit(leaf7c, 9), "vaes");
  add(ymm && bit(leaf7c, 10), "vpclmulqdq");
  add(zmm && bit(leaf7b, 16), "avx512f");
  add(zmm && bit(leaf7b, 17), "avx512dq");
  add(zmm && bit(leaf7b, 21), "avx512ifma");
  add(zmm && bit(leaf7b, 28), "avx512cd");
  add(zmm && bit(leaf7b, 30), "avx512bw");
  add(zmm && bit(leaf7b, 31), "avx512vl");
  add(zmm && bit(leaf7c, 1), "avx512vbmi");
  add(zmm && bit(leaf7c, 6), "avx512vbmi2");
  add(zmm && bit(leaf7c, 11), "avx512vnni");
  add(zmm && bit(leaf7c, 12), "avx512bitalg");
  add(zmm && bit(leaf7c, 14), "avx512vpopcntdq");
  add(zmm && bit(leaf71a, 5), "avx512bf16");
  add(zmm && bit(leaf7d, 23), "avx512fp16");
  add(tiles && bit(leaf7d, 24), "amx-tile");
  add(tiles && bit(leaf7d, 25), "amx-int8");
  add(tiles && bit(leaf7d, 22), "amx-bf16");
  add(tiles && bit(leaf71a, 21), "amx-fp16");

  char brand[49] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (__get_cpuid(0x80000002 + i, &a, &b, &c, &d)) {
      unsigned words[4] = {a, b, c, d};
      std::memcpy(brand + 16 * i, words, 16);
    }
  info.name = brand;
}
#elif defined(__aarch64__)
static void detectArch(CpuInfo &info) {
  info.arch = "aarch64";
  unsigned long hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
  auto add = [&](bool present, const char *name) {
    if (present)
      info.features.push_back(name);
  };
  add(hwcap & (1ul << 0), "fp-armv8");
  add(hwcap & (1ul << 1), "neon");
  add(hwcap & (1ul << 3), "aes");
  add(hwcap & (1ul << 6), "sha2");
  add(hwcap & (1ul << 7), "crc");
  add(hwcap & (1ul << 8), "lse");
  add(hwcap & (1ul << 10), "fullfp16");
  add(hwcap & (1ul << 12), "rdm");
  add(hwcap & (1ul << 20), "dotprod");
  add(hwcap & (1ul << 22), "sve");
  add(hwcap & (1ul << 23), "fp16fml");
  add(hwcap2 & (1ul << 1), "sve2");
  add(hwcap2 & (1ul << 13), "i8mm");
  add(hwcap2 & (1ul << 14), "bf16");
}
#elif defined(__riscv)
static void detectArch(CpuInfo &info) {
  info.arch = "riscv64";
  unsigned long hwcap = getauxval(AT_HWCAP);
  for (const char *letter : {"a", "c", "d", "f", "m", "v"})
    if (hwcap & (1ul << (letter[0] - 'a')))
      info.features.push_back(letter);
  // hwprobe (Linux 6.4) knows the extensions that have no letter; key 4 is IMA_EXT_0.
  struct {
    int64_t key;
    uint64_t value;
  } pair = {4, 0};
  if (syscall(258, &pair, 1ul, 0ul, nullptr, 0u) == 0 && pair.key == 4) {
    static const struct {
      int bit;
      const char *name;
    } extensions[] = {{3, "zba"}, {4, "zbb"}, {5, "zbs"}, {27, "zfh"}, {30, "zvfh"}};
    for (const auto &e : extensions)
      if (pair.value & (1ull << e.bit))
        info.features.push_back(e.name);
  }
}
#else
static void detectArch(CpuInfo &info) { info.arch = "unknown"; }
#endif

static std::string readLine(const std::string &path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

static void detectCaches(CpuInfo &info) {
  for (int i = 0; i < 8; ++i) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string level = readLine(folder + "level"), type = readLine(folder + "type");
    std::string size = readLine(folder + "size"), line = readLine(folder + "coherency_line_size");
    if (level.empty() || type == "Instruction")
      continue;
    uint64_t bytes = std::strtoull(size.c_str(), nullptr, 10);
    if (size.ends_with("K"))
      bytes <<= 10;
    else if (size.ends_with("M"))
      bytes <<= 20;
    (level == "1" ? info.l1d : level == "2" ? info.l2 : info.l3) = bytes;
    if (int value = std::atoi(line.c_str()); value > 0)
      info.cacheLine = static_cast<uint32_t>(value);
  }
  auto fromSysconf = [](uint64_t &size, int name) {
    long value = size ? 0 : sysconf(name);
    if (value > 0)
      size = static_cast<uint64_t>(value);
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  fromSysconf(info.l1d, _SC_LEVEL1_DCACHE_SIZE);
  fromSysconf(info.l2, _SC_LEVEL2_CACHE_SIZE);
  fromSysconf(info.l3, _SC_LEVEL3_CACHE_SIZE);
#endif
}

static CpuInfo detect() {
  CpuInfo info;
  detectArch(info);
  std::sort(info.features.begin(), info.features.end());
  detectCaches(info);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    info.cores = static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  else
    info.cores = static_cast<uint32_t>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  return info;
}

const CpuInfo &cpuInfo() {
  static const CpuInfo info = [] {
    CpuInfo known = detect();
    // An emulator underneath may offer more than the processor says.
    if (const char *more = std::getenv("TESSERA_CPU_FEATURES")) {
      std::string_view words = more;
      while (!words.empty()) {
        std::string_view word = words.substr(0, words.find(','));
        if (!word.empty() && !known.has(word))
          known.features.insert(std::ranges::upper_bound(known.features, word), std::string(word));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
      }
    }
    return known;
  }();
  return info;
}

bool CpuInfo::has(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature, std::less<>());
}

std::vector<std::string> CpuInfo::missing(std::span<const std::string> required) const {
  std::vector<std::string> lacking;
  for (std::string_view feature : required) {
    if (feature.starts_with("-") || feature.empty())
      continue;
    if (feature.starts_with("+"))
      feature.remove_prefix(1);
    if (!has(feature))
      lacking.emplace_back(feature);
  }
  return lacking;
}

std::string cpuFeatureString() {
  std::string out;
  for (const std::string &feature : cpuInfo().features) {
    if (!out.empty())
      out += ',';
    out += '+';
    out += feature;
  }
  return out;
}

std::string hostTriple() { return cpuInfo().arch + "-unknown-linux-gnu"; }

// Asks Linux for the tile registers.
static bool enableAmx() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  if (!cpuInfo().has("amx-tile"))
    return false;
  constexpr int requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

Status enableFeatures(std::span<const std::string> features) {
  for (std::string_view feature : features)
    if (feature.ends_with("amx-tile") && !feature.starts_with("-") && !enableAmx())
      return fail(StatusCode::Unsupported, "the operating system refuses the AMX tile registers");
  return Status();
}

std::vector<CpuNote> cpuNotes() {
  const CpuInfo &cpu = cpuInfo();
  const bool vectors = cpu.has("avx2") || cpu.has("neon") || cpu.has("v");
  std::vector<CpuNote> notes = {
      {vectors, "vector unit",
       vectors ? "found" : "only baseline code will run here; everything works, more slowly"}};
  if (cpu.has("amx-tile"))
    notes.push_back({enableAmx(), "AMX", "tile registers"});
  return notes;
}

} // namespace tessera
