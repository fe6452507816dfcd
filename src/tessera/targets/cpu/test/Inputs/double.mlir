dfg.graph @first(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %c = arith.constant 0 : index
  %n = tensor.dim %x, %c : tensor<?xf32>
  %0 = dfg.node @twice grid(%i = %n) (each %a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %1 = arith.addf %a, %a : f32
    dfg.yield %1 : f32
  }
  dfg.return %0 : tensor<?xf32>
}
