// Fusion groups by class.
// RUN: tessera-opt %s -split-input-file --tessera-cpu-partition | FileCheck %s
// RUN: tessera-opt %s -split-input-file --tessera-cpu-partition=strip-weights=512 | FileCheck %s --check-prefix=STRIPS
// RUN: tessera-opt %s -split-input-file --tessera-cpu-partition=fuse=false | FileCheck %s --check-prefix=SINGLE

// The residual joins the later convolution; the flattening is a view; the softmax stays alone.
// CHECK-LABEL: dfg.graph @residual
// CHECK: %[[A:.*]] = dfg.node @first
// CHECK-COUNT-1: nn.conv
// CHECK: nn.unary relu
// CHECK: %[[B:.*]] = dfg.node @second ({{.*}}%[[A]]
// CHECK: nn.conv
// CHECK: nn.binary add
// CHECK: nn.unary relu
// CHECK: %[[V:.*]] = nn.reshape %[[B]]
// CHECK: dfg.node @softmax (%{{.*}} = %[[V]]
// CHECK-NOT: dfg.node
// SINGLE-LABEL: dfg.graph @residual
// SINGLE-COUNT-6: dfg.node
dfg.graph @residual(%x: tensor<?x4x4x4xf32>) -> (y: tensor<?x64xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x4x4x4xf32>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x4x4x4xf32>
    %w = arith.constant dense_resource<w> : tensor<4x4x1x1xf32>
    %1 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32> loc("first")
    %2 = nn.unary relu %1 : tensor<?x4x4x4xf32> -> tensor<?x4x4x4xf32> loc("act")
    %3 = nn.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32> loc("second")
    %4 = nn.binary add %3, %2 : tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32> -> tensor<?x4x4x4xf32>
    %5 = nn.unary relu %4 : tensor<?x4x4x4xf32> -> tensor<?x4x4x4xf32>
    %6 = nn.reshape %5 extents %d : tensor<?x4x4x4xf32> -> tensor<?x64xf32>
    %7 = nn.softmax %6 {axis = 1 : i64} : tensor<?x64xf32> -> tensor<?x64xf32> loc("softmax")
    dfg.yield %7 : tensor<?x64xf32>
  }
  dfg.return %r : tensor<?x64xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x04000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    }
  }
#-}

// -----

