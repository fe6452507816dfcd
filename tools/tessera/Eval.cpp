// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera eval`: how many samples of a data set a classifier gets right, with the
// interval that so many samples leave.
#include "Tool.h"
#include "tessera/base/Dataset.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Half.h"
#include "tessera/runtime/Energy.h"
#include "tessera/runtime/Trace.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace tessera::tool {

namespace {
struct EvalOptions {
  OpenOptions open;
  std::string data, normalise, output;
  int64_t limit = 0, skip = 0, batch = 0;
  double atLeast = -1;
  bool json = false;
};

/// (value - mean) / deviation for each channel; empty: as it is.
struct Normalisation {
  std::vector<float> mean, deviation;
};

/// How samples become the program's input.
struct Feed {
  ElementType type;
  std::vector<int64_t> shape; ///< Of the input, with the batch first (-1: any).
  int64_t channels = 1, area = 1;
  bool channelsLast = false;
  Normalisation norm;
};
} // namespace

static Result<std::vector<float>> parseNumbers(const std::string &text) {
  std::vector<float> numbers;
  for (const std::string &word : splitList(text)) {
    float value = 0;
    auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value))
      return fail(StatusCode::InvalidArgument, "--normalise: expected numbers, but got '", word, "'");
    numbers.push_back(value);
  }
  return numbers;
}

static Result<Normalisation> parseNormalisation(const std::string &text) {
  // What networks that were trained on ImageNet expect, and many others took over.
  if (text == "imagenet")
    return Normalisation{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  Normalisation norm;
  if (text.empty())
    return norm;
  const size_t slash = text.find('/');
  if (slash == std::string::npos)
    return fail(
        StatusCode::InvalidArgument,
        "--normalise: expected 'imagenet' or MEANS/DEVIATIONS, e.g. 0.5,0.5,0.5/0.2,0.2,0.2, but got '", text,
        "'");
  TESSERA_ASSIGN(norm.mean, parseNumbers(text.substr(0, slash)));
  TESSERA_ASSIGN(norm.deviation, parseNumbers(text.substr(slash + 1)));
  for (float value : norm.deviation)
    if (value == 0)
      return fail(StatusCode::InvalidArgument, "--normalise: a deviation is 0");
  return norm;
}

static bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F64;
}

// Decides how samples of `data` go into the input, or says why they cannot.
static Result<Feed> matchInput(const Dataset &data, const std::string &name, const ValueInfo &value,
                               Normalisation norm) {
  Feed feed;
  feed.type = value.type;
  feed.shape = value.shape;
  const std::vector<int64_t> sample(data.x.shape.begin() + 1, data.x.shape.end());
  std::vector<int64_t> wanted(value.shape.begin() + (value.shape.empty() ? 0 : 1), value.shape.end());
  auto fits = [&](std::span<const int64_t> shape) {
    if (shape.size() != wanted.size())
      return false;
    for (size_t d = 0; d < shape.size(); ++d)
      if (wanted[d] >= 0 && wanted[d] != shape[d])
        return false;
    return true;
  };
  int64_t elements = 1, room = 1;
  for (int64_t extent : sample)
    elements *= extent;
  for (int64_t extent : wanted)
    room = extent < 0 ? -1 : room * extent;
  std::vector<int64_t> turned = sample;
  if (sample.size() == 3)
    turned = {sample[1], sample[2], sample[0]};
  std::vector<int64_t> inner = sample;
  if (fits(sample)) {
  } else if (sample.size() == 3 && fits(turned)) {
    feed.channelsLast = true;
    inner = turned;
  } else if (!value.shape.empty() && room == elements) {
    inner = wanted; // The same numbers under other extents: a network that flattens its images itself.
  } else {
    return fail(StatusCode::InvalidArgument, "input '", name, "': expected samples of ",
                value.shape.empty() ? std::string("rank 1 or more") : formatShape(value.shape), ", but ",
                data.name, " has ", formatShape(data.x.shape));
  }
  std::copy(inner.begin(), inner.end(), feed.shape.begin() + 1);
  if (sample.size() == 3) {
    feed.channels = sample[0];
    feed.area = sample[1] * sample[2];
  } else {
    feed.area = elements;
  }
  const bool convert = data.x.type == NpyType::U1 && isFloat(value.type);
  if (!convert && !npyHolds(data.x.type, value.type))
    return fail(StatusCode::InvalidArgument, "input '", name, "': expected ", elementTypeName(value.type),
                ", but ", data.name, " holds ", npyTypeName(data.x.type));
  const size_t count = static_cast<size_t>(feed.channels);
  if (!norm.mean.empty()) {
    const bool float32 = convert || data.x.type == NpyType::F4;
    if (norm.mean.size() != norm.deviation.size() || (norm.mean.size() != count && norm.mean.size() != 1) ||
        !float32)
      return fail(StatusCode::InvalidArgument, "--normalise: expected ", count, " means and ", count,
                  " deviations for samples of ", data.x.describe(), ", but got ", norm.mean.size(), " and ",
                  norm.deviation.size());
    norm.mean.resize(count, norm.mean[0]);
    norm.deviation.resize(count, norm.deviation[0]);
  }
  feed.norm = std::move(norm);
  return feed;
}

