// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/MetricSet.h"
#include "tessera/base/Testing.h"

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

using namespace tessera;
using namespace tessera::tune;

static const std::vector<std::string> outputs = {"logits", "picture"};

// A network and a pipeline of images in one program.
static std::vector<OutputArray> arrays(float error) {
  OutputArray logits{"logits", {2, 3}, {1, 5, 2, 4, 0, 3}},
      picture{"picture", {8, 8}, std::vector<float>(64)};
  for (int i = 0; i < 64; ++i)
    picture.values[i] = float(i) / 64 + error;
  logits.values[5] += 20 * error;
  return {logits, picture};
}

static std::string put(const std::string &name, const std::string &text) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "-" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(MetricSet, SeveralOutputs) {
  auto set = MetricSet::parse("logits=top-1,picture=psnr,picture=ssim,logits=relative", outputs);
  ASSERT_TRUE(set.ok()) << set.status().message();
  auto same = set->evaluate(arrays(0), arrays(0));
  ASSERT_TRUE(same.ok());
  EXPECT_EQ((*same)[0], 1);
  EXPECT_TRUE(std::isinf((*same)[1]));
  EXPECT_NEAR((*same)[2], 1, 1e-12);
  EXPECT_EQ((*same)[3], 0);
  auto other = set->evaluate(arrays(0.1f), arrays(0));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ((*other)[0], 0.5); // 3 + 2 is now more than 4
  EXPECT_NEAR((*other)[1], 20, 1e-4);
  EXPECT_LT((*other)[2], 1);
  EXPECT_TRUE(set->items()[1].higherIsBetter());
  EXPECT_FALSE(set->items()[3].higherIsBetter());
}

TEST(MetricSet, Peaks) {
  const std::vector<std::string> one = {"picture"};
  auto set = MetricSet::parse("psnr:255", one);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->items()[0].output, "picture");
  EXPECT_EQ(set->items()[0].peak, 255);
}

TEST(MetricSet, Bounds) {
  auto set = MetricSet::parse("picture=psnr:255@30,logits=relative@0.05,picture=ssim@0.9", outputs);
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->items()[0].name, "picture=psnr:255");
  EXPECT_EQ(set->items()[1].bound, 0.05);
  const std::vector<double> exact = {std::numeric_limits<double>::infinity(), 0, 1};
  auto used = [&](std::vector<double> figures) { return set->usedShare(figures, exact); };
  EXPECT_EQ(used(exact), 0);
  EXPECT_NEAR(used({40, 0, 1}), 0.1, 1e-12); // a tenth of the noise
  EXPECT_NEAR(used({40, 0.02, 1}), 0.4, 1e-12);
  EXPECT_NEAR(used({40, 0.02, 0.88}), 1.2, 1e-12);
}

TEST(MetricSet, Refusals) {
  auto refusal = [](const std::string &text) { return MetricSet::parse(text, outputs).status().message(); };
  EXPECT_EQ(refusal("psnr"), "the program has 2 outputs; say which is judged how, for example logits=psnr");
  EXPECT_EQ(refusal("picture=psnr@much"),
            "the metric 'picture=psnr@much' is malformed; a bound is a number, for example psnr@30");
  EXPECT_EQ(refusal("pictur=psnr"),
            "unknown output 'pictur'; did you mean 'picture'? outputs: logits, picture");
  EXPECT_EQ(refusal("picture=l1:3"),
            "the metric 'l1:3' is malformed; only psnr and ssim take a largest value, for example psnr:255");
  EXPECT_EQ(refusal("none.so"), "the metric 'none.so' does not exist");
  auto set = MetricSet::parse("picture=l1", outputs);
  std::vector<OutputArray> odd = arrays(0);
  odd[1].shape = {4, 16};
  EXPECT_EQ(set->evaluate(odd, arrays(0)).status().message(), "output 'picture': expected 8x8, but got 4x16");
  EXPECT_EQ(set->evaluate({}, arrays(0)).status().message(), "output 'picture' is missing");
  OutputArray row{"logits", {3}, {1, 2, 3}};
  EXPECT_EQ(MetricSet::parse("logits=top-1", outputs)->evaluate({&row, 1}, {&row, 1}).status().message(),
            "output 'logits': top-k needs a row of scores for each item, but got 3");
  EXPECT_EQ(MetricSet::parse("logits=ssim", outputs)->evaluate({&row, 1}, {&row, 1}).status().message(),
            "output 'logits': ssim needs pictures, but got 3");
}

TEST(MetricSet, NotANumberIsAnError) {
  auto set = MetricSet::parse("picture=l2", outputs);
  EXPECT_EQ(set->evaluate(arrays(NAN), arrays(0)).status().message(),
            "the metric 'picture=l2' is not a number; look for NaN in the program's outputs");
}

