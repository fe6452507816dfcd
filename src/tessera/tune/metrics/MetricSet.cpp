// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/MetricSet.h"

#include "tessera/base/Diag.h"
#include "tessera/runtime/memory/Arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera::tune {

Result<std::vector<OutputArray>> readOutputs(const ProgramPlan &plan, std::span<const BufferRef> outputs) {
  std::vector<OutputArray> arrays;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Buffer &buffer = *outputs[i];
    TESSERA_ASSIGN(const std::byte *memory, buffer.hostRead());
    OutputArray array{plan.outputs[i].name, {buffer.shape().begin(), buffer.shape().end()}, {}};
    array.values.resize(buffer.bytes() / elementSize(buffer.type()));
    for (size_t e = 0; e < array.values.size(); ++e)
      array.values[e] = static_cast<float>(elementAsDouble(buffer, memory, e));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

static bool isUserFile(const std::string &text) { return text.ends_with(".so") || text.ends_with(".py"); }

// "psnr", or with a peak "psnr:255".
static Status parseKind(const std::string &text, MetricSet::Item &item) {
  const size_t colon = text.find(':');
  TESSERA_ASSIGN(item.kind, parseMetric(text.substr(0, colon)));
  if (colon == std::string::npos)
    return Status();
  char *end = nullptr;
  item.peak = std::strtod(text.c_str() + colon + 1, &end);
  const bool hasPeak = item.kind.kind == MetricKind::Psnr || item.kind.kind == MetricKind::Ssim;
  if (!hasPeak || *end || !(item.peak > 0) || std::isinf(item.peak))
    return fail(StatusCode::InvalidArgument, "the metric '", text,
                "' is malformed; only psnr and ssim take a largest value, for example psnr:255");
  return Status();
}

// Takes "@30" off the end.
static Status takeBound(MetricSet::Item &item) {
  const size_t at = item.name.rfind('@');
  if (at == std::string::npos)
    return Status();
  char *end = nullptr;
  const std::string text = item.name.substr(at + 1);
  const double bound = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(bound))
    return fail(StatusCode::InvalidArgument, "the metric '", item.name,
                "' is malformed; a bound is a number, for example psnr@30");
  item.bound = bound;
  item.name.resize(at);
  return Status();
}

Result<MetricSet> MetricSet::parse(const std::string &text, std::span<const std::string> outputs) {
  MetricSet set;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    Item item;
    item.name = text.substr(from, comma - from);
    from = comma + 1;
    TESSERA_TRY(takeBound(item));
    if (isUserFile(item.name)) {
      TESSERA_ASSIGN(item.user, UserMetric::open(item.name));
      set.list.push_back(std::move(item));
      continue;
    }
    const size_t equal = item.name.find('=');
    if (equal == std::string::npos) {
      if (outputs.size() != 1)
        return fail(StatusCode::InvalidArgument, "the program has ", outputs.size(),
                    " outputs; say which is judged how, for example ", outputs.empty() ? "x" : outputs[0],
                    "=", item.name);
      item.output = outputs[0];
    } else {
      item.output = item.name.substr(0, equal);
      if (std::find(outputs.begin(), outputs.end(), item.output) == outputs.end())
        return Status::error(StatusCode::NotFound, unknownName("output", item.output, "outputs", outputs));
    }
    TESSERA_TRY(parseKind(equal == std::string::npos ? item.name : item.name.substr(equal + 1), item));
    set.list.push_back(std::move(item));
  }
  return set;
}

// The best class of each row, as labels.
static std::vector<int32_t> bestClasses(const Scores &scores) {
  std::vector<int32_t> labels(size_t(scores.items));
  for (int64_t i = 0; i < scores.items; ++i) {
    std::span<const float> row = scores.row(i);
    labels[size_t(i)] = int32_t(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return labels;
}

static Result<double> evaluateOne(const MetricSet::Item &item, const OutputArray &got,
                                  const OutputArray &golden) {
  if (got.shape != golden.shape)
    return fail(StatusCode::InvalidArgument, "output '", item.output, "': expected ",
                formatShape(golden.shape), ", but got ", formatShape(got.shape));
  const size_t rank = got.shape.size();
  switch (item.kind.kind) {
  case MetricKind::TopK: {
    if (rank < 2 || got.values.empty())
      return fail(StatusCode::InvalidArgument, "output '", item.output,
                  "': top-k needs a row of scores for each item, but got ", formatShape(got.shape));
    const int64_t items = got.shape[0], classes = int64_t(got.values.size()) / items;
    Scores ours{got.values, items, classes}, exact{golden.values, items, classes};
    return share(correctItems(exact, bestClasses(ours), item.kind.k));
  }
  case MetricKind::L1:
  case MetricKind::L2:
    return meanError(got.values, golden.values, item.kind.kind == MetricKind::L1 ? 1 : 2);
  case MetricKind::Relative:
    return relativeError(got.values, golden.values, 2);
  case MetricKind::Psnr:
    return psnr(got.values, golden.values, item.peak);
  case MetricKind::Ssim:
    break;
  }
  if (rank < 2 || got.values.empty())
    return fail(StatusCode::InvalidArgument, "output '", item.output, "': ssim needs pictures, but got ",
                formatShape(got.shape));
  // The mean over all pictures: the last two extents are one's height and width.
  const int64_t height = got.shape[rank - 2], width = got.shape[rank - 1], area = height * width;
  const int64_t pictures = int64_t(got.values.size()) / area;
  double sum = 0;
  for (int64_t p = 0; p < pictures; ++p)
    sum += ssim(std::span(got.values).subspan(size_t(p * area), size_t(area)),
                std::span(golden.values).subspan(size_t(p * area), size_t(area)), height, width, item.peak);
  return sum / double(pictures);
}

static const OutputArray *find(std::span<const OutputArray> arrays, const std::string &name) {
  for (const OutputArray &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

double MetricSet::usedShare(std::span<const double> figures, std::span<const double> exact) const {
  double most = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].bound)
      continue;
    const double bound = *list[i].bound;
    const bool isPower = !list[i].user && list[i].kind.kind == MetricKind::Psnr;
    most = std::max(most, isPower ? std::pow(10, (bound - figures[i]) / 10)
                                  : (exact[i] - figures[i]) / (exact[i] - bound));
  }
  return most;
}

Result<std::vector<double>> MetricSet::evaluate(std::span<const OutputArray> got,
                                                std::span<const OutputArray> golden) const {
  std::vector<double> figures;
  for (const Item &item : list) {
    double figure = 0;
    if (item.user) {
      TESSERA_ASSIGN(figure, item.user->evaluate(got, golden));
    } else {
      const OutputArray *ours = find(got, item.output), *exact = find(golden, item.output);
      if (!ours || !exact)
        return fail(StatusCode::InvalidArgument, "output '", item.output, "' is missing");
      TESSERA_ASSIGN(figure, evaluateOne(item, *ours, *exact));
    }
    if (std::isnan(figure))
      return fail(StatusCode::InvalidArgument, "the metric '", item.name,
                  "' is not a number; look for NaN in the program's outputs");
    figures.push_back(figure);
  }
  return figures;
}

} // namespace tessera::tune
