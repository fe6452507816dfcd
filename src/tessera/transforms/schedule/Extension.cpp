// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Extension.h. A family of operations is added by including its header and registering its list.
#include "tessera/transforms/schedule/Extension.h"

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/transforms/schedule/GraphOps.h"
#include "tessera/transforms/schedule/LeafOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tessera;

namespace {
class ScheduleExtension : public transform::TransformDialectExtension<ScheduleExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleExtension)
  using Base::Base;

  void init() {
    declareDependentDialect<dfg::DfgDialect>();
    declareGeneratedDialect<dfg::DfgDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<bufferization::BufferizationDialect>();
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "tessera/transforms/schedule/GraphOps.cpp.inc"
        >();
    registerTransformOps<
#define GET_OP_LIST
#include "tessera/transforms/schedule/LeafOps.cpp.inc"
        >();
  }
};
} // namespace

void schedule::registerScheduleExtension(DialectRegistry &registry) {
  registry.addExtensions<ScheduleExtension>();
}
