// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler as a library: from a source file to a portable object, and from portable objects to an
// installed program. The command line fills the options; nothing here reads global state.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/base/Status.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Stages.h"
#include "tessera/frontends/Frontend.h"
#include "tessera/targets/Target.h"

#include "llvm/Support/SourceMgr.h"

namespace tessera {

/// A context with all dialects, and a place for diagnostics that keeps notes and shows source lines.
class Session {
public:
  /// `verbose` also shows remarks.
  explicit Session(bool verbose = false);
  ~Session();
  MLIRContext &context() { return *ctx; }
  const std::shared_ptr<llvm::SourceMgr> &sources() { return sourceMgr; }

private:
  std::shared_ptr<llvm::SourceMgr> sourceMgr;
  std::unique_ptr<MLIRContext> ctx;
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
};

struct CompileOptions {
  std::optional<Stage> stopAfter;
  std::string dumpDir;      ///< write the IR after each stage here
  std::string schedulePath; ///< a user's schedule scripts, stored in the portable object
  KnobMap knobs;            ///< put onto the operations of networks, stored in the portable object
  FrontendOptions frontend;
};

/// A program in portable form, in memory.
struct Portable {
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> scripts; ///< the user's schedule scripts; may be null
  std::string source;            ///< the file it came from, without folders
};

/// Reads a source file and runs the stages up to `graph`. Diagnostics are emitted; the status repeats the
/// first line.
FailureOr<Portable> compileFile(Session &session, const std::string &path, const CompileOptions &options);

/// A portable object's bytes, and back.
Status writePortable(Portable &program, const std::string &path);
Result<std::string> portableBytes(Portable &program);
Result<Portable> readPortable(Session &session, const std::string &path);

struct InstallOptions {
  std::vector<std::string> targets = {hostTargetName().str()}; ///< in order of preference (TargetList.h)
  TargetOptions target;
  std::string dumpDir;
  std::optional<Stage> stopAfter;
  /// For networks, each can be left out to see what it is worth: several operations in a node, blocked
  /// layouts, temporaries that share memory.
  bool fusion = true, layout = true, memoryPlan = true;
  KnobMap knobs; ///< over those that the programs carry
  /// Measure the candidates for each layer of a network and take the best (Portfolio.h).
  bool portfolio = false;
  /// Networks were laid out and cut into nodes before.
  bool prepared = false;
  /// For an entry of the cache (base/CachePath.h); empty for others.
  std::string cacheKey;
};

/// Reads "fast", "strict" or "unchecked", or several with commas between, into `strict` and `checks`; `check`
/// is the flag beside it. And spells what the options say, as a key of caches too.
Status parseMode(const std::string &text, bool check, TargetOptions &options);
std::string spellMode(const TargetOptions &options);

/// An installed program's sections, before they are written.
struct Installed {
  std::string plan, code, constants, meta;
  std::vector<std::pair<std::string, std::string>>
      images;              ///< of targets with code of their own: section, content
  uint64_t savedBytes = 0; ///< by storing equal kernels and constants of several programs once
  unsigned savedKernels = 0;
  std::string curve; ///< of a tuned program (docs/formats.md); may be empty
  std::string ir;    ///< after the stage that was stopped after; the rest is empty then
};

/// Specialises programs for a machine: the stages from `knobs` on.
FailureOr<Installed> install(Session &session, MutableArrayRef<Portable> programs,
                             const InstallOptions &options);
Status writeInstalled(const Installed &program, const std::string &path);
/// The same in memory.
std::string installedBytes(const Installed &program);

/// The stage `graph`: checks and simplifies all graphs of a module in place.
LogicalResult runGraphStage(ModuleOp module);

/// The IR after a stage as text: large constants left out.
std::string printStage(ArrayRef<Operation *> ops);
/// Writes the IR after a stage to `dir`/N-name.mlir; does nothing without a folder.
Status dumpStage(ArrayRef<Operation *> ops, Stage stage, const std::string &dir);

} // namespace tessera
