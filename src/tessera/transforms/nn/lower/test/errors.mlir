// RUN: tessera-opt %s --tessera-nn-lower -split-input-file -verify-diagnostics

dfg.graph @tuples(%x: tensor<4x4xf32>, %i: tensor<2x?xi64>) -> (y: tensor<2xf32>) {
  %y = dfg.node @net (%a = %x : tensor<4x4xf32>, %b = %i : tensor<2x?xi64>) -> tensor<2xf32> {
    // expected-error @+1 {{'nn.gather_nd' op has no lowering to loops}}
    %1 = nn.gather_nd %a, %b {batch_dims = 0 : i64} : (tensor<4x4xf32>, tensor<2x?xi64>) -> tensor<2xf32>
    dfg.yield %1 : tensor<2xf32>
  }
  dfg.return %y : tensor<2xf32>
}
