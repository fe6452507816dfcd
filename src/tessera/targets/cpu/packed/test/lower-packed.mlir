// Layers as register tiles; what follows them is part of their stores.
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
    transform.tessera.lower_packed %c rows 1 columns 2 blocks 2 unroll 4 task 2 : !transform.any_op
    transform.yield
  }
}

// -----

// By tiles: registers are set up unless they are, sums start with the bias in all places, the three taps of a row are three steps, and sums go through memory.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @tiles
  // CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (1, 2, 2)
  // CHECK: llvm.call_intrinsic "llvm.x86.sttilecfg"
  // CHECK: scf.if
  // CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64"
  // CHECK: scf.for
  // CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.tdpbusd"
  // CHECK-NOT: llvm.x86.tdpbusd
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
  // CHECK: vector.load {{.*}} vector<32xi32>
  // CHECK: vector.store {{.*}} vector<32xi32>
  func.func @tiles(%xm: memref<1x1x6x34x64xi8>, %wm: memref<1x1x3x3x16x64x4xi8>, %bm: memref<1x64xi32>, %out: memref<1x1x4x32x64xi32>) {
    %x = bufferization.to_tensor %xm restrict : memref<1x1x6x34x64xi8> to tensor<1x1x6x34x64xi8>
    %w = bufferization.to_tensor %wm restrict : memref<1x1x3x3x16x64x4xi8> to tensor<1x1x3x3x16x64x4xi8>
    %b = bufferization.to_tensor %bm restrict : memref<1x64xi32> to tensor<1x64xi32>
    %c = cpu.packed_conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x34x64xi8>, tensor<1x1x3x3x16x64x4xi8>, tensor<1x64xi32>) -> tensor<1x1x4x32x64xi32>
    bufferization.materialize_in_destination %c in restrict writable %out : (tensor<1x1x4x32x64xi32>, memref<1x1x4x32x64xi32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.tessera.lower_packed %c rows 1 columns 16 blocks 2 unroll 2 task 2 dot "amx-int8" : !transform.any_op
    transform.yield
  }
}

// -----

// A product: with few rows by vectors, which is decided when it runs.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @tiles_product
  // CHECK: %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c4
  // CHECK: scf.if %[[FEW]]
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
  // CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
  func.func @tiles_product(%xm: memref<?x64xbf16>, %wm: memref<2x32x16x2xbf16>, %out: memref<?x32xf32>) {
    %x = bufferization.to_tensor %xm restrict : memref<?x64xbf16> to tensor<?x64xbf16>
    %w = bufferization.to_tensor %wm restrict : memref<2x32x16x2xbf16> to tensor<2x32x16x2xbf16>
    %c = cpu.packed_matmul %x, %w {columns = 32 : i64} : (tensor<?x64xbf16>, tensor<2x32x16x2xbf16>) -> tensor<?x32xf32>
    bufferization.materialize_in_destination %c in restrict writable %out : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.tessera.lower_packed %c rows 4 blocks 2 unroll 4 dot "amx-bf16" : !transform.any_op
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
    transform.tessera.lower_separable %d rows 1 columns 4 into %c rows 1 columns 4 blocks 2 unroll 4 task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}

// -----

// A pool is part of the stores: one of four places is stored.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @pooled
  // CHECK-NOT: nn.
  // CHECK: scf.forall
  // CHECK: arith.maximumf
  // CHECK: arith.maximumf
  // CHECK: arith.maximumf
  // CHECK: vector.store
  // CHECK-NOT: vector.store
  func.func @pooled(%xm: memref<1x1x6x6x8xf32>, %wm: memref<1x1x3x3x8x8xf32>, %out: memref<1x1x2x2x8xf32>) {
    %x = bufferization.to_tensor %xm restrict : memref<1x1x6x6x8xf32> to tensor<1x1x6x6x8xf32>
    %w = bufferization.to_tensor %wm restrict : memref<1x1x3x3x8x8xf32> to tensor<1x1x3x3x8x8xf32>
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x6x8xf32>, tensor<1x1x3x3x8x8xf32>) -> tensor<1x1x4x4x8xf32>
    %p = cpu.packed_pool max %c {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x1x4x4x8xf32> -> tensor<1x1x2x2x8xf32>
    bufferization.materialize_in_destination %p in restrict writable %out : (tensor<1x1x2x2x8xf32>, memref<1x1x2x2x8xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.tessera.lower_packed %c rows 2 columns 2 blocks 1 unroll 4 task 2 : !transform.any_op
    transform.yield
  }
}
