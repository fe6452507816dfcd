// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/control/Monitor.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Json.h"
#include "tessera/runtime/control/SystemFile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace tessera {

static std::vector<std::string> filesNamed(const std::string &folder, const std::string &prefix,
                                           const std::string &file) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix) &&
        readSystemNumber(entry.path().string() + file))
      found.push_back(entry.path().string() + file);
  std::sort(found.begin(), found.end());
  return found;
}

Monitor::Monitor(std::string root, double intervalMs)
    : root(root), intervalNs(intervalMs * 1e6), ticks(double(sysconf(_SC_CLK_TCK))), energy(root) {
  frequencyFiles = filesNamed(root + "/sys/devices/system/cpu", "cpu", "/cpufreq/scaling_cur_freq");
  temperatureFiles = filesNamed(root + "/sys/class/thermal", "thermal_zone", "/temp");
  if (std::optional<std::string> stat = readSystemFile(root + "/proc/stat")) {
    std::istringstream lines(*stat);
    double count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.starts_with("cpu") && line.size() > 3 && line[3] != ' ';
    processors = std::max(count, 1.0);
  } else {
    missing.push_back("load: " + root + "/proc/stat may not be read");
  }
  findGroups();
  if (!readFrequency())
    missing.push_back("frequency: neither cpufreq nor /proc/cpuinfo tells it");
  if (temperatureFiles.empty())
    missing.push_back("temperature: no zone in " + root + "/sys/class/thermal");
  if (!energy.joules())
    missing.push_back("power: " + energy.absence());
  if (groups.empty())
    missing.push_back("quota: no control group of the processor in " + root + "/sys/fs/cgroup");
}

