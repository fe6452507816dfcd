// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/control/Energy.h"

#include "tessera/runtime/control/SystemFile.h"

#include <cstdio>
#include <filesystem>

namespace tessera {

EnergyCounter::EnergyCounter(const std::string &root) {
  // Zones are named intel-rapl:0 also on AMD; intel-rapl:0:1 is a part of it, and would count twice. psys
  // holds the packages.
  const std::string folder = root + "/sys/class/powercap";
  std::error_code error;
  bool seen = false;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string zone = entry.path().string();
    const std::optional<std::string> name = readSystemFile(zone + "/name");
    if (!name || !name->starts_with("package"))
      continue;
    seen = true;
    const std::string file = zone + "/energy_uj";
    const std::optional<double> now = readSystemNumber(file);
    if (!now) {
      domains.clear();
      reason = file + " may not be read";
      return;
    }
    domains.push_back({file, *now, readSystemNumber(zone + "/max_energy_range_uj").value_or(0)});
  }
  if (!seen)
    reason = "no counter in " + folder;
}

std::optional<double> EnergyCounter::joules() {
  if (domains.empty())
    return std::nullopt;
  for (Domain &domain : domains) {
    const std::optional<double> now = readSystemNumber(domain.file);
    if (!now) {
      reason = domain.file + " may not be read";
      domains.clear();
      return std::nullopt;
    }
    double step = *now - domain.last;
    if (step < 0)
      step += domain.range;
    total += step * 1e-6;
    domain.last = *now;
  }
  return total;
}

std::string EnergyModel::describe() const {
  char text[128];
  std::snprintf(text, sizeof text, "%g pJ a flop, %g pJ a byte, %g W a thread", joulesPerFlop * 1e12,
                joulesPerByte * 1e12, wattsPerThread);
  return text;
}

void EnergyMeter::begin() { start = counter.joules(); }

EnergyReading EnergyMeter::end(double flops, double bytes, double seconds, unsigned threads) {
  const std::optional<double> now = counter.joules();
  if (start && now && *now > *start)
    return {*now - *start, true, ""};
  const std::string why = start && now ? "the counter does not advance" : counter.absence();
  return {energyModel.joules(flops, bytes, seconds, threads), false, why + "; " + energyModel.describe()};
}

} // namespace tessera
