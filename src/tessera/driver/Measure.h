// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a part of a network costs on this machine: it becomes a program of its own, is compiled as it would be
// in the network, and runs on data of its shape.
#pragma once

#include "tessera/driver/Compiler.h"

namespace tessera {

/// How programs are run to be measured.
struct MeasurePoint {
  int64_t batch = 1; ///< for all extents that are not fixed
  unsigned threads = 1;
};

struct MeasureOptions {
  std::vector<MeasurePoint> points = {{}};
  double seconds = 0.02; ///< for each program at each point; seven runs at least
  /// Of the weights that a whole network reads between two runs of this part. So many bytes of copies of the
  /// part's own weights take turns, so that it finds them in no cache where it would not find them there.
  uint64_t weightBytes = 0;
};

/// `ops`, operations of one leaf in order, as the only leaf of a program called `name`. Constants, also those
/// that the leaf takes from its graph, stay constants; other operands become inputs, results that others use
/// outputs. Null when an operand is no tensor.
OwningOpRef<ModuleOp> isolate(ArrayRef<Operation *> ops, StringRef name);

/// What identifies a program's work: its operations and shapes, without names, locations and the contents of
/// large constants.
std::string signatureOf(ModuleOp program);

/// Installs programs of one graph each for this machine, as `options` say, and runs them in turn on data of
/// their shapes: the best time of each in nanoseconds, by point. Their modules are changed. Diagnostics of
/// the compiler are not shown; the status repeats the first.
Result<std::vector<std::vector<double>>> measurePrograms(Session &session, MutableArrayRef<Portable> programs,
                                                         const InstallOptions &options,
                                                         const MeasureOptions &measure);

} // namespace tessera
