// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps from scheduled payload functions to an image of machine code. Each is one file of this folder;
// Target.cpp puts them in order.
#pragma once

#include "tessera/ir/LLVM.h"
#include "tessera/targets/Target.h"
#include "tessera/targets/cpu/ir/CpuOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Target;
} // namespace llvm

namespace tessera::cpu {

/// The machine that code is made for.
struct Machine {
  std::string triple, cpu, features;
  std::vector<std::string> required; ///< features that the loader asks of the machine
  bool has(StringRef feature) const { return llvm::is_contained(required, feature); }
};

/// Whether the options name a machine that LLVM knows; emits a diagnostic with the nearest name when they do
/// not.
LogicalResult checkMachine(const TargetOptions &options, Location loc);
/// The machine that the options name; the one we run on where they say nothing.
Machine getMachine(const TargetOptions &options);
/// LLVM's target for a machine; null, with the reason, when there is none.
const llvm::Target *findCodeGenerator(const Machine &machine, std::string &error);

/// Arguments that are one memory (SharedNotes::inPlace) become one. Where the function writes the result
/// before it has read the operand, the plan gives the result memory of its own again.
void mergeInPlace(func::FuncOp payload, plan::Env &env);

/// Large copies and fills that stand between the loops of a payload → loops over tasks.
void shareCopies(func::FuncOp payload);

/// Cuts one bufferized payload function into kernels at its outermost scf.forall loops, adds them to the
/// module and the steps that run them to `version`, and erases the payload. `env` knows the function's
/// arguments.
LogicalResult splitKernels(func::FuncOp payload, plan::Env &env, plan::Version &version, Checks checks);

/// Gives a kernel that checks its data an argument before those of the box, number `at`: the cells that its
/// sites report in.
void addFaultCells(func::FuncOp kernel, unsigned at, plan::Program &program, plan::Step &step, Checks checks);

/// Puts a check before every access to memory: one that is outside does not happen. Adds their sites.
void checkAccesses(func::FuncOp kernel, std::vector<plan::FaultSite> &sites);

/// What a kernel asks of its data → code that goes on with something harmless and notes the worst in the
/// cells of its sites.
void placeFaults(func::FuncOp kernel, Checks checks);

/// Kernels with the same code become one, which all their steps name; equal layers of a network, or equal
/// nodes of several programs.
void shareKernels(ModuleOp kernels, MutableArrayRef<NodeLowering> nodes);

/// Gives memory to the allocations inside kernels: small ones on the stack, others in the call's scratch,
/// whose size becomes part of the step that runs the kernel.
LogicalResult placeScratch(func::FuncOp kernel, plan::Env &env, plan::Step &step);

/// Products of matrices inside of kernels → loops with a part of the result in registers, which have so many
/// lanes of f32.
void tileProducts(ModuleOp kernels, int64_t lanes, int64_t registers);

/// What is left of linalg in kernels → loops, tidied up: what the loop part of a schedule works on.
LogicalResult lowerToLoops(ModuleOp kernels);

/// Applies patterns to each function, several at a time.
LogicalResult rewriteFunctions(ModuleOp module, RewritePatternSet &&patterns);

/// Vector operations of any rank → rows, loads and stores.
LogicalResult lowerVectors(ModuleOp kernels);

/// The math dialect → calls of our builtins and arithmetic; what has an instruction stays.
LogicalResult lowerMath(ModuleOp kernels);

/// Views that split a dimension into several open ones → pointers, extents and strides.
void lowerViews(ModuleOp kernels);

/// Loops, vectors, memory and arithmetic → the LLVM dialect, and a wrapper with the kernel ABI around each
/// kernel.
LogicalResult lowerToLLVM(ModuleOp kernels);

/// The LLVM dialect → optimised machine code, linked into one ELF image that needs nothing from outside.
/// Kernels that the store has are taken from it, others are kept there; it may be null.
FailureOr<TargetCode> emitImage(ModuleOp kernels, const Machine &machine, Store *store);

/// The wrapper with the kernel ABI has the kernel's name; the function it calls has this after it.
inline constexpr llvm::StringLiteral kernelBodySuffix = ".body";
/// Arguments that every kernel has after its own: begin and end of the box of tasks, then scratch.
inline constexpr unsigned numBoxArgs = 6;

} // namespace tessera::cpu
