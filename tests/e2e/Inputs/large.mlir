// Numbers between the nodes that f16 does not hold: in f16 all that is left of them is infinite or no number.
dfg.graph @large(%image: tensor<?x?xf32>) -> (y: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %a = dfg.node @up grid(%i = %h, %j = %w) (each %e = %image : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %k = arith.constant 1.0e+06 : f32
    %s = arith.mulf %e, %k : f32
    %t = arith.addf %s, %k : f32
    dfg.yield %t : f32
  }
  %y = dfg.node @down grid(%i = %h, %j = %w) (%t = %a : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %k = arith.constant 1.0e+06 : f32
    %i0 = arith.subi %i, %one : index
    %above = arith.maxsi %i0, %zero : index
    %p = tensor.extract %t[%above, %j] : tensor<?x?xf32>
    %q = tensor.extract %t[%i, %j] : tensor<?x?xf32>
    %s = arith.subf %p, %q : f32
    %d = arith.divf %s, %k : f32
    dfg.yield %d : f32
  }
  dfg.return %y : tensor<?x?xf32>
}
