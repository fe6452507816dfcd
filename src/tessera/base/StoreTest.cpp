// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/base/Store.h"

#include "tessera/base/File.h"
#include "tessera/base/TempFolder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

using namespace tessera;
namespace fs = std::filesystem;

namespace {
// A cache folder of its own for each test.
class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    Result<TempFolder> made = TempFolder::create();
    ASSERT_TRUE(made.ok());
    folder = made.take();
    if (const char *old = std::getenv("TESSERA_CACHE"))
      before = old;
    setenv("TESSERA_CACHE", folder.path().c_str(), 1);
  }
  void TearDown() override {
    if (before.empty())
      unsetenv("TESSERA_CACHE");
    else
      setenv("TESSERA_CACHE", before.c_str(), 1);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder.path() + "/kept"))
      found.push_back(entry.path());
    return found;
  }
  TempFolder folder;
  std::string before;
};
} // namespace

TEST_F(StoreTest, FindsWhatWasKept) {
  Store store("kept", 1 << 20);
  ASSERT_TRUE(store.open().ok());
  EXPECT_FALSE(store.find("a"));
  store.keep("a", std::string("x\0y", 3));
  store.keep("b", "");
  EXPECT_EQ(store.find("a"), std::string("x\0y", 3));
  EXPECT_EQ(store.find("b"), "");
  EXPECT_FALSE(store.find("c"));
  Store again("kept", 1 << 20);
  ASSERT_TRUE(again.open().ok());
  EXPECT_EQ(again.find("a"), std::string("x\0y", 3));
  EXPECT_EQ(again.found(), 1u);
}

TEST_F(StoreTest, TakesNothingThatIsDamaged) {
  Store store("kept", 1 << 20);
  ASSERT_TRUE(store.open().ok());
  store.keep("a", "some bytes");
  const fs::path path = files().at(0);
  const auto size = fs::file_size(path);
  for (uintmax_t at = 0; at < size; at += 7) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 4));
    file.close();
    EXPECT_FALSE(store.find("a")) << at;
    store.keep("a", "some bytes"); // heals it
    EXPECT_EQ(store.find("a"), "some bytes");
  }
  fs::resize_file(path, 10);
  EXPECT_FALSE(store.find("a"));
  fs::resize_file(path, 0);
  EXPECT_FALSE(store.find("a"));
}

TEST_F(StoreTest, TakesNoEntryOfAnotherKey) {
  Store store("kept", 1 << 20);
  ASSERT_TRUE(store.open().ok());
  store.keep("a", "of a");
  const fs::path a = files().at(0);
  store.keep("b", "of b");
  for (const fs::path &path : files())
    if (path != a)
      fs::copy_file(a, path, fs::copy_options::overwrite_existing);
  EXPECT_EQ(store.find("a"), "of a");
  EXPECT_FALSE(store.find("b"));
}

TEST_F(StoreTest, TakesNothingThatOthersMayWrite) {
  Store store("kept", 1 << 20);
  ASSERT_TRUE(store.open().ok());
  store.keep("a", "of a");
  chmod(files().at(0).c_str(), 0666);
  EXPECT_FALSE(store.find("a"));
  chmod((folder.path() + "/kept").c_str(), 0777);
  Store open("kept", 1 << 20);
  EXPECT_FALSE(open.open().ok());
  open.keep("b", "of b");
  EXPECT_FALSE(open.find("b"));
}

TEST_F(StoreTest, KeepsNoMoreThanItsLimit) {
  constexpr uint64_t limit = 64 << 10;
  Store store("kept", limit);
  ASSERT_TRUE(store.open().ok());
  const std::string bytes(1000, 'x');
  for (int i = 0; i < 400; ++i)
    store.keep(std::to_string(i), bytes);
  uint64_t total = 0;
  for (const fs::path &path : files())
    total += fs::file_size(path);
  EXPECT_LE(total, limit + limit / 4);
  EXPECT_GT(total, limit / 4);
  EXPECT_TRUE(store.find("399"));
  store.keep("large", std::string(limit, 'y'));
  EXPECT_FALSE(store.find("large"));
}

TEST_F(StoreTest, KeepsNothingWithoutALimit) {
  Store store("kept", 0);
  ASSERT_TRUE(store.open().ok());
  EXPECT_EQ(store.folder(), "");
  store.keep("a", "of a");
  EXPECT_FALSE(store.find("a"));
  EXPECT_FALSE(fs::exists(folder.path() + "/kept"));
}

TEST_F(StoreTest, ServesSeveralThreads) {
  Store store("kept", 1 << 20);
  ASSERT_TRUE(store.open().ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::string key = std::to_string(i % 10);
        if (std::optional<std::string> found = store.find(key))
          EXPECT_EQ(*found, "of " + key);
        store.keep(key, "of " + key);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(store.find(std::to_string(i)), "of " + std::to_string(i));
}
