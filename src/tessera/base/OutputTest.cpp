// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs that are inputs, by any path.
#include "tessera/base/Output.h"
#include "tessera/base/File.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera;

TEST(Output, NothingIsWrittenOverAnInput) {
  char name[] = "/tmp/tessera-test-XXXXXX";
  const std::string folder = mkdtemp(name), a = folder + "/a", b = folder + "/b";
  ASSERT_TRUE(writeFile(a, "a").ok() && writeFile(b, "b").ok());
  std::filesystem::create_symlink(a, folder + "/soft");
  std::filesystem::create_hard_link(a, folder + "/hard");
  std::filesystem::create_directory_symlink(folder, folder + "/again");
  EXPECT_TRUE(checkOutputs({a}, {b}).ok());
  EXPECT_TRUE(checkOutputs({a, "", "-"}, {"", "-", folder + "/new", "/dev/null", "/dev/null"}).ok());
  EXPECT_EQ(checkOutputs({b, a}, {a}).message(),
            "'" + a + "' would be written over the input '" + a + "'; choose another name for it");
  for (const char *path : {"/soft", "/hard", "/again/a", "/./a", "/again/soft"})
    EXPECT_FALSE(checkOutputs({b, a}, {folder + path}).ok()) << path;
  EXPECT_FALSE(checkOutputs({folder + "/soft"}, {a}).ok());
  EXPECT_EQ(checkOutputs({}, {b, b}).message(),
            "two outputs, '" + b + "' and '" + b + "', are the same file; choose different names");
  // Also of files that are not there yet.
  EXPECT_FALSE(checkOutputs({}, {folder + "/new", folder + "/again/new"}).ok());
  EXPECT_FALSE(checkOutputs({}, {"new", "./new"}).ok());
  EXPECT_TRUE(checkOutputs({}, {folder + "/new", "/new"}).ok());
  std::filesystem::remove_all(folder);
}
