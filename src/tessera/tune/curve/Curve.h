// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trade-off curve of a program: what tuning found out, as stored in the section `curve` of portable
// objects and installed programs (docs/formats.md). Qualities and losses are in the metric's unit: points of
// a percentage for accuracies, decibels for PSNR.
#pragma once

#include "tessera/base/Status.h"
#include "tessera/tune/metrics/Statistics.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::tune {

inline constexpr int curveVersion = 2;

/// An operation under one knob, all others exact.
struct KnobRecord {
  std::string knob;
  double qualityChange = 0; ///< negative: worse
  double error = 0;         ///< of the operation's own result: ‖A−G‖₂ / ‖G‖₂
  double microseconds = 0;  ///< where the tuner ran; 0: not measured
};

struct CurveOperation {
  std::string name, kind, shape;
  double flops = 0, microseconds = 0; ///< of one sample; of a batch, exact
  std::optional<std::pair<float, float>> range;
  std::vector<KnobRecord> knobs;
};

struct Configuration {
  std::string name;                         ///< "c3"; "baseline" is exact
  std::map<std::string, std::string> knobs; ///< operation → knob, where it is not exact
  struct Predicted {
    double quality = 0, low = 0, high = 0;
    double cost = 1; ///< of the cost model's time for the exact program
  } predicted;
  /// On samples that the search did not see; `loss` is paired with the exact answers, and stays below
  /// `lossHigh` with the stated confidence, and above `lossLow`.
  struct Measured {
    double quality = 0, low = 0, high = 0, loss = 0, lossHigh = 0;
    int64_t count = 0;
    double lossLow = 0;
  };
  std::optional<Measured> measured;
  /// Where it was installed: a launch of the whole program, `batch` samples at once. All times have one
  /// basis, the exact program's at best: those of others are it over their speedup, and those of operations
  /// their share of the launch.
  struct Installed {
    double microseconds = 0;
    Estimate speedup{1, 1, 1}, joules;
    int64_t batch = 1;
    std::string energySource;
    unsigned threads = 1;
    std::map<std::string, double> shares{}; ///< of operations with nodes of their own; the rest is elsewhere
  };
  std::optional<Installed> installed;
  bool shipped = false;
};

struct Curve {
  std::string program; ///< SHA-256 (hexadecimal) of the IR that it belongs to
  std::string network; ///< the graph's name
  std::string metric = "top-1", data;
  /// Of programs that are no networks: the shapes of inputs that times are measured with.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// And the integers among them, such as numbers of rows.
  std::map<std::string, int64_t> numbers;
  double confidence = 0.95;
  double baselineQuality = 0;
  int64_t baselineCount = 0;
  std::vector<CurveOperation> operations;
  std::vector<Configuration> configurations; ///< ordered by loss; the first one is the baseline
  std::string chosen;                        ///< the configuration that runs by default
  struct Tuning {
    uint64_t seed = 1;
    int64_t images = 0, validated = 0, evaluations = 0, batch = 16;
    int64_t skip = 0; ///< samples of the data in front of those that were used
    double profileSeconds = 0, searchSeconds = 0, validateSeconds = 0;
    double predictionError = 0; ///< mean |predicted - measured| on the samples of the search
    double scale = 1;           ///< of the outputs' changes (Predict.h), fitted
    bool isCut = false;         ///< the run was cut short; not stored in files
  } tuning;

  const Configuration *find(std::string_view name) const;
  /// The program of an installed file that runs a configuration.
  std::string programName(const Configuration &configuration) const {
    return configuration.knobs.empty() ? network : network + "@" + configuration.name;
  }
};

/// Reads a curve; damaged or unknown content is refused with a reason.
Result<Curve> parseCurve(std::string_view text);
std::string curveJson(const Curve &curve);

} // namespace tessera::tune
