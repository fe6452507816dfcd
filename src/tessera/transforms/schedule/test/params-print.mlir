// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// How numbers and parameters are spelled. Attributes in braces are still read.

// CHECK-LABEL: @spelling
module attributes {transform.with_named_sequence} {
  transform.named_sequence @spelling(%n: !transform.any_op, %p: !transform.param<i64>, %q: !transform.param<i64>) {
    // CHECK: tile_grid %{{.*}} sizes [16, %[[P:.*]], 0] :
    %t:2 = transform.tessera.tile_grid %n sizes [16, %p, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // CHECK: split_grid %{{.*}} at %[[P]] dim %{{.*}} :
    %s:3 = transform.tessera.split_grid %t#0 at %p dim %q : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    // CHECK: unroll_grid %{{.*}} by 2 dim 1 :
    %u = transform.tessera.unroll_grid %s#0 by 2 {dim = 1 : i64} : (!transform.any_op) -> !transform.any_op
    // CHECK: privatise %{{.*}} port 1 chunks 4 :
    %v:2 = transform.tessera.privatise %u port 1 {chunks = 4 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // CHECK: sequentialise %{{.*}} dims [1, %[[P]]] :
    %w = transform.tessera.sequentialise %v#0 dims [1, %p] : (!transform.any_op) -> !transform.any_op
    // CHECK: sequentialise %{{[^ ]*}} : (
    %x = transform.tessera.sequentialise %w : (!transform.any_op) -> !transform.any_op
    // CHECK: unroll_constant_loops %{{.*}} max_trip %[[P]] max_ops 7 :
    transform.tessera.unroll_constant_loops %x max_trip %p max_ops 7 : !transform.any_op
    // CHECK: unroll_constant_loops %{{[^ ]*}} :
    transform.tessera.unroll_constant_loops %x {max_trip = 16 : i64} : !transform.any_op
    transform.yield
  }
}
