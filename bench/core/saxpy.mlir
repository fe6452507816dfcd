// z = a x + y.
dfg.graph @saxpy(%a: f32, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (z: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %z = dfg.node @axpy grid(%i = %n) (%s = %a : f32, each %p = %x : tensor<?xf32>, each %q = %y : tensor<?xf32>) -> tensor<?xf32> {
    %t = arith.mulf %s, %p : f32
    %r = arith.addf %t, %q : f32
    dfg.yield %r : f32
  }
  dfg.return %z : tensor<?xf32>
}
