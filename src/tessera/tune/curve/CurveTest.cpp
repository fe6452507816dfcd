// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/base/File.h"
#include "tessera/tune/curve/CurveFile.h"
#include "tessera/tune/measure/Journal.h"
#include "tessera/tune/measure/Measure.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::tune;

static Configuration configuration(const std::string &name, double loss, double lossHigh) {
  Configuration c;
  c.name = name;
  if (name != "baseline")
    c.knobs = {{"conv1", "int8"}};
  c.predicted = {98.5, 98, 99, 0.4};
  c.measured = {98, 97.5, 98.5, loss, lossHigh, 4000};
  return c;
}

static Curve sampleCurve() {
  Curve curve;
  curve.program = "00ff";
  curve.network = "net";
  curve.data = "mnist";
  curve.shapes = {{"image", {3, 4}}};
  curve.numbers = {{"rows", 3}};
  curve.baselineQuality = 99.25;
  curve.baselineCount = 4000;
  curve.operations = {
      {"conv1", "conv", "conv 3x3", 1e6, 120.5, std::pair(-1.0f, 2.5f), {{"int8", -0.25, 0.01, 40}}}};
  curve.configurations = {configuration("baseline", 0, 0), configuration("c1", 0.1, 0.4),
                          configuration("c2", 0.9, 1.3)};
  curve.configurations[2].installed = {100, {2.5, 2.4, 2.6},  {0.25, 0.2, 0.3}, 16, "modelled",
                                       2,   {{"conv1", 0.25}}};
  curve.configurations[2].shipped = true;
  curve.chosen = "c2";
  curve.tuning.seed = 7;
  return curve;
}

