// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with samples, and with the programs that they are for.
#include "tessera/tune/samples/Samples.h"
#include "tessera/tune/samples/Feed.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::tune;

// A program with inputs and outputs of n x 3.
static ProgramPlan plan(const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs = {}) {
  ProgramPlan p;
  p.name = "p";
  for (auto [names, ports] : {std::pair(&inputs, &p.inputs), std::pair(&outputs, &p.outputs)})
    for (const std::string &name : *names) {
      ports->push_back({name, static_cast<int32_t>(p.values.size())});
      p.values.push_back({ValueKind::Input, ElementType::F32, {-1, 3}});
    }
  return p;
}

static NpyArray array(std::vector<int64_t> shape, NpyType type = NpyType::F4) {
  std::byte *memory = nullptr;
  return NpyArray::allocate(type, std::move(shape), &memory);
}

TEST(Samples, Normalisations) {
  auto refused = [](const char *text) { return parseNormalisation(text).status().message(); };
  EXPECT_TRUE(parseNormalisation("0.5,0.25/1,2").ok());
  EXPECT_EQ(
      refused("grey"),
      "--normalise: expected 'imagenet' or MEANS/DEVIATIONS, e.g. 0.5,0.5,0.5/0.2,0.2,0.2, but got 'grey'");
  EXPECT_EQ(refused("0.5/x"), "--normalise: expected numbers, but got 'x'");
  EXPECT_EQ(refused("0.5/0"), "--normalise: a deviation is 0");
}

TEST(Samples, ProgramsThatTheyDoNotFit) {
  Dataset data{"d.npz", array({4, 3}), {0, 1, 0, 1}};
  EXPECT_TRUE(Feed::match(data, plan({"x"}), {}).ok());
  EXPECT_EQ(Feed::match(data, plan({"x", "y"}), {}).status().message(),
            "expected a program with one input, but 'p' has 2");
  EXPECT_EQ(Feed::match(data, plan({"x"}), {{1, 2}, {1}}).status().message(),
            "--normalise: expected 1 means and 1 deviations for samples of " + data.x.describe() +
                ", but got 2 and 1");
  EXPECT_EQ(chooseOutput(plan({"x"}, {"a", "b"}), "").status().message(),
            "'p' has 2 outputs; say with --output which has the scores: a, b");
  Scores scores;
  BufferRef output = Buffer::create(ElementType::F32, {2, 3}).take();
  EXPECT_EQ(appendScores(*output, "y", 4, 4, scores).message(),
            "output 'y': expected a row of scores for each of 4 samples, but got " + output->describe());
}

TEST(Samples, FilesWithoutSomeInput) {
  std::string folder = ::testing::TempDir() + "tessera-samples-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  ASSERT_TRUE(writeNpy(folder + "/a.npy", array({1, 3})).ok());
  EXPECT_EQ(readSamples(folder, plan({"x", "y"})).status().message(),
            "'" + folder +
                "/a.npy' is one array, but the program has 2 inputs; store them in one .npz file, "
                "under their names");
  std::filesystem::remove(folder + "/a.npy");
  ASSERT_TRUE(writeNpz(folder + "/a.npz", {{"z", array({1, 3})}}).ok());
  EXPECT_EQ(readSamples(folder, plan({"x", "y"})).status().message(),
            "'" + folder + "/a.npz': unknown input 'z'; did you mean 'x'? inputs: x, y");
  std::filesystem::remove_all(folder);
}
