// RUN: tessera-opt %s --transform-interpreter --split-input-file | FileCheck %s
// Numbers that come from a tuner's knobs and from other parameters, of steps on graphs and on leaves.

// CHECK-LABEL: dfg.graph @fuse
// CHECK: dfg.node @edge grid
// CHECK: arith.addf
// CHECK: dfg.node @b_tiles grid(%{{.*}} = %c2)
// CHECK: dfg.node @b (
// CHECK: dfg.node @c_lower
// CHECK: dfg.node @c_upper
// CHECK: dfg.node @d grid({{.*}}) (%{{.*}} = %x : tensor<8xf32>) -> tensor<8xf32> tile
module attributes {transform.with_named_sequence} {
  dfg.graph @fuse(%x: tensor<8xf32>) -> (y: tensor<8xf32>, z: tensor<8xf32>, s: f32, u: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %0 = dfg.node @shift grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.addf %e, %e : f32
      dfg.yield %v : f32
    }
    %1 = dfg.node @edge grid(%i = %c8) (%w = %0 : tensor<8xf32>) -> tensor<8xf32> {
      %v = tensor.extract %w[%i] : tensor<8xf32>
      dfg.yield %v : f32
    }
    %2 = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    %3 = dfg.node @c grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    %4 = dfg.node @d grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, f32, tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %four = transform.tune.knob<"size"> = 4 : i64 from options = [2 : i64, 4 : i64] -> !transform.param<i64>
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %shift = transform.tessera.match_node "shift" in %m : (!transform.any_op) -> !transform.any_op
    %edge = transform.tessera.match_node "edge" in %m : (!transform.any_op) -> !transform.any_op
    %f = transform.tessera.fuse_nodes %shift into %edge max_cost %four {recompute} : (!transform.any_op, !transform.any_op, !transform.param<i64>) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    %t:2 = transform.tessera.tile_grid %b sizes [%four] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %q = transform.tessera.sequentialise %t#1 dims [%zero] : (!transform.any_op) -> !transform.any_op
    %c = transform.tessera.match_node "c" in %m : (!transform.any_op) -> !transform.any_op
    %s:3 = transform.tessera.split_grid %c at %four dim %zero : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %d = transform.tessera.match_node "d" in %m : (!transform.any_op) -> !transform.any_op
    %u = transform.tessera.unroll_grid %d by %four dim 0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Loops inside a leaf, and private copies.
// CHECK-LABEL: dfg.graph @leaf
// CHECK: dfg.buffer() {{.*}} : memref<4x256xi32>
// CHECK: dfg.node @count grid
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: dfg.node @count_merge
module attributes {transform.with_named_sequence} {
  dfg.graph @leaf(%x: tensor<64xi32>) -> (h: memref<256xi32>) {
    %n = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %h0 = dfg.buffer() fill(%zero : i32) : memref<256xi32>
    %h = dfg.node @count grid(%i = %n) (each %e = %x : tensor<64xi32>, acc<addi> %b = %h0 : memref<256xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %one = arith.constant 1 : i32
      %at = arith.index_cast %e : i32 to index
      scf.for %k = %c0 to %c2 step %c1 {
        dfg.accumulate %one, %b[%at] : memref<256xi32>
      }
    }
    dfg.return %h : memref<256xi32>
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    %four = transform.param.constant 4 : i64 -> !transform.param<i64>
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    transform.tessera.unroll_loop %l factor %two : !transform.any_op
    %n = transform.tessera.match_node "count" in %m : (!transform.any_op) -> !transform.any_op
    %p:2 = transform.tessera.privatise %n port %one chunks %four : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @sum
// CHECK: scf.forall (%{{.*}}) in (8) shared_outs({{.*}}) -> (tensor<8xf32>)
module attributes {transform.with_named_sequence} {
  func.func @sum(%x: tensor<?xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<f32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) attrs = {tessera.reductions = [#dfg.reduction<addf>]} {
    ^bb0(%e: f32, %acc: f32):
      %s = arith.addf %acc, %e fastmath<reassoc> : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %r : tensor<f32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %chunks = transform.tune.knob<"chunks"> = 8 : i64 from options = [8 : i64, 64 : i64] -> !transform.param<i64>
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %f = transform.tessera.chunk_reduction %g chunks %chunks : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// The inner loop is too long for the first step, and unrolled by the last one. The parameter is there for both.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK-NOT: scf.for
// CHECK-COUNT-3: memref.store
// CHECK-NOT: memref.store
module attributes {transform.with_named_sequence} {
  func.func @loops(%x: memref<?x3xf32>, %n: index, %v: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        memref.store %v, %x[%i, %j] : memref<?x3xf32>
      }
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    %bytes = transform.param.constant 64 : i64 -> !transform.param<i64>
    transform.tessera.unroll_constant_loops %root max_trip %two max_ops %bytes : !transform.any_op
    transform.tessera.vectorize_loops %root bytes %bytes : !transform.any_op
    transform.tessera.unroll_innermost %root by %two : !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @row
// CHECK: vector.transfer_write %{{.*}} : vector<8xf32>, tensor<1x8xf32>
module attributes {transform.with_named_sequence} {
  func.func @row(%out: tensor<1x8xf32>) -> tensor<1x8xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%out : tensor<1x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 1 : index
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      linalg.yield %f : f32
    } -> tensor<1x8xf32>
    return %r : tensor<1x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %lanes = transform.param.constant 8 : i64 -> !transform.param<i64>
    transform.tessera.vectorize_instances %root lanes %lanes : !transform.any_op
    transform.yield
  }
}
