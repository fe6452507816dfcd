// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests only: builds plans by hand and .tsx files in memory around the test
// kernels, so that the real loader, plan reader and executor are what is tested.
#pragma once

#include "tessera/base/Container.h"
#include "tessera/runtime/program/Module.h"
#include "tessera/runtime/program/Program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::testing {

using Json = nlohmann::json;

/// Arguments of a kernel: {"value", i} or {"expr", i}. (As a bare Json, pairs would become an object.)
using Args = std::vector<std::pair<std::string, int>>;

/// Collects the parts of one program; indices are what the plan's JSON wants.
class PlanBuilder {
public:
  explicit PlanBuilder(std::string name = "test") { program = {{"name", std::move(name)}}; }

  int expr(Json e) {
    exprs.push_back(std::move(e));
    return static_cast<int>(exprs.size()) - 1;
  }
  int constant(int64_t k) { return expr({"const", k}); }
  int dim(int value, int d) { return expr({"dim", value, d}); }
  int value(Json v) {
    values.push_back(std::move(v));
    return static_cast<int>(values.size()) - 1;
  }
  int input(const std::string &name, std::vector<int64_t> shape, const char *type = "f32") {
    int v = value({{"kind", "input"}, {"type", type}, {"shape", shape}});
    inputs.push_back({{"name", name}, {"value", v}});
    return v;
  }
  int temp(std::vector<int> shape, const char *type = "f32") {
    return value({{"kind", "temp"}, {"type", type}, {"shape", shape}});
  }
  int alias(int of, std::vector<int> shape, const char *type = "f32") {
    return value({{"kind", "alias"}, {"of", of}, {"type", type}, {"shape", shape}});
  }
  void output(const std::string &name, int v) { outputs.push_back({{"name", name}, {"value", v}}); }
  /// A step over `extent` tasks of one dimension.
  Json step(const std::string &kernel, Args args, int extent) {
    int one = constant(1);
    return {{"kernel", kernel}, {"args", Json(args)}, {"grid", {extent, one, one}}};
  }
  static Json version(const std::string &target, Json steps, Json temps = Json::array()) {
    return {{"target", target}, {"steps", std::move(steps)}, {"temps", std::move(temps)}};
  }
  int node(const std::string &name, std::vector<int> reads, std::vector<int> writes, Json versions,
           Json more = {}) {
    Json n = {{"name", name},
              {"after", Json::array()},
              {"reads", reads},
              {"writes", writes},
              {"versions", versions}};
    for (auto &[key, item] : more.items())
      n[key] = item;
    nodes.push_back(std::move(n));
    return static_cast<int>(nodes.size()) - 1;
  }
  /// A node of one step for the CPU.
  int simple(const std::string &name, const std::string &kernel, std::vector<int> reads,
             std::vector<int> writes, Args args, int extent) {
    return node(name, std::move(reads), std::move(writes),
                Json::array({version("cpu", Json::array({step(kernel, std::move(args), extent)}))}));
  }

  Json json() const {
    Json p = program;
    p["inputs"] = inputs;
    p["outputs"] = outputs;
    p["exprs"] = exprs;
    p["values"] = values;
    p["nodes"] = nodes;
    return p;
  }
  Json plan() const { return {{"version", 1}, {"abi", 1}, {"programs", Json::array({json()})}}; }

  Json program, inputs = Json::array(), outputs = Json::array(), exprs = Json::array(),
                values = Json::array(), nodes = Json::array();
};

inline std::string kernelImage() {
  auto file = MappedFile::open(TESSERA_TEST_KERNELS);
  EXPECT_TRUE(file.ok());
  return std::string(reinterpret_cast<const char *>((*file)->bytes().data()), (*file)->bytes().size());
}

/// The bytes of a .tsx file. `images`: other sections, by name.
inline std::string tsxBytes(const Json &plan, const std::string &constants = "", Json meta = Json::object(),
                            const std::map<std::string, std::string> &images = {}) {
  ContainerWriter writer(ContainerKind::InstalledProgram);
  writer.add("plan", plan.dump());
  writer.add("code", kernelImage());
  for (auto &[section, bytes] : images)
    writer.add(section, bytes);
  if (!constants.empty())
    writer.add("const", constants);
  writer.add("meta", meta.dump());
  return writer.bytes();
}

/// Loads a plan with the test kernels; the bytes are kept for the life of the test program.
inline Result<std::shared_ptr<const Module>>
loadModule(const Json &plan, const std::string &constants = "", Json meta = Json::object(),
           const std::map<std::string, std::string> &images = {}) {
  static std::vector<std::unique_ptr<std::string>> kept;
  kept.push_back(std::make_unique<std::string>(tsxBytes(plan, constants, std::move(meta), images)));
  auto container = Container::parse(std::as_bytes(std::span(*kept.back())), "test.tsx");
  if (!container.ok())
    return container.status();
  return Module::load(container.take());
}

inline std::shared_ptr<Program> openProgram(const PlanBuilder &builder, ProgramOptions options = {},
                                            const std::string &constants = "") {
  auto module = loadModule(builder.plan(), constants);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok())
    return nullptr;
  auto program = Program::open(module.take(), "", options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? program.take() : nullptr;
}

inline BufferRef floats(std::vector<float> content) {
  auto buffer = Buffer::create(ElementType::F32, {static_cast<int64_t>(content.size())}).take();
  if (!content.empty())
    std::memcpy(*buffer->hostWrite(), content.data(), content.size() * sizeof(float));
  return buffer;
}

inline std::vector<float> content(Buffer &buffer) {
  auto memory = buffer.hostRead();
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  std::vector<float> out(buffer.bytes() / sizeof(float));
  if (!out.empty())
    std::memcpy(out.data(), *memory, buffer.bytes());
  return out;
}

/// Launches once and returns the outputs; a failure is a test failure.
inline std::vector<BufferRef> launch(Program &program, std::vector<BufferRef> inputs) {
  std::vector<Buffer *> raw;
  for (BufferRef &input : inputs)
    raw.push_back(input.get());
  std::vector<BufferRef> outputs(program.plan().outputs.size());
  Status status = program.launch(raw, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  return outputs;
}

} // namespace tessera::testing
