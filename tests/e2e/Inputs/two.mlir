// Two programs in one file: a sum and a product of all elements.
dfg.graph @sum(%x: tensor<?xf32>) -> (y: f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = dfg.node @add grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %y : f32
}
dfg.graph @scale(%x: tensor<?xf32>, %a: f32) -> (y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = dfg.node @mul grid(%i = %n) (each %e = %x : tensor<?xf32>, %b = %a : f32) -> tensor<?xf32> {
    %p = arith.mulf %e, %b : f32
    dfg.yield %p : f32
  }
  dfg.return %y : tensor<?xf32>
}
