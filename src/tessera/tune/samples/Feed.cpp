// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/samples/Feed.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Half.h"
#include "tessera/tune/metrics/Statistics.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace tessera::tune {

static Result<std::vector<float>> parseNumbers(const std::string &text) {
  std::vector<float> numbers;
  for (size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    float value = 0;
    auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value))
      return fail(StatusCode::InvalidArgument, "--normalise: expected numbers, but got '", word, "'");
    numbers.push_back(value);
  }
  return numbers;
}

Result<Normalisation> parseNormalisation(const std::string &text) {
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

Result<Feed> Feed::match(const Dataset &data, const ProgramPlan &plan, Normalisation norm) {
  // A program with further inputs needs values for them that a data set does not have.
  if (plan.inputs.size() != 1)
    return fail(StatusCode::InvalidArgument, "expected a program with one input, but '", plan.name, "' has ",
                plan.inputs.size());
  const std::string &name = plan.inputs[0].name;
  const ValueInfo &value = plan.values[static_cast<size_t>(plan.inputs[0].value)];
  Feed feed;
  feed.data = &data;
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
void Feed::fill(size_t from, std::byte *to) const {
  const size_t planes = static_cast<size_t>(channels), points = static_cast<size_t>(area);
  const size_t count = planes * points, size = elementSize(type);
  const std::byte *in = data->x.data.data() + from * count * npySize(data->x.type);
  const bool bytes = data->x.type == NpyType::U1 && isFloat(type);
  if (!bytes && norm.mean.empty() && !channelsLast) {
    std::memcpy(to, in, count * size);
    return;
  }
  for (size_t c = 0; c < planes; ++c)
    for (size_t i = 0; i < points; ++i) {
      const size_t at = channelsLast ? i * planes + c : c * points + i;
      if (!bytes && norm.mean.empty()) {
        std::memcpy(to + at * size, in + (c * points + i) * size, size);
        continue;
      }
      float value = 0;
      if (bytes)
        value = static_cast<float>(in[c * points + i]) / 255.0f;
      else
        std::memcpy(&value, in + (c * points + i) * 4, 4);
      if (!norm.mean.empty())
        value = (value - norm.mean[c]) / norm.deviation[c];
      putFloat(to + at * size, type, value);
    }
}

Result<BufferRef> Feed::batch(std::span<const int64_t> items) const {
  std::vector<int64_t> extents = shape;
  if (extents[0] < 0)
    extents[0] = static_cast<int64_t>(items.size());
  TESSERA_ASSIGN(BufferRef input, Buffer::create(type, extents));
  TESSERA_ASSIGN(std::byte * memory, input->hostWrite());
  const size_t bytes = static_cast<size_t>(channels * area) * elementSize(type);
  for (size_t i = 0; i < static_cast<size_t>(extents[0]); ++i)
    fill(static_cast<size_t>(items[i < items.size() ? i : 0]), memory + i * bytes);
  return input;
}

DealtItems dealItems(const Dataset &data, int64_t begin, int64_t end, int64_t searched, uint64_t seed) {
  std::vector<int32_t> labels;
  for (int64_t i = begin; i < end; ++i)
    labels.push_back(static_cast<int32_t>(data.label[static_cast<size_t>(i)]));
  const double shares[] = {static_cast<double>(searched), static_cast<double>(end - begin - searched)};
  auto parts = stratifiedSplit(labels, shares, seed);
  for (std::vector<int64_t> &part : parts)
    for (int64_t &item : part)
      item += begin;
  return {std::move(parts[0]), std::move(parts[1])};
}

Result<size_t> chooseOutput(const ProgramPlan &plan, const std::string &name) {
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

static float numberAt(const Buffer &buffer, const std::byte *memory, size_t i) {
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
    return static_cast<float>(wide);
  default:
    std::memcpy(&single, from, 4);
    return single;
  }
}

Status appendScores(Buffer &output, const std::string &name, int64_t batch, int64_t rows, Scores &scores) {
  if (!isFloat(output.type()) || output.shape().empty() || output.shape()[0] != batch || !output.bytes())
    return fail(StatusCode::InvalidArgument, "output '", name, "': expected a row of scores for each of ",
                batch, " samples, but got ", output.describe());
  TESSERA_ASSIGN(const std::byte *memory, output.hostRead());
  const size_t width = output.bytes() / elementSize(output.type()) / static_cast<size_t>(batch);
  scores.classes = static_cast<int64_t>(width);
  scores.items += rows;
  for (size_t i = 0; i < static_cast<size_t>(rows) * width; ++i)
    scores.values.push_back(numberAt(output, memory, i));
  return Status();
}

} // namespace tessera::tune
