// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/samples/Samples.h"

#include "tessera/base/Diag.h"
#include "tessera/runtime/memory/Arrays.h"
#include "tessera/tune/metrics/Statistics.h"

#include <algorithm>
#include <filesystem>

namespace tessera::tune {

size_t Sample::bytes() const {
  size_t sum = 0;
  for (const BufferRef &input : inputs)
    sum += input->bytes();
  return sum;
}

Result<LaunchInputs> LaunchInputs::of(const Sample &sample, const ProgramPlan &plan) {
  LaunchInputs all;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const BufferRef &input = sample.inputs[i];
    if (!plan.inputs[i].written) {
      all.raw.push_back(input.get());
      continue;
    }
    TESSERA_ASSIGN(BufferRef copy, Buffer::create(input->type(), input->shape()));
    TESSERA_ASSIGN(const std::byte *from, input->hostRead());
    TESSERA_ASSIGN(std::byte * to, copy->hostWrite());
    std::copy_n(from, input->bytes(), to);
    all.raw.push_back(copy.get());
    all.copies.push_back(std::move(copy));
  }
  return all;
}

static Result<Sample> readSample(const std::string &path, const ProgramPlan &plan) {
  Sample sample;
  sample.name = std::filesystem::path(path).filename().string();
  sample.inputs.resize(plan.inputs.size());
  NpzEntries entries;
  if (path.ends_with(".npz")) {
    TESSERA_ASSIGN(entries, readNpz(path));
  } else {
    if (plan.inputs.size() != 1)
      return fail(StatusCode::InvalidArgument, "'", path, "' is one array, but the program has ",
                  plan.inputs.size(), " inputs; store them in one .npz file, under their names");
    TESSERA_ASSIGN(NpyArray array, readNpy(path));
    entries.emplace_back(plan.inputs[0].name, std::move(array));
  }
  std::vector<std::string> names;
  for (const Port &port : plan.inputs)
    names.push_back(port.name);
  for (auto &[name, array] : entries) {
    const int32_t index = plan.findInput(name);
    if (index < 0)
      return Status::error(StatusCode::NotFound, unknownName("input", name, "inputs", names))
          .withContext(concat("'", path, "'"));
    sample.keep.push_back(std::move(array));
    TESSERA_ASSIGN(sample.inputs[static_cast<size_t>(index)],
                   bindArray(plan, static_cast<size_t>(index), sample.keep.back(), path));
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (!sample.inputs[i])
      return fail(StatusCode::InvalidArgument, "'", path, "' has no array '", names[i], "'");
  return sample;
}

Result<std::vector<Sample>> readSamples(const std::string &folder, const ProgramPlan &plan) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".npz" || entry.path().extension() == ".npy")
      paths.push_back(entry.path().string());
  if (error)
    return fail(StatusCode::InvalidArgument, "--data: expected a folder of .npy or .npz files, but '", folder,
                "': ", error.message());
  std::sort(paths.begin(), paths.end());
  std::vector<Sample> samples;
  for (const std::string &path : paths) {
    TESSERA_ASSIGN(Sample sample, readSample(path, plan));
    samples.push_back(std::move(sample));
  }
  return samples;
}

void dealOut(std::vector<Sample> &samples, uint64_t seed) {
  Stream random(seed);
  for (size_t i = samples.size(); i > 1; --i)
    std::swap(samples[i - 1], samples[random.below(i)]);
}

} // namespace tessera::tune
