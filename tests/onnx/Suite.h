// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX backend suite: its cases on disk, how one is run, and the table of what came out.
#pragma once

#include "tessera/frontends/onnx/reader/Reader.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::suite {

/// One case of the suite: a model with its inputs and the outputs that are expected.
struct Case {
  std::string kind; ///< node, simple, pytorch-converted, pytorch-operator or light
  std::string name;
  std::string model;             ///< the path of the model
  std::vector<std::string> sets; ///< folders with input_i.pb and output_i.pb; empty for light models
  std::string output;            ///< of light models: the only output
  double relative = 1e-3, absolute = 1e-7;
  std::string title() const { return kind + "/" + name; }
};

/// All cases below the suite's data folder, in a fixed order.
std::vector<Case> findCases(const std::string &data);

enum class Outcome : uint8_t { Passed, Failed, Excluded };

struct Verdict {
  Outcome outcome = Outcome::Failed;
  /// Why it failed or is excluded; one line.
  std::string reason;
  /// Inputs that were bound: they decide shapes.
  std::vector<std::string> bound;
  /// The operators of the model.
  std::vector<std::string> operators;
};

/// Why a model is out of scope, or "".
std::string exclusion(const onnx::Model &model);
/// The operators that a model uses, without repetition.
std::vector<std::string> operatorsOf(const onnx::Model &model);

struct RunOptions {
  std::string target = "cpu"; ///< cpu, oracle, or import for the import alone
  bool strict = false;
  bool checkAll = false; ///< code that checks every access to memory
  bool dynamic = false;  ///< the first extent of each input is not told to the compiler
};

/// Imports, compiles, installs and runs a case in this process, which it may end.
Verdict runCase(const Case &test, const RunOptions &options);

/// What a program gave against what is expected: "" or the first difference.
std::string compareOutput(const onnx::Tensor &expected, const std::vector<int64_t> &shape,
                          const std::vector<char> &bytes, double relative, double absolute);

struct ParallelOptions {
  RunOptions run;
  unsigned jobs = 2;
  unsigned seconds = 60;      ///< of the processor, for one case
  uint64_t megabytes = 12000; ///< address space of one case
  bool verbose = false;
};
/// Each case in a process of its own.
std::vector<Verdict> runCases(const std::vector<Case> &cases, const ParallelOptions &options);

/// The table as Markdown.
std::string writeTable(const std::vector<Case> &cases, const std::vector<Verdict> &verdicts);
/// What a table says of its cases, by title; without their operators.
std::map<std::string, Verdict> readTable(const std::string &text);

} // namespace tessera::suite
