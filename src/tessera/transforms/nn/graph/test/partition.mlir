// Fusion groups by class alone; targets add rules of their own.
// RUN: tessera-opt %s --tessera-nn-partition | FileCheck %s
// RUN: tessera-opt %s --tessera-nn-partition=fuse=false | FileCheck %s --check-prefix=SINGLE

// The product takes what follows it element by element; the softmax stays alone.
// CHECK-LABEL: dfg.graph @net
// CHECK: dfg.node @matmul
// CHECK: nn.matmul
// CHECK-NEXT: nn.unary relu
// CHECK: dfg.node @softmax
// CHECK: nn.softmax
// SINGLE-LABEL: dfg.graph @net
// SINGLE: dfg.node @matmul
// SINGLE: dfg.node @unary
// SINGLE: dfg.node @softmax
dfg.graph @net(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> (y: tensor<?x4xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?x8xf32>, %b = %w : tensor<8x4xf32>) -> tensor<?x4xf32> {
    %1 = nn.matmul %a, %b : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
    %2 = nn.unary relu %1 : tensor<?x4xf32> -> tensor<?x4xf32>
    %3 = nn.softmax %2 {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
    dfg.yield %3 : tensor<?x4xf32>
  }
  dfg.return %y : tensor<?x4xf32>
}
