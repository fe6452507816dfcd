// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/control/Monitor.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace tessera;

namespace {
/// A made-up /proc and /sys.
struct FakeMachine {
  std::string root =
      ::testing::TempDir() + "machine-" + std::to_string(getpid()) + "-" + std::to_string(next());
  ~FakeMachine() { std::filesystem::remove_all(root); }
  static int next() {
    static int count = 0;
    return ++count;
  }
  void put(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text << "\n";
  }
  void frequency(int mhz) {
    for (const char *cpu : {"cpu0", "cpu1"})
      put(std::string("/sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_cur_freq",
          std::to_string(mhz * 1000));
  }
  /// Seconds of work, with 100 ticks each.
  void load(double busy, double own, double stolen) {
    const long tick = sysconf(_SC_CLK_TCK);
    std::string ticks = std::to_string(long(busy * tick));
    put("/proc/stat", "cpu  " + ticks + " 0 0 777 5 0 0 " + std::to_string(long(stolen * tick)) +
                          " 0 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5");
    put("/proc/self/stat",
        "42 (a ) b) R 1 2 3 4 5 6 7 8 9 10 " + std::to_string(long(own * tick)) + " 0 0 0 20");
  }
  void package(double joules) {
    put("/sys/class/powercap/intel-rapl:0/name", "package-0");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", std::to_string(long(joules * 1e6)));
    put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000");
    put("/sys/class/powercap/intel-rapl:0:0/name", "core");
    put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "7");
  }
};
} // namespace

TEST(Monitor, ReadsWhatAMachineShows) {
  FakeMachine machine;
  machine.frequency(2600);
  machine.put("/sys/class/thermal/thermal_zone0/temp", "51000");
  machine.put("/sys/class/thermal/thermal_zone1/temp", "64500");
  machine.load(10, 2, 0);
  machine.package(100);
  machine.put("/proc/self/cgroup", "0::/user/job");
  machine.put("/sys/fs/cgroup/user/job/cpu.max", "max 100000");
  machine.put("/sys/fs/cgroup/user/cpu.max", "150000 100000");
  machine.put("/sys/fs/cgroup/user/cpu.stat", "usage_usec 5\nthrottled_usec 1000");
  Monitor monitor(machine.root, 50);
  EXPECT_TRUE(monitor.absent().empty()) << monitor.absent()[0];
  Conditions c = monitor.sample(0);
  EXPECT_EQ(c.mhz, 2600);
  EXPECT_EQ(c.celsius, 64.5);
  EXPECT_EQ(c.quota, 1.5); // the group around ours is tighter
  EXPECT_FALSE(c.watts || c.throttled || c.others || c.stolen) << "rates need two readings";

  machine.load(10.18, 2.08, 0.02);
  machine.package(107);
  machine.put("/sys/fs/cgroup/user/cpu.stat", "usage_usec 5\nthrottled_usec 31000");
  EXPECT_FALSE(monitor.sample(49'000'000).watts) << "too early to read again";
  c = monitor.sample(100'000'000);
  EXPECT_NEAR(*c.watts, 70, 1e-6);
  EXPECT_NEAR(*c.throttled, 0.3, 1e-9);
  EXPECT_NEAR(*c.others, 1.0, 1e-6);
  EXPECT_NEAR(*c.stolen, 0.2, 1e-6);
  EXPECT_EQ(nlohmann::json::parse(c.json())["celsius"], 64.5);
}

TEST(Monitor, ReadsTheFirstControlGroups) {
  FakeMachine machine;
  machine.load(0, 0, 0);
  machine.put("/proc/self/cgroup", "4:memory:/x\n2:cpu,cpuacct:/job");
  machine.put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
  machine.put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
  machine.put("/sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 0\nthrottled_time 0");
  Monitor monitor(machine.root, 0);
  EXPECT_EQ(monitor.sample(0).quota, 2) << "no limit: all processors";
  machine.put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "2500");
  machine.put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "5000");
  machine.put("/sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 9\nthrottled_time 4000000");
  Conditions c = monitor.sample(10'000'000);
  EXPECT_EQ(c.quota, 0.5);
  EXPECT_NEAR(*c.throttled, 0.4, 1e-9);
}

