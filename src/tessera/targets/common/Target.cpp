// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a target answers unless it says otherwise.
#include "tessera/targets/Target.h"

#include "tessera/targets/common/Work.h"
#include "tessera/transforms/nn/graph/Rewrites.h"
#include "tessera/transforms/nn/lower/Lower.h"

using namespace tessera;

LogicalResult Target::check(const TargetOptions &options, Location loc) const {
  if (options.machine.empty())
    return success();
  const std::string name = info(options).name;
  return emitError(loc) << "target '" << name << "' has one machine only; expected '" << name
                        << "', but got '" << name << ":" << options.machine << "'";
}

std::string Target::machineKey(const TargetOptions &options) const {
  return info(options).name + " " + options.machine;
}

// Bytes of a value; an open extent counts once.
static double bytesOf(Value v) {
  auto shaped = dyn_cast<ShapedType>(v.getType());
  Type element = getElementTypeOrSelf(v.getType());
  double bytes = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
  if (shaped && shaped.hasRank())
    for (int64_t extent : shaped.getShape())
      bytes *= ShapedType::isDynamic(extent) ? 1 : double(extent);
  return bytes;
}

Cost Target::cost(Operation *op, const TargetOptions &options) const {
  const TargetInfo machine = info(options);
  double flops = plan::countFlopsOnce(op), bytes = 0;
  for (Value v : op->getOperands())
    bytes += bytesOf(v);
  for (Value v : op->getResults())
    bytes += bytesOf(v);
  return {machine.launchSeconds + std::max(flops / machine.flopsPerSecond, bytes / machine.bytesPerSecond)};
}

LogicalResult Target::prepare(dfg::NodeOp region, const RegionOptions &how, const TargetOptions &) const {
  return nn::partitionNetwork(region, {.fuse = how.fusion});
}

LogicalResult Target::lowerNetwork(dfg::NodeOp node) const { return nn::lowerToLinalg(node); }

PayloadOptions Target::payloadForm(const TargetOptions &options) const {
  PayloadOptions form;
  form.contract = !options.strict;
  return form;
}

schedule::Script Target::writeSchedule(func::FuncOp, const TargetOptions &) const {
  schedule::Script none;
  return none;
}
