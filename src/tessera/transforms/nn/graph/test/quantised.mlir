// Models that were quantised elsewhere: layers between dequantize and quantize take integers.
// RUN: tessera-opt %s -split-input-file --tessera-nn-simplify | FileCheck %s

// Signed bytes become unsigned ones, the maximum is taken of bytes, and the second layer reads what the first one wrote. Scales are multiplied.
// CHECK-LABEL: dfg.graph @chain
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<4x1x1x1xi32>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{.*}}1.250000e-01{{.*}}2.500000e-01{{.*}}5.000000e-01{{.*}}1.000000e+00{{.*}}> : tensor<4x1x1xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<{{.*}}1.250000e-01{{.*}}5.000000e-01{{.*}}1.500000e+00{{.*}}4.000000e+00{{.*}}> : tensor<4x1x1xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-118> : tensor<i8>
// CHECK-DAG: %[[ZI:.*]] = arith.constant dense<138> : tensor<i32>
// CHECK: %[[Q:.*]] = nn.quantize %{{.*}}, %{{.*}}, %[[Z]] {{{.*}}to = 1 : i32}
// CHECK: %[[I:.*]] = nn.cast %[[Q]] {from = 1 : i32}
// CHECK: %[[D:.*]] = nn.binary sub %[[I]], %[[ZI]]
// CHECK: %[[C:.*]] = nn.conv %[[D]], %[[W]]
// CHECK: %[[F:.*]] = nn.cast %[[C]] : tensor<?x4x4x4xi32> -> tensor<?x4x4x4xf32>
// CHECK: %[[M:.*]] = nn.binary mul %[[F]], %[[S]]
// CHECK: %[[A:.*]] = nn.binary add %[[M]], %[[B]]
// CHECK: %[[R:.*]] = nn.unary relu %[[A]]
// CHECK: %[[Q2:.*]] = nn.quantize %[[R]], %{{.*}} {{{.*}}to = 1 : i32}
// CHECK: %[[P:.*]] = nn.pool max %[[Q2]] {{{.*}}is_unsigned
// CHECK: %[[RS:.*]] = nn.reshape %[[P]]
// CHECK: nn.matmul
// CHECK-NOT: nn.dequantize
dfg.graph @chain(%x: tensor<?x1x4x4xf32>) -> (y: tensor<?x2xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xf32>) -> tensor<?x2xf32> {
    %half = arith.constant dense<0.5> : tensor<f32>
    %two = arith.constant dense<2.0> : tensor<f32>
    %ten = arith.constant dense<10> : tensor<i8>
    %low = arith.constant dense<-128> : tensor<i8>
    %w = arith.constant dense<[[[[100]]], [[[-3]]], [[[5]]], [[[7]]]]> : tensor<4x1x1x1xi8>
    %ws = arith.constant dense<[0.25, 0.5, 1.0, 2.0]> : tensor<4xf32>
    %wz = arith.constant dense<0> : tensor<4xi8>
    %b = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %bs = arith.constant dense<[0.125, 0.25, 0.5, 1.0]> : tensor<4xf32>
    %v = arith.constant dense<3> : tensor<2x16xi8>
    %vs = arith.constant dense<0.125> : tensor<f32>
    %vz = arith.constant dense<1> : tensor<i8>
    %q = nn.quantize %a, %half, %ten : (tensor<?x1x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x1x4x4xi8>
    %d = nn.dequantize %q, %half, %ten : (tensor<?x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<?x1x4x4xf32>
    %wd = nn.dequantize %w, %ws, %wz {axis = 0 : i64} : (tensor<4x1x1x1xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x1x1x1xf32>
    %bd = nn.dequantize %b, %bs {axis = 0 : i64} : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
    %c = nn.conv %d, %wd, %bd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x1x4x4xf32>, tensor<4x1x1x1xf32>, tensor<4xf32>) -> tensor<?x4x4x4xf32>
    %m = nn.unary relu %c : tensor<?x4x4x4xf32> -> tensor<?x4x4x4xf32>
    %q2 = nn.quantize %m, %two, %low : (tensor<?x4x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x4x4x4xi8>
    %d2 = nn.dequantize %q2, %two, %low : (tensor<?x4x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<?x4x4x4xf32>
    %p = nn.pool max %d2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x4x4x4xf32> -> tensor<?x4x2x2xf32>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x1x4x4xf32>
    %f = nn.reshape %p extents %n : tensor<?x4x2x2xf32> -> tensor<?x16xf32>
    %vd = nn.dequantize %v, %vs, %vz : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
    %y = nn.matmul %f, %vd {transpose_b} : tensor<?x16xf32>, tensor<2x16xf32> -> tensor<?x2xf32>
    dfg.yield %y : tensor<?x2xf32>
  }
  dfg.return %r : tensor<?x2xf32>
}

// -----

// Signed bytes of the graph's own stay as they are; so does the layer.
// CHECK-LABEL: dfg.graph @given
// CHECK: nn.dequantize
// CHECK: nn.conv {{.*}} -> tensor<?x1x4x4xf32>
dfg.graph @given(%x: tensor<?x1x4x4xi8>) -> (y: tensor<?x1x4x4xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x1x4x4xi8>) -> tensor<?x1x4x4xf32> {
    %half = arith.constant dense<0.5> : tensor<f32>
    %w = arith.constant dense<3> : tensor<1x1x1x1xi8>
    %d = nn.dequantize %a, %half : (tensor<?x1x4x4xi8>, tensor<f32>) -> tensor<?x1x4x4xf32>
    %wd = nn.dequantize %w, %half : (tensor<1x1x1x1xi8>, tensor<f32>) -> tensor<1x1x1x1xf32>
    %c = nn.conv %d, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<?x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x4x4xf32>
    dfg.yield %c : tensor<?x1x4x4xf32>
  }
  dfg.return %r : tensor<?x1x4x4xf32>
}
