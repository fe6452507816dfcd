// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A main for fuzz targets that needs no libFuzzer: runs every seed and every file of the corpus, then mutates
// them at random for some seconds. Prints its seed, so that a failure can be repeated; the failing input of a
// crash is in ./fuzz-last-input. With TESSERA_FULL it takes a seed of its own and runs for thirty times as
// long.
#include "Fuzz.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

static std::string current;

static void saveInput(int signal) {
  int fd = open("fuzz-last-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, current.data(), current.size()) < 0)
    _exit(98);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

int main(int argc, char **argv) {
  double seconds = 2;
  uint64_t most = UINT64_MAX;
  std::vector<std::string> places;
  uint64_t seed = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (!std::strcmp(argv[i], "--inputs") && i + 1 < argc) // The same ones on every machine.
      most = std::strtoull(argv[++i], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seeds") &&
             i + 1 < argc) // A file, or a folder of files, to be mutated too.
      places.push_back(argv[++i]);
    else { // A file to repeat.
      std::string text = readWholeFile(argv[i]);
      return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    }
  }
  if (std::getenv("TESSERA_FULL")) {
    seconds *= 30;
    most = UINT64_MAX;
    seed = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  } else if (most != UINT64_MAX) {
    seconds = 1e6;
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, saveInput);
  std::mt19937_64 random(seed);
  std::vector<std::string> seeds = fuzzSeeds();
  for (const std::string &place : places) {
    std::vector<std::string> files;
    if (std::filesystem::is_regular_file(place))
      files.push_back(place);
    else
      for (const auto &entry : std::filesystem::recursive_directory_iterator(place))
        if (entry.is_regular_file())
          files.push_back(entry.path());
    std::sort(files.begin(), files.end()); // A folder has no order of its own.
    for (const std::string &file : files)
      seeds.push_back(readWholeFile(file.c_str()));
  }
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t runs = 0;
  for (; runs < seeds.size() || (runs < most && std::chrono::steady_clock::now() < end); ++runs) {
    current = seeds[random() % seeds.size()];
    if (runs >= seeds.size()) // First the seeds as they are.
      fuzzMutate(current, seeds[random() % seeds.size()], random);
    else
      current = seeds[runs];
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(current.data()), current.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(runs));
  return 0;
}
