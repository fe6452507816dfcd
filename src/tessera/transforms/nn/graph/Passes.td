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
  let options = [Option<"fuse", "fuse", "bool", "true", "put several operations into a node">];
}

#endif
