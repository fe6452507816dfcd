// The kernels of lower-packed.mlir with numbers that a tuner's knobs give.
// RUN: tessera-opt %s --transform-interpreter -split-input-file | FileCheck %s

// One task for each image, part of the rows and two blocks; four sums stay in registers over all taps; the halo's left and right columns are cleared.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @conv
  // CHECK-NOT: nn.
  // CHECK-NOT: linalg.generic
  // CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (1, 2, 1)
  // CHECK: %{{.*}}:4 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
  // CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
  // CHECK: arith.maximumf {{.*}} : vector<8xf32>
  // CHECK: vector.store
  func.func @conv(%xm: memref<1x2x6x6x8xf32>, %wm: memref<2x2x3x3x8x8xf32>, %out: memref<1x2x6x6x8xf32>) {
    %x = bufferization.to_tensor %xm restrict : memref<1x2x6x6x8xf32> to tensor<1x2x6x6x8xf32>
    %w = bufferization.to_tensor %wm restrict : memref<2x2x3x3x8x8xf32> to tensor<2x2x3x3x8x8xf32>
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    %e = tensor.empty() : tensor<1x2x4x4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<1x2x4x4x8xf32>) outs(%e : tensor<1x2x4x4x8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %v, %z : f32
      linalg.yield %m : f32
    } -> tensor<1x2x4x4x8xf32>
    %h = cpu.halo %r {pads = array<i64: 1, 1, 1, 1>} : tensor<1x2x4x4x8xf32> -> tensor<1x2x6x6x8xf32>
    bufferization.materialize_in_destination %h in restrict writable %out : (tensor<1x2x6x6x8xf32>, memref<1x2x6x6x8xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    %columns = transform.tune.knob<"columns"> = 2 : i64 from options = [2 : i64, 4 : i64] -> !transform.param<i64>
    %task = transform.param.constant 2 : i64 -> !transform.param<i64>
    transform.tessera.lower_packed %c rows 1 columns %columns blocks 2 unroll 4 task %task : !transform.any_op
    transform.yield
  }
}

// -----

// A pair in strips of two rows: each task has memory for them, which the product reads.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @pair
  // CHECK-NOT: nn.
  // CHECK: scf.forall (%{{.*}}, %{{.*}}) in (1, 2)
  // CHECK: %[[STRIP:.*]] = memref.alloc() {{.*}} : memref<1x2x2x4x8xf32>
  // CHECK: %[[TO:.*]] = memref.reinterpret_cast %[[STRIP]]
  // CHECK: vector.store %{{.*}}, %[[TO]]
  // CHECK: memref.reinterpret_cast %[[STRIP]]
  // CHECK: vector.store
  func.func @pair(%xm: memref<1x2x6x6x8xf32>, %wm: memref<2x3x3x8xf32>, %vm: memref<2x2x1x1x8x8xf32>, %out: memref<1x2x4x4x8xf32>) {
    %x = bufferization.to_tensor %xm restrict : memref<1x2x6x6x8xf32> to tensor<1x2x6x6x8xf32>
    %w = bufferization.to_tensor %wm restrict : memref<2x3x3x8xf32> to tensor<2x3x3x8xf32>
    %v = bufferization.to_tensor %vm restrict : memref<2x2x1x1x8x8xf32> to tensor<2x2x1x1x8x8xf32>
    %d = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x3x3x8xf32>) -> tensor<1x2x4x4x8xf32>
    %c = cpu.packed_conv %d, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4x8xf32>, tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    bufferization.materialize_in_destination %c in restrict writable %out : (tensor<1x2x4x4x8xf32>, memref<1x2x4x4x8xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %d = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %four = transform.tune.knob<"columns"> = 4 : i64 from options = [4 : i64, 8 : i64] -> !transform.param<i64>
    transform.tessera.lower_separable %d rows %one columns %four into %c rows %one columns 4 blocks 2 unroll %four task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}