static void putFloat(std::byte *to, ElementType type, float value) {
  if (type == ElementType::F32) {
    std::memcpy(to, &value, 4);
  } else if (type == ElementType::F64) {
    const double wide = value;
    std::memcpy(to, &wide, 8);
  } else {
    const uint16_t half = type == ElementType::F16 ? floatToHalf(value) : floatToBfloat(value);
    std::memcpy(to, &half, 2);
  }
}

// Sample `from` of the data as sample `to` of the input.
static void fillSample(const Dataset &data, const Feed &feed, size_t from, std::byte *to) {
  const size_t channels = static_cast<size_t>(feed.channels), area = static_cast<size_t>(feed.area);
  const size_t count = channels * area, size = elementSize(feed.type);
  const std::byte *in = data.x.data.data() + from * count * npySize(data.x.type);
  const bool bytes = data.x.type == NpyType::U1 && isFloat(feed.type);
  if (!bytes && feed.norm.mean.empty() && !feed.channelsLast) {
    std::memcpy(to, in, count * size);
    return;
  }
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < area; ++i) {
      const size_t at = feed.channelsLast ? i * channels + c : c * area + i;
      if (!bytes && feed.norm.mean.empty()) {
        std::memcpy(to + at * size, in + (c * area + i) * size, size);
        continue;
      }
      float value = 0;
      if (bytes)
        value = static_cast<float>(in[c * area + i]) / 255.0f;
      else
        std::memcpy(&value, in + (c * area + i) * 4, 4);
      if (!feed.norm.mean.empty())
        value = (value - feed.norm.mean[c]) / feed.norm.deviation[c];
      putFloat(to + at * size, feed.type, value);
    }
}

static double numberAt(const Buffer &buffer, const std::byte *memory, size_t i) {
  const std::byte *from = memory + i * elementSize(buffer.type());
  uint16_t half = 0;
  double wide = 0;
  float single = 0;
  switch (buffer.type()) {
  case ElementType::F16:
  case ElementType::BF16:
    std::memcpy(&half, from, 2);
    return buffer.type() == ElementType::F16 ? halfToFloat(half) : bfloatToFloat(half);
  case ElementType::F64:
    std::memcpy(&wide, from, 8);
    return wide;
  default:
    std::memcpy(&single, from, 4);
    return single;
  }
}

// The class of a row: where its largest number is, the first of equals. -1 when there is none (all NaN).
static int64_t argmax(const Buffer &buffer, const std::byte *memory, size_t row, size_t width) {
  int64_t best = -1;
  double largest = 0;
  for (size_t i = 0; i < width; ++i) {
    const double value = numberAt(buffer, memory, row * width + i);
    if (!std::isnan(value) && (best < 0 || value > largest)) {
      largest = value;
      best = static_cast<int64_t>(i);
    }
  }
  return best;
}

