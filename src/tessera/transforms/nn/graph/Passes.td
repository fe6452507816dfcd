// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of networks as passes, for tests and for `tessera-opt`; the driver calls the functions behind them.
#ifndef TESSERA_TRANSFORMS_NN_GRAPH_PASSES_TD
#define TESSERA_TRANSFORMS_NN_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

class NnPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def NnSimplifyPass : NnPass<"tessera-nn-simplify"> {
  let summary = "fold, merge and remove operations of networks";
  let description = [{
    Machine-independent rewrites of leaves that hold `nn` operations: constants are folded, normalisations go into the
    weights in front of them, pads into windows, transposes into matrix products; what is the same or of no use goes.

    Before:
    ```mlir
    %1 = nn.conv %x, %w, %b {…} : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<?x4x6x6xf32>
    %2 = nn.batch_norm %1, %scale, %bias, %mean, %variance {…} : …
    ```
    After:
    ```mlir
    %1 = nn.conv %x, %w1, %b1 {…} : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<?x4x6x6xf32>
    ```
  }];
}

def NnLayoutPass : NnPass<"tessera-nn-layout"> {
  let summary = "give activations blocked layouts, and weights packed ones";
  let description = [{
    Activations that convolutions make become N x C1 x H x W x c; elementwise operations and pools on them follow. Borders that
    windows read are made where the activation is computed.

    Before:
    ```mlir
    %1 = nn.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, …} : (tensor<?x16x8x8xf32>, …) -> tensor<?x32x8x8xf32>
    ```
    After:
    ```mlir
    %h = nn.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x8x8x8xf32> -> tensor<?x2x10x10x8xf32>
    %1 = nn.packed_conv %h, %w1, %b1 {…} : (tensor<?x2x10x10x8xf32>, …) -> tensor<?x4x8x8x8xf32>
    ```
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 elements of a vector register">,
                 Option<"winograd", "winograd", "bool", "true", "allow algorithms that round differently">,
                 Option<"bytes", "bytes", "int64_t", "0", "bytes that one step of a sum of products takes; 0 leaves integers alone">,
                 Option<"halves", "halves", "int64_t", "0", "bf16 elements alike">,
                 Option<"smallBytes", "small-bytes", "int64_t", "0", "the same for weights from -64 to 64; 0: no other">,
                 Option<"tileBytes", "tile-bytes", "int64_t", "0", "bytes of channels that one product of matrices takes; 0: none">,
                 Option<"tileHalves", "tile-halves", "int64_t", "0", "bf16 elements alike">];
}

def NnPartitionPass : NnPass<"tessera-nn-partition"> {
  let summary = "cut a flat leaf of `nn` operations into one node for each fusion group";
  let description = [{
    Groups are formed by the operations' classes: a complex operation takes elementwise work into its stores, elementwise
    and injective operations make chains, a reduction takes what feeds it. Large constants become operands of the nodes,
    reshapes views in the graph.

    Before:
    ```mlir
    %y = dfg.node @net (%a = %x : tensor<?x8xf32>) -> tensor<?x4xf32> {
      %w = arith.constant dense<…> : tensor<8x4xf32>
      %1 = nn.matmul %a, %w : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
      %2 = nn.unary relu %1 : tensor<?x4xf32> -> tensor<?x4xf32>
      %3 = nn.softmax %2 {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
      dfg.yield %3 : tensor<?x4xf32>
    }
    ```
    After:
    ```mlir
    %w = arith.constant dense<…> : tensor<8x4xf32>
    %1 = dfg.node @matmul (%a = %x : tensor<?x8xf32>, %b = %w : tensor<8x4xf32>) -> tensor<?x4xf32> {…}
    %2 = dfg.node @softmax (%a = %1 : tensor<?x4xf32>) -> tensor<?x4xf32> {…}
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "put several operations into a node">,
                 Option<"stripWeights", "strip-weights", "int64_t", "0",
                        "bytes of a pointwise layer's weights, at most, with which it joins a depthwise layer">];
}

#endif
