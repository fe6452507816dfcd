// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Calibrate.h. The network becomes a program whose results are the least and the greatest element of each
// activation.
#include "tessera/driver/Calibrate.h"

#include "tessera/driver/Components.h"
#include "tessera/driver/Measure.h"
#include "tessera/transforms/nn/knobs/Knobs.h"

#include "llvm/ADT/MapVector.h"
#include <cstring>

using namespace tessera;

namespace {
/// An activation: the operations that read it, and what was seen of it.
struct Activation {
  SmallVector<nn::TunableOp> readers;
  float low = INFINITY, high = -INFINITY;
};
} // namespace

// Activations in order, of the operations that can be computed in int8.
static llvm::MapVector<Value, Activation> activationsOf(ModuleOp module) {
  Knob int8;
  int8.precision = Knob::Precision::Int8;
  llvm::MapVector<Value, Activation> activations;
  for (nn::TunableOp op : nn::tunableOps(module))
    if (nn::hasKnob(op, int8) && op.getRangedOperand())
      activations[op.getRangedOperand()].readers.push_back(op);
  return activations;
}

// The leaf's operations with two more for each activation, as a program; its outputs are in the order of
// `results`.
static OwningOpRef<ModuleOp> instrument(dfg::NodeOp node, ArrayRef<Value> activations,
                                        SmallVector<Value> &results) {
  OpBuilder b(node.getContext());
  b.setInsertionPoint(node.getYieldOp());
  SmallVector<Value> extremes;
  for (Value v : activations)
    for (nn::ReduceKind kind : {nn::ReduceKind::min, nn::ReduceKind::max}) {
      auto axes = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(v.getType()).getRank()));
      Value extreme =
          nn::ReduceOp::create(b, v.getLoc(), RankedTensorType::get({}, b.getF32Type()), kind, v, axes);
      extremes.push_back(extreme);
    }
  node.getYieldOp()->insertOperands(node.getYieldOp()->getNumOperands(), extremes);
  SmallVector<Operation *> ops;
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    if (!isa<arith::ConstantOp>(op))
      ops.push_back(&op);
    for (Value v : op.getResults())
      if (llvm::is_contained(v.getUsers(), node.getYieldOp().getOperation()))
        results.push_back(v);
  }
  return isolate(ops, "calibration");
}

// Runs the program on all inputs; `see` gets the only element of each output.
static Status runOn(Session &session, Portable &program, const CalibrationInput &input,
                    function_ref<void(ArrayRef<float>)> see) {
  FailureOr<Installed> installed = install(session, program, InstallOptions());
  if (failed(installed))
    return Status::error(StatusCode::InvalidArgument, "the network cannot be run here");
  std::string bytes = installedBytes(*installed);
  TESSERA_ASSIGN(Container container, Container::parse(std::as_bytes(std::span(bytes)), "calibration"));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(std::move(container)));
  ProgramOptions how;
  how.devices = {hostTargetName().str()};
  TESSERA_ASSIGN(std::shared_ptr<Program> loaded, Program::open(module, "calibration", how));
  const ProgramPlan &plan = loaded->plan();
  for (int64_t round = 0;; ++round) {
    TESSERA_ASSIGN(BufferRef batch, input(plan, round));
    if (!batch)
      return Status();
    std::vector<BufferRef> outputs(plan.outputs.size());
    Buffer *raw = batch.get();
    TESSERA_TRY(loaded->launch({&raw, 1}, outputs));
    std::vector<float> seen(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]->bytes() == 4) {
        TESSERA_ASSIGN(const std::byte *from, outputs[i]->hostRead());
        std::memcpy(&seen[i], from, 4);
      }
    see(seen);
  }
}

Result<int64_t> tessera::calibrate(Session &session, Portable &program, const CalibrationInput &input) {
  llvm::MapVector<Value, Activation> activations = activationsOf(*program.module);
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*program.module)->clone());
  // The same operations stand at the same places of the copy.
  llvm::MapVector<Value, Activation> copies = activationsOf(*copy);
  SmallVector<dfg::NodeOp> nodes;
  (void)nn::forEachNetwork(*copy, [&](dfg::NodeOp node) {
    nodes.push_back(node);
    return success();
  });
  if (nodes.size() != 1 || activations.empty())
    return fail(StatusCode::InvalidArgument,
                "expected one network with operations that can be computed in int8, but got ", nodes.size(),
                " networks and ", activations.size(), " activations");
  SmallVector<Value> wanted, results;
  for (auto &[v, activation] : copies)
    wanted.push_back(v);
  Portable portable;
  portable.module = instrument(nodes[0], wanted, results);
  portable.source = program.source;
  if (!portable.module)
    return fail(StatusCode::InvalidArgument, "the network takes something that is no tensor");
  // Where each activation's extremes stand among the outputs.
  SmallVector<std::pair<size_t, size_t>> places;
  for (Value v : wanted) {
    std::pair<size_t, size_t> place;
    for (auto [i, result] : llvm::enumerate(results))
      if (auto reduce = result.getDefiningOp<nn::ReduceOp>();
          reduce && reduce.getX() == v && !result.use_empty() &&
          cast<RankedTensorType>(result.getType()).getRank() == 0)
        (reduce.getKind() == nn::ReduceKind::min ? place.first : place.second) = i;
    places.push_back(place);
  }
  Status status = runOn(session, portable, input, [&](ArrayRef<float> seen) {
    for (auto [each, place] : llvm::zip(activations, places)) {
      each.second.low = std::min(each.second.low, seen[place.first]);
      each.second.high = std::max(each.second.high, seen[place.second]);
    }
  });
  TESSERA_TRY(status);
  int64_t count = 0;
  for (auto &[v, activation] : activations)
    for (nn::TunableOp op : activation.readers) {
      nn::Notes::range.set(op, {activation.low, activation.high});
      ++count;
    }
  return count;
}
