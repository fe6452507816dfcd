// Blocked activations.
// RUN: tessera-opt %s -split-input-file --tessera-cpu-layout=lanes=8 | FileCheck %s
// RUN: tessera-opt %s -split-input-file --tessera-cpu-layout="lanes=8 winograd=false" | FileCheck %s --check-prefix=STRICT

// The image is read as it is, with a border; the second layer's border is made by the first one; the product takes blocks.
// CHECK-LABEL: dfg.graph @chain
// CHECK: %[[X:.*]] = nn.reshape %{{.*}} -> tensor<?x3x8x8x1xf32>
// CHECK: %[[H:.*]] = cpu.halo %[[X]] {pads = array<i64: 1, 1, 1, 1>}
// CHECK: %[[A:.*]] = cpu.packed_conv %[[H]], {{.*}} -> tensor<?x2x8x8x8xf32>
// CHECK: %[[R:.*]] = nn.unary relu %[[A]]
// CHECK: %[[B:.*]] = cpu.halo %[[R]] {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x8x8x8xf32> -> tensor<?x2x10x10x8xf32>
// CHECK: %[[W:.*]] = cpu.packed_winograd %[[B]]
// CHECK: %[[C:.*]] = cpu.crop %[[B]] {pads = array<i64: 1, 1, 1, 1>}
// CHECK: %[[S:.*]] = nn.binary add %[[W]], %[[C]]
// CHECK: cpu.packed_pool max %[[S]]
// CHECK: nn.reshape %{{.*}} : tensor<?x2x4x4x8xf32> -> tensor<?x256xf32>
// CHECK: cpu.packed_matmul {{.*}}columns = 10
// CHECK-NOT: cpu.unpack
// CHECK-NOT: nn.binary add
// STRICT-LABEL: dfg.graph @chain
// STRICT-NOT: cpu.packed_winograd
// STRICT-COUNT-2: cpu.packed_conv
dfg.graph @chain(%x: tensor<?x3x8x8xf32>) -> (y: tensor<?x10xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x3x8x8xf32>) -> tensor<?x10xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x3x8x8xf32>
    %w = arith.constant dense<0.5> : tensor<16x3x3x3xf32>
    %v = arith.constant dense<0.5> : tensor<16x16x3x3xf32>
    %b = arith.constant dense<0.5> : tensor<16xf32>
    %f = arith.constant dense<0.5> : tensor<256x10xf32>
    %g = arith.constant dense<0.5> : tensor<10xf32>
    %1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x8x8xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<?x16x8x8xf32>
    %2 = nn.unary relu %1 : tensor<?x16x8x8xf32> -> tensor<?x16x8x8xf32>
    %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<?x16x8x8xf32>
    %4 = nn.binary add %3, %2 : tensor<?x16x8x8xf32>, tensor<?x16x8x8xf32> -> tensor<?x16x8x8xf32>
    %5 = nn.pool max %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x16x8x8xf32> -> tensor<?x16x4x4xf32>
    %6 = nn.reshape %5 extents %d : tensor<?x16x4x4xf32> -> tensor<?x256xf32>
    %7 = nn.matmul %6, %f : tensor<?x256xf32>, tensor<256x10xf32> -> tensor<?x10xf32>
    %8 = nn.binary add %7, %g : tensor<?x10xf32>, tensor<10xf32> -> tensor<?x10xf32>
    dfg.yield %8 : tensor<?x10xf32>
  }
  dfg.return %r : tensor<?x10xf32>
}

// -----