TEST(Monitor, ReadsTheFrequencyOfProc) {
  FakeMachine machine;
  machine.put("/proc/cpuinfo", "processor: 0\ncpu MHz\t\t: 2000.5\nprocessor: 1\ncpu MHz\t\t: 3000.5");
  EXPECT_EQ(Monitor(machine.root).sample(0).mhz, 2500.5);
}

TEST(Monitor, SaysWhatIsAbsent) {
  FakeMachine machine;
  Monitor monitor(machine.root);
  const std::string &root = machine.root;
  EXPECT_EQ(monitor.absent(), (std::vector<std::string>{
                                  "load: " + root + "/proc/stat may not be read",
                                  "frequency: neither cpufreq nor /proc/cpuinfo tells it",
                                  "temperature: no zone in " + root + "/sys/class/thermal",
                                  "power: no counter in " + root + "/sys/class/powercap",
                                  "quota: no control group of the processor in " + root + "/sys/fs/cgroup"}));
  EXPECT_EQ(monitor.sample(0).json(), "{}");
  EXPECT_EQ(monitor.sample(1'000'000'000).json(), "{}");
}

TEST(Monitor, ThisMachineCanBeRead) {
  Monitor monitor("", 0);
  monitor.sample(1);
  Conditions c = monitor.sample(1'000'000'001);
  if (c.quota) {
    EXPECT_GT(*c.quota, 0);
  }
  if (c.mhz) {
    EXPECT_GT(*c.mhz, 1);
  }
}

TEST(Monitor, DescribesChanges) {
  Conditions a, b;
  a.quota = 2, b.quota = 1;
  a.mhz = 2600, b.mhz = 2590;
  a.celsius = 60, b.celsius = 92;
  EXPECT_EQ(describeChange(a, b),
            "the quota fell from 2.00 to 1.00 processors, the temperature rose from 60 to 92 C");
  b.quota = 2, b.mhz = 1300;
  EXPECT_EQ(describeChange(a, b),
            "the frequency fell from 2600 to 1300 MHz, the temperature rose from 60 to 92 C");
  b.mhz = 2600;
  EXPECT_EQ(describeChange(a, b), "") << "heat alone slows nothing";
  a.others = 0.1, b.others = 1.9;
  a.celsius.reset();
  EXPECT_EQ(describeChange(a, b), "the load of other programs rose from 0.1 to 1.9 processors");
}

TEST(Monitor, TimesBatchesAndNodes) {
  Monitor monitor("/nowhere");
  std::vector<NodeProfile> nodes(2);
  nodes[0].count = 1, nodes[0].totalNs = 3'000'000;
  nodes[1].count = 2, nodes[1].totalNs = 4'000'000;
  monitor.batch(10, nodes);
  EXPECT_EQ(monitor.batchMs(), 10);
  EXPECT_EQ(monitor.nodeMs(0), 3);
  EXPECT_EQ(monitor.nodeMs(1), 2);
  nodes[0].count = 2, nodes[0].totalNs = 9'000'000; // the second run took 6 ms
  monitor.batch(20, nodes);
  EXPECT_NEAR(monitor.batchMs(), 11.5, 1e-12);
  EXPECT_NEAR(monitor.nodeMs(0), 3.45, 1e-12);
  EXPECT_EQ(monitor.nodeMs(1), 2);
  EXPECT_EQ(monitor.nodeMs(7), 0);
}

TEST(Monitor, AnAdaptationIsLoggedWithItsCause) {
  FakeMachine machine;
  machine.load(0, 0, 0);
  machine.put("/proc/self/cgroup", "1:cpu:/");
  machine.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  machine.put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "5000");
  Monitor monitor(machine.root, 50);
  auto controller = Controller::create({{0, 10, 0}, {0.01, 4, 0}}, {ControlGoal::Deadline, 12});
  ASSERT_TRUE(controller.ok());
  uint64_t now = 0;
  auto run = [&](double slowness) {
    size_t point = controller->choose();
    double ms = (point ? 4 : 10) * slowness;
    now += uint64_t(ms * 1e6);
    monitor.batch(ms);
    monitor.inform(*controller, now);
    controller->observe(point, ms);
    return point;
  };
  for (int b = 0; b < 20; ++b)
    EXPECT_EQ(run(1), 0u);
  machine.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "5000");
  // A change that the monitor has seen needs one batch, not two.
  for (int b = 0; b < 4; ++b)
    run(2);
  EXPECT_EQ(controller->choose(), 1u);
  ASSERT_EQ(controller->adaptations().size(), 2u);
  const std::string line =
      adaptationLine(controller->adaptations()[1], monitor.sample(now), monitor.batchMs());
  auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["cause"], "the machine has become slower: the quota fell from 2.00 to 1.00 processors");
  EXPECT_EQ(json["from"], 0);
  EXPECT_EQ(json["to"], 1);
  EXPECT_EQ(json["conditions"]["quota"], 1);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Energy, CountsPackagesAndWraps) {
  FakeMachine machine;
  machine.package(999);
  machine.put("/sys/class/powercap/intel-rapl:1/name", "package-1");
  machine.put("/sys/class/powercap/intel-rapl:1/energy_uj", "5000000");
  machine.put("/sys/class/powercap/psys/name", "psys");
  machine.put("/sys/class/powercap/psys/energy_uj", "1");
  EnergyMeter meter(machine.root);
  meter.begin();
  machine.package(2); // wrapped at 1,000 J: 3 J
  machine.put("/sys/class/powercap/intel-rapl:1/energy_uj", "5500000");
  EnergyReading reading = meter.end(1e9, 1e9, 1, 2);
  EXPECT_TRUE(reading.measured);
  EXPECT_STREQ(reading.source(), "measured");
  EXPECT_NEAR(reading.joules, 3.5, 1e-9);
}

