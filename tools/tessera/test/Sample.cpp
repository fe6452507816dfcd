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
  write("sample.tsx", "cpu", R"({"schedule": {"sample": {"increment": "the schedule text"}}})");
  write("nulls.tsx", "null", "{}");
  write("other.tsx", "cpu", R"({"features": ["frobnicate"]})");
  alignas(64) float x[3] = {1, 2, 3};
  NpyArray array{NpyType::F4, {3}, std::as_bytes(std::span(x)), nullptr};
  good = good && writeNpy(folder + "x.npy", array).ok() && writeNpz(folder + "x.npz", {{"x", array}}).ok();
  std::byte *storage;
  good = good && writeNpy(folder + "wide.npy", NpyArray::allocate(NpyType::F8, {2, 2}, &storage)).ok();
  return good ? 0 : 1;
}
