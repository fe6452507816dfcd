// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a stretch of work cost in joules: by the processor's own counters (RAPL, read through powercap) where
// they can be read and advance, otherwise by a stated model. Each figure says which of the two it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// The energy of all processor packages, including what other programs use.
class EnergyCounter {
public:
  /// Looks for counters under `root` + /sys/class/powercap.
  explicit EnergyCounter(const std::string &root = "");

  /// Joules since this object was made; the counters' wrapping is taken care of as long as this is called
  /// more often than they wrap (minutes). Nothing when they cannot be read.
  std::optional<double> joules();
  /// Why there is no counter: "no counter in /sys/class/powercap", "... may not be read".
  const std::string &absence() const { return reason; }

private:
  struct Domain {
    std::string file;
    double last, range; ///< microjoules
  };
  std::vector<Domain> domains;
  double total = 0;
  std::string reason;
};

/// Energy of a processor by arithmetic, memory traffic and time. Figures of a model, not of this machine.
struct EnergyModel {
  double joulesPerFlop = 5e-11;
  double joulesPerByte = 2e-10;
  double wattsPerThread = 2; ///< While the program runs, whatever it does.

  double joules(double flops, double bytes, double seconds, unsigned threads) const {
    return flops * joulesPerFlop + bytes * joulesPerByte + seconds * threads * wattsPerThread;
  }
  /// The figures in words.
  std::string describe() const;
};

struct EnergyReading {
  double joules = 0;
  bool measured = false;
  std::string note; ///< For a model: why nothing was measured, and the model's figures.
  const char *source() const { return measured ? "measured" : "modelled"; }
};

/// Measures from begin() to end().
class EnergyMeter {
public:
  explicit EnergyMeter(const std::string &root = "", EnergyModel model = {})
      : counter(root), energyModel(model) {}
  void begin();
  /// `flops` and `bytes` are those of the whole stretch, for the model. A counter that stood still counts as
  /// none: virtual machines show such ones.
  EnergyReading end(double flops, double bytes, double seconds, unsigned threads);

private:
  EnergyCounter counter;
  EnergyModel energyModel;
  std::optional<double> start;
};

} // namespace tessera
