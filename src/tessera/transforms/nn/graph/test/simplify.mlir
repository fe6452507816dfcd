// Rewrites of networks, each with what it must not do.
// RUN: tessera-opt %s -split-input-file --tessera-nn-simplify | FileCheck %s

// A batch norm behind a convolution goes into its weights.
// CHECK-LABEL: dfg.graph @norm_behind
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}1.000000e+00{{.*}}3.000000e+00{{.*}}> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[5.000000e-01, 2.500000e+00]> : tensor<2xf32>
// CHECK: nn.conv %{{.*}}, %[[W]], %[[B]]
// CHECK-NOT: nn.batch_norm
dfg.graph @norm_behind(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x2x4x4xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> tensor<?x2x4x4xf32> {
    %w = arith.constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
    %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %o = arith.constant dense<[0.5, 1.5]> : tensor<2xf32>
    %m = arith.constant dense<[1.0, 1.0]> : tensor<2xf32>
    %v = arith.constant dense<[4.0, 4.0]> : tensor<2xf32>
    %1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32>
    %2 = nn.batch_norm %1, %s, %o, %m, %v {epsilon = 0.0 : f64} : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32>
    dfg.yield %2 : tensor<?x2x4x4xf32>
  }
  dfg.return %r : tensor<?x2x4x4xf32>
}

// -----

// Someone else reads the convolution: it stays, and the norm becomes a product and a sum.
// CHECK-LABEL: dfg.graph @norm_shared
// CHECK: %[[C:.*]] = nn.conv
// CHECK: %[[M:.*]] = nn.binary mul %[[C]]
// CHECK: nn.binary add %[[M]]
dfg.graph @norm_shared(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x2x4x4xf32>, z: tensor<?x2x4x4xf32>) {
  %r:2 = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4x4xf32>) {
    %w = arith.constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
    %s = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<?x2x4x4xf32>
    %2 = nn.batch_norm %1, %s, %s, %s, %s {epsilon = 0.0 : f64} : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32>
    dfg.yield %1, %2 : tensor<?x2x4x4xf32>, tensor<?x2x4x4xf32>
  }
  dfg.return %r#0, %r#1 : tensor<?x2x4x4xf32>, tensor<?x2x4x4xf32>
}

// -----

// (x - mean) / deviation in front of a window that never sees a border.
// CHECK-LABEL: dfg.graph @affine_in_front
// CHECK-DAG: arith.constant dense<{{.*}}2.500000e-01{{.*}}> : tensor<1x1x2x2xf32>
// CHECK-DAG: arith.constant dense<-5.000000e-01> : tensor<1xf32>
// CHECK-NOT: nn.binary
// CHECK: nn.conv
dfg.graph @affine_in_front(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x1x3x3xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> tensor<?x1x3x3xf32> {
    %w = arith.constant dense<[[[[0.5, 0.5], [0.5, 0.5]]]]> : tensor<1x1x2x2xf32>
    %m = arith.constant dense<0.5> : tensor<f32>
    %d = arith.constant dense<2.0> : tensor<f32>
    %1 = nn.binary sub %a, %m : tensor<?x1x4x4xf32>, tensor<f32> -> tensor<?x1x4x4xf32>
    %2 = nn.binary div %1, %d : tensor<?x1x4x4xf32>, tensor<f32> -> tensor<?x1x4x4xf32>
    %3 = nn.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<?x1x3x3xf32>
    dfg.yield %3 : tensor<?x1x3x3xf32>
  }
  dfg.return %r : tensor<?x1x3x3xf32>
}

// -----

