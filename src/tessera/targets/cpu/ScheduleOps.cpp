// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ScheduleOps.h. Each operation calls one rewrite of packed/.
#include "tessera/targets/cpu/ScheduleOps.h"

#include "tessera/targets/cpu/packed/Packed.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tessera;
using namespace tessera::cpu;

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ScheduleOps.cpp.inc"

namespace {
class CpuScheduleExtension : public transform::TransformDialectExtension<CpuScheduleExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuScheduleExtension)
  using Base::Base;

  void init() {
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "tessera/targets/cpu/ScheduleOps.cpp.inc"
        >();
  }
};
} // namespace

void cpu::registerScheduleOps(DialectRegistry &registry) { registry.addExtensions<CpuScheduleExtension>(); }

DiagnosedSilenceableFailure LowerPackedOp::apply(transform::TransformRewriter &rewriter,
                                                 transform::TransformResults &,
                                                 transform::TransformState &state) {
  cpu::packed::Tiles tiles{int64_t(getRows()),   int64_t(getColumns()), int64_t(getBlocks()),
                           int64_t(getUnroll()), int64_t(getTask()),    int64_t(getSplit())};
  std::optional<cpu::packed::Dot> dot = cpu::packed::parseDot(getDot());
  if (!dot)
    return emitDefiniteFailure()
           << "unknown instruction '" << getDot()
           << "'; expected plain, vnni, bf16, madd, maddubs, usdot, amx-int8 or amx-bf16";
  tiles.dot = *dot;
  for (Operation *payload : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    Location loc = payload->getLoc();
    std::string why;
    if (failed(cpu::packed::lower(rewriter, payload, tiles, why))) {
      auto diag = emitSilenceableError() << "cannot lower the layer: " << why;
      diag.attachNote(loc) << "payload op";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void LowerPackedOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure LowerSeparableOp::apply(transform::TransformRewriter &rewriter,
                                                    transform::TransformResults &,
                                                    transform::TransformState &state) {
  cpu::packed::Tiles first{int64_t(getFirstRows()), int64_t(getFirstColumns())},
      second{int64_t(getRows()), int64_t(getColumns()), int64_t(getBlocks()), int64_t(getUnroll()),
             int64_t(getTask())};
  SmallVector<Operation *> ones = llvm::to_vector(state.getPayloadOps(getFirst())),
                           others = llvm::to_vector(state.getPayloadOps(getSecond()));
  auto depthwise = ones.size() == 1 ? dyn_cast<cpu::PackedDepthwiseOp>(ones[0]) : cpu::PackedDepthwiseOp();
  auto conv = others.size() == 1 ? dyn_cast<cpu::PackedConvOp>(others[0]) : cpu::PackedConvOp();
  if (!depthwise || !conv)
    return emitSilenceableError() << "expected handles of one depthwise layer and one convolution";
  Location loc = depthwise.getLoc();
  std::string why;
  if (failed(cpu::packed::lowerSeparable(rewriter, depthwise, first, conv, second, why))) {
    auto diag = emitSilenceableError() << "cannot lower the layers: " << why;
    diag.attachNote(loc) << "payload op";
    return diag;
  }
  return DiagnosedSilenceableFailure::success();
}

void LowerSeparableOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getFirstMutable(), effects);
  transform::consumesHandle(getSecondMutable(), effects);
  transform::modifiesPayload(effects);
}
