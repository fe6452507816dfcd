// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of an installed program while it is being written (docs/formats.md): exprs, values,
// nodes and their versions. Reading a plan is the runtime's business.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tessera::plan {

/// An index into the program's exprs.
using Expr = int;

/// One slot of a kernel's arguments.
struct Arg {
  enum Kind { Value, Expression } kind;
  int index;
};

/// A place in a kernel that checks data; `kind` is a name of runtime/plan/Fault.h.
struct FaultSite {
  std::string kind, what, loc;
};

struct Step {
  std::string kernel;
  std::vector<Arg> args;
  std::array<Expr, 3> grid;
  Expr scratch, flops, bytes;
  bool chain = false;
  int faults = -1; ///< the value of kind fault that its sites report in
  std::vector<FaultSite> sites;
};

/// What a run is expected to take in microseconds: `launch + work * times`.
struct Expected {
  double launch = 0, work = 0;
  Expr times = -1; ///< -1: once
};

struct Version {
  std::string target;
  std::vector<Step> steps;
  std::vector<int> temps;
  std::string note;   ///< one line for `explain`
  std::string script; ///< the schedule that was applied
  std::optional<Expected> expected;
};

/// Two exprs that must be equal; `text` says what they are, `name` of which operation where it is no node's.
struct ExtentCheck {
  Expr got, expected;
  std::string text;
  std::string name = {};
};

struct Node {
  std::string name, loc;
  std::string layout; ///< of its results, for `explain`; may be empty
  std::vector<int> after, reads, writes;
  int64_t depth = 2;
  int criticality = 0;
  double cost = 0;
  Expr flops = -1; ///< of one execution; belongs to the first step of each version
  std::vector<ExtentCheck> checks;
  std::vector<Version> versions;
};

struct Value {
  std::string kind, type;
  std::vector<int64_t> shape;     ///< of an input: extents or -1; otherwise exprs
  int of = -1;                    ///< alias
  int init = -1, next = -1;       ///< state
  uint64_t offset = 0, bytes = 0; ///< const
};

/// One program of the plan. Exprs are folded and shared as they are added.
class Program {
public:
  std::string name;
  /// What the kernels ask of the memory of inputs and outputs.
  int64_t align = 64;
  /// Temporaries that are not alive at the same time may share memory.
  bool reuse = true;
  std::vector<std::pair<std::string, int>> inputs, outputs;
  std::set<std::string> unsignedPorts;                   ///< of those, the ones whose integers are unsigned
  std::map<std::string, std::vector<std::string>> words; ///< what the elements of an output stand for
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ExtentCheck> checks; ///< of views

  Expr constant(int64_t value);
  std::optional<int64_t> getConstant(Expr e) const;
  /// Extent `d` of a value: read at launch for an input, otherwise its expr.
  Expr dim(int value, unsigned d);
  /// The integer stored in a value of rank 0.
  Expr load(int value);
  Expr binary(const std::string &op, Expr a, Expr b);
  Expr select(Expr condition, Expr a, Expr b);
  int addValue(Value value);
  /// A value of kind fault for so many sites; and another number of them for one that there is.
  int addFaults(size_t sites);
  void resizeFaults(int value, size_t sites);
  /// The number of bytes of a value's elements.
  Expr sizeOf(int value, unsigned elementBytes);

  /// The program as JSON text.
  std::string json() const;

private:
  struct Op {
    std::string op;
    std::vector<int64_t> operands;
    bool operator<(const Op &o) const { return std::tie(op, operands) < std::tie(o.op, o.operands); }
  };
  std::vector<Op> exprs;
  std::map<Op, Expr> known;
  Expr add(Op op);
};

/// The whole plan: `{"version": …, "programs": […]}`.
std::string planJson(const std::vector<Program> &programs);

} // namespace tessera::plan
