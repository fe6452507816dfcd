// One step of a 7-point stencil: the input has a border of one cell, the output has none.
dfg.graph @stencil(%x: tensor<?x?x?xf32>) -> (y: tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %n0 = arith.subi %d0, %c2 : index
  %n1 = arith.subi %d1, %c2 : index
  %n2 = arith.subi %d2, %c2 : index
  %y = dfg.node @step grid(%i = %n0, %j = %n1, %k = %n2) (%a = %x : tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %w0 = arith.constant 0.4 : f32
    %w1 = arith.constant 0.1 : f32
    %ci = arith.addi %i, %one : index
    %cj = arith.addi %j, %one : index
    %ck = arith.addi %k, %one : index
    %di = arith.addi %i, %two : index
    %dj = arith.addi %j, %two : index
    %dk = arith.addi %k, %two : index
    %c = tensor.extract %a[%ci, %cj, %ck] : tensor<?x?x?xf32>
    %v0 = tensor.extract %a[%i, %cj, %ck] : tensor<?x?x?xf32>
    %v1 = tensor.extract %a[%di, %cj, %ck] : tensor<?x?x?xf32>
    %v2 = tensor.extract %a[%ci, %j, %ck] : tensor<?x?x?xf32>
    %v3 = tensor.extract %a[%ci, %dj, %ck] : tensor<?x?x?xf32>
    %v4 = tensor.extract %a[%ci, %cj, %k] : tensor<?x?x?xf32>
    %v5 = tensor.extract %a[%ci, %cj, %dk] : tensor<?x?x?xf32>
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %v2, %v3 : f32
    %s2 = arith.addf %v4, %v5 : f32
    %s3 = arith.addf %s0, %s1 : f32
    %s4 = arith.addf %s3, %s2 : f32
    %p = arith.mulf %s4, %w1 : f32
    %q = arith.mulf %c, %w0 : f32
    %r = arith.addf %p, %q : f32
    dfg.yield %r : f32
  }
  dfg.return %y : tensor<?x?x?xf32>
}
