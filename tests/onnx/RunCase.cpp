// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case, in one process: read, import (binding what decides shapes), compile, install, run, compare.
#include "../conformance/CpuBackend.h"
#include "Suite.h"

#include "tessera/frontends/onnx/Import.h"
#include "tessera/frontends/onnx/Value.h"

#include <cstring>
#include <filesystem>

using namespace tessera;
using namespace tessera::suite;
namespace fs = std::filesystem;

namespace {

/// Inputs and outputs of one test.
struct TestData {
  std::map<std::string, onnx::Tensor> inputs;
  std::vector<onnx::Tensor> outputs;
};

class Runner {
public:
  Runner(const Case &test, const RunOptions &options) : test(test), options(options) {}

  Verdict run() {
    Result<onnx::Model> read = onnx::readModel(test.model);
    if (!read.ok())
      return fail(read.status().message());
    model = std::move(*read);
    verdict.operators = operatorsOf(model);
    if (std::string reason = exclusion(model); !reason.empty()) {
      verdict.outcome = Outcome::Excluded;
      verdict.reason = reason;
      return verdict;
    }
    if (options.dynamic)
      for (onnx::ValueInfo &input : model.graph.inputs)
        if (input.type.shape && !input.type.shape->empty())
          input.type.shape->front() = {std::nullopt, "batch", ""};
    std::vector<TestData> tests;
    if (test.sets.empty()) {
      tests.resize(1);
      if (!light(tests[0]))
        return verdict;
    }
    for (const std::string &set : test.sets) {
      tests.emplace_back();
      if (!load(set, tests.back()))
        return verdict;
    }
    for (const TestData &data : tests)
      if (!runTest(data))
        return verdict;
    verdict.outcome = Outcome::Passed;
    verdict.reason.clear();
    return verdict;
  }

private:
  Verdict fail(std::string reason) {
    verdict.outcome = Outcome::Failed;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    verdict.reason = std::move(reason);
    return verdict;
  }
  bool refuse(std::string reason) {
    fail(std::move(reason));
    return false;
  }

  // Inputs that are initializers too have no file.
  std::vector<const onnx::ValueInfo *> fedInputs() const {
    std::vector<const onnx::ValueInfo *> list;
    for (const onnx::ValueInfo &input : model.graph.inputs)
      list.push_back(&input);
    return list;
  }

  bool load(const std::string &set, TestData &data) {
    std::vector<const onnx::ValueInfo *> inputs = fedInputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::string path = set + "/input_" + std::to_string(i) + ".pb";
      if (!fs::exists(path))
        continue;
      Result<onnx::Tensor> tensor = onnx::readTensor(path);
      if (!tensor.ok())
        return refuse(tensor.status().message());
      data.inputs[inputs[i]->name] = std::move(*tensor);
    }
    for (size_t i = 0; i < model.graph.outputs.size(); ++i) {
      Result<onnx::Tensor> tensor = onnx::readTensor(set + "/output_" + std::to_string(i) + ".pb");
      if (!tensor.ok())
        return refuse(tensor.status().message());
      data.outputs.push_back(std::move(*tensor));
    }
    return true;
  }

  // The light models are fed 0, 1/n, 2/n, …
  bool light(TestData &data) {
    for (const onnx::ValueInfo &input : model.graph.inputs) {
      bool isInitializer = false;
      for (const onnx::Tensor &tensor : model.graph.initializers)
        isInitializer |= tensor.name == input.name;
      if (isInitializer || !input.type.shape)
        continue;
      onnx::Tensor tensor;
      tensor.type = onnx::DataType::F32;
      int64_t count = 1;
      for (const onnx::Dim &dim : *input.type.shape) {
        tensor.dims.push_back(dim.value.value_or(1));
        count *= tensor.dims.back();
      }
      auto values = std::make_shared<std::vector<float>>(count);
      for (int64_t i = 0; i < count; ++i)
        (*values)[i] = static_cast<float>(double(i) / double(count));
      tensor.data = std::as_bytes(std::span(*values));
      tensor.owner = values;
      data.inputs[input.name] = std::move(tensor);
    }
    Result<onnx::Tensor> output = onnx::readTensor(test.output);
    if (!output.ok())
      return refuse(output.status().message());
    data.outputs.push_back(std::move(*output));
    return true;
  }

