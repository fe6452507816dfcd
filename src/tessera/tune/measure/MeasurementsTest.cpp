// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/measure/Measurements.h"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tessera;
using namespace tessera::tune;

static Measurements sample() {
  return {"digest",
          "a machine",
          {{"baseline", {100, {1, 1, 1}, {2, 2, 2}, "modelled"}},
           {"c1", {50, {2, 1.9, 2.1}, {1, 0.9, 1.1}, "measured"}}}};
}

TEST(Measurements, RoundTrip) {
  Result<Measurements> read = parseMeasurements(measurementsJson(sample()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->program, "digest");
  EXPECT_EQ(read->machine, "a machine");
  EXPECT_EQ(read->costs.at("c1").microseconds, 50);
  EXPECT_EQ(read->costs.at("c1").speedup.low, 1.9);
  EXPECT_EQ(read->costs.at("c1").joules.high, 1.1);
  EXPECT_EQ(read->costs.at("c1").energySource, "measured");
}

TEST(Measurements, RefusesWhatItCannotRead) {
  auto message = [](const std::function<void(nlohmann::json &)> &change) {
    nlohmann::json json = nlohmann::json::parse(measurementsJson(sample()));
    change(json);
    return parseMeasurements(json.dump()).status().message();
  };
  EXPECT_EQ(parseMeasurements("[").status().message(), "measurements: not a JSON object");
  EXPECT_EQ(message([](auto &j) { j["version"] = 1; }), "measurements: 'version' 2 is missing or wrong");
  EXPECT_EQ(message([](auto &j) { j.erase("machine"); }),
            "measurements: 'program' or 'machine' is missing or wrong");
  EXPECT_EQ(message([](auto &j) { j["configurations"] = 1; }),
            "measurements: 'configurations' is missing or wrong");
  EXPECT_EQ(message([](auto &j) { j["configurations"]["c1"]["time_us"] = 0; }),
            "measurements: the cost of a configuration is missing or wrong");
  EXPECT_EQ(message([](auto &j) { j["configurations"]["c1"]["speedup"] = {1, 2}; }),
            "measurements: the cost of a configuration is missing or wrong");
  EXPECT_EQ(message([](auto &j) { j["configurations"].erase("baseline"); }),
            "measurements: 'baseline' is missing or wrong");
}

// A machine that is busy or slower says how much faster a configuration is, not how fast.
TEST(Measurements, AddUpAsShares) {
  Measurements all;
  addMeasurements(all, sample());
  addMeasurements(all, {"digest",
                        "a machine",
                        {{"baseline", {200, {1, 1, 1}, {2, 2, 2}, "modelled"}},
                         {"c2", {80, {2.5, 2, 3}, {1, 1, 1}, "modelled"}}}});
  EXPECT_EQ(all.costs.at("baseline").microseconds, 100);
  EXPECT_EQ(all.costs.at("c1").microseconds, 50);
  EXPECT_EQ(all.costs.at("c2").microseconds, 40);
  EXPECT_EQ(all.costs.at("c2").speedup.value, 2.5);
}

TEST(Measurements, Parts) {
  std::vector<Configuration> configurations(8);
  std::vector<const Configuration *> within;
  for (Configuration &c : configurations)
    within.push_back(&c);
  std::vector<int> seen(8);
  for (int64_t part : {1, 2, 3})
    for (const Configuration *c : partOf(within, part, 3))
      ++seen[static_cast<size_t>(c - configurations.data())];
  EXPECT_EQ(seen, (std::vector<int>{3, 1, 1, 1, 1, 1, 1, 1}));
}
