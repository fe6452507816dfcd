// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small parts: messages, files, half types, the CPU, the thread pool.
#include "tessera/base/Asymmetric.h"
#include "tessera/base/CachePath.h"
#include "tessera/base/Check.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/ElementType.h"
#include "tessera/base/File.h"
#include "tessera/base/FloatMode.h"
#include "tessera/base/Half.h"
#include "tessera/base/ThreadPool.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera;

TEST(Diag, NearestName) {
  std::vector<std::string> names = {"cpu", "cuda", "null"};
  EXPECT_EQ(nearestName("cdua", names), "cuda");
  EXPECT_EQ(nearestName("nul", names), "null");
  EXPECT_EQ(nearestName("elephant", names), "");
  EXPECT_EQ(unknownName("target", "cdua", "targets", names),
            "unknown target 'cdua'; did you mean 'cuda'? targets: cpu, cuda, null");
  EXPECT_EQ(unknownName("input", "x", "inputs", {}), "unknown input 'x'; there are no inputs");
}

TEST(Diag, Formats) {
  EXPECT_EQ(formatShape(std::vector<int64_t>{3, -1}), "3x?");
  EXPECT_EQ(formatShape({}), "scalar");
  EXPECT_EQ(formatBytes(100), "100 B");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatFixed(-1.375, 2), "-1.38");
  EXPECT_EQ(formatFixed(1e300, 1).size(), 303u);
  EXPECT_EQ(formatNanoseconds(1234), "1.23 us");
  EXPECT_EQ(formatJoules(0.00123), "1.23 mJ");
  EXPECT_EQ(formatJoules(5000), "5000 J");
  EXPECT_EQ(shortSource("src/blur.cpp:12:3"), "blur.cpp:12");
  EXPECT_EQ(shortSource("net.onnx:0:0"), "");
  EXPECT_EQ(shortSource(""), "");
  uint64_t bytes = 0;
  EXPECT_TRUE(parseBytes("64M", bytes));
  EXPECT_EQ(bytes, uint64_t(64) << 20);
  EXPECT_FALSE(parseBytes("99999999999G", bytes));
  EXPECT_FALSE(parseBytes("M", bytes));
}

TEST(Status, ContextAndResults) {
  EXPECT_EQ(fail(StatusCode::Io, "a ", 1).withContext("b").message(), "b: a 1");
  EXPECT_EQ(statusCodeName(StatusCode::Timeout), "timeout");
  auto half = [](int x) -> Result<int> {
    if (x % 2)
      return fail(StatusCode::InvalidArgument, x, " is odd");
    return x / 2;
  };
  auto quarter = [&](int x) -> Result<int> {
    TESSERA_ASSIGN(int y, half(x));
    return half(y);
  };
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
}

TEST(CheckDeathTest, PrintsPlaceAndText) {
  EXPECT_DEATH(TESSERA_CHECK(1 == 2) << "more " << 3,
               "BaseTest.cpp:.*: internal check failed: 1 == 2: more 3");
}

TEST(ElementType, NamesAndSizes) {
  EXPECT_EQ(parseElementType("bf16"), ElementType::BF16);
  EXPECT_EQ(parseElementType("u8"), std::nullopt);
  EXPECT_EQ(checkedByteSize(ElementType::F32, std::vector<int64_t>{2, 3}), 24);
  EXPECT_EQ(checkedByteSize(ElementType::F32, std::vector<int64_t>{0, INT64_MAX, INT64_MAX}).has_value(),
            false);
  EXPECT_EQ(checkedByteSize(ElementType::F32, std::vector<int64_t>{-1}), std::nullopt);
}

