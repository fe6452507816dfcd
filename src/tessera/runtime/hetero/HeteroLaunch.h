// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch of a graph that an executable carries; shared by Hetero.cpp and HeteroStream.cpp only.
#pragma once

#include "tessera/runtime/hetero/Hetero.h"
#include "tessera/runtime/program/Module.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace tessera::hetero {

/// A program that is ready to run, and what its inputs look like.
struct Ready {
  tsr_program *program = nullptr;
  struct Input {
    tsr_type type;
    size_t rank;
    bool written;
    const char *name;
  };
  std::vector<Input> inputs;
  /// The input whose memory each output is, or its rank and type when it has memory of its own.
  struct Output {
    std::optional<size_t> input;
    tsr_type type;
    size_t rank;
  };
  std::vector<Output> outputs;
};

/// The C interface's handle of a module.
tsr_module *wrapModule(std::shared_ptr<const Module> module);

/// Specialises the graph's program for this machine when it is asked for the first time.
Ready &getReady(tsr_hetero_graph &graph);

/// Whether the environment asks for a profile (TESSERA_PROFILE).
bool reportProfile();
/// Tells of this program when the process ends, as the environment asks; its launches come later.
void reportAtExit(tsr_program *program);

/// Ends the process: markers have no way to report a mistake.
[[noreturn]] void stop(const char *graph, const std::string &text);
/// That has happened: whoever stops may hold a stream's locks, so nobody waits for streams any more.
extern std::atomic<bool> stopped;

/// One launch and its buffers.
struct Launch {
  explicit Launch(tsr_hetero_graph &graph) : name(graph.name), ready(getReady(graph)) {}
  const char *name;
  Ready &ready;
  std::vector<int64_t> slots; ///< scalars live here while the launch runs
  std::vector<tsr_buffer *> inputs, outputs;
  tsr_launch *running = nullptr;
  struct Range {
    uintptr_t first, last;
    bool written;
  };
  std::vector<Range> memory;

  void bind(const int64_t *values, uint64_t count);
  void finish();
  bool conflicts(const Launch &other) const;
};

/// Waits for launches under way that share memory with this one, where one of the two writes it.
void waitForConflicts(const Launch &launch);

/// Ends a stream when the handle is one.
bool endStream(void *handle);

} // namespace tessera::hetero
