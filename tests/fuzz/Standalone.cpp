// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A main for fuzz targets that needs no libFuzzer: mutates the seeds at random for some
// seconds. Prints its seed, so that a failure can be repeated; the failing input of a
// crash is in ./fuzz-last-input.
#include "Fuzz.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>

static std::string current;

static void saveInput(int signal) {
  int fd = open("fuzz-last-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, current.data(), current.size()) < 0)
    _exit(98);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

static void mutate(std::string &text, const std::string &other, std::mt19937_64 &random) {
  static const char *const words[] = {"-1",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "0",
                                      "[]",
                                      "{}",
                                      "null",
                                      "1e308",
                                      "\"\"",
                                      "4294967296",
                                      ",",
                                      "]",
                                      "}"};
  for (uint64_t n = 1 + random() % 4; n; --n) {
    size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 8) {
    case 0:
      if (!text.empty())
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (!text.empty())
        text[at] = static_cast<char>(random());
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.erase(at, random() % 16);
      break;
    case 4:
      text.insert(at, other, other.empty() ? 0 : random() % other.size(), random() % 32);
      break;
    case 5: {
      const char *word = words[random() % (sizeof words / sizeof *words)];
      text.replace(at, random() % 4, word);
      break;
    }
    case 6: {
      // A number of a binary format: small, huge, or nearly right.
      uint64_t value = random() % 3 == 0   ? random()
                       : random() % 3 == 0 ? UINT64_MAX - random() % 64
                                           : random() % 256;
      size_t size = size_t(1) << random() % 4;
      if (at + size <= text.size())
        std::memcpy(text.data() + at, &value, size);
      break;
    }
    default: {
      // One digit of a JSON number, the likeliest place for a wrong index.
      size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos)
        text[digit] = static_cast<char>('0' + random() % 10);
    }
    }
  }
}

int main(int argc, char **argv) {
  double seconds = 2;
  std::string folder;
  uint64_t seed = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seeds") && i + 1 < argc) // A folder of files that are mutated, too.
      folder = argv[++i];
    else { // A file to repeat.
      std::string text = readWholeFile(argv[i]);
      return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    }
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, saveInput);
  std::mt19937_64 random(seed);
  std::vector<std::string> seeds = fuzzSeeds();
  if (!folder.empty())
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        seeds.push_back(readWholeFile(entry.path().c_str()));
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    current = seeds[random() % seeds.size()];
    if (runs >= seeds.size()) // First the seeds as they are.
      mutate(current, seeds[random() % seeds.size()], random);
    else
      current = seeds[runs];
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(current.data()), current.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(runs));
  return 0;
}
