// RUN: tessera-opt %s --transform-interpreter --split-input-file | FileCheck %s
// Every schedule operation on the graph once; what the rewrites do in detail is tested with the passes.

// CHECK-LABEL: dfg.graph @fuse
// CHECK: dfg.node @scale_lo_hi grid({{.*}}) (each %{{.*}} = %x : tensor<8xf32>) -> (f32 reduce<minimumf>, f32 reduce<maximumf>)
// CHECK-NOT: dfg.node
module attributes {transform.with_named_sequence} {
  dfg.graph @fuse(%x: tensor<8xf32>) -> (a: f32, b: f32) {
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
    dfg.return %1, %2 : f32, f32
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %g = transform.tessera.match_graph "fuse" in %m : (!transform.any_op) -> !transform.any_op
    %lo = transform.tessera.match_node "lo" in %g : (!transform.any_op) -> !transform.any_op
    %hi = transform.tessera.match_node "hi" in %g : (!transform.any_op) -> !transform.any_op
    %s = transform.tessera.fuse_siblings %lo, %hi : (!transform.any_op, !transform.any_op) -> !transform.any_op
    %p = transform.tessera.match_node "scale" in %g : (!transform.any_op) -> !transform.any_op
    %f = transform.tessera.fuse_nodes %p into %s : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.tessera.simplify %g : !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: dfg.graph private @both
// CHECK-LABEL: dfg.graph @hierarchy
// CHECK: dfg.call @both
module attributes {transform.with_named_sequence} {
  dfg.graph @hierarchy(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
    %y = dfg.node @outer (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c8 = arith.constant 8 : index
      %0 = dfg.node @p grid(%i = %c8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        %v = arith.mulf %e, %e : f32
        dfg.yield %v : f32
      }
      %1 = dfg.node @q grid(%i = %c8) (each %e = %0 : tensor<8xf32>) -> tensor<8xf32> {
        %v = arith.negf %e : f32
        dfg.yield %v : f32
      }
      dfg.yield %1 : tensor<8xf32>
    }
    dfg.return %y : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %o = transform.tessera.match_node "outer" in %m : (!transform.any_op) -> !transform.any_op
    %c = transform.tessera.flatten %o : (!transform.any_op) -> !transform.any_op
    %n = transform.tessera.outline %c as "inner" : (!transform.any_op) -> !transform.any_op
    %d = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    %g = transform.tessera.outline %d as "both" {as_graph} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: dfg.graph @grids
// CHECK: dfg.node @a_tiles
// CHECK: dfg.node @a (
// CHECK: scf.for
// CHECK: dfg.node @b_lower
// CHECK: dfg.node @b_upper
// CHECK: dfg.node @b_combine
// CHECK: dfg.node @c grid({{.*}}) (%{{.*}} = %x : tensor<8xf32>) -> tensor<8xf32> tile
module attributes {transform.with_named_sequence} {
  dfg.graph @grids(%x: tensor<8xf32>) -> (y: tensor<8xf32>, s: f32, z: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %0 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    %1 = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    %2 = dfg.node @c grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return %0, %1, %2 : tensor<8xf32>, f32, tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %t:2 = transform.tessera.tile_grid %a sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %q = transform.tessera.sequentialise %t#1 : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    %s:3 = transform.tessera.split_grid %b at 3 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %c = transform.tessera.match_node "c" in %m : (!transform.any_op) -> !transform.any_op
    %u = transform.tessera.unroll_grid %c by 4 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: dfg.graph @leaf
// CHECK: dfg.node @f_invariant
// CHECK: dfg.node @f grid
// CHECK-NOT: dfg.scratch
// CHECK: memref.alloc
// CHECK-NOT: scf.for
// CHECK-COUNT-2: memref.store
module attributes {transform.with_named_sequence} {
  dfg.graph @leaf(%x: tensor<8xf32>, %t: f32) -> (y: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %0 = dfg.node @f grid(%i = %c8) (each %e = %x : tensor<8xf32>, %a = %t : f32) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0.0 : f32
      %s = dfg.scratch : memref<2xf32>
      %r = math.exp %a : f32
      scf.for %k = %c0 to %c2 step %c1 {
        %v = arith.mulf %e, %r : f32
        memref.store %v, %s[%k] : memref<2xf32>
      }
      %w = scf.for %k = %c0 to %c2 step %c1 iter_args(%b = %zero) -> f32 {
        %v = memref.load %s[%k] : memref<2xf32>
        %c = arith.addf %b, %v : f32
        scf.yield %c : f32
      }
      dfg.yield %w : f32
    }
    dfg.return %0 : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node in %m : (!transform.any_op) -> !transform.any_op
    %p:2 = transform.tessera.privatise %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %h:2 = transform.tessera.hoist %p#0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %l = transform.structured.match ops{["scf.for"]} in %h#1 : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %f = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.tessera.unroll_loop %f : !transform.any_op
    transform.yield
  }
}