// With a border the offset would not be right there; the scale alone is.
// CHECK-LABEL: dfg.graph @affine_in_front_of_pads
// CHECK: nn.binary sub
// CHECK-NOT: nn.binary div
// CHECK: nn.conv
dfg.graph @affine_in_front_of_pads(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x1x5x5xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> tensor<?x1x5x5xf32> {
    %w = arith.constant dense<[[[[0.5, 0.5], [0.5, 0.5]]]]> : tensor<1x1x2x2xf32>
    %m = arith.constant dense<0.5> : tensor<f32>
    %d = arith.constant dense<2.0> : tensor<f32>
    %1 = nn.binary sub %a, %m : tensor<?x1x4x4xf32>, tensor<f32> -> tensor<?x1x4x4xf32>
    %2 = nn.binary div %1, %d : tensor<?x1x4x4xf32>, tensor<f32> -> tensor<?x1x4x4xf32>
    %3 = nn.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<?x1x5x5xf32>
    dfg.yield %3 : tensor<?x1x5x5xf32>
  }
  dfg.return %r : tensor<?x1x5x5xf32>
}

// -----

// CHECK-LABEL: dfg.graph @pad
// CHECK: %[[P:.*]] = nn.pad constant
// CHECK: nn.conv %arg0, {{.*}}pads = array<i64: 1, 2, 1, 2>
// CHECK: nn.pool max %[[P]] {{.*}}pads = array<i64: 0, 0, 0, 0>
dfg.graph @pad(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x1x5x7xf32>, z: tensor<?x1x3x3xf32>) {
  %r:2 = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> (tensor<?x1x5x7xf32>, tensor<?x1x3x3xf32>) {
    %w = arith.constant dense<[[[[0.5, 0.5], [0.5, 0.5]]]]> : tensor<1x1x2x2xf32>
    %1 = nn.pad constant %a {lows = array<i64: 0, 0, 1, 1>, highs = array<i64: 0, 0, 1, 1>} : (tensor<?x1x4x4xf32>) -> tensor<?x1x6x6xf32>
    %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x6x6xf32>, tensor<1x1x2x2xf32>) -> tensor<?x1x5x7xf32>
    // A border of zeros is not a border that has no maximum.
    %3 = nn.pool max %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x1x6x6xf32> -> tensor<?x1x3x3xf32>
    dfg.yield %2, %3 : tensor<?x1x5x7xf32>, tensor<?x1x3x3xf32>
  }
  dfg.return %r#0, %r#1 : tensor<?x1x5x7xf32>, tensor<?x1x3x3xf32>
}

// -----

// CHECK-LABEL: dfg.graph @algebra
// CHECK: dfg.node @net (%[[A:.*]] = %{{.*}} : tensor<?x8xf32>)
// CHECK-NEXT: %[[R:.*]] = nn.activation clip %[[A]] {beta = 6.000000e+00 : f64}
// CHECK-NEXT: %[[S:.*]] = nn.activation swish %[[R]]
// CHECK-NEXT: dfg.yield %[[S]]
dfg.graph @algebra(%x: tensor<?x8xf32>) -> (y: tensor<?x8xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x8xf32>) -> tensor<?x8xf32> {
    %one = arith.constant dense<1.0> : tensor<8xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %1 = nn.binary mul %a, %one : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
    %2 = nn.binary add %zero, %1 : tensor<f32>, tensor<?x8xf32> -> tensor<?x8xf32>
    %3 = nn.unary relu %2 : tensor<?x8xf32> -> tensor<?x8xf32>
    %4 = nn.unary relu %3 : tensor<?x8xf32> -> tensor<?x8xf32>
    %5 = nn.activation clip %4 {alpha = -1.0 : f64, beta = 6.0 : f64} : tensor<?x8xf32> -> tensor<?x8xf32>
    %6 = nn.transpose %5 {permutation = array<i64: 1, 0>} : tensor<?x8xf32> -> tensor<8x?xf32>
    %7 = nn.transpose %6 {permutation = array<i64: 1, 0>} : tensor<8x?xf32> -> tensor<?x8xf32>
    %8 = nn.unary sigmoid %7 : tensor<?x8xf32> -> tensor<?x8xf32>
    %9 = nn.binary mul %8, %7 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    dfg.yield %9 : tensor<?x8xf32>
  }
  dfg.return %r : tensor<?x8xf32>
}

// -----