// Few channels take narrow blocks; what reads the plain layout gets it.
// CHECK-LABEL: dfg.graph @narrow
// CHECK: cpu.packed_conv {{.*}} -> tensor<1x1x4x4x4xf32>
// CHECK: cpu.unpack {{.*}} {channels = 3 : i64} : tensor<1x1x4x4x4xf32> -> tensor<1x3x4x4xf32>
// CHECK: nn.transpose
dfg.graph @narrow(%x: tensor<1x3x4x4xf32>) -> (y: tensor<1x4x4x3xf32>) {
  %r = dfg.node @net (%a = %x : tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32> {
    %w = arith.constant dense<0.5> : tensor<3x3x1x1xf32>
    %1 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
    %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : tensor<1x3x4x4xf32> -> tensor<1x4x4x3xf32>
    dfg.yield %2 : tensor<1x4x4x3xf32>
  }
  dfg.return %r : tensor<1x4x4x3xf32>
}

// -----

// Without a convolution nothing is blocked; a convolution with weights that are not known stays.
// CHECK-LABEL: dfg.graph @plain
// CHECK-NOT: packed
// CHECK: nn.conv
// CHECK-NOT: packed
dfg.graph @plain(%x: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>) -> (y: tensor<1x3x4x4xf32>) {
  %r = dfg.node @net (%a = %x : tensor<1x3x4x4xf32>, %v = %w : tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32> {
    %1 = nn.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
    %2 = nn.unary relu %1 : tensor<1x3x4x4xf32> -> tensor<1x3x4x4xf32>
    dfg.yield %2 : tensor<1x3x4x4xf32>
  }
  dfg.return %r : tensor<1x3x4x4xf32>
}

// -----

// Tiles are transformed in vectors of channels, so a plain operand is packed first.
// CHECK-LABEL: dfg.graph @alone
// CHECK: cpu.pack %{{.*}} : tensor<?x16x8x8xf32> -> tensor<?x2x8x8x8xf32>
// CHECK: cpu.packed_winograd
// STRICT-LABEL: dfg.graph @alone
// STRICT-NOT: cpu.pack %
dfg.graph @alone(%x: tensor<?x16x8x8xf32>) -> (y: tensor<?x16x8x8xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x16x8x8xf32>) -> tensor<?x16x8x8xf32> {
    %v = arith.constant dense<0.5> : tensor<16x16x3x3xf32>
    %1 = nn.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<?x16x8x8xf32>
    dfg.yield %1 : tensor<?x16x8x8xf32>
  }
  dfg.return %r : tensor<?x16x8x8xf32>
}

// -----

// Open rows and columns stay open.
// CHECK-LABEL: dfg.graph @open
// CHECK: %[[X:.*]] = nn.reshape %{{.*}} -> tensor<?x16x?x?x1xf32>
// CHECK: %[[H:.*]] = cpu.halo %[[X]] {pads = array<i64: 1, 1, 1, 1>}
// CHECK: %[[A:.*]] = cpu.packed_conv %[[H]], {{.*}} -> tensor<?x2x?x?x8xf32>
// CHECK: %[[R:.*]] = nn.unary relu %[[A]] : tensor<?x2x?x?x8xf32>
// CHECK: %[[P:.*]] = cpu.packed_pool max %[[R]]
// CHECK: cpu.unpack %[[P]] {channels = 16 : i64} : tensor<?x2x?x?x8xf32> -> tensor<?x16x?x?xf32>
dfg.graph @open(%x: tensor<?x16x?x?xf32>) -> (y: tensor<?x16x?x?xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32> {
    %v = arith.constant dense<0.5> : tensor<16x16x3x3xf32>
    %1 = nn.conv %a, %v {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x16x?x?xf32>, tensor<16x16x3x3xf32>) -> tensor<?x16x?x?xf32>
    %2 = nn.unary relu %1 : tensor<?x16x?x?xf32> -> tensor<?x16x?x?xf32>
    %3 = nn.pool max %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x16x?x?xf32> -> tensor<?x16x?x?xf32>
    dfg.yield %3 : tensor<?x16x?x?xf32>
  }
  dfg.return %r : tensor<?x16x?x?xf32>
}

// -----

// Lines are planes of one row, and so is what stands between layers along them.
// CHECK-LABEL: dfg.graph @line
// CHECK: cpu.packed_conv {{.*}} -> tensor<?x2x1x?x8xf32>
// CHECK: nn.unary relu {{.*}} : tensor<?x2x1x?x8xf32>
// CHECK: cpu.packed_conv {{.*}} -> tensor<?x2x1x?x8xf32>
// CHECK: cpu.unpack {{.*}} -> tensor<?x16x1x?xf32>
// CHECK: nn.reshape {{.*}} : tensor<?x16x1x?xf32> -> tensor<?x16x?xf32>
dfg.graph @line(%x: tensor<?x16x?xf32>) -> (y: tensor<?x16x?xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x16x?xf32>) -> tensor<?x16x?xf32> {
    %v = arith.constant dense<0.5> : tensor<16x16x3xf32>
    %1 = nn.conv %a, %v {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<?x16x?xf32>, tensor<16x16x3xf32>) -> tensor<?x16x?xf32>
    %2 = nn.unary relu %1 : tensor<?x16x?xf32> -> tensor<?x16x?xf32>
    %3 = nn.conv %2, %v {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<?x16x?xf32>, tensor<16x16x3xf32>) -> tensor<?x16x?xf32>
    dfg.yield %3 : tensor<?x16x?xf32>
  }
  dfg.return %r : tensor<?x16x?xf32>
}
