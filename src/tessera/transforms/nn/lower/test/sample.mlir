// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// Indices stand in a table, one for each place of a dimension that changes.
// CHECK-LABEL: dfg.graph @nearest
// CHECK-DAG: arith.constant dense<[0, 0, 1, 1]> : tensor<4xi32>
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
dfg.graph @nearest(%x: tensor<?x2x2x2xf32>) -> (out: tensor<?x2x4x4xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x2x2x2xf32>) -> tensor<?x2x4x4xf32> {
    %1 = nn.resize %x_ {mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor", scales = array<f64: 1.0, 1.0, 2.0, 2.0>, roi = array<f64>} : tensor<?x2x2x2xf32> -> tensor<?x2x4x4xf32>
    dfg.yield %1 : tensor<?x2x4x4xf32>
  }
  dfg.return %out : tensor<?x2x4x4xf32>
}

// -----

// Weights, too: the dimensions one after the other.
// CHECK-LABEL: dfg.graph @linear
// CHECK-DAG: arith.constant dense<{{\[\[}}0.000000e+00, 5.000000e-01], [1.000000e+00, 5.000000e-01]]> : tensor<2x2xf32>
// CHECK: linalg.generic
dfg.graph @linear(%x: tensor<1x1x1x3xf32>) -> (out: tensor<1x1x1x2xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<1x1x1x3xf32>) -> tensor<1x1x1x2xf32> {
    %1 = nn.resize %x_ {mode = "linear", coordinates = "asymmetric", nearest = "floor", scales = array<f64: 1.0, 1.0, 1.0, 0.6666666666666666>, roi = array<f64>} : tensor<1x1x1x3xf32> -> tensor<1x1x1x2xf32>
    dfg.yield %1 : tensor<1x1x1x2xf32>
  }
  dfg.return %out : tensor<1x1x1x2xf32>
}
