// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Watches what a running program's speed depends on: the time of batches and nodes, and the processor's
// frequency, temperature, power, quota and load as far as the machine shows them. It says in words what has
// changed, so that an adaptation can be logged with its cause.
#pragma once

#include "tessera/runtime/control/Controller.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/trace/Profile.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// The machine at one moment; what could not be read is empty.
struct Conditions {
  std::optional<double> mhz;     ///< mean over the processors
  std::optional<double> celsius; ///< the hottest zone
  std::optional<double> watts;   ///< of the packages, since the reading before
  std::optional<double> quota;   ///< processors that this control group may use; the number of them: no limit
  std::optional<double> throttled; ///< share of time that the group had to wait for its quota
  std::optional<double> others;    ///< processors that were busy with other programs
  std::optional<double> stolen;    ///< processors that other virtual machines took

  /// As JSON, readable fields only.
  std::string json() const;
};

/// What in `now` explains another speed than in `before`: "the quota fell from 2.0 to 1.0 processors"; ""
/// when nothing has changed by much.
std::string describeChange(const Conditions &before, const Conditions &now);

class Monitor {
public:
  /// Reads under `root` + /proc and /sys, at most every `intervalMs`: readings cost some microseconds each.
  explicit Monitor(std::string root = "", double intervalMs = 50);

  /// The conditions, read anew when the last reading is old enough. `now` in nanoseconds.
  const Conditions &sample(uint64_t now);
  /// "temperature: no zone in /sys/class/thermal", one line for each thing that cannot be read.
  const std::vector<std::string> &absent() const { return missing; }

  /// What a batch took and, of a profiled program, its nodes.
  void batch(double ms, std::span<const NodeProfile> nodes = {});
  /// The smoothed time of a batch, of node `n` in it; 0 before the first.
  double batchMs() const { return meanBatchMs; }
  double nodeMs(size_t n) const { return n < nodeTimes.size() ? nodeTimes[n].meanMs : 0; }

  /// Tells the controller what has changed since it was last told. True when something has.
  bool inform(Controller &controller, uint64_t now);

private:
  struct NodeTime {
    uint64_t count = 0, totalNs = 0;
    double meanMs = 0;
  };
  struct Group { ///< a control group with a quota file
    std::string folder;
    bool second; ///< version 2 of the interface
  };
  void findGroups();
  std::optional<double> readFrequency() const;
  std::optional<double> readTemperature() const;
  std::optional<double> readQuota() const;
  std::optional<double> readThrottledNs() const;
  void readLoad(double elapsed);

  std::string root;
  double intervalNs;
  std::vector<std::string> frequencyFiles, temperatureFiles, missing;
  std::vector<Group> groups; ///< ours first, then those around it
  double processors = 1, ticks = 100;
  EnergyCounter energy;

  Conditions current, told;
  bool first = true, informed = false;
  uint64_t lastSample = 0;
  std::optional<double> lastJoules, lastThrottled, lastBusy, lastOwn, lastStolen;
  double meanBatchMs = 0;
  std::vector<NodeTime> nodeTimes;
};

/// One line of JSON for the log: the adaptation, and the machine when it happened.
std::string adaptationLine(const Adaptation &adaptation, const Conditions &conditions, double batchMs);

} // namespace tessera
