// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything the compiler asks of a front end. A front end is one folder: which files it accepts, how it
// turns one into graphs, its options and its tests. It knows no target.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tessera {

/// Names of targets as a program may spell them. The driver gives them: a front end knows classes of devices,
/// and no target.
struct TargetNames {
  std::vector<std::string> host, gpus, fpgas; ///< what a class of devices stands for, the first choice first
  std::vector<std::string> built;             ///< of this build
};

/// Options for one front end, as `--frontend-option name=value` on the command line.
using FrontendOptions = std::vector<std::pair<std::string, std::string>>;

class Frontend {
public:
  virtual ~Frontend() = default;
  virtual std::string name() const = 0;
  /// The endings of the files it reads, with the dot.
  virtual std::vector<std::string> extensions() const = 0;
  /// The names of its options, each with one line of help.
  virtual FrontendOptions optionHelp() const { return {}; }
  /// Dialects that it builds beside those that every program may hold.
  virtual void registerDialects(DialectRegistry &) const {}
  /// Reads the file that `sources` holds as its main buffer. Emits located diagnostics on failure.
  virtual OwningOpRef<ModuleOp> import(std::shared_ptr<llvm::SourceMgr> sources,
                                       const FrontendOptions &options, MLIRContext *context) const = 0;

  TargetNames targets; ///< set by who makes it
};

} // namespace tessera
