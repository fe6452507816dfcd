// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The suite's folder, and which of its cases are out of scope.
#include "Suite.h"

#include "tessera/base/File.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace tessera;
using namespace tessera::suite;
namespace fs = std::filesystem;

static void readTolerances(const fs::path &file, Case &test) {
  std::ifstream stream(file);
  auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return;
  test.relative = json.value("rtol", test.relative);
  test.absolute = json.value("atol", test.absolute);
}

std::vector<Case> suite::findCases(const std::string &data) {
  std::vector<Case> cases;
  std::error_code ec;
  for (const char *kind : {"node", "simple", "pytorch-converted", "pytorch-operator"})
    for (const fs::directory_entry &entry : fs::directory_iterator(fs::path(data) / kind, ec)) {
      fs::path model = entry.path() / "model.onnx";
      if (!fs::exists(model))
        continue;
      Case test{kind, entry.path().filename().string(), model.string(), {}, ""};
      for (const fs::directory_entry &set : fs::directory_iterator(entry.path()))
        if (set.is_directory())
          test.sets.push_back(set.path().string());
      std::sort(test.sets.begin(), test.sets.end());
      readTolerances(entry.path() / "data.json", test);
      cases.push_back(std::move(test));
    }
  for (const fs::directory_entry &entry : fs::directory_iterator(fs::path(data) / "light", ec))
    if (entry.path().extension() == ".onnx") {
      Case test{"light", entry.path().stem().string(), entry.path().string(), {}, ""};
      test.output = (entry.path().parent_path() / (test.name + "_output_0.pb")).string();
      cases.push_back(std::move(test));
    }
  std::sort(cases.begin(), cases.end(), [](const Case &a, const Case &b) { return a.title() < b.title(); });
  return cases;
}

template <typename Visit> static void forEachNode(const std::vector<onnx::Node> &nodes, Visit visit) {
  for (const onnx::Node &node : nodes) {
    visit(node);
    for (const onnx::Attribute &attribute : node.attributes)
      for (const onnx::Graph &graph : attribute.graphs)
        forEachNode(graph.nodes, visit);
  }
}

template <typename Visit> static void forEachNode(const onnx::Model &model, Visit visit) {
  forEachNode(model.graph.nodes, visit);
  for (const onnx::Function &function : model.functions)
    forEachNode(function.nodes, visit);
}

std::vector<std::string> suite::operatorsOf(const onnx::Model &model) {
  std::set<std::string> names;
  forEachNode(model, [&](const onnx::Node &node) {
    names.insert(node.domain.empty() ? node.opType : node.domain + "." + node.opType);
  });
  return {names.begin(), names.end()};
}

std::string suite::exclusion(const onnx::Model &model) {
  std::string reason;
  auto because = [&](const char *text) {
    if (reason.empty())
      reason = text;
  };
  forEachNode(model, [&](const onnx::Node &node) {
    if (node.domain == "ai.onnx.preview.training")
      because("training");
    else if (node.domain == "ai.onnx.ml")
      because("the domain ai.onnx.ml");
    else if (node.domain == "ai.onnx.preview")
      because("the domain ai.onnx.preview");
    else if (node.opType == "ImageDecoder")
      because("decoding of images");
    else if (node.opType.starts_with("Random") || node.opType == "Bernoulli" || node.opType == "Multinomial")
      because("random by definition");
    else if (node.opType.starts_with("String") || node.opType == "RegexFullMatch")
      because("strings");
    else if (node.opType.find("Sequence") != std::string::npos && node.opType != "ReverseSequence")
      because("sequences");
    else if (node.opType.starts_with("Optional"))
      because("optionals");
    for (const onnx::Attribute &attribute : node.attributes)
      for (const onnx::Tensor &tensor : attribute.tensors)
        if (tensor.type == onnx::DataType::String)
          because("strings");
    if (node.opType == "Cast" || node.opType == "CastLike")
      if (const onnx::Attribute *to = node.find("to"); to && to->i == int64_t(onnx::DataType::String))
        because("strings");
  });
  auto type = [&](const onnx::Type &t) {
    if (t.element == onnx::DataType::String)
      because("strings");
    if (t.kind == onnx::Type::Kind::Sequence || t.kind == onnx::Type::Kind::Map)
      because("sequences");
    if (t.kind == onnx::Type::Kind::Optional)
      because("optionals");
  };
  for (const auto *list : {&model.graph.inputs, &model.graph.outputs})
    for (const onnx::ValueInfo &value : *list)
      type(value.type);
  return reason;
}
