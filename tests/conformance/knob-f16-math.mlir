// Nodes that compute in f16: loops and branches, numbers and elements of their own beside whole tensors, constants, quotients and
// comparisons, several results, who else reads the operands, and results that leave the graph.
dfg.graph @all(%x: tensor<?x?xf32>, %scale: f32) -> (y: tensor<?x?xf32>, z: tensor<?x?xf32>, w: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : tensor<?x?xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[0.1, 0.3, 0.2]> : tensor<3xf32>
  %a, %b = dfg.node @first grid(%i = %h, %j = %w) (%t = %x : tensor<?x?xf32>, %g = %weights : tensor<3xf32>, each %e = %x : tensor<?x?xf32>, %s = %scale : f32) -> (tensor<?x?xf32>, tensor<?x?xf32>) attributes {dfg.knob = "f16-math"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %none = arith.constant 0.0 : f32
    %most = arith.constant 1.7 : f32
    %n = dfg.extent 0
    %last = arith.subi %n, %one : index
    %sum, %top = scf.for %d = %zero to %three step %one iter_args(%p = %none, %q = %e) -> (f32, f32) {
      %r0 = arith.addi %i, %d : index
      %r = arith.minsi %r0, %last : index
      %v = tensor.extract %t[%r, %j] : tensor<?x?xf32>
      %k = tensor.extract %g[%d] : tensor<3xf32>
      %m = arith.mulf %v, %k : f32
      %p1 = arith.addf %p, %m : f32
      %q1 = arith.maximumf %q, %v : f32
      scf.yield %p1, %q1 : f32, f32
    }
    %big = arith.cmpf ogt, %sum, %e : f32
    %way = scf.if %big -> f32 {
      %u = arith.divf %sum, %most : f32
      scf.yield %u : f32
    } else {
      %count = arith.index_cast %i : index to i32
      %f = arith.sitofp %count : i32 to f32
      %u = arith.mulf %f, %s : f32
      scf.yield %u : f32
    }
    %least = arith.minnumf %way, %most : f32
    %neg = arith.negf %top : f32
    %pick = arith.select %big, %neg, %least : f32
    dfg.yield %least, %pick : f32, f32
  }
  // One reader in f16, one in f32, and one that leaves rows out.
  %y = dfg.node @second grid(%i = %h, %j = %w) (%t = %a : tensor<?x?xf32>, each %e = %b : tensor<?x?xf32>) -> tensor<?x?xf32> attributes {dfg.knob = "f16-math+perforate-rows:2/3@1"} {
    %one = arith.constant 1 : index
    %n = dfg.extent 1
    %last = arith.subi %n, %one : index
    %r0 = arith.addi %j, %one : index
    %r = arith.minsi %r0, %last : index
    %v = tensor.extract %t[%i, %r] : tensor<?x?xf32>
    %d = arith.subf %v, %e : f32
    dfg.yield %d : f32
  }
  %z = dfg.node @third grid(%i = %h, %j = %w) (each %e = %a : tensor<?x?xf32>, each %f = %x : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %d = arith.addf %f, %e : f32
    dfg.yield %d : f32
  }
  %u = dfg.node @fourth grid(%i = %h, %j = %w) (%t = %z : tensor<?x?xf32>, each %e = %y : tensor<?x?xf32>) -> tensor<?x?xf32> attributes {dfg.knob = "f16-math+cubic-rows:1/2@0"} {
    %v = tensor.extract %t[%i, %j] : tensor<?x?xf32>
    %d = arith.mulf %v, %e : f32
    dfg.yield %d : f32
  }
  dfg.return %y, %z, %u : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
