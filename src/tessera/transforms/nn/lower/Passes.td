// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of networks as a pass, for tests and for `tessera-opt`; the driver calls the function behind it.
#ifndef TESSERA_TRANSFORMS_NN_LOWER_PASSES_TD
#define TESSERA_TRANSFORMS_NN_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def NnLowerPass : Pass<"tessera-nn-lower", "::mlir::ModuleOp"> {
  let summary = "operations of networks → loops on tensors, inside of each node";
  let description = [{
    Every `nn` operation becomes `linalg.generic` with broadcast and transposition in its maps, views and slices of `tensor`, or
    loops of `scf` where order matters. Chains of elementwise operations become one `linalg.generic`.

    Before:
    ```mlir
    %1 = nn.binary add %x, %bias : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
    %2 = nn.unary relu %1 : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
    After:
    ```mlir
    %2 = linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d1), (d0, d1) -> (d0, d1)], …} ins(%x, %bias : …) outs(…) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<?x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::math::MathDialect", "::mlir::affine::AffineDialect",
                           "::mlir::bufferization::BufferizationDialect", "::tessera::fault::FaultDialect"];
}

#endif
