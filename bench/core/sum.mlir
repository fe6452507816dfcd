// The sum of all elements; the order is free.
dfg.graph @sum(%x: tensor<?xf32>) -> (total: f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %total = dfg.node @add grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %total : f32
}
