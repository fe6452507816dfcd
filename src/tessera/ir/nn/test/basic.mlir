// Every operation, through text, generic text and bytecode and back. Types with unknown extents are what inference gives.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s -mlir-print-op-generic | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<2x?xf32>, %v: tensor<3xf32>, %c: tensor<2x1xi1>, %s: tensor<f32>, %z: tensor<i8>) {
  // CHECK: nn.unary not_ %{{.*}} : tensor<2x1xi1> -> tensor<2x1xi1>
  %0 = nn.unary not_ %c : tensor<2x1xi1> -> tensor<2x1xi1>
  // CHECK: nn.unary isnan %{{.*}} : tensor<3xf32> -> tensor<3xi1>
  %1 = nn.unary isnan %v : tensor<3xf32> -> tensor<3xi1>
  // CHECK: nn.activation clip %{{.*}} {alpha = -1.000000e+00 : f64, beta = 6.000000e+00 : f64} : tensor<3xf32> -> tensor<3xf32>
  %2 = nn.activation clip %v {alpha = -1.0 : f64, beta = 6.0 : f64} : tensor<3xf32> -> tensor<3xf32>
  // CHECK: nn.binary add %{{.*}}, %{{.*}} : tensor<2x?xf32>, tensor<3xf32> -> tensor<2x3xf32>
  %3 = nn.binary add %x, %v : tensor<2x?xf32>, tensor<3xf32> -> tensor<2x3xf32>
  // CHECK: nn.binary lt %{{.*}}, %{{.*}} : tensor<2x?xf32>, tensor<2x?xf32> -> tensor<2x?xi1>
  %4 = nn.binary lt %x, %x : tensor<2x?xf32>, tensor<2x?xf32> -> tensor<2x?xi1>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1xi1>, tensor<3xf32>, tensor<f32> -> tensor<2x3xf32>
  %5 = nn.select %c, %v, %s : tensor<2x1xi1>, tensor<3xf32>, tensor<f32> -> tensor<2x3xf32>
  // CHECK: nn.cast %{{.*}} {to = 2 : i32, wrap} : tensor<3xf32> -> tensor<3xi8>
  %6 = nn.cast %v {to = 2 : i32, wrap} : tensor<3xf32> -> tensor<3xi8>
  // CHECK: nn.bitcast %{{.*}} : tensor<3xf32> -> tensor<3xi32>
  %7 = nn.bitcast %v : tensor<3xf32> -> tensor<3xi32>
  // CHECK: nn.quantize %{{.*}}, %{{.*}}, %{{.*}} {to = 1 : i32} : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  %8 = nn.quantize %v, %s, %z {to = 1 : i32} : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  // CHECK: nn.dequantize %{{.*}}, %{{.*}} {block = 2 : i64} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %9 = tensor.empty() : tensor<2x4xi8>
  %10 = tensor.empty() : tensor<2x2xf32>
  %11 = nn.dequantize %9, %10 {block = 2 : i64} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x?x4xf32>) {
  // CHECK: nn.reduce mean %{{.*}} {axes = array<i64: 0, 1>, keep} : tensor<2x?x4xf32> -> tensor<1x1x4xf32>
  %0 = nn.reduce mean %x {axes = array<i64: 0, 1>, keep} : tensor<2x?x4xf32> -> tensor<1x1x4xf32>
  // CHECK: nn.reduce log_sum_exp %{{.*}} {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  %1 = nn.reduce log_sum_exp %x {axes = array<i64: 2>} : tensor<2x?x4xf32> -> tensor<2x?xf32>
  // CHECK: nn.arg_reduce %{{.*}} {axis = 0 : i64, last, min} : tensor<2x?x4xf32> -> tensor<?x4xi64>
  %2 = nn.arg_reduce %x {axis = 0 : i64, last, min} : tensor<2x?x4xf32> -> tensor<?x4xi64>
  // CHECK: nn.cumulative sum %{{.*}} {axis = 1 : i64, exclusive} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %3 = nn.cumulative sum %x {axis = 1 : i64, exclusive} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  // CHECK: nn.topk %{{.*}} {axis = 2 : i64, k = 3 : i64} : (tensor<2x?x4xf32>) -> (tensor<2x?x3xf32>, tensor<2x?x3xi64>)
  %4, %5 = nn.topk %x {axis = 2 : i64, k = 3 : i64} : (tensor<2x?x4xf32>) -> (tensor<2x?x3xf32>, tensor<2x?x3xi64>)
  // CHECK: nn.softmax %{{.*}} {axis = 2 : i64, log} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %6 = nn.softmax %x {axis = 2 : i64, log} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  return
}

