// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything the compiler asks of a target. A target is one folder: this interface for the compiler, and a
// Device.cpp for the runtime that knows nothing of it. The functions are in the order of the stages that call
// them; the ones without an answer here are those that every target must give.
#pragma once

#include "tessera/targets/common/Exprs.h"
#include "tessera/transforms/leaf/Payload.h"
#include "tessera/transforms/schedule/Script.h"

#include "llvm/ADT/StringMap.h"
#include <functional>
#include <memory>

namespace tessera {

class Store;

struct TargetInfo {
  std::string name, summary;
  /// For the default of cost(): operations and bytes of memory a second, and seconds of a launch of nothing.
  double flopsPerSecond = 1e11, bytesPerSecond = 1e10, launchSeconds = 1e-6;
};

/// What kernels check of their data while they run (docs/decisions/0021-faults.md).
enum class Checks : uint8_t {
  None, ///< nothing: what does not fit does no harm, but gives any result
  Data, ///< indices, lengths and divisors that data decides
  All,  ///< and every access to memory
};

/// How to install for a target.
struct TargetOptions {
  std::string triple, cpu, features; ///< of the host's machine; empty means the one we run on
  std::string machine; ///< what stands behind the colon of `--target name:machine`; may be empty
  bool strict = false; ///< no contraction: bit for bit what the oracle says, up to reductions
  Checks checks = Checks::Data;
  Store *store = nullptr; ///< where code is kept that is the same in other programs; null: nowhere
};

/// What a program says of the machine that its host code is made for, so that another one refuses it.
struct HostMachine {
  std::string triple, cpu;
  std::vector<std::string> features; ///< that a machine must have to run the code
};

/// What an operation is expected to take.
struct Cost {
  double seconds = 0;
  bool measured = false; ///< on this machine; otherwise it comes from a model
};

/// How regions of networks are prepared. Each part can be left out to see what it is worth.
struct RegionOptions {
  bool fusion = true; ///< several operations in a node
  bool layout = true; ///< layouts other than the plain one
};

/// One way to run a layer of a network. What it stands for is the target's secret.
struct Candidate {
  std::string text; ///< names it in caches and reports
  std::function<void(Operation *prepared)>
      apply;                                    ///< gives it to a layer that was prepared in the default way
  std::function<void(Operation *layer)> choose; ///< lets prepare() take it for a layer
};

/// A node on its way through a target: its payload, what the plan knows of its arguments, and the version to
/// fill.
struct NodeLowering {
  dfg::NodeOp node;
  func::FuncOp payload;
  plan::Env env;
  plan::Version version;
  Operation *script = nullptr; ///< the sequence that was applied to the payload; null when there was none
  Operation *loops = nullptr;  ///< the sequence for the kernels; null when there is none
  std::string scriptText;      ///< of both, for `explain`
};

/// What goes into a section of the installed program for one target.
struct TargetCode {
  std::string bytes;
  llvm::StringMap<uint64_t> kernelBytes; ///< size of each kernel's code, for `explain`; may be empty
};

class Target {
public:
  virtual ~Target() = default;

  //===--------------------------------------------------------------------===//
  // What it is
  //===--------------------------------------------------------------------===//

  virtual TargetInfo info(const TargetOptions &options) const = 0;
  /// Adds the target's own dialects and schedule operations.
  virtual void registerDialects(DialectRegistry &registry) const {}
  /// Adds the target's own passes, for `tessera-opt`.
  virtual void registerPasses() const {}
  /// Whether the options name a machine that code can be made for. Emits a diagnostic when they do not.
  virtual LogicalResult check(const TargetOptions &options, Location loc) const;
  /// What the machine is called, for messages.
  virtual std::string machineName(const TargetOptions &options) const { return options.machine; }
  /// What measurements hold for: whatever changes the code or how fast it runs.
  virtual std::string machineKey(const TargetOptions &options) const;
  /// True when code for these options can be measured by this process.
  virtual bool isHere(const TargetOptions &options) const { return false; }
  /// The program's own process runs its code; one target does.
  virtual bool isHost() const { return false; }
  /// Of that target: the machine that loads the program.
  virtual HostMachine host(const TargetOptions &options) const { return {}; }
  /// True when the device runs the host's kernels on memory of its own: its versions take the host's steps,
  /// and nothing below is ever asked but supports().
  virtual bool runsHostCode() const { return false; }

  //===--------------------------------------------------------------------===//
  // place
  //===--------------------------------------------------------------------===//

  /// Whether a node, or an operation of a network, can run here at all.
  virtual bool supports(Operation *op, const TargetOptions &options) const = 0;
  /// What it would take; by default the roofline of info().
  virtual Cost cost(Operation *op, const TargetOptions &options) const;

  //===--------------------------------------------------------------------===//
  // prepare
  //===--------------------------------------------------------------------===//

  /// A region of a network, a leaf that is this target's alone, becomes the nodes it is to run as: layouts,
  /// fusion, cut and packed constants are the target's choice; what enters and leaves the region has the
  /// plain layout. By default operations are fused by their classes.
  virtual LogicalResult prepare(dfg::NodeOp region, const RegionOptions &how,
                                const TargetOptions &options) const;
  /// The ways to run a layer, by algorithm, the default first. `layer` is the operation of the network,
  /// `prepared` what prepare() made of it. None: there is nothing to choose.
  virtual SmallVector<SmallVector<Candidate>> candidates(Operation *layer, Operation *prepared,
                                                         const TargetOptions &options) const {
    return {};
  }
  /// The knob for layers in bytes that is worth trying first.
  virtual StringRef bytesKnob(const TargetOptions &options) const { return "int8"; }

  //===--------------------------------------------------------------------===//
  // payload, schedule, lower, emit
  //===--------------------------------------------------------------------===//

  /// What is left of networks in a node that prepare() made becomes loops; what the target lowers itself may
  /// stay. By default all of it becomes linalg.
  virtual LogicalResult lowerNetwork(dfg::NodeOp node) const;
  /// The layout of what a node makes, in words for `explain`; empty for the plain one.
  virtual std::string describeLayout(dfg::NodeOp node) const { return {}; }
  /// The node may write its only result over its operand number `operand`, which nobody reads afterwards.
  virtual bool mayTakeOver(dfg::NodeOp node, unsigned operand) const { return false; }
  /// Into how many parts reductions and accumulations are cut, and what floats may do.
  virtual PayloadOptions payloadForm(const TargetOptions &options) const;
  /// A schedule script: a sequence of the phase `payload`, and one of the phase `loops` for the kernels.
  /// Without a module when there is nothing to do.
  virtual schedule::Script writeSchedule(func::FuncOp payload, const TargetOptions &options) const;
  /// Scheduled payloads of `module` → kernels in the target's own form, and the steps that run them. Steps of
  /// several nodes may name one kernel.
  virtual LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering> nodes,
                              const TargetOptions &options) const = 0;
  /// Kernels → what goes into the installed program's section `code` (the host) or `code.<target>`.
  virtual FailureOr<TargetCode> emit(ModuleOp module, const TargetOptions &options) const = 0;
};

} // namespace tessera
