// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what test.sh runs: small installed programs around the test kernels, and
// arrays. usage: tessera_sample KERNELS.so FOLDER
#include "tessera/base/Container.h"
#include "tessera/base/File.h"
#include "tessera/base/Npy.h"

#include <cstdio>
#include <cstring>

using namespace tessera;

static std::string plan(const std::string &target) {
  return R"({"version": 1, "abi": 1, "programs": [{"name": "sample",
    "inputs": [{"name": "x", "value": 0}], "outputs": [{"name": "y", "value": 1}],
    "exprs": [["dim", 0, 0], ["const", 1]],
    "values": [{"kind": "input", "type": "f32", "shape": [-1]}, {"kind": "temp", "type": "f32", "shape": [0]}],
    "nodes": [{"name": "increment", "loc": "s.mlir:1:1", "after": [], "reads": [0], "writes": [1], "cost": 2.5,
      "versions": [{"target": ")" +
         target + R"(", "note": "vector of 16", "temps": [], "steps": [{"kernel": "k_add1",
        "args": [["value", 0], ["value", 1]], "grid": [0, 1, 1], "flops": 0, "bytes": 0}]}]}]}]})";
}

// Scalars of several types that go straight to the output.
static std::string scalars() {
  std::string inputs, outputs, values;
  int count = 0;
  for (const char *type : {"i1", "i8", "i32", "i64", "f16", "f32", "f64"}) {
    const char *comma = count ? ", " : "";
    inputs += std::string(comma) + R"({"name": ")" + type + R"(", "value": )" + std::to_string(count) + "}";
    outputs +=
        std::string(comma) + R"({"name": "o)" + type + R"(", "value": )" + std::to_string(count++) + "}";
    values += std::string(", ") + R"({"kind": "input", "type": ")" + type + R"(", "shape": []})";
  }
  return R"({"version": 1, "abi": 1, "programs": [{"name": "scalars", "inputs": [)" + inputs +
         R"(], "outputs": [)" + outputs + R"(], "exprs": [], "values": [)" + values.substr(2) +
         R"(], "nodes": []}]})";
}

// A classifier that answers with its input: input and output of this shape.
static std::string classifier(const std::string &shape, const char *type = "f32", int outputs = 1) {
  std::string ports = R"({"name": "scores", "value": 0})";
  if (outputs > 1)
    ports += R"(, {"name": "more", "value": 0})";
  return R"({"version": 1, "abi": 1, "programs": [{"name": "classifier", "inputs": [{"name": "image", "value": 0}],
    "outputs": [)" +
         ports + R"(], "exprs": [], "values": [{"kind": "input", "type": ")" + type + R"(", "shape": )" +
         shape + R"(}], "nodes": []}]})";
}

// Labelled data for it: sample i has its largest number at i % 6 and its label says so, but for the last of
// ten.
static bool writeLabelled(const std::string &path, NpyType type) {
  std::byte *x, *y;
  NpyArray samples = NpyArray::allocate(type, {10, 3, 1, 2}, &x),
           labels = NpyArray::allocate(NpyType::U1, {10}, &y);
  for (size_t i = 0; i < 10; ++i) {
    const float one = 1;
    if (type == NpyType::U1)
      x[6 * i + i % 6] = std::byte(255);
    else
      std::memcpy(x + 4 * (6 * i + i % 6), &one, 4);
    y[i] = static_cast<std::byte>(i == 9 ? 0 : i % 6);
  }
  return writeNpz(path, {{"x", samples}, {"y", labels}}).ok();
}

// A node of a long and a short step.
static std::string twoSteps() {
  return R"({"version": 1, "abi": 1, "programs": [{"name": "two",
    "inputs": [{"name": "x", "value": 0}], "outputs": [{"name": "y", "value": 2}],
    "exprs": [["const", 100000], ["const", 1], ["const", 2000000]],
    "values": [{"kind": "input", "type": "f32", "shape": [100000]}, {"kind": "temp", "type": "f32", "shape": [0]},
      {"kind": "temp", "type": "f32", "shape": [0]}],
    "nodes": [{"name": "both", "reads": [0, 2], "writes": [1, 2],
      "versions": [{"target": "cpu", "steps": [
        {"kernel": "k_add1", "args": [["value", 0], ["value", 1]], "grid": [0, 1, 1], "flops": 2, "bytes": 2},
        {"kernel": "k_add1", "args": [["value", 1], ["value", 2]], "grid": [1, 1, 1]}]}]}]}]})";
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
  auto kernels = MappedFile::open(argv[1]);
  if (!kernels.ok())
    return 1;
  std::string folder = std::string(argv[2]) + "/";
  bool good = true;
  auto write = [&](const char *name, const std::string &target, const std::string &meta) {
    ContainerWriter writer(ContainerKind::InstalledProgram);
    writer.add("plan", plan(target));
    writer.addReference("code", (*kernels)->bytes());
    writer.add("meta", meta);
    good = good && writer.write(folder + name).ok();
  };
  write(
      "sample.tsx", "cpu",
      R"({"scripts": {"sample": "the graph's script", "sample.increment": "the schedule text", "other": "not this"},
            "mode": "strict", "savedBytes": 2048, "savedKernels": 3})");
  write("nested.tsx", "cpu", R"({"schedule": {"sample": {"increment": "the schedule text"}}})");
  auto writePlan = [&](const char *name, const std::string &text) {
    ContainerWriter writer(ContainerKind::InstalledProgram);
    writer.add("plan", text);
    writer.addReference("code", (*kernels)->bytes());
    good = good && writer.write(folder + name).ok();
  };
  writePlan("scalars.tsx", scalars());
  std::string wordy = plan("cpu");
  wordy.replace(wordy.find("vector of 16"), 12, "rows as tasks; vector of 16; rows as tasks");
  wordy.replace(wordy.find("increment"), 9, "a_node_whose_name_is_longer_than_a_reader_likes");
  writePlan("long.tsx", wordy);
  writePlan("classifier.tsx", classifier("[-1, 3, 1, 2]"));
  writePlan("classifier-last.tsx", classifier("[-1, 1, 2, 3]"));
  writePlan("classifier-flat.tsx", classifier("[-1, 6]"));
  writePlan("classifier-four.tsx", classifier("[4, 3, 1, 2]"));
  writePlan("classifier-f16.tsx", classifier("[-1, 3, 1, 2]", "f16"));
  writePlan("classifier-f64.tsx", classifier("[-1, 3, 1, 2]", "f64"));
  writePlan("classifier-i32.tsx", classifier("[-1, 3, 1, 2]", "i32"));
  writePlan("classifier-two.tsx", classifier("[-1, 3, 1, 2]", "f32", 2));
  writePlan("classifier-none.tsx", classifier("[0, 3, 1, 2]"));
  good = good && writeLabelled(folder + "bytes.npz", NpyType::U1) &&
         writeLabelled(folder + "floats.npz", NpyType::F4);
  writePlan("two.tsx", twoSteps());
  write("nulls.tsx", "null", "{}");
  write("other.tsx", "cpu", R"({"features": ["frobnicate"]})");
  alignas(64) float x[3] = {1, 2, 3};
  NpyArray array{NpyType::F4, {3}, std::as_bytes(std::span(x)), nullptr};
  good = good && writeNpy(folder + "x.npy", array).ok() && writeNpz(folder + "x.npz", {{"x", array}}).ok();
  std::byte *storage;
  good = good && writeNpy(folder + "wide.npy", NpyArray::allocate(NpyType::F8, {2, 2}, &storage)).ok();
  return good ? 0 : 1;
}
