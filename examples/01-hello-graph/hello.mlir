// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 1: a graph by hand. Two nodes: one squares each element, one adds the squares up.

dfg.graph @energy(%x: tensor<?xf32>) -> (sum: f32) {
  // Operations between the nodes only wire them: constants, extents, views.
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>

  // One instance for each %i below %n. `each` hands every instance its own element.
  %squares = dfg.node @square grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    %s = arith.mulf %e, %e : f32
    dfg.yield %s : f32
  }

  // What the instances yield is combined by a named reduction.
  %sum = dfg.node @add grid(%i = %n) (each %e = %squares : tensor<?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %sum : f32
}