TEST(Half, AllHalvesRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t h = static_cast<uint16_t>(bits);
    float f = halfToFloat(h), g = bfloatToFloat(h);
    if (!std::isnan(f)) {
      ASSERT_EQ(floatToHalf(f), h);
    } else {
      ASSERT_TRUE(std::isnan(halfToFloat(floatToHalf(f))));
    }
    if (!std::isnan(g)) {
      ASSERT_EQ(floatToBfloat(g), h);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(floatToHalf(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(0x1p-25f), 0);
  EXPECT_EQ(floatToHalf(-0x1.8p-25f), 0x8001);
  EXPECT_EQ(floatToBfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(floatToBfloat(1.0f + 3 * 0x1p-8f), 0x3f82);
}

static int filesIn(const std::string &folder) {
  int count = 0;
  DIR *dir = opendir(folder.c_str());
  while (dirent *entry = readdir(dir))
    count += entry->d_name[0] != '.';
  closedir(dir);
  return count;
}

namespace {
struct TempFolder {
  std::string path;
  TempFolder() {
    char name[] = "/tmp/tessera-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~TempFolder() {
    if (std::system(("rm -rf " + path).c_str()))
      std::perror("rm");
  }
};
} // namespace

TEST(File, AtomicReplacement) {
  TempFolder folder;
  std::string path = folder.path + "/x";
  ASSERT_TRUE(writeFile(path, "one").ok());
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(std::as_bytes(std::span("junk", 4))).ok());
    EXPECT_EQ(filesIn(folder.path), 2);
  }
  EXPECT_EQ(filesIn(folder.path), 1);
  auto read = MappedFile::open(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)->bytes().size(), 3u);
}