// CHECK-LABEL: func.func @contract
func.func @contract(%a: tensor<?x2x3xf32>, %b: tensor<4x3xf32>, %x: tensor<?x4x7x7xf32>, %w: tensor<6x2x3x3xf32>, %f: tensor<6xf32>,
                    %t: tensor<4x6x3x3xf32>, %o: tensor<?x18x5x5xf32>) {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} {transpose_b} : tensor<?x2x3xf32>, tensor<4x3xf32> -> tensor<?x2x4xf32>
  %0 = nn.matmul %a, %b {transpose_b} : tensor<?x2x3xf32>, tensor<4x3xf32> -> tensor<?x2x4xf32>
  // CHECK: nn.einsum "bij,kj->bik"(%{{.*}}, %{{.*}}) : (tensor<?x2x3xf32>, tensor<4x3xf32>) -> tensor<?x2x4xf32>
  %1 = nn.einsum "bij,kj->bik"(%a, %b) : (tensor<?x2x3xf32>, tensor<4x3xf32>) -> tensor<?x2x4xf32>
  // CHECK: nn.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x4x7x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<?x6x4x4xf32>
  %2 = nn.conv %x, %w, %f {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x7x7xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<?x6x4x4xf32>
  // CHECK: nn.conv_transpose {{.*}} -> tensor<?x6x16x15xf32>
  %3 = nn.conv_transpose %x, %t {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 0>} : (tensor<?x4x7x7xf32>, tensor<4x6x3x3xf32>) -> tensor<?x6x16x15xf32>
  // CHECK: nn.deform_conv {{.*}} -> tensor<?x6x5x5xf32>
  %4 = nn.deform_conv %x, %w, %o {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<?x4x7x7xf32>, tensor<6x2x3x3xf32>, tensor<?x18x5x5xf32>) -> tensor<?x6x5x5xf32>
  return
}