// A scale that makes the result larger is no neutral element.
// CHECK-LABEL: dfg.graph @not_neutral
// CHECK: nn.binary mul
dfg.graph @not_neutral(%x: tensor<1x8xf32>) -> (y: tensor<4x8xf32>) {
  %r = dfg.node @net (%a = %x : tensor<1x8xf32>) -> tensor<4x8xf32> {
    %one = arith.constant dense<1.0> : tensor<4x1xf32>
    %1 = nn.binary mul %a, %one : tensor<1x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
    dfg.yield %1 : tensor<4x8xf32>
  }
  dfg.return %r : tensor<4x8xf32>
}

// -----

// Transposes go into products, those of constants into the constant; equal operations are one.
// CHECK-LABEL: dfg.graph @products
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
// CHECK: nn.matmul {{.*}} {transpose_a}
// CHECK-NOT: nn.matmul
// CHECK-NOT: nn.transpose
dfg.graph @products(%x: tensor<2x?xf32>) -> (y: tensor<?x2xf32>) {
  %r = dfg.node @net (%a = %x : tensor<2x?xf32>) -> tensor<?x2xf32> {
    %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %1 = nn.transpose %a {permutation = array<i64: 1, 0>} : tensor<2x?xf32> -> tensor<?x2xf32>
    %2 = nn.transpose %w {permutation = array<i64: 1, 0>} : tensor<2x2xf32> -> tensor<2x2xf32>
    %3 = nn.matmul %1, %2 : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x2xf32>
    %4 = nn.matmul %1, %2 : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x2xf32>
    %5 = nn.binary add %3, %4 : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
    dfg.yield %5 : tensor<?x2xf32>
  }
  dfg.return %r : tensor<?x2xf32>
}

// -----

// Extents come from the operands, so that nobody waits for a result to ask for its extent.
// CHECK-LABEL: dfg.graph @extents
// CHECK: %[[D:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x1x4x4xf32>
// CHECK: nn.reshape %{{.*}} extents %[[D]] : tensor<?x1x4x4xf32> -> tensor<?x16xf32>
dfg.graph @extents(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x16xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> tensor<?x16xf32> {
    %c0 = arith.constant 0 : index
    %1 = nn.unary exp %a : tensor<?x1x4x4xf32> -> tensor<?x1x4x4xf32>
    %d = tensor.dim %1, %c0 : tensor<?x1x4x4xf32>
    %2 = nn.reshape %1 extents %d : tensor<?x1x4x4xf32> -> tensor<?x4x4xf32>
    %3 = nn.reshape %2 extents %d : tensor<?x4x4xf32> -> tensor<?x16xf32>
    dfg.yield %3 : tensor<?x16xf32>
  }
  dfg.return %r : tensor<?x16xf32>
}

// -----

// A maximum first leaves fewer elements for a function that never falls; one that does falls out.
// CHECK-LABEL: dfg.graph @pool_first
// CHECK: %[[P:.*]] = nn.pool max %arg0
// CHECK: %[[T:.*]] = nn.unary tanh %[[P]] : tensor<?x1x2x2xf32>
// CHECK: %[[N:.*]] = nn.unary neg %arg0
// CHECK: nn.pool max %[[N]]
dfg.graph @pool_first(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x1x2x2xf32>, z: tensor<?x1x2x2xf32>) {
  %r:2 = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> (tensor<?x1x2x2xf32>, tensor<?x1x2x2xf32>) {
    %1 = nn.unary tanh %a : tensor<?x1x4x4xf32> -> tensor<?x1x4x4xf32>
    %2 = nn.pool max %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x1x4x4xf32> -> tensor<?x1x2x2xf32>
    %3 = nn.unary neg %a : tensor<?x1x4x4xf32> -> tensor<?x1x4x4xf32>
    %4 = nn.pool max %3 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x1x4x4xf32> -> tensor<?x1x2x2xf32>
    dfg.yield %2, %4 : tensor<?x1x2x2xf32>, tensor<?x1x2x2xf32>
  }
  dfg.return %r#0, %r#1 : tensor<?x1x2x2xf32>, tensor<?x1x2x2xf32>
}
