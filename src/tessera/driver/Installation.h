// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An installation on its way through the stages (Pipeline.cpp), and the stages as functions. Not for users
// outside this folder.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/driver/GraphPlan.h"
#include "tessera/driver/TargetList.h"

#include <nlohmann/json.hpp>

namespace tessera {

/// All that is needed to install one graph.
struct Job {
  dfg::GraphOp graph;
  Portable *portable;
  std::unique_ptr<GraphPlan> plan = std::make_unique<GraphPlan>();
};

/// The kernels that one target makes for all programs of the file.
struct Kernels {
  const TargetChoice *target;
  OwningOpRef<ModuleOp> module;
  std::vector<NodeLowering> nodes;
  struct Owner {
    Job *job;
    Operation *node; ///< of the job's graph; a form's nodes all belong to the node that has the form
  };
  std::vector<Owner> owners;                          ///< of each lowering
  DenseMap<Operation *, SmallVector<size_t>> madeFor; ///< the lowerings of an owner
  TargetCode code;
};

struct Installation {
  Session &session;
  MutableArrayRef<Portable> programs;
  const InstallOptions &options;
  MLIRContext *context;
  TargetList targets;
  std::vector<Job> jobs;
  ConstantPool constants;
  /// One for each target that makes code, in the order in which they are first needed.
  std::vector<std::unique_ptr<Kernels>> kernels;
  std::vector<OwningOpRef<ModuleOp>> ownScripts; ///< that no user wrote
  nlohmann::json scripts = nlohmann::json::object(), portfolio = nlohmann::json::object();
  SmallVector<Operation *> shown; ///< what the program is now, for dumps and for the verifier
  Installed result;

  Kernels &kernelsOf(const TargetChoice &target);
  RegionOptions howToPrepare() const { return {options.fusion, options.layout}; }
};

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

LogicalResult applyKnobs(Installation &in);
LogicalResult placeAll(Installation &in);
LogicalResult prepareAll(Installation &in);
LogicalResult scheduleGraphs(Installation &in);
LogicalResult buildPayloads(Installation &in);
LogicalResult scheduleNodes(Installation &in);
LogicalResult lowerKernels(Installation &in);
LogicalResult emitKernels(Installation &in);
LogicalResult linkProgram(Installation &in);

} // namespace tessera
