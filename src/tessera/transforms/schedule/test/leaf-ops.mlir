// RUN: tessera-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

// A reduction becomes a forall over chunks and a combination of their results.
// CHECK-LABEL: func.func @sum
// CHECK: %[[PARTS:.*]] = scf.forall (%{{.*}}) in (8) shared_outs({{.*}}) -> (tensor<8xf32>)
// CHECK:   linalg.fill
// CHECK:   linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]{{.*}} ins(%[[PARTS]] : tensor<8xf32>)
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
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %f = transform.tessera.chunk_reduction %g chunks 8 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// The triple loop of a matrix product becomes one operation with a reduction dimension.
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: scf.for
module attributes {transform.with_named_sequence} {
  func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%c : tensor<?x?xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
        %x = tensor.extract %a[%i, %k] : tensor<?x?xf32>
        %y = tensor.extract %b[%k, %j] : tensor<?x?xf32>
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %acc, %p : f32
        scf.yield %t : f32
      }
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %r = transform.tessera.raise_reduction %g : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Clamped indices are plain in the interior.
// CHECK-LABEL: func.func @blur
// CHECK: scf.for
// CHECK:   arith.maxsi
// CHECK: scf.for
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK:   memref.store
// CHECK: scf.for
// CHECK:   arith.minsi
module attributes {transform.with_named_sequence} {
  func.func @blur(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last = arith.subi %n, %c1 : index
    scf.for %i = %c0 to %n step %c1 {
      %l0 = arith.subi %i, %c1 : index
      %l = arith.maxsi %l0, %c0 : index
      %r0 = arith.addi %i, %c1 : index
      %r = arith.minsi %r0, %last : index
      %a = memref.load %x[%l] : memref<?xf32>
      %b = memref.load %x[%r] : memref<?xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<?xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.split_borders %root : !transform.any_op
    transform.yield
  }
}

// -----

// Short loops of constant length disappear; others are unrolled by a factor.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2
// CHECK-COUNT-6: memref.store
// CHECK: scf.for
module attributes {transform.with_named_sequence} {
  func.func @loops(%x: memref<?x3xf32>, %n: index, %v: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        memref.store %v, %x[%i, %j] : memref<?x3xf32>
      }
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.unroll_constant_loops %root : !transform.any_op
    transform.tessera.unroll_innermost %root by 2 : !transform.any_op
    transform.yield
  }
}

// -----

// A row of instances in lanes: the loop runs until the last lane is done.
// CHECK-LABEL: func.func @steps
// CHECK: scf.while ({{.*}}) : (vector<8xf32>, {{.*}}vector<8xi1>)
// CHECK:   vector.reduction <or>
// CHECK:   scf.condition
// CHECK: vector.transfer_write %{{.*}} : vector<8xf32>, tensor<1x8xf32>
// CHECK-NOT: linalg.generic
module attributes {transform.with_named_sequence} {
  func.func @steps(%x: tensor<1x8xf32>, %out: tensor<1x8xf32>, %limit: f32) -> tensor<1x8xf32> {
    %two = arith.constant 2.0 : f32
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x8xf32>) outs(%out : tensor<1x8xf32>) {
    ^bb0(%e: f32, %o: f32):
      %w = scf.while (%v = %e) : (f32) -> f32 {
        %small = arith.cmpf olt, %v, %limit : f32
        scf.condition(%small) %v : f32
      } do {
      ^bb0(%v: f32):
        %d = arith.mulf %v, %two : f32
        scf.yield %d : f32
      }
      linalg.yield %w : f32
    } -> tensor<1x8xf32>
    return %r : tensor<1x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.vectorize_instances %root lanes 8 : !transform.any_op
    transform.yield
  }
}

// -----

// Instances on memory in lanes: neighbours are vectors, an array of their own has a vector for each element, what is
// left runs under a mask. A loop whose instances read other rows stays as it is.
// CHECK-LABEL: func.func @rows
// CHECK: memref.alloca() {{.*}} : memref<40x16xf32>
// CHECK: scf.for {{.*}} step %c16
// CHECK:   scf.for
// CHECK:     memref.load %{{.*}} : memref<?xf32>
// CHECK:     vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK:     vector.store %{{.*}} : memref<40x16xf32>, vector<16xf32>
// CHECK:   vector.store %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: scf.if
// CHECK:   vector.create_mask
// CHECK:   vector.maskedload
// CHECK:   vector.maskedstore
// CHECK-LABEL: func.func @columns
// CHECK-NOT: vector.load
// CHECK: tessera.instances
module attributes {transform.with_named_sequence} {
  func.func @rows(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %own = memref.alloca() : memref<40xf32>
    scf.for %i = %c0 to %n step %c1 {
      scf.for %k = %c0 to %c40 step %c1 {
        %row = arith.muli %k, %n : index
        %at = arith.addi %row, %i : index
        %a = memref.load %x[%k] : memref<?xf32>
        %b = memref.load %y[%at] : memref<?xf32>
        %p = arith.mulf %a, %b : f32
        memref.store %p, %own[%k] : memref<40xf32>
      }
      %last = memref.load %own[%c1] : memref<40xf32>
      memref.store %last, %z[%i] : memref<?xf32>
    } {tessera.instances = -1}
    return
  }
  func.func @columns(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.muli %i, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> f32 {
        %at = arith.addi %row, %k : index
        %a = memref.load %x[%at] : memref<?xf32>
        %u = arith.addf %t, %a : f32
        scf.yield %u : f32
      }
      memref.store %s, %y[%i] : memref<?xf32>
    } {tessera.instances = -1}
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.vectorize_loops %root bytes 64 : !transform.any_op
    transform.yield
  }
}

// -----

// Each of the eight loops adds 15 operations, and all together may add four times 24.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
module attributes {transform.with_named_sequence} {
  func.func @many(%m: memref<8x4xf32>, %v: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = arith.constant 2 : index
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    scf.for %i = %c0 to %c4 step %c1 { memref.store %v, %m[%c0, %i] : memref<8x4xf32> memref.store %v, %m[%r, %i] : memref<8x4xf32> memref.store %v, %m[%i, %r] : memref<8x4xf32> }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.unroll_constant_loops %root {max_ops = 24} : !transform.any_op
    transform.yield
  }
}

// -----

// A function of the math dialect counts as twenty operations: 4 * (20 + 4) are too many.
// CHECK-LABEL: func.func @functions
// CHECK: scf.for
module attributes {transform.with_named_sequence} {
  func.func @functions(%m: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %v = memref.load %m[%i] : memref<4xf32>
      %e = math.exp %v : f32
      memref.store %e, %m[%i] : memref<4xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tessera.unroll_constant_loops %root {max_ops = 64} : !transform.any_op
    transform.yield
  }
}