TEST(Energy, ModelsWhereNothingCanBeRead) {
  FakeMachine machine;
  EnergyModel model{2e-11, 1e-10, 3};
  EnergyMeter meter(machine.root, model);
  meter.begin();
  EnergyReading reading = meter.end(1e9, 1e8, 0.5, 2);
  EXPECT_FALSE(reading.measured);
  EXPECT_STREQ(reading.source(), "modelled");
  EXPECT_NEAR(reading.joules, 0.02 + 0.01 + 3, 1e-12);
  EXPECT_EQ(reading.note, "no counter in " + machine.root +
                              "/sys/class/powercap; 20 pJ a flop, 100 pJ a byte, 3 W a thread");
}

TEST(Energy, ACounterThatStandsStillIsNone) {
  FakeMachine machine;
  machine.package(5);
  EnergyMeter meter(machine.root);
  meter.begin();
  EnergyReading reading = meter.end(0, 0, 1, 1);
  EXPECT_FALSE(reading.measured);
  EXPECT_TRUE(reading.note.starts_with("the counter does not advance; ")) << reading.note;
}

TEST(Energy, SaysThatACounterMayNotBeRead) {
  FakeMachine machine;
  machine.put("/sys/class/powercap/intel-rapl:0/name", "package-0");
  // The kernel refuses ordinary users; a folder in its place refuses root too.
  std::filesystem::create_directories(machine.root + "/sys/class/powercap/intel-rapl:0/energy_uj");
  EnergyCounter counter(machine.root);
  EXPECT_FALSE(counter.joules());
  EXPECT_EQ(counter.absence(), machine.root + "/sys/class/powercap/intel-rapl:0/energy_uj may not be read");
}