TEST(Curve, KeepsEverything) {
  const std::string text = curveJson(sampleCurve());
  Result<Curve> again = parseCurve(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(curveJson(*again), text);
  EXPECT_EQ(again->operations[0].range->second, 2.5f);
  EXPECT_EQ(again->programName(again->configurations[0]), "net");
  EXPECT_EQ(again->programName(*again->find("c2")), "net@c2");
  EXPECT_EQ(again->find("c7"), nullptr);
  EXPECT_EQ(again->find("c2")->installed->speedup.low, 2.4);
  EXPECT_EQ(again->find("c2")->installed->joules.high, 0.3);
  EXPECT_EQ(again->find("c2")->installed->threads, 2u);
  EXPECT_EQ(again->find("c2")->installed->shares.at("conv1"), 0.25);
}

TEST(Curve, RefusesWhatItCannotRead) {
  auto message = [](const std::function<void(nlohmann::json &)> &change) {
    nlohmann::json json = nlohmann::json::parse(curveJson(sampleCurve()));
    change(json);
    return parseCurve(json.dump()).status().message();
  };
  EXPECT_EQ(parseCurve("{").status().message(), "curve: not a JSON object");
  EXPECT_EQ(message([](auto &j) { j["version"] = 1; }),
            "curve: version 1 is not supported; this tessera reads version 2; tune the program again");
  EXPECT_EQ(message([](auto &j) { j.erase("metric"); }), "curve: 'metric' is missing");
  EXPECT_EQ(message([](auto &j) { j["network"] = 3; }), "curve: 'network' is not a text");
  EXPECT_EQ(message([](auto &j) { j["confidence"] = "high"; }), "curve: 'confidence' is not a number");
  EXPECT_EQ(message([](auto &j) { j["numbers"]["rows"] = 1.5; }),
            "curve: 'numbers' is not an object of integers");
  EXPECT_EQ(message([](auto &j) { j["operations"] = 1; }), "curve: 'operations' is not a list");
  EXPECT_EQ(message([](auto &j) { j["operations"][0] = 1; }), "curve: 'operations' is not a list of objects");
  EXPECT_EQ(message([](auto &j) { j["operations"][0]["range"] = {1}; }), "curve: 'range' is not two numbers");
  EXPECT_EQ(message([](auto &j) { j["operations"][0]["knobs"]["int8"] = 1; }),
            "curve: 'knobs' is not an object of objects");
  EXPECT_EQ(message([](auto &j) { j["configurations"][1]["knobs"]["conv1"] = 1; }),
            "curve: 'knobs' is not an object of texts");
  EXPECT_EQ(message([](auto &j) { j["configurations"][1]["shipped"] = 1; }),
            "curve: 'shipped' is not true or false");
  EXPECT_EQ(message([](auto &j) { j["configurations"][2]["installed"]["batch"] = 1.5; }),
            "curve: 'batch' is not an integer");
  EXPECT_EQ(message([](auto &j) { j["tuning"] = 1; }), "curve: 'tuning' is not an object");
  EXPECT_EQ(message([](auto &j) { j["configurations"].erase(0); }),
            "curve: the first configuration is not exact");
  EXPECT_EQ(message([](auto &j) { j["configurations"][2]["name"] = "c1"; }),
            "curve: two configurations are called 'c1'");
  EXPECT_EQ(message([](auto &j) { j["chosen"] = "c9"; }),
            "curve: the chosen configuration 'c9' is not there");
}

namespace {
struct Folder : testing::Test {
  std::string path;
  void SetUp() override {
    path = testing::TempDir() + "tessera-curve-" + std::to_string(getpid());
    std::filesystem::create_directories(path);
  }
  void TearDown() override { std::filesystem::remove_all(path); }
};
} // namespace

TEST_F(Folder, CurveBelongsToOneProgram) {
  auto write = [&](const std::string &ir, const std::string &name) {
    ContainerWriter writer(ContainerKind::PortableObject, 22);
    writer.add("ir", ir);
    EXPECT_TRUE(writer.write(path + name).ok());
    return Container::open(path + name).take();
  };
  Container first = write("one", "/a.tsr"), second = write("two", "/b.tsr");
  EXPECT_FALSE(readCurve(first)->has_value());
  Curve curve = sampleCurve();
  curve.program = *programDigest(first);
  ASSERT_TRUE(writeCurve(first, curve, path + "/c.tsr").ok());
  ASSERT_TRUE(writeCurve(second, curve, path + "/d.tsr").ok());
  Container good = Container::open(path + "/c.tsr").take(), bad = Container::open(path + "/d.tsr").take();
  EXPECT_EQ(good.llvmMajor(), 22u);
  EXPECT_EQ(*good.text("ir"), "one");
  Result<std::optional<Curve>> read = readCurve(good);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ((*read)->chosen, "c2");
  EXPECT_EQ(readCurve(bad).status().message(),
            "'" + path + "/d.tsr' holds the curve of another version of the program; tune it again");
  // A second curve takes the place of the first.
  curve.chosen = "c1";
  ASSERT_TRUE(writeCurve(good, curve, path + "/c.tsr").ok());
  EXPECT_EQ((*readCurve(Container::open(path + "/c.tsr").take()))->chosen, "c1");
}

TEST_F(Folder, JournalGoesOn) {
  const std::string file = path + "/deep/journal.jsonl";
  {
    Result<Journal> journal = Journal::open(file, "key");
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    ASSERT_TRUE(journal->add("a", 1).ok());
    ASSERT_TRUE(journal->add("b", {1.5, 2}).ok());
  }
  // An interrupt in the middle of a line.
  std::string text;
  {
    auto mapped = MappedFile::open(file).take();
    text.assign(reinterpret_cast<const char *>(mapped->bytes().data()), mapped->bytes().size());
  }
  ASSERT_TRUE(writeFile(file, std::string_view(text + "[\"c\", 12")).ok());
  {
    Result<Journal> journal = Journal::open(file, "key");
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ(journal->size(), 2u);
    EXPECT_EQ(*journal->find("b"), nlohmann::json({1.5, 2}));
    EXPECT_EQ(journal->find("c"), nullptr);
    ASSERT_TRUE(journal->add("c", 3).ok());
  }
  EXPECT_EQ(Journal::open(file, "key")->size(), 3u);
  // Another program, or other options.
  EXPECT_EQ(Journal::open(file, "other")->size(), 0u);
  EXPECT_EQ(Journal::open("/proc/no/journal", "key").status().code(), StatusCode::Io);
  // The disk is full when the buffer is flushed.
  Result<Journal> full = Journal::open("/dev/full", "key");
  EXPECT_EQ(full.status().message(), "cannot write '/dev/full': No space left on device; what was measured "
                                     "before is kept there, and the same command goes on from it");
}

TEST(Goal, TakesWhatHolds) {
  Curve curve = sampleCurve();
  auto names = [&](Goal goal) {
    std::string text;
    auto within = withinGoal(curve, goal);
    for (const Configuration *c : *within)
      text += c->name + " ";
    return text;
  };
  EXPECT_EQ(names({1.0, {}}), "baseline c1 ");
  EXPECT_EQ(names({2.0, {}}), "baseline c1 c2 ");
  EXPECT_EQ(names({0.0, {}}), "baseline ");
  EXPECT_EQ(names({{}, 98.0}), "baseline c1 ");
  EXPECT_EQ(
      withinGoal(curve, {{}, 99.5}).status().message(),
      "--min-quality: expected at most 99.25, the top-1 of the exact program on 4000 samples, but got 99.50");
  EXPECT_EQ(
      nearestMiss(curve, {0.1, {}}),
      "'c1' comes nearest to the goal: 0.10 points lost on 4000 samples, below 0.40 with 95 % confidence");
  EXPECT_EQ(nearestMiss(curve, {5.0, {}}), "");
}

TEST(Goal, FrontIsFasterThanAllMoreExact) {
  auto cost = [](double us) { return Cost{us, {100 / us, 0, 0}, {1, 1, 1}, "modelled"}; };
  const Cost costs[] = {cost(100), cost(60), cost(59.5), cost(70), cost(30)};
  EXPECT_EQ(trueFront(costs), (std::vector<size_t>{0, 1, 4}));
  EXPECT_EQ(trueFront(std::span(costs).first(4)), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(trueFront(std::span(costs).first(1)), (std::vector<size_t>{0}));
}

TEST(CurveFile, OfAnInstalledProgram) {
  ContainerWriter writer(ContainerKind::InstalledProgram);
  writer.add("plan", "{}");
  std::string bytes = writer.bytes();
  EXPECT_EQ(programDigest(*Container::parse(std::as_bytes(std::span(bytes)), "a.tsx")).status().message(),
            "'a.tsx' is no portable object (.tsr); make one with 'tessera compile'");
}

TEST(Journal, WithoutItsFolder) {
  EXPECT_EQ(Journal::open("/dev/null/x/journal", "key").status().message(),
            "cannot create the folder of '/dev/null/x/journal': Not a directory");
}
