// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera cc` as a library: Clang's driver, whose compilations are done here. Its interface
// names neither Clang nor the stages after import; the caller passes in how graphs become a portable object.
#pragma once

#include "tessera/frontends/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::heterocpp {

struct CompileSetup {
  mlir::MLIRContext *context = nullptr;
  /// The bytes of a portable object with the graphs of one source file; none after diagnostics.
  std::function<std::optional<std::string>(mlir::ModuleOp graphs, const std::string &source)> makeObject;
  std::string installer; ///< the `tessera` that specialises the program on first run
  std::string headers;   ///< folder of our headers
  std::string library;   ///< folder of libtessera.so
  TargetNames targets;   ///< that hints may name; where none is built: any
  /// Held while a file's graphs are built: a limit of time, for example.
  std::function<std::shared_ptr<void>()> limit;
  bool checks = false; ///< -fcheck: compare buffers with their declared sizes at run time
};

/// The folder of our headers.
std::string getHeaders();

/// The arguments with response files read in, and without `--`. None after a message.
std::optional<std::vector<std::string>> expandArguments(const std::vector<std::string> &args);

/// Runs Clang with these arguments (without the program's name) and returns its exit status.
int runDriver(std::vector<std::string> args, CompileSetup setup);

/// The graphs of one file, for `tessera compile`. Null after diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importFile(const std::string &path, const std::vector<std::string> &flags,
                                             const std::string &headers, const TargetNames &targets,
                                             mlir::MLIRContext *context);

} // namespace tessera::heterocpp
