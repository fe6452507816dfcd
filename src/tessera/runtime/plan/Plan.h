// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of an installed program (docs/formats.md) as data, for those who make it, write it and run it, and
// what can be derived from it before any shape is known. parsePlan checks everything: code that holds a Plan
// may index without looking.
#pragma once

#include "tessera/base/ElementType.h"
#include "tessera/base/Status.h"
#include "tessera/runtime/plan/Fault.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The version that is written, and the oldest that is read: version 2 adds faults, version 3 what devices
/// that are no CPU need of a step.
inline constexpr int planVersion = 3, oldestPlanVersion = 1;
inline constexpr int kernelAbiVersion = 1;

/// The kernel ABI, version 1.
using KernelFunction = void (*)(const uint64_t *args, const int64_t *begin, const int64_t *end,
                                void *scratch);

enum class ExprOp : uint8_t {
  Const,
  Dim,
  Load,
  Add,
  Sub,
  Mul,
  FloorDiv,
  CeilDiv,
  Mod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  And,
  Or,
  Xor,
  Select
};

/// One expression: operands are indices of earlier expressions, except for Const (constant), Dim (a = value,
/// b = dimension) and Load (a = value).
struct Expr {
  ExprOp op = ExprOp::Const;
  int64_t constant = 0;
  int32_t a = -1, b = -1, c = -1;
};

enum class ValueKind : uint8_t { Input, Temp, Const, Alias, State, Fault };

struct ValueInfo {
  ValueKind kind = ValueKind::Temp;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {}; ///< Input: extents or -1. Otherwise indices of exprs.
  int32_t of = -1;                 ///< Alias: the value whose memory it names.
  int32_t init = -1, next = -1;    ///< State.
  uint64_t offset = 0, bytes = 0;  ///< Const: range of the section `const`.
  int32_t root = -1;               ///< Derived: the value that owns the memory.
};

struct StepArg {
  bool isValue = false;
  int32_t index = 0;
  ElementType type = ElementType::I64; ///< Of an expr: what the kernel takes the number as.
};

struct Step {
  std::string kernel;
  std::vector<StepArg> args;
  std::array<int32_t, 3> grid{};
  int32_t scratch = -1, flops = -1, bytes = -1; ///< Exprs, or -1 when absent.
  bool chain = false;
  // Since version 3, for devices that want it; exprs, or -1 when absent.
  std::array<int32_t, 3> block{-1, -1, -1}, cluster{-1, -1, -1};
  int32_t shared = -1;
  std::string own;     ///< A JSON object as text, which only the target's device reads; may be empty.
  int32_t faults = -1; ///< Value of kind fault with a cell for each site, or -1.
  std::vector<FaultSite> sites;
  KernelFunction function = nullptr; ///< Resolved by Module for machine code of the host.
};

/// What a run is expected to take in microseconds: `launch + work * times`.
struct Expected {
  double launch = 0, work = 0;
  int32_t times = -1; ///< Expr: how often the work is done; -1: once.
};

struct Version {
  std::string target;
  std::vector<Step> steps;
  std::vector<int32_t> temps;
  std::string note;
  std::optional<Expected> expected;
  std::vector<int32_t> reads; ///< Derived: the node's, without constants that none of the steps takes.
};

/// Two exprs that must be equal: of a node when it starts, of a program (what its views need) as soon as both
/// are known. `text` says what they are, `name` of which operation; a node's own are the node's.
struct ExtentCheck {
  int32_t got = 0, expected = 0;
  std::string text;
  std::string name = {};
  int32_t segment = 0; ///< Derived, of a program's: where it is made.
};

struct Node {
  std::string name, loc;
  std::string layout; ///< Of its results, for `explain`; may be empty.
  std::vector<int32_t> after, reads, writes;
  int32_t depth = 1, criticality = 0;
  double cost = 0;
  std::vector<ExtentCheck> checks;
  std::vector<Version> versions;
  int32_t segment = 0;             ///< Derived: which segment of the plan runs it.
  std::vector<int32_t> needs;      ///< Derived: `after` and all hazards on memory, sorted.
  std::vector<int32_t> successors; ///< Derived: the inverse of needs.
};

struct Port {
  std::string name;
  int32_t value = 0;
  /// Of an output of strings: the table that its elements (i64) are places in.
  std::vector<std::string> words = {};
  bool isUnsigned = false; ///< Its integers have no sign, for those who fill and read it.
  bool written = false;    ///< Derived, for inputs: some node writes the caller's memory.
};

struct ProgramPlan {
  std::string name;
  bool reuse = true;   ///< Temporaries that are not alive at the same time may share memory.
  uint64_t align = 64; ///< What its kernels ask of the memory of inputs and outputs.
  std::vector<Port> inputs, outputs;
  std::vector<Expr> exprs;
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<ExtentCheck> checks;

  // Derived.
  int32_t segments = 1;
  std::vector<int32_t> exprSegment;  ///< First segment in which an expr can be evaluated; -1: in none.
  std::vector<int32_t> loads;        ///< Exprs of kind Load, in order.
  std::vector<int32_t> states;       ///< Values of kind State.
  std::vector<int32_t> outputOfRoot; ///< Per value: the output bound directly to this root's memory, or -1.
  std::vector<bool> rootWritten;     ///< Per value: some node writes this root.

  /// Index of the input or output called `name`, or -1.
  int32_t findInput(std::string_view name) const;
  int32_t findOutput(std::string_view name) const;
};

struct Plan {
  std::vector<ProgramPlan> programs;
  /// Index of the program called `name`, or -1.
  int32_t find(std::string_view name) const;
};

/// Parses and checks the text of the section `plan`; `constBytes` is the size of the section `const`.
Result<Plan> parsePlan(std::string_view text, uint64_t constBytes);

/// The second half of parsePlan: checks that cross the parts of one program, and all derived fields.
Status checkProgram(ProgramPlan &program, uint64_t constBytes);

/// The text of the section `plan`; what is derived is not written.
std::string writePlan(const Plan &plan);

/// Spellings in a plan.
std::string_view exprOpName(ExprOp op);
std::string_view valueKindName(ValueKind kind);

} // namespace tessera