TEST(Cache, FoldersOfOthersAreRefused) {
  TempFolder folder;
  const std::string cache = folder.path + "/a/b";
  ASSERT_TRUE(openCacheFolder(cache).ok());
  struct stat info;
  ASSERT_EQ(stat(cache.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  for (mode_t writable : {0770, 0707}) {
    chmod(cache.c_str(), writable);
    EXPECT_EQ(openCacheFolder(cache).message(),
              "others may write to the cache folder '" + cache +
                  "' and could put other programs into it; forbid it ('chmod go-w " + cache +
                  "') or set TESSERA_CACHE to a folder of your own");
  }
  chmod(cache.c_str(), 0755);
  EXPECT_TRUE(openCacheFolder(cache).ok());
  ASSERT_TRUE(writeFile(cache + "/file", "x").ok());
  chmod((cache + "/file").c_str(), 0644);
  EXPECT_TRUE(isOwnFile(cache + "/file"));
  chmod((cache + "/file").c_str(), 0666);
  EXPECT_FALSE(isOwnFile(cache + "/file"));
  EXPECT_FALSE(isOwnFile(cache + "/none"));
  EXPECT_NE(openCacheFolder(cache + "/file").message().find("Not a directory; set TESSERA_CACHE"),
            std::string::npos);
  if (geteuid() == 0 && chown(cache.c_str(), 12345, 12345) == 0)
    EXPECT_NE(openCacheFolder(cache).message().find(
                  "belongs to another user, who could put other programs into it; set TESSERA_CACHE to a "
                  "folder of your own"),
              std::string::npos);
}

TEST(File, Errors) {
  TempFolder folder;
  EXPECT_NE(writeFile(folder.path, "x").message().find("Is a directory"), std::string::npos);
  // Devices are written to, not replaced.
  EXPECT_TRUE(writeFile("/dev/null", "x").ok());
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
  if (fileExists("/dev/full"))
    EXPECT_NE(writeFile("/dev/full", "x").message().find("No space left"), std::string::npos);
  EXPECT_NE(writeFile(folder.path + "/no/x", "x").message().find("No such file"), std::string::npos);
  EXPECT_NE(MappedFile::open(folder.path).status().message().find("Is a directory"), std::string::npos);
  EXPECT_EQ(MappedFile::open(folder.path + "/none").status().code(), StatusCode::NotFound);
}

TEST(File, AFailedWriteLeavesNothing) {
  TempFolder folder;
  pid_t child = fork();
  if (child == 0) {
    // A limit on the file size fails like a full disk does.
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    Status status = writeFile(folder.path + "/x", std::string(1000, 'x'));
    _exit(status.code() == StatusCode::Io && status.message().find("cannot write") == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(filesIn(folder.path), 0);
}

TEST(File, InterruptRemovesTheTemporaryFile) {
  TempFolder folder;
  for (int signal : {SIGINT, SIGTERM}) {
    pid_t child = fork();
    if (child == 0) {
      auto file = AtomicFile::create(folder.path + "/x");
      raise(signal);
      _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_EQ(filesIn(folder.path), 0);
  }
}

TEST(CpuInfo, Plausible) {
  const CpuInfo &cpu = cpuInfo();
  EXPECT_GE(cpu.cores, 1u);
  EXPECT_GE(cpu.cacheLine, 16u);
  std::vector<std::string> wanted = {"+no-such-feature", "-avx"};
  EXPECT_EQ(cpu.missing(wanted), std::vector<std::string>{"no-such-feature"});
  EXPECT_EQ(hostTriple().substr(0, cpu.arch.size()), cpu.arch);
#if defined(__x86_64__)
  EXPECT_EQ(cpu.has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_NE(cpuFeatureString().find("+sse3"), std::string::npos);
#endif
}

TEST(CpuInfo, FeaturesAreEnabledOrRefused) {
  std::vector<std::string> features = {"+no-such-feature", "-amx-tile", "sse3"};
  EXPECT_TRUE(enableFeatures(features).ok());
  features.push_back("+amx-tile");
  Status status = enableFeatures(features);
  if (!cpuInfo().has("amx-tile")) {
    EXPECT_EQ(status.code(), StatusCode::Unsupported);
    EXPECT_EQ(status.message(), "the operating system refuses the AMX tile registers");
  }
}

TEST(CpuInfo, NotesNameTheVectorUnit) {
  std::vector<CpuNote> notes = cpuNotes();
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes[0].what, "vector unit");
  EXPECT_EQ(notes.size(), cpuInfo().has("amx-tile") ? 2u : 1u);
}

TEST(CpuInfo, FloatModeIsIeeeAndRestored) {
#if defined(__x86_64__)
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  uint64_t mode = setIeeeFloatMode();
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040u, 0u);
  restoreFloatMode(mode);
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040u, 0x8040u);
  __builtin_ia32_ldmxcsr(before);
#endif
}

TEST(ThreadPool, EveryThreadTakesPartOnce) {
  ThreadPool pool(4);
  for (int round = 0; round < 500; ++round) {
    std::atomic<unsigned> seen{0};
    unsigned wanted = 1 + static_cast<unsigned>(round) % 5;
    pool.parallel(wanted, [&](unsigned thread, unsigned threads) {
      EXPECT_EQ(threads, std::min(wanted, 4u));
      seen.fetch_or(1u << thread);
    });
    ASSERT_EQ(seen, (1u << std::min(wanted, 4u)) - 1);
  }
}

TEST(ThreadPool, NestedAndConcurrentCallersRunAlone) {
  ThreadPool pool(3);
  std::atomic<int> total{0};
  auto caller = [&] {
    for (int i = 0; i < 200; ++i)
      pool.parallel(3, [&](unsigned thread, unsigned threads) {
        pool.parallel(3, [&](unsigned, unsigned inner) { EXPECT_EQ(inner, 1u); });
        if (thread == 0)
          ++total;
        (void)threads;
      });
  };
  std::thread a(caller), b(caller);
  a.join();
  b.join();
  EXPECT_EQ(total, 400);
}

TEST(ThreadPool, WorkersWakeAfterSleeping) {
  ThreadPool pool(2);
  for (int i = 0; i < 5; ++i) {
    std::atomic<int> count{0};
    pool.parallel(2, [&](unsigned, unsigned) { ++count; });
    EXPECT_EQ(count, 2);
    usleep(2000);
  }
}

TEST(BiasedMutex, OneThreadThenSeveral) {
  for (int round = 0; round < 50; ++round) {
    BiasedMutex mutex;
    int count = 0;
    auto add = [&] {
      for (int i = 0; i < 2000; ++i) {
        std::lock_guard<BiasedMutex> lock(mutex);
        ++count;
      }
    };
    add();
    // The others come while the first goes on.
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back(add);
    add();
    for (std::thread &thread : threads)
      thread.join();
    add();
    ASSERT_EQ(count, 12000);
  }
}
