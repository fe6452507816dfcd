// A dimension that a shape does not have is an error, wherever it is asked for.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-dims

dfg.graph @outside(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant -1 : index
  // expected-error @+1 {{asks for dimension -1 of a shape of rank 1; dimensions count from 0 (dfg-k1)}}
  %n = tensor.dim %x, %c : tensor<?xf32>
  %y = dfg.node @copy grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph @inside(%x: tensor<?xf32>, %n: index) -> tensor<?xindex> {
  %y = dfg.node @extents grid(%i = %n) (%t = %x : tensor<?xf32>) -> tensor<?xindex> {
    %c = arith.constant 2 : index
    // expected-error @+1 {{asks for dimension 2 of a shape of rank 1; dimensions count from 0 (dfg-k1)}}
    %d = tensor.dim %t, %c : tensor<?xf32>
    dfg.yield %d : index
  }
  dfg.return %y : tensor<?xindex>
}
