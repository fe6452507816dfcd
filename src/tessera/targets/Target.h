// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything the compiler asks of a target. A target is one folder: this interface for the compiler, and a
// Device.cpp for the runtime that knows nothing of it.
#pragma once

#include "tessera/targets/common/Exprs.h"
#include "tessera/transforms/leaf/Payload.h"

#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tessera {

struct TargetInfo {
  std::string name, summary;
  std::string triple, cpu;           ///< of the machine that code is made for; empty where that means nothing
  std::vector<std::string> features; ///< that a machine must have to run the code
  unsigned vectorBytes = 16;         ///< of one vector register
  unsigned registers = 16;           ///< vector registers
  std::string dotBytes = "plain", dotHalves = "plain"; ///< what multiplies narrow elements (cpu::packed::Dot)
  uint64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 0;
  bool measured = true; ///< false when figures of this target come from a model
};

/// What kernels check of their data while they run (docs/decisions/0021-faults.md).
enum class Checks : uint8_t {
  None, ///< nothing: what does not fit does no harm, but gives any result
  Data, ///< indices, lengths and divisors that data decides
  All,  ///< and every access to memory
};

/// How to install for a target.
struct TargetOptions {
  std::string triple, cpu, features; ///< of the machine; empty means the one we run on
  bool strict = false;               ///< no contraction: bit for bit what the oracle says, up to reductions
  Checks checks = Checks::Data;
};

/// A node on its way through a target: its payload, what the plan knows of its arguments, and the version to
/// fill.
struct NodeLowering {
  dfg::NodeOp node;
  func::FuncOp payload;
  plan::Env env;
  plan::Version version;
  ModuleOp script;      ///< that was applied to the payload; null when there was none
  std::string sequence; ///< of the script; the sequence `<name>_loops` is for the kernels
};

/// What goes into a section of the installed program for one target.
struct TargetCode {
  std::string bytes;
  llvm::StringMap<uint64_t> kernelBytes; ///< size of each kernel's code, for `explain`; may be empty
};

class Target {
public:
  virtual ~Target() = default;
  /// Adds the target's own dialects and schedule operations.
  virtual void registerDialects(DialectRegistry &registry) const {}
  /// Adds the target's own passes, for `tessera-opt`.
  virtual void registerPasses() const {}
  /// Whether the options name a machine that code can be made for. Emits a diagnostic when they do not.
  virtual LogicalResult check(const TargetOptions &options, Location loc) const { return success(); }
  virtual TargetInfo info(const TargetOptions &options) const = 0;
  /// Whether a node can run here at all; placement asks it.
  virtual bool supports(dfg::NodeOp node) const = 0;
  /// True when the device runs the CPU's kernels on memory of its own: its versions take the CPU's steps, and
  /// writeSchedule, lower and emit are never called.
  virtual bool runsHostCode() const { return false; }
  /// A schedule script for a payload: a transform-dialect module with a sequence @schedule for the payload,
  /// and
  /// @schedule_loops for its kernels after they have become loops. Empty when there is nothing to do.
  virtual std::string writeSchedule(func::FuncOp payload, const TargetOptions &options) const = 0;
  /// Scheduled payloads of `module` → kernels in the target's own form, and the steps that run them. Steps of
  /// several nodes may name one kernel.
  virtual LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering> nodes,
                              const TargetOptions &options) const = 0;
  /// Kernels → what goes into the installed program's section `code` (the CPU) or `code.<target>`.
  virtual FailureOr<TargetCode> emit(ModuleOp module, const TargetOptions &options) const = 0;
};

} // namespace tessera