// CHECK-LABEL: func.func @window
func.func @window(%x: tensor<?x2x5x5xf32>, %i: tensor<1x1x2x2xi64>, %u: tensor<1x1x2x2xf32>, %g: tensor<?x3x4x2xf32>, %r: tensor<?x4xf32>,
                  %b: tensor<?xi64>, %c: tensor<1x8x9xf32>) {
  // CHECK: nn.pool mean {{.*}} : tensor<?x2x5x5xf32> -> tensor<?x2x3x3xf32>
  %0 = nn.pool mean %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil, count_pad} : tensor<?x2x5x5xf32> -> tensor<?x2x3x3xf32>
  // CHECK: nn.max_pool_indices {{.*}} -> (tensor<?x2x2x2xf32>, tensor<?x2x2x2xi64>)
  %1, %2 = nn.max_pool_indices %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x2x5x5xf32>) -> (tensor<?x2x2x2xf32>, tensor<?x2x2x2xi64>)
  // CHECK: nn.max_unpool {{.*}} -> tensor<1x1x4x4xf32>
  %3 = nn.max_unpool %u, %i {from = array<i64: 1, 1, 4, 4>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf32>
  // CHECK: nn.lrn {{.*}} -> tensor<?x2x5x5xf32>
  %4 = nn.lrn %x {size = 3 : i64, alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : tensor<?x2x5x5xf32> -> tensor<?x2x5x5xf32>
  // CHECK: nn.resize {{.*}} -> tensor<?x2x10x10xf32>
  %5 = nn.resize %x {mode = "cubic", coordinates = "half_pixel", nearest = "floor", scales = array<f64: 1.0, 1.0, 2.0, 2.0>, roi = array<f64>} : tensor<?x2x5x5xf32> -> tensor<?x2x10x10xf32>
  // CHECK: nn.grid_sample {{.*}} -> tensor<?x2x3x4xf32>
  %6 = nn.grid_sample %x, %g {mode = "linear", padding = "zeros", align_corners} : (tensor<?x2x5x5xf32>, tensor<?x3x4x2xf32>) -> tensor<?x2x3x4xf32>
  // CHECK: nn.roi_align {{.*}} -> tensor<?x2x3x3xf32>
  %7 = nn.roi_align %x, %r, %b {mode = "avg", height = 3 : i64, width = 3 : i64, sampling = 2 : i64, scale = 0.5 : f64} : (tensor<?x2x5x5xf32>, tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x2x3x3xf32>
  // CHECK: nn.columns_to_image {{.*}} -> tensor<1x2x4x4xf32>
  %8 = nn.columns_to_image %c {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x9xf32> -> tensor<1x2x4x4xf32>
  return
}

// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<?x4x5xf16>, %v: tensor<4xf16>, %s: tensor<5xf16>) {
  // CHECK: nn.batch_norm {{.*}} -> tensor<?x4x5xf16>
  %0 = nn.batch_norm %x, %v, %v, %v, %v {epsilon = 1.0e-5 : f64} : (tensor<?x4x5xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<?x4x5xf16>
  // CHECK: nn.layer_norm {{.*}} -> (tensor<?x4x5xf16>, tensor<?x4x1xf32>, tensor<?x4x1xf32>)
  %1, %2, %3 = nn.layer_norm %x, %s {axis = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<?x4x5xf16>, tensor<5xf16>) -> (tensor<?x4x5xf16>, tensor<?x4x1xf32>, tensor<?x4x1xf32>)
  // CHECK: nn.group_norm {{.*}} -> tensor<?x4x5xf16>
  %4 = nn.group_norm %x, %v, %v {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<?x4x5xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<?x4x5xf16>
  return
}

// CHECK-LABEL: func.func @move
func.func @move(%x: tensor<2x?x4xf32>, %n: index, %s: tensor<f32>, %l: tensor<2xi64>) {
  // CHECK: nn.reshape %{{.*}} extents %{{.*}} : tensor<2x?x4xf32> -> tensor<?x8xf32>
  %0 = nn.reshape %x extents %n : tensor<2x?x4xf32> -> tensor<?x8xf32>
  // CHECK: nn.transpose %{{.*}} {permutation = array<i64: 1, 2, 0>} : tensor<2x?x4xf32> -> tensor<?x4x2xf32>
  %1 = nn.transpose %x {permutation = array<i64: 1, 2, 0>} : tensor<2x?x4xf32> -> tensor<?x4x2xf32>
  // CHECK: nn.broadcast %{{.*}} extents %{{.*}} : tensor<f32> -> tensor<?x3xf32>
  %2 = nn.broadcast %s extents %n : tensor<f32> -> tensor<?x3xf32>
  // CHECK: nn.tile %{{.*}} {repeats = array<i64: 3, 1, 2>} : tensor<2x?x4xf32> -> tensor<6x?x8xf32>
  %3 = nn.tile %x {repeats = array<i64: 3, 1, 2>} : tensor<2x?x4xf32> -> tensor<6x?x8xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<4x?x4xf32>
  %4 = nn.concat %x, %x {axis = 0 : i64} : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<4x?x4xf32>
  // CHECK: nn.slice %{{.*}} {starts = array<i64: 1, 0, 3>, steps = array<i64: 1, 1, -2>} : tensor<2x?x4xf32> -> tensor<1x?x2xf32>
  %5 = nn.slice %x {starts = array<i64: 1, 0, 3>, steps = array<i64: 1, 1, -2>} : tensor<2x?x4xf32> -> tensor<1x?x2xf32>
  // CHECK: nn.pad constant %{{.*}}, %{{.*}} {highs = array<i64: 0, 0, -1>, lows = array<i64: 1, 0, 0>} : (tensor<2x?x4xf32>, tensor<f32>) -> tensor<3x?x3xf32>
  %6 = nn.pad constant %x, %s {lows = array<i64: 1, 0, 0>, highs = array<i64: 0, 0, -1>} : (tensor<2x?x4xf32>, tensor<f32>) -> tensor<3x?x3xf32>
  // CHECK: nn.trilu %{{.*}} {k = -1 : i64, upper} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %7 = nn.trilu %x {k = -1 : i64, upper} : tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  // CHECK: nn.reverse_sequence %{{.*}}, %{{.*}} {batch_axis = 0 : i64, time_axis = 1 : i64}
  %8 = nn.reverse_sequence %x, %l {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<2xi64>) -> tensor<2x?x4xf32>
  // CHECK: nn.iota %{{.*}}, %{{.*}} extents %{{.*}} {axis = 1 : i64} : tensor<f32>, tensor<f32> -> tensor<2x?xf32>
  %9 = nn.iota %s, %s extents %n {axis = 1 : i64} : tensor<f32>, tensor<f32> -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<2x?x4xf32>, %i: tensor<3x1xi64>, %e: tensor<2x1x4xi32>, %u: tensor<2x1x4xf32>, %n: tensor<3x?x4xf32>, %v: tensor<2xf32>) {
  // CHECK: nn.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<3x1xi64>) -> tensor<2x3x1x4xf32>
  %0 = nn.gather %x, %i {axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<3x1xi64>) -> tensor<2x3x1x4xf32>
  // CHECK: nn.gather_elements %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<2x1x4xi32>) -> tensor<2x1x4xf32>
  %1 = nn.gather_elements %x, %e {axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<2x1x4xi32>) -> tensor<2x1x4xf32>
  // CHECK: nn.gather_nd %{{.*}}, %{{.*}} {batch_dims = 0 : i64} : (tensor<2x?x4xf32>, tensor<3x1xi64>) -> tensor<3x?x4xf32>
  %2 = nn.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<2x?x4xf32>, tensor<3x1xi64>) -> tensor<3x?x4xf32>
  // CHECK: nn.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64}
  %3 = nn.scatter_elements add %x, %e, %u {axis = 1 : i64} : (tensor<2x?x4xf32>, tensor<2x1x4xi32>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32>
  // CHECK: nn.scatter_nd set %{{.*}}, %{{.*}}, %{{.*}} :
  %4 = nn.scatter_nd set %x, %i, %n : (tensor<2x?x4xf32>, tensor<3x1xi64>, tensor<3x?x4xf32>) -> tensor<2x?x4xf32>
  // CHECK: nn.one_hot %{{.*}}, %{{.*}} {axis = 2 : i64, depth = 5 : i64} : (tensor<3x1xi64>, tensor<2xf32>) -> tensor<3x1x5xf32>
  %5 = nn.one_hot %i, %v {axis = 2 : i64, depth = 5 : i64} : (tensor<3x1xi64>, tensor<2xf32>) -> tensor<3x1x5xf32>
  return
}

// CHECK-LABEL: func.func @sequence
func.func @sequence(%x: tensor<?x2x3xf32>, %w: tensor<1x20x3xf32>, %r: tensor<1x20x5xf32>, %q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>,
                    %v: tensor<2x2x?x6xf32>, %m: tensor<?x?xf32>) {
  // CHECK: nn.recurrent lstm {{.*}} -> (tensor<?x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  %0:3 = nn.recurrent lstm %x, %w, %r {direction = "reverse", activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<?x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>) -> (tensor<?x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  // CHECK: nn.attention {{.*}} -> tensor<2x4x?x6xf32>
  %1 = nn.attention %q, %k, %v, %m {scale = 0.125 : f64} : (tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>, tensor<?x?xf32>) -> tensor<2x4x?x6xf32>
  return
}
