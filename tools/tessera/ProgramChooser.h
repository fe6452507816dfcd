// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which program runs the next batch: always the same, or of a tuned file the one that the controller picks to
// hold a goal. All are opened beforehand; a switch is a pointer.
#pragma once

#include "tessera/runtime/control/Controller.h"
#include "tessera/runtime/control/Monitor.h"
#include "tessera/runtime/program/Program.h"
#include "tessera/tune/curve/Curve.h"

#include <memory>

namespace tessera::tool {

class ProgramChooser {
public:
  explicit ProgramChooser(std::shared_ptr<Program> program) : programs{std::move(program)} {}
  /// Moves along the installed configurations of a tuned file so that `goal` ("deadline:12ms", …) holds for
  /// batches of `batch` samples. A line of JSON for each batch goes to `log` where one is named.
  static Result<ProgramChooser> create(const std::shared_ptr<Program> &opened, const std::string &goal,
                                       int64_t batch, const std::string &log);

  Program &first() const { return *programs[0]; }
  /// Runs a batch under the program that is right for it now. Gives the time it took in nanoseconds.
  Result<uint64_t> launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);
  /// What the controller did, in words; "" without one.
  std::string summary() const;

private:
  ProgramChooser() = default;
  Status note(double ms, size_t point);

  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  std::vector<std::shared_ptr<Program>> programs;
  std::vector<std::string> names;
  std::vector<ControlPoint> points;
  ControlGoal goal;
  std::optional<Controller> controller;
  std::unique_ptr<Monitor> monitor;
  std::unique_ptr<FILE, Close> file;
  std::string logName;
  bool warm = false;
  int64_t batches = 0, met = 0, adaptations = 0;
};

} // namespace tessera::tool