  // Inputs that decide shapes are bound one round after the other, as the importer asks for them.
  OwningOpRef<ModuleOp> import(Session &session, const TestData &data) {
    onnximport::ImportOptions import;
    import.file = test.name + ".onnx";
    for (int round = 0; round < 20; ++round) {
      onnximport::Imported imported = onnximport::importModel(model, import, &session.context());
      if (imported.module)
        return std::move(imported.module);
      bool more = false;
      for (const std::string &name : imported.unbound)
        if (auto it = data.inputs.find(name); it != data.inputs.end() && !import.bound.count(name)) {
          import.bound[name] = it->second;
          verdict.bound.push_back(name);
          more = true;
        }
      if (more)
        continue;
      std::string text = imported.problems.empty() ? "import failed" : imported.problems.front();
      if (imported.problems.size() > 1)
        text += " (and " + std::to_string(imported.problems.size() - 1) + " more)";
      fail("import: " + text);
      if (text.find("at random") != std::string::npos) {
        verdict.outcome = Outcome::Excluded;
        verdict.reason = "random by definition";
      }
      return nullptr;
    }
    fail("import: binding does not end");
    return nullptr;
  }

  bool runTest(const TestData &data) {
    verdict.bound.clear();
    Session session;
    std::string said;
    session.context().getDiagEngine().registerHandler([&](Diagnostic &d) {
      if (d.getSeverity() == DiagnosticSeverity::Error && said.empty())
        said = d.str();
      return success(d.getSeverity() == DiagnosticSeverity::Error);
    });
    OwningOpRef<ModuleOp> module = import(session, data);
    if (!module)
      return false;
    if (options.target == "import")
      return true;
    auto graph = *module->getOps<dfg::GraphOp>().begin();
    std::vector<oracle::Array> inputs;
    for (auto [name, type] : llvm::zip(graph.getArgNames(), graph.getArgumentTypes())) {
      auto it = data.inputs.find(cast<StringAttr>(name).str());
      if (it == data.inputs.end())
        return refuse("the test gives no input '" + cast<StringAttr>(name).str() + "'");
      inputs.push_back(toArray(it->second, type));
    }
    FailureOr<std::vector<oracle::Array>> results = failure();
    if (options.target == "oracle") {
      results = oracle::runGraph(graph, inputs);
    } else {
      conformance::BackendOptions backend;
      backend.strict = options.strict;
      backend.machine.checks = options.checkAll ? Checks::All : Checks::Data;
      backend.threads = 1;
      FailureOr<std::string> installed = conformance::installModule(session, *module, backend);
      if (failed(installed))
        return refuse("compile: " + said);
      results = conformance::runProgram(*installed, graph, inputs, backend);
    }
    if (failed(results))
      return refuse("run: " + said);
    for (size_t i = 0; i < data.outputs.size() && i < results->size(); ++i) {
      const oracle::Array &array = (*results)[i];
      if (array.elementType != onnximport::elementType(data.outputs[i].type, &session.context()))
        return refuse("output " + std::to_string(i) + ": another element type");
      std::string difference =
          compareOutput(data.outputs[i], array.shape, array.bytes, test.relative, test.absolute);
      if (!difference.empty())
        return refuse("output " + std::to_string(i) + ": " + difference);
    }
    return results->size() == data.outputs.size() || refuse("another number of outputs");
  }

  static oracle::Array toArray(const onnx::Tensor &tensor, Type type) {
    oracle::Array array;
    array.elementType = getElementTypeOrSelf(type);
    array.shape = tensor.dims;
    std::vector<int8_t> unpacked = onnx::unpackSubByte(tensor);
    const char *data = unpacked.empty() ? reinterpret_cast<const char *>(tensor.data.data())
                                        : reinterpret_cast<const char *>(unpacked.data());
    array.bytes.assign(data, data + (unpacked.empty() ? tensor.data.size() : unpacked.size()));
    return array;
  }

  const Case &test;
  const RunOptions &options;
  onnx::Model model;
  Verdict verdict;
};

} // namespace

Verdict suite::runCase(const Case &test, const RunOptions &options) { return Runner(test, options).run(); }