// A value that is used twice within a group does not split it; one that leaves it does.
// CHECK-LABEL: dfg.graph @diamond
// CHECK: dfg.node
// CHECK: nn.unary exp
// CHECK: nn.unary neg
// CHECK: nn.binary mul
// CHECK: dfg.yield
// CHECK: dfg.node
// CHECK: nn.unary abs
// CHECK: dfg.node
// CHECK: nn.unary sqrt
// CHECK-NOT: dfg.node
dfg.graph @diamond(%x: tensor<8xf32>) -> (y: tensor<8xf32>, z: tensor<8xf32>) {
  %r:2 = dfg.node @net (%a = %x : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %1 = nn.unary exp %a : tensor<8xf32> -> tensor<8xf32>
    %2 = nn.unary neg %1 : tensor<8xf32> -> tensor<8xf32>
    %3 = nn.binary mul %1, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    %4 = nn.unary abs %3 : tensor<8xf32> -> tensor<8xf32>
    %5 = nn.unary sqrt %3 : tensor<8xf32> -> tensor<8xf32>
    dfg.yield %4, %5 : tensor<8xf32>, tensor<8xf32>
  }
  dfg.return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What feeds a reduction joins it; a broadcast of its result does not.
// CHECK-LABEL: dfg.graph @reduction
// CHECK: %[[M:.*]] = dfg.node
// CHECK: nn.unary exp
// CHECK: nn.reduce sum
// CHECK: dfg.node {{.*}}%[[M]]
// CHECK: nn.binary sub
// CHECK-NOT: dfg.node
dfg.graph @reduction(%x: tensor<4x8xf32>) -> (y: tensor<4x8xf32>) {
  %r = dfg.node @net (%a = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %1 = nn.unary exp %a : tensor<4x8xf32> -> tensor<4x8xf32>
    %2 = nn.reduce sum %1 {axes = array<i64: 1>, keep} : tensor<4x8xf32> -> tensor<4x1xf32>
    %3 = nn.binary sub %a, %2 : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
    dfg.yield %3 : tensor<4x8xf32>
  }
  dfg.return %r : tensor<4x8xf32>
}

// -----

// A pointwise layer whose weights are small enough joins the depthwise one; a pool joins the convolution in front of it, unless its windows overlap.
// STRIPS-LABEL: dfg.graph @pairs
// STRIPS: dfg.node @pointwise
// STRIPS: cpu.packed_depthwise
// STRIPS: cpu.packed_conv
// STRIPS: dfg.node @windows
// STRIPS: cpu.packed_conv
// STRIPS: nn.unary relu
// STRIPS: cpu.packed_pool
// STRIPS: cpu.halo
// STRIPS: dfg.node @again
// STRIPS-NOT: cpu.packed_pool
// STRIPS: dfg.node @overlap
// STRIPS: cpu.packed_pool
// CHECK-LABEL: dfg.graph @pairs
// CHECK: dfg.node @depthwise
// CHECK: dfg.node @pointwise
// SINGLE-LABEL: dfg.graph @pairs
// SINGLE-COUNT-8: dfg.node
dfg.graph @pairs(%x: tensor<?x1x10x10x8xf32>, %d: tensor<1x3x3x8xf32>, %p: tensor<2x1x1x1x8x8xf32>, %w: tensor<1x2x3x3x8x8xf32>, %v: tensor<1x1x2x2x8x8xf32>) -> (y: tensor<?x1x2x2x8xf32>) {
  %r = dfg.node @net (%x_ = %x : tensor<?x1x10x10x8xf32>, %d_ = %d : tensor<1x3x3x8xf32>, %p_ = %p : tensor<2x1x1x1x8x8xf32>, %w_ = %w : tensor<1x2x3x3x8x8xf32>, %v_ = %v : tensor<1x1x2x2x8x8xf32>) -> tensor<?x1x2x2x8xf32> {
    %1 = cpu.packed_depthwise %x_, %d_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x10x10x8xf32>, tensor<1x3x3x8xf32>) -> tensor<?x1x8x8x8xf32> loc("depthwise")
    %2 = cpu.packed_conv %1, %p_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x8x8x8xf32>, tensor<2x1x1x1x8x8xf32>) -> tensor<?x2x8x8x8xf32> loc("pointwise")
    %3 = cpu.packed_conv %2, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x8x8x8xf32>, tensor<1x2x3x3x8x8xf32>) -> tensor<?x1x6x6x8xf32> loc("windows")
    %4 = nn.unary relu %3 : tensor<?x1x6x6x8xf32> -> tensor<?x1x6x6x8xf32>
    %5 = cpu.packed_pool max %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x1x6x6x8xf32> -> tensor<?x1x3x3x8xf32> loc("pool")
    %6 = cpu.halo %5 {pads = array<i64: 1, 0, 0, 1>} : tensor<?x1x3x3x8xf32> -> tensor<?x1x4x4x8xf32>
    %7 = cpu.packed_conv %6, %v_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4x8xf32>, tensor<1x1x2x2x8x8xf32>) -> tensor<?x1x3x3x8xf32> loc("again")
    %8 = cpu.packed_pool max %7 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x1x3x3x8xf32> -> tensor<?x1x2x2x8xf32> loc("overlap")
    dfg.yield %8 : tensor<?x1x2x2x8xf32>
  }
  dfg.return %r : tensor<?x1x2x2x8xf32>
}

// -----

// What waits for a sum stays narrow in memory: who adds it widens it.
// CHECK-LABEL: dfg.graph @waits
// CHECK: %[[A:.*]] = dfg.node @first {{.*}} -> tensor<?x4x4x4xbf16>
// CHECK: nn.conv
// CHECK: nn.cast {{.*}} -> tensor<?x4x4x4xbf16>
// CHECK-NEXT: dfg.yield
// CHECK: dfg.node @second ({{.*}}%[[A]]
// CHECK: nn.cast {{.*}} -> tensor<?x4x4x4xf32>
// CHECK-NEXT: nn.conv
// CHECK-NEXT: nn.binary add
// CHECK-NOT: dfg.node
dfg.graph @waits(%x: tensor<?x4x4x4xf32>) -> (y: tensor<?x4x4x4xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32> {
    %w = arith.constant dense_resource<w> : tensor<4x4x1x1xf32>
    %1 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32> loc("first")
    %2 = nn.cast %1 : tensor<?x4x4x4xf32> -> tensor<?x4x4x4xbf16>
    %3 = nn.cast %2 : tensor<?x4x4x4xbf16> -> tensor<?x4x4x4xf32>
    %4 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<?x4x4x4xf32> loc("second")
    %5 = nn.binary add %4, %3 : tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32> -> tensor<?x4x4x4xf32>
    dfg.yield %5 : tensor<?x4x4x4xf32>
  }
  dfg.return %r : tensor<?x4x4x4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x04000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    }
  }
#-}
