// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/base/Sandbox.h"
#include "tessera/base/File.h"
#include "tessera/base/Testing.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

// What `work` returns in a process that is confined.
static int confined(const Confinement &confinement, const std::function<int()> &work) {
  pid_t pid = fork();
  if (pid == 0) {
    setenv("TESSERA_SANDBOX", "require", 1);
    _exit(confine(confinement).ok() ? work() : 99);
  }
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool hasAll() { return describeSandbox().find(", seccomp") != std::string::npos; }

TEST(Sandbox, WritesWhereItMay) {
  if (!hasAll())
    GTEST_SKIP() << "the kernel has no Landlock or no seccomp";
  std::string folder = testing::TempDir() + "sandbox-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string may = folder + "/may", not_ = folder + "/not";
  ASSERT_EQ(mkdir(may.c_str(), 0700), 0);
  ASSERT_EQ(mkdir(not_.c_str(), 0700), 0);
  ASSERT_TRUE(writeFile(not_ + "/there", "text").ok());
  EXPECT_EQ(confined({{may + "/new"}},
                     [&] {
                       bool good =
                           writeFile(may + "/new", "text").ok() && mkdir((may + "/d").c_str(), 0700) == 0;
                       good = good && writeFile("/dev/null", "text").ok();
                       good = good && MappedFile::open(not_ + "/there").ok();
                       return good ? 0 : 1;
                     }),
            0);
  EXPECT_EQ(confined({{may}},
                     [&] {
                       std::string there = not_ + "/there", other = not_ + "/other";
                       bool refused = !writeFile(other, "text").ok() && truncate(there.c_str(), 0) != 0 &&
                                      unlink(there.c_str()) != 0 && chmod(there.c_str(), 0777) != 0 &&
                                      symlink(there.c_str(), other.c_str()) != 0 &&
                                      rename(there.c_str(), (may + "/moved").c_str()) != 0;
                       return refused ? 0 : 1;
                     }),
            0);
  std::filesystem::remove_all(folder);
}

TEST(Sandbox, HasNoNetworkAndNoPrograms) {
  if (!hasAll())
    GTEST_SKIP() << "the kernel has no Landlock or no seccomp";
  auto work = [] {
    int failed = socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM && socket(AF_UNIX, SOCK_STREAM, 0) < 0;
    if (!failed)
      return 1;
    execl("/bin/true", "true", nullptr);
    return 2;
  };
  EXPECT_EQ(confined({}, work), 2);
  Confinement programs{{}, /*anyFile=*/true, /*programs=*/true};
  EXPECT_EQ(confined(programs, work), 0);
}

// What confine() says in a process whose kernel refuses one call, when an argument of it has this value.
static std::string complaint(long call, unsigned argument, uint32_t value) {
  return messageWithout(call, argument, value, [] {
    setenv("TESSERA_SANDBOX", "require", 1);
    return confine({});
  });
}

TEST(Sandbox, SaysWhichPartTheKernelRefuses) {
  if (!hasAll())
    GTEST_SKIP() << "the kernel has no Landlock or no seccomp";
  const std::string end = "; a kernel of 5.13 or later that allows it is needed";
  EXPECT_EQ(complaint(SYS_prctl, 0, PR_SET_NO_NEW_PRIVS),
            "TESSERA_SANDBOX=require: no_new_privs: Operation not permitted" + end);
  EXPECT_EQ(complaint(SYS_landlock_create_ruleset, 2, 1),
            "TESSERA_SANDBOX=require: the kernel has no Landlock" + end);
  EXPECT_EQ(complaint(SYS_landlock_create_ruleset, 2, 0),
            "TESSERA_SANDBOX=require: Landlock: Operation not permitted" + end);
  EXPECT_EQ(complaint(SYS_landlock_restrict_self, 1, 0),
            "TESSERA_SANDBOX=require: Landlock: Operation not permitted" + end);
  EXPECT_EQ(complaint(SYS_seccomp, 0, SECCOMP_GET_ACTION_AVAIL),
            "TESSERA_SANDBOX=require: the kernel has no seccomp" + end);
  EXPECT_EQ(complaint(SYS_seccomp, 0, SECCOMP_SET_MODE_FILTER),
            "TESSERA_SANDBOX=require: seccomp: Operation not permitted" + end);
}

TEST(Sandbox, RefusesAWrongMode) {
  setenv("TESSERA_SANDBOX", "yes", 1);
  Status status = confine({});
  unsetenv("TESSERA_SANDBOX");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "TESSERA_SANDBOX: expected 'off' or 'require', but got 'yes'");
}