TEST(UserMetric, Python) {
  // Debian's has the NumPy of scripts/bootstrap; another may come first in the path.
  if (std::filesystem::exists("/usr/bin/python3"))
    setenv("TESSERA_PYTHON", "/usr/bin/python3", /*overwrite=*/0);
  const std::string script = put("worst.py", "higher_is_better = False\n"
                                             "def metric(got, golden):\n"
                                             "    assert list(got) == ['logits', 'picture']\n"
                                             "    return abs(got['picture'] - golden['picture']).max()\n");
  auto set = MetricSet::parse(script, outputs);
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_FALSE(set->items()[0].higherIsBetter());
  auto figures = set->evaluate(arrays(0.25f), arrays(0));
  if (!figures.ok() && figures.status().message().find("numpy") != std::string::npos)
    GTEST_SKIP() << figures.status().message();
  ASSERT_TRUE(figures.ok()) << figures.status().message();
  EXPECT_NEAR((*figures)[0], 0.25, 1e-6);
}

TEST(UserMetric, PythonFailures) {
  EXPECT_NE(MetricSet::parse(put("none.py", "x = 1\n"), outputs)
                .status()
                .message()
                .find("it has no function metric(got, golden)"),
            std::string::npos);
  const std::string script =
      put("fails.py", "def metric(got, golden):\n    raise ValueError('no picture')\n");
  auto set = MetricSet::parse(script, outputs);
  ASSERT_TRUE(set.ok());
  const std::string message = set->evaluate(arrays(0), arrays(0)).status().message();
  if (message.find("numpy") == std::string::npos)
    EXPECT_EQ(message, "the metric '" + script + "' failed: ValueError: no picture");
  auto chatty =
      MetricSet::parse(put("chatty.py", "def metric(got, golden):\n    print('hi'); return 1\n"), outputs);
  ASSERT_TRUE(chatty.ok());
  const std::string printed = chatty->evaluate(arrays(0), arrays(0)).status().message();
  if (printed.find("numpy") == std::string::npos)
    EXPECT_NE(printed.find("beside its answer; it must print nothing"), std::string::npos) << printed;
}

TEST(UserMetric, PythonThatIsNotThere) {
  const char *before = std::getenv("TESSERA_PYTHON");
  const std::string kept = before ? before : "";
  auto set = MetricSet::parse(put("any.py", "def metric(got, golden):\n    return 1\n"), outputs);
  ASSERT_TRUE(set.ok()) << set.status().message();
  setenv("TESSERA_PYTHON", "/nowhere/python3", 1);
  EXPECT_EQ(set->evaluate(arrays(0), arrays(0)).status().message(),
            "python3 is not installed; it is needed for metrics in Python");
  EXPECT_EQ(
      messageWithout(SYS_pipe2, 1, O_CLOEXEC, [&] { return set->evaluate(arrays(0), arrays(0)).status(); }),
      "cannot start python3: no pipe or temporary file");
  before ? setenv("TESSERA_PYTHON", kept.c_str(), 1) : unsetenv("TESSERA_PYTHON");
}

TEST(UserMetric, Library) {
  const std::string source =
      put("mine.c", "#include \"tessera/metric.h\"\n"
                    "double tsr_metric(const tsr_metric_array *a, const tsr_metric_array *b, "
                    "int32_t n) { return n * 1000 + a[1].shape[0] + (a[1].data[0] - "
                    "b[1].data[0]); }\n"
                    "int tsr_metric_higher_is_better(void) { return 0; }\n");
  const std::string library = source.substr(0, source.size() - 1) + "so";
  const std::string compile = "cc -shared -fPIC -I" TESSERA_INCLUDE " " + source + " -o " + library;
  if (std::system(compile.c_str()) != 0)
    GTEST_SKIP() << "no C compiler";
  auto set = MetricSet::parse(library, outputs);
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_FALSE(set->items()[0].higherIsBetter());
  auto figures = set->evaluate(arrays(0.5f), arrays(0));
  ASSERT_TRUE(figures.ok());
  EXPECT_NEAR((*figures)[0], 2008.5, 1e-5);
  // A library that is none, and one without the functions.
  EXPECT_NE(
      MetricSet::parse(put("bad.so", "no library"), outputs).status().message().find("cannot be loaded: "),
      std::string::npos);
  const std::string empty = put("empty.c", "int x;\n"), object = empty.substr(0, empty.size() - 1) + "so";
  ASSERT_EQ(std::system(("cc -shared -fPIC " + empty + " -o " + object).c_str()), 0);
  EXPECT_EQ(MetricSet::parse(object, outputs).status().message(),
            "the metric '" + object + "' has no function tsr_metric; see tessera/metric.h");
}
