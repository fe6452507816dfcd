// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader on real files: the shared networks, and the models and tensors of the ONNX backend suite. Both
// are looked for outside the tree and skipped where they are not.
#include "tessera/frontends/onnx/reader/Reader.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::onnx;
namespace fs = std::filesystem;

TEST(OnnxSuite, SharedNetworks) {
  const char *shared = std::getenv("TESSERA_SHARED");
  // Six folders up from this file is what the repository lies in.
  fs::path folder = fs::path(__FILE__).parent_path() / "../../../../../../shared";
  folder = (shared ? fs::path(shared) : folder) / "models";
  if (!fs::is_directory(folder))
    GTEST_SKIP() << "no networks in " << folder << "; set TESSERA_SHARED to the folder that holds models/";
  int models = 0;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx")
      continue;
    auto model = readModel(entry.path().string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_FALSE(model->graph.nodes.empty());
    EXPECT_FALSE(model->graph.initializers.empty());
    ++models;
  }
  std::printf("%d networks read\n", models);
  EXPECT_GE(models, 9);
}

namespace {

struct Counts {
  int models = 0, tensors = 0, sequences = 0, optionals = 0;
  /// Over all tensors, each byte times its position (from 1, modulo 65521): what another reader can be
  /// compared by.
  uint64_t checksum = 0;
};

// Reads one input or output as the model's type says.
void readValue(const fs::path &path, const std::vector<ValueInfo> &infos, size_t index, Counts &counts) {
  Type::Kind kind = index < infos.size() ? infos[index].type.kind : Type::Kind::Tensor;
  Status status;
  if (kind == Type::Kind::Sequence) {
    status = readSequence(path.string()).status();
    ++counts.sequences;
  } else if (kind == Type::Kind::Optional) {
    status = readOptional(path.string()).status();
    ++counts.optionals;
  } else {
    auto tensor = readTensor(path.string());
    status = tensor.status();
    ++counts.tensors;
    for (size_t i = 0; tensor.ok() && i < tensor->data.size(); ++i)
      counts.checksum += static_cast<uint64_t>(tensor->data[i]) * (i % 65521 + 1);
  }
  EXPECT_TRUE(status.ok()) << status.message();
}

void readCase(const fs::path &folder, const Model &model, Counts &counts) {
  for (const fs::directory_entry &set : fs::directory_iterator(folder)) {
    if (!set.is_directory())
      continue;
    for (const fs::directory_entry &file : fs::directory_iterator(set.path())) {
      std::string stem = file.path().stem().string();
      if (file.path().extension() != ".pb")
        continue;
      size_t index = std::strtoul(stem.c_str() + stem.find('_') + 1, nullptr, 10);
      readValue(file.path(), stem.starts_with("input") ? model.graph.inputs : model.graph.outputs, index,
                counts);
    }
  }
}

} // namespace

TEST(OnnxSuite, BackendData) {
  const char *data = std::getenv("TESSERA_ONNX_DATA");
  if (!data || !fs::is_directory(data))
    GTEST_SKIP() << "set TESSERA_ONNX_DATA to the folder onnx/backend/test/data of the onnx package";
  Counts counts;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(data)) {
    // The light models' outputs lie beside them.
    if (entry.path().stem().string().ends_with("_output_0") && entry.path().extension() == ".pb")
      readValue(entry.path(), {}, 0, counts);
    if (entry.path().extension() != ".onnx")
      continue;
    auto model = readModel(entry.path().string());
    EXPECT_TRUE(model.ok()) << model.status().message();
    ++counts.models;
    if (model.ok() && entry.path().filename() == "model.onnx")
      readCase(entry.path().parent_path(), *model, counts);
  }
  std::printf("%d models, %d tensors (checksum %llu), %d sequences, %d optionals\n", counts.models,
              counts.tensors, static_cast<unsigned long long>(counts.checksum), counts.sequences,
              counts.optionals);
  EXPECT_GT(counts.models, 0);
}