// Our control group and those around it, up to the root: the tightest quota of them counts. In a container
// the path of /proc may lie outside what is mounted; then what is mounted is what we see.
void Monitor::findGroups() {
  std::istringstream lines(readSystemFile(root + "/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (one == std::string::npos || two == std::string::npos)
      continue;
    const std::string controllers = "," + line.substr(one + 1, two - one - 1) + ",";
    const bool second = line.starts_with("0::");
    if (!second && controllers.find(",cpu,") == std::string::npos)
      continue;
    std::vector<std::string> mounts = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    if (second)
      mounts = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (const std::string &mount : mounts)
      for (std::string path = line.substr(two + 1);; path.erase(path.rfind('/'))) {
        const std::string folder = root + mount + (path == "/" ? "" : path);
        if (readSystemFile(folder + (second ? "/cpu.max" : "/cpu.cfs_quota_us")))
          groups.push_back({folder, second});
        if (path.empty() || path == "/" || path.find('/') == std::string::npos)
          break;
      }
  }
}

std::optional<double> Monitor::readFrequency() const {
  double sum = 0, count = 0;
  for (const std::string &file : frequencyFiles)
    if (std::optional<double> khz = readSystemNumber(file))
      sum += *khz / 1000, ++count;
  if (count)
    return sum / count;
  std::istringstream lines(readSystemFile(root + "/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("cpu MHz"))
      sum += std::strtod(line.c_str() + line.find(':') + 1, nullptr), ++count;
  return count ? std::optional(sum / count) : std::nullopt;
}

std::optional<double> Monitor::readTemperature() const {
  std::optional<double> hottest;
  for (const std::string &file : temperatureFiles)
    if (std::optional<double> thousandths = readSystemNumber(file))
      hottest = std::max(hottest.value_or(-273), *thousandths / 1000);
  return hottest;
}

std::optional<double> Monitor::readQuota() const {
  std::optional<double> tightest;
  for (const Group &group : groups) {
    double allowed = processors;
    if (group.second) {
      // "100000 50000", or "max 100000" without a limit.
      std::istringstream text(readSystemFile(group.folder + "/cpu.max").value_or(""));
      double quota = 0, period = 0;
      if (text >> quota >> period && period > 0)
        allowed = quota / period;
    } else {
      const double quota = readSystemNumber(group.folder + "/cpu.cfs_quota_us").value_or(-1);
      const double period = readSystemNumber(group.folder + "/cpu.cfs_period_us").value_or(0);
      if (quota > 0 && period > 0)
        allowed = quota / period;
    }
    tightest = std::min(tightest.value_or(processors), allowed);
  }
  return tightest;
}

std::optional<double> Monitor::readThrottledNs() const {
  std::optional<double> total;
  for (const Group &group : groups) {
    std::istringstream lines(readSystemFile(group.folder + "/cpu.stat").value_or(""));
    std::string name;
    double value = 0;
    while (lines >> name >> value)
      if (name == "throttled_time" || name == "throttled_usec")
        total = total.value_or(0) + value * (name == "throttled_usec" ? 1000 : 1);
  }
  return total;
}

// Time that processors spent on others: all that was not idle, without what this process had.
void Monitor::readLoad(double elapsed) {
  std::istringstream stat(readSystemFile(root + "/proc/stat").value_or(""));
  std::string word;
  double user, nice, system, idle, wait, irq, softirq, stolen;
  if (!(stat >> word >> user >> nice >> system >> idle >> wait >> irq >> softirq >> stolen))
    return;
  const double busy = (user + nice + system + irq + softirq) / ticks;
  stolen /= ticks;
  // The name of the program, field 2, is in brackets and may hold anything.
  const std::string self = readSystemFile(root + "/proc/self/stat").value_or("");
  std::istringstream fields(self.substr(std::min(self.size(), self.rfind(')') + 1)));
  for (int i = 3; i < 14; ++i)
    fields >> word;
  double own = 0, ownSystem = 0;
  if (fields >> own >> ownSystem)
    own = (own + ownSystem) / ticks;
  if (lastBusy && elapsed > 0) {
    current.others = std::clamp((busy - *lastBusy - (own - *lastOwn)) / elapsed, 0.0, processors);
    current.stolen = std::clamp((stolen - *lastStolen) / elapsed, 0.0, processors);
  }
  lastBusy = busy, lastOwn = own, lastStolen = stolen;
}

const Conditions &Monitor::sample(uint64_t now) {
  const double elapsedNs = double(now - lastSample);
  if (!first && elapsedNs < intervalNs)
    return current;
  const double elapsed = first ? 0 : elapsedNs * 1e-9;
  current.mhz = readFrequency();
  current.celsius = readTemperature();
  current.quota = readQuota();
  const std::optional<double> joules = energy.joules(), throttled = readThrottledNs();
  if (joules && lastJoules && elapsed > 0)
    current.watts = (*joules - *lastJoules) / elapsed;
  if (throttled && lastThrottled && elapsed > 0)
    current.throttled = std::clamp((*throttled - *lastThrottled) / elapsedNs, 0.0, 1.0);
  lastJoules = joules, lastThrottled = throttled;
  readLoad(elapsed);
  first = false;
  lastSample = now;
  return current;
}

void Monitor::batch(double ms, std::span<const NodeProfile> nodes) {
  constexpr double weight = 0.15;
  meanBatchMs = meanBatchMs > 0 ? meanBatchMs + weight * (ms - meanBatchMs) : ms;
  nodeTimes.resize(std::max(nodeTimes.size(), nodes.size()));
  for (size_t n = 0; n < nodes.size(); ++n) {
    NodeTime &time = nodeTimes[n];
    if (nodes[n].count <= time.count)
      continue;
    const double mean = double(nodes[n].totalNs - time.totalNs) / double(nodes[n].count - time.count) * 1e-6;
    time.meanMs = time.count ? time.meanMs + weight * (mean - time.meanMs) : mean;
    time.count = nodes[n].count, time.totalNs = nodes[n].totalNs;
  }
}

bool Monitor::inform(Controller &controller, uint64_t now) {
  sample(now);
  if (!informed) {
    told = current;
    informed = true;
    return false;
  }
  const std::string change = describeChange(told, current);
  if (change.empty())
    return false;
  // A quota is a fact; the other readings scatter from one short interval to the next.
  const bool certain = told.quota && current.quota && std::fabs(*told.quota - *current.quota) > 0.05;
  controller.conditionsChanged(change, certain);
  told = current;
  return true;
}

std::string describeChange(const Conditions &before, const Conditions &now) {
  std::string text;
  auto say = [&](const char *what, const std::optional<double> &a, const std::optional<double> &b,
                 double least, double share, const char *unit, int digits) {
    if (!a || !b || std::fabs(*b - *a) < std::max(least, share * std::fabs(*a)))
      return;
    text += concat(text.empty() ? "" : ", ", what, *b < *a ? " fell" : " rose", " from ",
                   formatFixed(*a, digits), " to ", formatFixed(*b, digits), unit);
  };
  say("the quota", before.quota, now.quota, 0.05, 0.05, " processors", 2);
  say("the frequency", before.mhz, now.mhz, 50, 0.1, " MHz", 0);
  say("the load of other programs", before.others, now.others, 0.4, 0, " processors", 1);
  say("what other machines take", before.stolen, now.stolen, 0.3, 0, " processors", 1);
  say("the share of time without quota", before.throttled, now.throttled, 0.2, 0, "", 2);
  // Heat and power are no causes by themselves; they are worth a line when they explain a frequency.
  if (!text.empty())
    say("the temperature", before.celsius, now.celsius, 5, 0, " C", 0);
  return text;
}

std::string Conditions::json() const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  auto put = [&](const char *name, const std::optional<double> &value) {
    if (value)
      object[name] = std::round(*value * 1000) / 1000;
  };
  put("mhz", mhz);
  put("celsius", celsius);
  put("watts", watts);
  put("quota", quota);
  put("throttled", throttled);
  put("others", others);
  put("stolen", stolen);
  return dumpJson(object);
}

std::string adaptationLine(const Adaptation &adaptation, const Conditions &conditions, double batchMs) {
  nlohmann::ordered_json object;
  object["batch"] = adaptation.batch;
  object["from"] = adaptation.from;
  object["to"] = adaptation.to;
  object["scale"] = std::round(adaptation.scale * 1000) / 1000;
  object["batch_ms"] = std::round(batchMs * 1000) / 1000;
  object["cause"] = adaptation.cause;
  object["conditions"] = parseJson(conditions.json());
  return dumpJson(object);
}

} // namespace tessera
