// A matrix product written as the plain triple loop.
dfg.graph @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (c: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %c = dfg.node @product grid(%i = %m, %j = %n) (%l = %a : tensor<?x?xf32>, %r = %b : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %f0 = arith.constant 0.0 : f32
    %k = tensor.dim %l, %one : tensor<?x?xf32>
    %sum = scf.for %p = %zero to %k step %one iter_args(%acc = %f0) -> f32 {
      %x = tensor.extract %l[%i, %p] : tensor<?x?xf32>
      %y = tensor.extract %r[%p, %j] : tensor<?x?xf32>
      %t = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %t : f32
      scf.yield %s : f32
    }
    dfg.yield %sum : f32
  }
  dfg.return %c : tensor<?x?xf32>
}
