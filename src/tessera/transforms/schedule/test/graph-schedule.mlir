// RUN: tessera-opt %s --tessera-graph-schedule=print 2>&1 | FileCheck %s

// The script, with a reason for each step.
// CHECK: transform.named_sequence @graph(%program: !transform.any_op) attributes {tessera.phase = "graph"} {
// CHECK-NEXT: %[[G:.*]] = transform.tessera.match_graph "main" in %program
// CHECK-NEXT: %[[S:.*]] = transform.tessera.match_node "scale" in %[[G]]
// CHECK-NEXT: %[[L:.*]] = transform.tessera.match_node "lo" in %[[G]]
// CHECK-NEXT: // 'lo' reduces what 'scale' makes
// CHECK-NEXT: %[[F:.*]] = transform.tessera.fuse_nodes %[[S]] into %[[L]]
// CHECK: // 'hi' reduces what 'scale_lo' makes
// CHECK-NEXT: transform.tessera.fuse_nodes %[[F]] into
// CHECK: // computing 'shift' again adds 2 operations to an instance of 'edge'
// CHECK-NEXT: transform.tessera.fuse_nodes %{{.*}} into %{{.*}} {max_cost = 1.600000e+01 : f64, recompute}
// CHECK: transform.tessera.simplify %[[G]]

// What it does.
// CHECK-LABEL: dfg.graph @main
// CHECK: dfg.node @scale_lo_hi grid
// CHECK: dfg.node @edge grid
// CHECK-NOT: dfg.node
dfg.graph @main(%x: tensor<8xf32>) -> (a: f32, b: f32, y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %0 = dfg.node @scale grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.mulf %e, %e : f32
    dfg.yield %v : f32
  }
  %1 = dfg.node @lo grid(%i = %c8) (each %e = %0 : tensor<8xf32>) -> f32 reduce<minimumf> {
    dfg.yield %e : f32
  }
  %2 = dfg.node @hi grid(%i = %c8) (each %e = %0 : tensor<8xf32>) -> f32 reduce<maximumf> {
    dfg.yield %e : f32
  }
  %3 = dfg.node @shift grid(%i = %c8) (%w = %x : tensor<8xf32>) -> tensor<8xf32> {
    %one = arith.constant 1.0 : f32
    %e = tensor.extract %w[%i] : tensor<8xf32>
    %v = arith.addf %e, %one : f32
    dfg.yield %v : f32
  }
  %4 = dfg.node @edge grid(%i = %c8) (%w = %3 : tensor<8xf32>) -> tensor<8xf32> {
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %k = arith.addi %i, %one : index
    %m = arith.remui %k, %eight : index
    %v = tensor.extract %w[%m] : tensor<8xf32>
    dfg.yield %v : f32
  }
  dfg.return %1, %2, %4 : f32, f32, tensor<8xf32>
}
