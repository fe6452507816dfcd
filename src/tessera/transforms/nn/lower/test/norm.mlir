// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// The largest, the exponents with their sums, the quotients.
// CHECK-LABEL: dfg.graph @softmax
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: arith.divf
dfg.graph @softmax(%x: tensor<?x4x8xf32>) -> (out: tensor<?x4x8xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
    %1 = nn.softmax %x_ {axis = 2 : i64} : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    dfg.yield %1 : tensor<?x4x8xf32>
  }
  dfg.return %out : tensor<?x4x8xf32>
}

// -----

// Sums over groups of channels; planes are rows, so that lanes are full.
// CHECK-LABEL: dfg.graph @groups
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x4x8x8xf32> into tensor<?x4x64xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<?x4x64xf32> into tensor<?x2x2x64xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: math.sqrt
dfg.graph @groups(%x: tensor<?x4x8x8xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> (out: tensor<?x4x8x8xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x8x8xf32>, %s_ = %s : tensor<4xf32>, %b_ = %b : tensor<4xf32>) -> tensor<?x4x8x8xf32> {
    %1 = nn.group_norm %x_, %s_, %b_ {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<?x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x8x8xf32>
    dfg.yield %1 : tensor<?x4x8x8xf32>
  }
  dfg.return %out : tensor<?x4x8x8xf32>
}
