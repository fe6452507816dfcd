// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metrics of one program: one for each output that is judged, or one of the user's own over all of them.
#pragma once

#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/plan/Plan.h"
#include "tessera/tune/metrics/Metrics.h"

#include <memory>
#include <optional>

namespace tessera::tune {

/// One output, converted to f32.
struct OutputArray {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};
/// The outputs of a launch, under the names that the plan gives them.
Result<std::vector<OutputArray>> readOutputs(const ProgramPlan &plan, std::span<const BufferRef> outputs);

/// A function of the user's: a shared library with the interface of tessera/metric.h, or a Python file whose
/// function `metric(got, golden)` takes two dictionaries from names to NumPy arrays and returns a number; its
/// variable `higher_is_better` is False for an error. Python runs in a process of its own.
class UserMetric {
public:
  virtual ~UserMetric() = default;
  static Result<std::shared_ptr<UserMetric>> open(const std::string &path);
  virtual Result<double> evaluate(std::span<const OutputArray> got, std::span<const OutputArray> golden) = 0;
  bool higherIsBetter = true;
};

class MetricSet {
public:
  struct Item {
    std::string name;   ///< as it was written, without its bound: "filtered=psnr"
    std::string output; ///< "" for a function of the user's, which sees all
    MetricKind kind;
    double peak = 1;             ///< of PSNR and SSIM
    std::optional<double> bound; ///< what it must keep
    std::shared_ptr<UserMetric> user;
    bool higherIsBetter() const { return user ? user->higherIsBetter : kind.higherIsBetter(); }
  };

  /// Reads "psnr" (the only output), "logits=top-1,picture=psnr:255" or "./mine.so", each with a bound behind
  /// it if it has one: "picture=psnr@30,logits=relative@0.05"; `outputs` are the program's.
  static Result<MetricSet> parse(const std::string &text, std::span<const std::string> outputs);

  /// One figure for each item. top-k asks how often the best class of `got` is among the best k of `golden`.
  /// A figure that is not a number is an error.
  Result<std::vector<double>> evaluate(std::span<const OutputArray> got,
                                       std::span<const OutputArray> golden) const;
  std::span<const Item> items() const { return list; }
  /// The largest share of its bound that an item has used up: 0 for exact answers, above 1 when one is
  /// broken. Of PSNR the noise power counts. `exact` are the figures of an exact answer.
  double usedShare(std::span<const double> figures, std::span<const double> exact) const;

private:
  std::vector<Item> list;
};

} // namespace tessera::tune