// Wilson's interval: where the true rate lies in 95 of 100 cases; also right near 0 and 1.
static std::pair<double, double> wilson(double right, double count) {
  constexpr double z = 1.959963984540054;
  const double rate = right / count, scale = 1 + z * z / count;
  const double centre = (rate + z * z / (2 * count)) / scale;
  const double half = z / scale * std::sqrt(rate * (1 - rate) / count + z * z / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

static Result<size_t> chooseOutput(const ProgramPlan &plan, const std::string &name) {
  std::vector<std::string> names;
  for (const Port &port : plan.outputs)
    names.push_back(port.name);
  if (name.empty() && names.size() != 1)
    return fail(StatusCode::InvalidArgument, "'", plan.name, "' has ", names.size(),
                " outputs; say with --output which has the scores: ", joinNames(names));
  for (size_t i = 0; i < names.size(); ++i)
    if (name.empty() || names[i] == name)
      return i;
  return Status::error(StatusCode::NotFound, unknownName("output", name, "outputs", names));
}

static Status evalCommand(EvalOptions &options) {
  TESSERA_ASSIGN(Normalisation norm, parseNormalisation(options.normalise));
  TESSERA_ASSIGN(std::shared_ptr<Program> program, options.open.open(/*profile=*/true));
  const ProgramPlan &plan = program->plan();
  // A program with further inputs needs values for them that a data set does not have.
  if (plan.inputs.size() != 1)
    return fail(StatusCode::InvalidArgument, "expected a program with one input, but '", plan.name, "' has ",
                plan.inputs.size());
  TESSERA_ASSIGN(const size_t out, chooseOutput(plan, options.output));
  TESSERA_ASSIGN(Dataset data, readDataset(options.data));
  TESSERA_ASSIGN(Feed feed,
                 matchInput(data, plan.inputs[0].name, plan.values[static_cast<size_t>(plan.inputs[0].value)],
                            std::move(norm)));
  if (options.skip >= data.size())
    return fail(StatusCode::InvalidArgument, "--skip: ", data.name, " has ", data.size(),
                " samples, but got ", options.skip);
  const int64_t end = options.limit ? std::min(data.size(), options.skip + options.limit) : data.size();
  const int64_t count = end - options.skip, fixed = feed.shape[0];
  if (fixed >= 0 && options.batch && options.batch != fixed)
    return fail(StatusCode::InvalidArgument, "--batch: the program takes batches of ", fixed,
                " only, but got ", options.batch);
  const int64_t batch = fixed >= 0 ? fixed : std::min(options.batch ? options.batch : 64, count);
  if (batch == 0)
    return fail(StatusCode::InvalidArgument, "input '", plan.inputs[0].name, "': takes batches of 0 samples");

  const size_t sampleBytes = static_cast<size_t>(feed.channels * feed.area) * elementSize(feed.type);
  int64_t right = 0;
  uint64_t spent = 0;
  Work work;
  EnergyMeter meter;
  meter.begin();
  const bool progress = isatty(STDERR_FILENO);
  for (int64_t begin = options.skip; begin < end; begin += batch) {
    const int64_t now = std::min(batch, end - begin);
    // A fixed batch is filled up with the first sample; an open one ends with a smaller batch.
    feed.shape[0] = fixed >= 0 ? fixed : now;
    TESSERA_ASSIGN(BufferRef input, Buffer::create(feed.type, feed.shape));
    TESSERA_ASSIGN(std::byte * memory, input->hostWrite());
    for (int64_t i = 0; i < feed.shape[0]; ++i)
      fillSample(data, feed, static_cast<size_t>(i < now ? begin + i : begin),
                 memory + static_cast<size_t>(i) * sampleBytes);
    std::vector<BufferRef> outputs(plan.outputs.size());
    Buffer *raw = input.get();
    const uint64_t start = nowNanoseconds();
    TESSERA_TRY(program->launch({&raw, 1}, outputs));
    spent += nowNanoseconds() - start;
    const Work launch = workOf(*program);
    work.flops += launch.flops;
    work.bytes += launch.bytes;
    Buffer &scores = *outputs[out];
    if (!isFloat(scores.type()) || scores.shape().empty() || scores.shape()[0] != feed.shape[0] ||
        !scores.bytes())
      return fail(StatusCode::InvalidArgument, "output '", plan.outputs[out].name,
                  "': expected a row of scores for each of ", feed.shape[0], " samples, but got ",
                  scores.describe());
    TESSERA_ASSIGN(const std::byte *answer, scores.hostRead());
    const size_t width = scores.bytes() / elementSize(scores.type()) / static_cast<size_t>(scores.shape()[0]);
    for (int64_t i = 0; i < now; ++i)
      right +=
          argmax(scores, answer, static_cast<size_t>(i), width) == data.label[static_cast<size_t>(begin + i)];
    if (progress)
      std::fprintf(stderr, "\r%lld of %lld ", static_cast<long long>(begin + now - options.skip),
                   static_cast<long long>(count));
  }
  if (progress)
    std::fprintf(stderr, "\r%40s\r", "");
  const EnergyReading energy =
      meter.end(work.flops, work.bytes, static_cast<double>(spent) * 1e-9, program->threads());
  const double joules = energy.joules / static_cast<double>(count);
  const double rate = 100.0 * static_cast<double>(right) / static_cast<double>(count);
  const auto [low, high] = wilson(static_cast<double>(right), static_cast<double>(count));
  if (options.json)
    std::printf("{\"program\": %s, \"data\": %s, \"metric\": \"top-1\", \"count\": %lld, \"right\": %lld, "
                "\"percent\": %.4f, \"low\": %.4f, \"high\": %.4f, \"ms_per_sample\": %.6g, "
                "\"joules_per_sample\": %.6g, \"energy_source\": \"%s\", \"energy_note\": %s}\n",
                jsonString(plan.name).c_str(), jsonString(data.name).c_str(), static_cast<long long>(count),
                static_cast<long long>(right), rate, 100 * low, 100 * high,
                static_cast<double>(spent) / 1e6 / static_cast<double>(count), joules, energy.source(),
                jsonString(energy.note).c_str());
  else
    std::printf(
        "%s on %s: %lld of %lld right, top-1 %.2f %% (95 %% interval %.2f to %.2f), %s and %s each (energy "
        "%s)\n",
        plan.name.c_str(), data.name.c_str(), static_cast<long long>(right), static_cast<long long>(count),
        rate, 100 * low, 100 * high,
        formatNanoseconds(static_cast<double>(spent) / static_cast<double>(count)).c_str(),
        formatJoules(joules).c_str(), energy.source());
  if (rate < options.atLeast) {
    char text[96];
    std::snprintf(text, sizeof text, "--at-least: expected %.2f %%, but got %.2f %%", options.atLeast, rate);
    return Status::error(StatusCode::InvalidArgument, text);
  }
  return Status();
}

void addEval(CLI::App &app, Action &action) {
  auto *command = app.add_subcommand("eval", "measure a classifier's accuracy on labelled data");
  auto options = std::make_shared<EvalOptions>();
  options->open.add(*command);
  command
      ->add_option(
          "--data", options->data,
          "mnist:DIR or cifar10:DIR (their test images; without :DIR in $TESSERA_DATA), or a .npz file "
          "with samples x and classes y; bytes become numbers from 0 to 1")
      ->required();
  command->add_option("--limit", options->limit, "use so many samples only")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  command->add_option("--skip", options->skip, "leave out the first N samples")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40));
  command->add_option("--batch", options->batch, "samples in one launch (default 64)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20));
  command->add_option(
      "--normalise", options->normalise,
      "subtract and divide for each channel: MEANS/DEVIATIONS, e.g. 0.5,0.5,0.5/0.2,0.2,0.2, or 'imagenet'");
  command->add_option("--output", options->output, "the output with the scores, when there are several");
  command->add_option("--at-least", options->atLeast, "fail when top-1 is below this percentage")
      ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--json", options->json, "print as JSON");
  command->footer("example: tessera eval lenet.tsx --data mnist:data/mnist --limit 1000");
  command->callback([options, &action] { action = [options] { return evalCommand(*options); }; });
}

} // namespace tessera::tool
