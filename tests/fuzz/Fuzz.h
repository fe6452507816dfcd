// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each fuzz target provides: the entry point of libFuzzer, seeds, and how an input is mutated.
#pragma once

#include "tessera/base/File.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Valid inputs to start from.
std::vector<std::string> fuzzSeeds();

/// Changes `input` in a few places, maybe with pieces of `other`. A target whose format has structure keeps
/// most of it; the others link MutateAny.cpp.
void fuzzMutate(std::string &input, const std::string &other, std::mt19937_64 &random);
/// The same without any knowledge of the format.
void fuzzMutateBytes(std::string &input, const std::string &other, std::mt19937_64 &random);

inline std::string readWholeFile(const char *path) {
  auto file = tessera::MappedFile::open(path);
  if (!file.ok())
    return "";
  return std::string(reinterpret_cast<const char *>((*file)->bytes().data()), (*file)->bytes().size());
}

/// A step as devices that are no CPU want it, from version 3 of the format on.
inline const char *const fuzzDevicePlan = R"({"version": 3, "abi": 1, "programs": [{
 "name": "d", "inputs": [{"name": "x", "value": 0}], "outputs": [{"name": "y", "value": 1}],
 "exprs": [["dim", 0, 0], ["const", 128], ["const", 1], ["ceildiv", 0, 1], ["const", 49152]],
 "values": [{"kind": "input", "type": "f32", "shape": [-1]}, {"kind": "temp", "type": "f32", "shape": [0]}],
 "nodes": [{"name": "n", "reads": [0], "writes": [1], "versions": [{"target": "gpu", "steps": [
   {"kernel": "k", "args": [["value", 0], ["value", 1], ["expr", 0, "i32"]], "grid": [3, 2, 2], "block": [1, 2, 2],
    "cluster": [2, 2, 2], "shared": 4, "own": {"stages": 3, "maps": [{"tile": [128, 64]}]}}]}]}]}]})";

/// A small program that uses every part of the plan format, but for what devices that are no CPU need.
inline const char *const fuzzPlan = R"({"version": 1, "abi": 1, "programs": [{
 "name": "p", "inputs": [{"name": "x", "value": 0}, {"name": "k", "value": 1}],
 "outputs": [{"name": "out", "value": 4}, {"name": "size", "value": 6}],
 "exprs": [["dim", 0, 0], ["const", 1], ["load", 1], ["add", 0, 1], ["max", 3, 2], ["ceildiv", 0, 4], ["load", 6],
           ["select", 1, 6, 0], ["min", 7, 0]],
 "values": [{"kind": "input", "type": "f32", "shape": [-1]}, {"kind": "input", "type": "i32", "shape": []},
            {"kind": "temp", "type": "f32", "shape": [0]}, {"kind": "alias", "of": 2, "type": "f32", "shape": [0]},
            {"kind": "temp", "type": "f32", "shape": [8]},
            {"kind": "const", "type": "f32", "shape": [1], "offset": 0, "bytes": 64},
            {"kind": "temp", "type": "i64", "shape": []},
            {"kind": "state", "type": "f32", "shape": [1], "init": 5, "next": 5},
            {"kind": "temp", "type": "f32", "shape": [0]}],
 "nodes": [{"name": "a", "loc": "f:1:2", "after": [], "reads": [0], "writes": [2], "depth": 2, "criticality": 1, "cost": 1.5,
   "versions": [{"target": "cpu", "temps": [8], "note": "n", "steps": [
      {"kernel": "k_add1", "args": [["value", 0], ["value", 8]], "grid": [0, 1, 1], "scratch": 1, "chain": false, "flops": 0, "bytes": 0},
      {"kernel": "k_add1", "args": [["value", 8], ["value", 2]], "grid": [0, 1, 1], "chain": true}]}]},
  {"name": "c", "after": [0], "reads": [2], "writes": [6], "versions": [{"target": "cpu", "steps": [
      {"kernel": "k_count", "args": [["value", 2], ["expr", 0], ["value", 6]], "grid": [1, 1, 1]}]}]},
  {"name": "b", "after": [1], "reads": [3, 5, 7], "writes": [4], "versions": [{"target": "cpu", "steps": [
      {"kernel": "k_iota", "args": [["value", 4]], "grid": [8, 1, 1]}]}]}]}]})";
