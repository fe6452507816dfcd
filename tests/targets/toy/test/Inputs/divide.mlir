dfg.graph @g(%x: tensor<?xi32>, %y: tensor<?xi32>) -> (z: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %z = dfg.node @n grid(%i = %n) (each %a = %x : tensor<?xi32>, each %b = %y : tensor<?xi32>) -> tensor<?xi32> {
    %v = arith.divsi %a, %b : i32
    dfg.yield %v : i32
  }
  dfg.return %z : tensor<?xi32>
}
