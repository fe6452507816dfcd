// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary folders end with their owners, however those end.
#include "tessera/base/TempFolder.h"
#include "tessera/base/File.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera;
namespace fs = std::filesystem;

namespace {
class TempFolderTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/tessera-test-XXXXXX";
    base = mkdtemp(name);
    if (const char *old = std::getenv("TMPDIR"))
      before = old;
    setenv("TMPDIR", base.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(base);
    before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(base), fs::directory_iterator()));
  }
  std::string base, before;
};
} // namespace

TEST_F(TempFolderTest, IsRemovedByItsOwner) {
  {
    auto folder = TempFolder::create();
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    ASSERT_TRUE(writeFile(folder->path() + "/x", "x").ok());
    TempFolder other = folder.take();
    EXPECT_TRUE(fs::exists(other.path()));
  }
  EXPECT_EQ(entries(), 0u);
  setenv("TMPDIR", (base + "/none").c_str(), 1);
  EXPECT_EQ(TempFolder::create().status().message(),
            "cannot make a temporary folder in '" + base + "/none': No such file or directory; set TMPDIR");
}

TEST_F(TempFolderTest, OfAKilledOwnerIsRemovedByTheNext) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    auto folder = TempFolder::create();
    fs::create_directory(folder->path() + "/deep");
    (void)writeFile(folder->path() + "/deep/x", "x");
    (void)!write(ready[1], "", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  // Not while it lives; and nothing that only looks like ours.
  fs::create_directory(base + "/tessera-tmp-abcdefg");
  fs::create_directory(base + "/tessera-tmp-public");
  chmod((base + "/tessera-tmp-public").c_str(), 0755);
  fs::create_directory(base + "/elsewhere");
  ASSERT_TRUE(writeFile(base + "/elsewhere/kept", "x").ok());
  fs::create_directory_symlink(base + "/elsewhere", base + "/tessera-tmp-linked");
  ASSERT_TRUE(writeFile(base + "/tessera-tmp-afile1", "x").ok());
  {
    ASSERT_TRUE(TempFolder::create().ok());
  }
  EXPECT_EQ(entries(), 6u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(entries(), 6u);
  {
    ASSERT_TRUE(TempFolder::create().ok());
  }
  EXPECT_EQ(entries(), 5u);
  EXPECT_TRUE(fs::exists(base + "/elsewhere/kept"));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(TempFolderTest, ManyAtOnceLeaveEachOtherAlone) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < 200; ++round) {
        auto folder = TempFolder::create();
        if (!folder.ok() || !writeFile(folder->path() + "/x", "x").ok() || !fileExists(folder->path() + "/x"))
          _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(entries(), 0u);
}
