// Arithmetic with broadcast; NaN is handed on.
// EXPECT: 11, 21, 12, 22; nan, 2; 0, 1
func.func @main() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xi1>) {
  %a = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %n = arith.constant dense<[0x7FC00000, 2.0]> : tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = nn.binary add %a, %b : tensor<2x1xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %1 = nn.binary max %n, %one : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.binary lt %n, %b : tensor<2xf32>, tensor<2xf32> -> tensor<2xi1>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2xf32>, tensor<2xi1>
}
// -----
// Integers: division truncates, remainders by sign, unsigned where it is said.
// EXPECT: -2, -2, -1; 1, -1, 1; -1, 1, -2; 251, 251; 5, 5; 125, 2; -3, 2
func.func @main() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %a = arith.constant dense<[-5, 5, -5]> : tensor<3xi32>
  %b = arith.constant dense<[2, -2, 3]> : tensor<3xi32>
  %u = arith.constant dense<[251, 5]> : tensor<2xi8>
  %w = arith.constant dense<[5, 251]> : tensor<2xi8>
  %one = arith.constant dense<1> : tensor<i8>
  %0 = nn.binary div %a, %b : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>
  %1 = nn.binary mod %a, %b : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>
  %2 = nn.binary fmod %a, %b : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>
  %3 = nn.binary max %u, %w {is_unsigned} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %4 = nn.binary max %u, %w : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %5 = nn.binary shr %u, %one {is_unsigned} : tensor<2xi8>, tensor<i8> -> tensor<2xi8>
  %6 = nn.binary shr %u, %one : tensor<2xi8>, tensor<i8> -> tensor<2xi8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}
// -----
// No number is divided by zero.
// ERROR: divides by zero
func.func @main() {
  %a = arith.constant dense<1> : tensor<i32>
  %z = arith.constant dense<0> : tensor<i32>
  %0 = nn.binary mod %a, %z : tensor<i32>, tensor<i32> -> tensor<i32>
  return
}
// -----
// Functions of one element.
// EXPECT: -2, 0, 2; 0, 0.5, 1.5; 6, 3; 1, 1; -1, 0.5, 1; 0, 0.625, 0.875; -2, 0, 1
func.func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<2xi8>, tensor<2xi8>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = arith.constant dense<[-2.5, 0.5, 1.5]> : tensor<3xf32>
  %i = arith.constant dense<[-7, 7]> : tensor<2xi8>
  %0 = nn.unary round %a : tensor<3xf32> -> tensor<3xf32>
  %1 = nn.unary relu %a : tensor<3xf32> -> tensor<3xf32>
  %2 = nn.unary popcount %i : tensor<2xi8> -> tensor<2xi8>
  %3 = nn.unary sign %i {is_unsigned} : tensor<2xi8> -> tensor<2xi8>
  %4 = nn.activation clip %a {alpha = -1.0 : f64, beta = 1.0 : f64} : tensor<3xf32> -> tensor<3xf32>
  %5 = nn.activation hard_sigmoid %a {alpha = 0.25 : f64, beta = 0.5 : f64} : tensor<3xf32> -> tensor<3xf32>
  %6 = nn.activation shrink %a {alpha = 1.0 : f64, beta = 0.5 : f64} : tensor<3xf32> -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3xf32>, tensor<3xf32>, tensor<2xi8>, tensor<2xi8>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// -----
// Select with broadcast.
// EXPECT: 1, 2, 9, 9
func.func @main() -> (tensor<2x2xi32>) {
  %c = arith.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<9> : tensor<i32>
  %0 = nn.select %c, %a, %b : tensor<2x1xi1>, tensor<2xi32>, tensor<i32> -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
// -----
// Casts: truncation, comparison with zero, signs, and formats in bytes with saturation or without.
// EXPECT: -2, 0, 300; 1, 0, 1; -1, -56; 255, 200; 0x7e, 0xaa, 0x7e; 0x7f, 0xaa, 0x7f; 0x64, 0xb5, 0x7c; 448, -0.3125, 448; 7, 9, 7; -1, -8; 15, 8
func.func @main() -> (tensor<3xi32>, tensor<3xi1>, tensor<2xf32>, tensor<2xf32>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<3xf32>, tensor<3xi8>, tensor<2xi8>, tensor<2xi8>) {
  %a = arith.constant dense<[-2.7, 0.0, 300.0]> : tensor<3xf32>
  %i = arith.constant dense<[-1, 200]> : tensor<2xi8>
  %h = arith.constant dense<[1000.0, -0.3, 0x7F800000]> : tensor<3xf32>
  %0 = nn.cast %a : tensor<3xf32> -> tensor<3xi32>
  %1 = nn.cast %a : tensor<3xf32> -> tensor<3xi1>
  %2 = nn.cast %i : tensor<2xi8> -> tensor<2xf32>
  %3 = nn.cast %i {from = 1 : i32} : tensor<2xi8> -> tensor<2xf32>
  %4 = nn.cast %h {to = 2 : i32} : tensor<3xf32> -> tensor<3xi8>
  %5 = nn.cast %h {to = 2 : i32, wrap} : tensor<3xf32> -> tensor<3xi8>
  %6 = nn.cast %h {to = 4 : i32, wrap} : tensor<3xf32> -> tensor<3xi8>
  %7 = nn.cast %4 {from = 2 : i32} : tensor<3xi8> -> tensor<3xf32>
  %8 = nn.cast %h {to = 7 : i32} : tensor<3xf32> -> tensor<3xi8>
  %9 = nn.cast %i {to = 8 : i32} : tensor<2xi8> -> tensor<2xi8>
  %10 = nn.cast %i {to = 9 : i32} : tensor<2xi8> -> tensor<2xi8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<3xi32>, tensor<3xi1>, tensor<2xf32>, tensor<2xf32>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<3xf32>, tensor<3xi8>, tensor<2xi8>, tensor<2xi8>
}
// -----
// Powers of two: 3 is between 2 and 4, 1.25 nearer to 1.
// EXPECT: 129, 127, 255; 129, 128, 255; 128, 127, 255
func.func @main() -> (tensor<3xi8>, tensor<3xi8>, tensor<3xi8>) {
  %a = arith.constant dense<[3.0, 1.25, 0x7FC00000]> : tensor<3xf32>
  %0 = nn.cast %a {to = 6 : i32, round_mode = "nearest"} : tensor<3xf32> -> tensor<3xi8>
  %1 = nn.cast %a {to = 6 : i32, round_mode = "up"} : tensor<3xf32> -> tensor<3xi8>
  %2 = nn.cast %a {to = 6 : i32, round_mode = "down"} : tensor<3xf32> -> tensor<3xi8>
  return %0, %1, %2 : tensor<3xi8>, tensor<3xi8>, tensor<3xi8>
}
// -----
// Quantisation: ties to even, saturation, zero points, axes and blocks.
// EXPECT: 0, 2, -128, 127, 2, 0, 3, 1; 128, 130, 0, 255, 130, 128, 131, 129; 0, 2, -8, 7, 1, 0, 2, 0; 1, 2, 6, 8, 20, 24, 56, 64; -127, -126, -125, -124, -123, -122, -121, -120
func.func @main() -> (tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = arith.constant dense<[[0.5, 1.5, -300.0, 300.0], [2.5, -0.5, 3.0, 1.0]]> : tensor<2x4xf32>
  %s = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<128> : tensor<i8>
  %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[[1.0, 2.0], [4.0, 8.0]]> : tensor<2x2xf32>
  %q = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
  %0 = nn.quantize %a, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xi8>
  %1 = nn.quantize %a, %s, %z {to = 1 : i32} : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  %2 = nn.quantize %a, %v {axis = 0 : i64, to = 8 : i32} : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x4xi8>
  %3 = nn.dequantize %q, %b {block = 2 : i64} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %4 = nn.dequantize %q, %s, %z {from = 1 : i32} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xf32>, tensor<2x4xf32>
}
// -----
// The same bits; an i1 is a byte of 0 or 1.
// EXPECT: 0x3f800000; 1, 0; 1, 0
func.func @main() -> (tensor<1xi32>, tensor<2xi8>, tensor<2xi1>) {
  %a = arith.constant dense<[1.0]> : tensor<1xf32>
  %b = arith.constant dense<[true, false]> : tensor<2xi1>
  %d = arith.constant dense<[1, 2]> : tensor<2xi8>
  %0 = nn.bitcast %a : tensor<1xf32> -> tensor<1xi32>
  %1 = nn.bitcast %b : tensor<2xi1> -> tensor<2xi8>
  %2 = nn.bitcast %d : tensor<2xi8> -> tensor<2xi1>
  return %0, %1, %2 : tensor<1xi32>, tensor<2xi8>, tensor<2xi1>
}
// -----
// Reductions.
// EXPECT: 5, -3, 9; 1.83333337306976318359375; 2, 4; 255, 4; nan; 6, 15; 2, 5; 1, 2, 3, 4, -5, 6; -inf, -inf
func.func @main() -> (tensor<3xf32>, tensor<1x1xf32>, tensor<2xi8>, tensor<2xi8>, tensor<f32>, tensor<2xf32>, tensor<2xi8>, tensor<2x3xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %i = arith.constant dense<[[-1, 2], [3, 4]]> : tensor<2x2xi8>
  %n = arith.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %0 = nn.reduce sum %a {axes = array<i64: 0>} : tensor<2x3xf32> -> tensor<3xf32>
  %1 = nn.reduce mean %a {axes = array<i64: 0, 1>, keep} : tensor<2x3xf32> -> tensor<1x1xf32>
  %2 = nn.reduce max %i {axes = array<i64: 1>} : tensor<2x2xi8> -> tensor<2xi8>
  %3 = nn.reduce max %i {axes = array<i64: 1>, is_unsigned} : tensor<2x2xi8> -> tensor<2xi8>
  %4 = nn.reduce min %n {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
  %5 = nn.reduce l1 %a {axes = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  %6 = nn.reduce l2 %i {axes = array<i64: 1>} : tensor<2x2xi8> -> tensor<2xi8>
  %7 = nn.reduce prod %a {axes = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %e = tensor.empty() : tensor<0x2xf32>
  %8 = nn.reduce max %e {axes = array<i64: 0>} : tensor<0x2xf32> -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<3xf32>, tensor<1x1xf32>, tensor<2xi8>, tensor<2xi8>, tensor<f32>, tensor<2xf32>, tensor<2xi8>, tensor<2x3xf32>, tensor<2xf32>
}
// -----
// Extremes and order: ties go to the first unless it is said otherwise.
// EXPECT: 0; 2; 1; 3, 3, 2; 0, 2, 3; 1, 2; 1, 3
func.func @main() -> (tensor<1xi64>, tensor<1x1xi64>, tensor<1xi64>, tensor<1x3xf32>, tensor<1x3xi64>, tensor<1x2xf32>, tensor<1x2xi64>) {
  %a = arith.constant dense<[[3.0, 1.0, 3.0, 2.0]]> : tensor<1x4xf32>
  %0 = nn.arg_reduce %a {axis = 1 : i64} : tensor<1x4xf32> -> tensor<1xi64>
  %1 = nn.arg_reduce %a {axis = 1 : i64, last, keep} : tensor<1x4xf32> -> tensor<1x1xi64>
  %2 = nn.arg_reduce %a {axis = 1 : i64, min} : tensor<1x4xf32> -> tensor<1xi64>
  %3, %4 = nn.topk %a {axis = 1 : i64, k = 3 : i64} : (tensor<1x4xf32>) -> (tensor<1x3xf32>, tensor<1x3xi64>)
  %5, %6 = nn.topk %a {axis = 1 : i64, k = 2 : i64, smallest} : (tensor<1x4xf32>) -> (tensor<1x2xf32>, tensor<1x2xi64>)
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1xi64>, tensor<1x1xi64>, tensor<1xi64>, tensor<1x3xf32>, tensor<1x3xi64>, tensor<1x2xf32>, tensor<1x2xi64>
}
// -----
// Prefixes and softmax.
// EXPECT: 1, 3, 6; 5, 3, 0; 1, 2, 6; 0.5, 0.5
func.func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = nn.cumulative sum %a {axis = 0 : i64} : tensor<3xf32> -> tensor<3xf32>
  %1 = nn.cumulative sum %a {axis = 0 : i64, exclusive, reverse} : tensor<3xf32> -> tensor<3xf32>
  %2 = nn.cumulative prod %a {axis = 0 : i64} : tensor<3xf32> -> tensor<3xf32>
  %s = arith.constant dense<[1000.0, 1000.0]> : tensor<2xf32>
  %3 = nn.softmax %s {axis = 0 : i64} : tensor<2xf32> -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>
}
// -----
// Products: transposed operands, batches, equations, integers that wrap.
// EXPECT: 1, 2, 3, 4, 2, 1, 4, 3; 10, 14, 14, 20; 5, 11, 11, 25; 32; 1, 4; 7, 15, 10, 22
func.func @main() -> (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1xi8>, tensor<2xf32>, tensor<2x2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]> : tensor<2x2x2xf32>
  %i = arith.constant dense<[[100, 100]]> : tensor<1x2xi8>
  %0 = nn.matmul %a, %b : tensor<2x2xf32>, tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %1 = nn.matmul %a, %a {transpose_a} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %2 = nn.matmul %a, %a {transpose_b} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = nn.matmul %i, %i {transpose_b} : tensor<1x2xi8>, tensor<1x2xi8> -> tensor<1x1xi8>
  %4 = nn.einsum "ii->i"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  %5 = nn.einsum "ij,jk->ki"(%a, %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1xi8>, tensor<2xf32>, tensor<2x2xf32>
}
// -----
// Convolutions: strides, pads, dilations, groups, bias, and the transpose.
// EXPECT: 210, 432, 54, 9, 10, 9; 531, 3; 10, 2, 20, 3, 30, 4, 40, 5, 50, 0
func.func @main() -> (tensor<1x2x3xf32>, tensor<1x2x1xf32>, tensor<1x1x10xf32>) {
  %x = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.0, 1.0, 1.0, 1.0]]]> : tensor<1x2x5xf32>
  %w = arith.constant dense<[[[1.0, 10.0, 100.0]], [[1.0, 1.0, 1.0]]]> : tensor<2x1x3xf32>
  %b = arith.constant dense<[0.0, 7.0]> : tensor<2xf32>
  %u = arith.constant dense<[[[1.0, 10.0]], [[0.0, 0.0]]]> : tensor<2x1x2xf32>
  %0 = nn.conv %x, %w, %b {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x2x5xf32>, tensor<2x1x3xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  %1 = nn.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 2>, groups = 2 : i64} : (tensor<1x2x5xf32>, tensor<2x1x3xf32>) -> tensor<1x2x1xf32>
  %2 = nn.conv_transpose %x, %u {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, output_padding = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x1x2xf32>) -> tensor<1x1x10xf32>
  return %0, %1, %2 : tensor<1x2x3xf32>, tensor<1x2x1xf32>, tensor<1x1x10xf32>
}
// -----
// A deformed convolution: half a step to the right, and a mask.
// EXPECT: 2, 1.5, 12, 0
func.func @main() -> (tensor<1x1x2x2xf32>) {
  %x = arith.constant dense<[[[[1.0, 3.0], [5.0, 7.0]]]]> : tensor<1x1x2x2xf32>
  %w = arith.constant dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>
  %o = arith.constant dense<[[[[0.0, 0.0], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]]]> : tensor<1x2x2x2xf32>
  %m = arith.constant dense<[[[[1.0, 1.0], [2.0, 0.0]]]]> : tensor<1x1x2x2xf32>
  %0 = nn.deform_conv %x, %w, %o, %m {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %0 : tensor<1x1x2x2xf32>
}
// -----
// Pools: pads never win, a mean counts them on request, rounding up adds a window that is cut off.
// EXPECT: -1, -2, -4; -1, -2.5, -4.5; -0.5, -2.5, -4.5; -1.5, -3.5, -5; 255, 255; -1, -3; 0, 2; -1, 0, -3, 0, 0
func.func @main() -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x2xi8>, tensor<1x1x2xf32>, tensor<1x1x2xi64>, tensor<1x1x5xf32>) {
  %x = arith.constant dense<[[[-1.0, -2.0, -3.0, -4.0, -5.0]]]> : tensor<1x1x5xf32>
  %u = arith.constant dense<[[[1, 255, 3]]]> : tensor<1x1x3xi8>
  %0 = nn.pool max %x {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %1 = nn.pool mean %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %2 = nn.pool mean %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, count_pad} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %3 = nn.pool mean %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil, count_pad} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %4 = nn.pool max %u {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, is_unsigned} : tensor<1x1x3xi8> -> tensor<1x1x2xi8>
  %5, %6 = nn.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x1x5xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xi64>)
  %7 = nn.max_unpool %5, %6 {from = array<i64: 1, 1, 5>} : (tensor<1x1x2xf32>, tensor<1x1x2xi64>) -> tensor<1x1x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x2xi8>, tensor<1x1x2xf32>, tensor<1x1x2xi64>, tensor<1x1x5xf32>
}
// -----
// Neighbours: normalisation among channels; columns summed into an image.
// EXPECT: 0.4, 0.66666668653488159; 1, 12, 20
func.func @main() -> (tensor<1x2x1xf32>, tensor<1x1x3xf32>) {
  %x = arith.constant dense<[[[2.0], [2.0]]]> : tensor<1x2x1xf32>
  %c = arith.constant dense<[[[1.0, 2.0], [10.0, 20.0]]]> : tensor<1x2x2xf32>
  %0 = nn.lrn %x {size = 2 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : tensor<1x2x1xf32> -> tensor<1x2x1xf32>
  %1 = nn.columns_to_image %c {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : tensor<1x2x2xf32> -> tensor<1x1x3xf32>
  return %0, %1 : tensor<1x2x1xf32>, tensor<1x1x3xf32>
}
// -----
// Resize: nearest, linear, corners, a region with an outside, antialias.
// EXPECT: 1, 3; 1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4; 1, 1.5, 2, 2.5, 3, 3.5, 4; 1, 4, 9; 1.625, 3.375; 1, 2, 3, 4
func.func @main() -> (tensor<1x2xf32>, tensor<1x8xf32>, tensor<1x7xf32>, tensor<1x3xf32>, tensor<1x2xf32>, tensor<1x4xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %0 = nn.resize %x {mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor", scales = array<f64: 1.0, 0.5>, roi = array<f64>} : tensor<1x4xf32> -> tensor<1x2xf32>
  %1 = nn.resize %x {mode = "linear", coordinates = "half_pixel", nearest = "round_prefer_floor", scales = array<f64: 1.0, 2.0>, roi = array<f64>} : tensor<1x4xf32> -> tensor<1x8xf32>
  %2 = nn.resize %x {mode = "linear", coordinates = "align_corners", nearest = "round_prefer_floor", scales = array<f64: 1.0, 1.75>, roi = array<f64>} : tensor<1x4xf32> -> tensor<1x7xf32>
  %3 = nn.resize %x {mode = "linear", coordinates = "tf_crop_and_resize", nearest = "round_prefer_floor", scales = array<f64: 1.0, 0.75>, roi = array<f64: 0.0, 0.0, 1.0, 2.0>, outside = 9.0 : f64} : tensor<1x4xf32> -> tensor<1x3xf32>
  %4 = nn.resize %x {mode = "linear", coordinates = "half_pixel", nearest = "round_prefer_floor", scales = array<f64: 1.0, 0.5>, roi = array<f64>, antialias} : tensor<1x4xf32> -> tensor<1x2xf32>
  %5 = nn.resize %x {mode = "cubic", coordinates = "half_pixel", nearest = "round_prefer_floor", scales = array<f64: 1.0, 1.0>, roi = array<f64>} : tensor<1x4xf32> -> tensor<1x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x2xf32>, tensor<1x8xf32>, tensor<1x7xf32>, tensor<1x3xf32>, tensor<1x2xf32>, tensor<1x4xf32>
}
// -----
// Samples at places of a grid, inside and out.
// EXPECT: 0.5, 2.5, 0; 1, 2.5, 4; 1, 2.5, 3.5; 1, 3, 4
func.func @main() -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %x = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %g = arith.constant dense<[[[-1.0], [0.0], [1.5]]]> : tensor<1x3x1xf32>
  %0 = nn.grid_sample %x, %g {mode = "linear", padding = "zeros"} : (tensor<1x1x4xf32>, tensor<1x3x1xf32>) -> tensor<1x1x3xf32>
  %1 = nn.grid_sample %x, %g {mode = "linear", padding = "border"} : (tensor<1x1x4xf32>, tensor<1x3x1xf32>) -> tensor<1x1x3xf32>
  %2 = nn.grid_sample %x, %g {mode = "linear", padding = "reflection"} : (tensor<1x1x4xf32>, tensor<1x3x1xf32>) -> tensor<1x1x3xf32>
  %3 = nn.grid_sample %x, %g {mode = "nearest", padding = "border", align_corners} : (tensor<1x1x4xf32>, tensor<1x3x1xf32>) -> tensor<1x1x3xf32>
  return %0, %1, %2, %3 : tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
// -----
// Regions.
// EXPECT: 2.5; 1
func.func @main() -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %x = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %r = arith.constant dense<[[0.0, 0.0, 1.0, 1.0]]> : tensor<1x4xf32>
  %b = arith.constant dense<[0]> : tensor<1xi64>
  %0 = nn.roi_align %x, %r, %b {mode = "avg", height = 1 : i64, width = 1 : i64, sampling = 1 : i64, scale = 1.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  %1 = nn.roi_align %x, %r, %b {mode = "max", height = 1 : i64, width = 1 : i64, sampling = 1 : i64, scale = 1.0 : f64} : (tensor<1x1x2x2xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  return %0, %1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
// -----
// Normalisations.
// EXPECT: 1, 3, -3, 3; -2, 2, -2, 2; 2, 0; 1, 0.3333333432674407958984375; 1, 3, 1, 3; 0, 0
func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>) {
  %x = arith.constant dense<[[1.0, 3.0], [-3.0, 3.0]]> : tensor<2x2xf32>
  %o = arith.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %t = arith.constant dense<[2.0, 2.0]> : tensor<2xf32>
  %0 = nn.batch_norm %x, %t, %o, %o, %o {epsilon = 3.0 : f64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1, %2, %3 = nn.layer_norm %x, %t {axis = 1 : i64, epsilon = 0.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  %4 = nn.group_norm %x, %o, %t {groups = 1 : i64, epsilon = 0.0 : f64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %5, %6, %7 = nn.layer_norm %x {axis = 1 : i64, epsilon = 0.0 : f64, rms, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return %0, %1, %2, %3, %4, %6 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>
}
// -----
// Movement.
// EXPECT: 1, 2, 3, 4, 5, 6; 1, 4, 2, 5, 3, 6; 9, 9, 9; 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6; 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6; 6, 4; 9, 1, 2, 3; 1, 1, 1, 2, 3, 3; 3, 2, 1, 2, 3, 2; 2, 3, 1, 2, 3, 1; 0, 2, 3, 0, 0, 6; 2, 1, 3, 6, 5, 4; 10, 7, 4
func.func @main() -> (tensor<?x2xi32>, tensor<3x2xi32>, tensor<?xi32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<1x2xi32>, tensor<1x4xi32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<?xi32>) {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %v = arith.constant dense<9> : tensor<i32>
  %l = arith.constant dense<[2, 3]> : tensor<2xi64>
  %st = arith.constant dense<10> : tensor<i32>
  %sp = arith.constant dense<-3> : tensor<i32>
  %n = arith.constant 3 : index
  %0 = nn.reshape %x extents %n : tensor<2x3xi32> -> tensor<?x2xi32>
  %1 = nn.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>
  %2 = nn.broadcast %v extents %n : tensor<i32> -> tensor<?xi32>
  %3 = nn.tile %x {repeats = array<i64: 1, 2>} : tensor<2x3xi32> -> tensor<2x6xi32>
  %4 = nn.concat %x, %x {axis = 1 : i64} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
  %5 = nn.slice %x {starts = array<i64: 1, 2>, steps = array<i64: 1, -2>} : tensor<2x3xi32> -> tensor<1x2xi32>
  %6 = nn.pad constant %x, %v {lows = array<i64: 0, 1>, highs = array<i64: -1, 0>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<1x4xi32>
  %7 = nn.pad edge %x {lows = array<i64: 0, 2>, highs = array<i64: -1, 1>} : (tensor<2x3xi32>) -> tensor<1x6xi32>
  %8 = nn.pad reflect %x {lows = array<i64: 0, 2>, highs = array<i64: -1, 1>} : (tensor<2x3xi32>) -> tensor<1x6xi32>
  %9 = nn.pad wrap %x {lows = array<i64: 0, 2>, highs = array<i64: -1, 1>} : (tensor<2x3xi32>) -> tensor<1x6xi32>
  %10 = nn.trilu %x {k = 1 : i64, upper} : tensor<2x3xi32> -> tensor<2x3xi32>
  %11 = nn.reverse_sequence %x, %l {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x3xi32>
  %12 = nn.iota %st, %sp extents %n {axis = 0 : i64} : tensor<i32>, tensor<i32> -> tensor<?xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<?x2xi32>, tensor<3x2xi32>, tensor<?xi32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<1x2xi32>, tensor<1x4xi32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<1x6xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<?xi32>
}
// -----
// Elements at indices; negative ones count from the end.
// EXPECT: 3, 4, 3, 4, 1, 2; 2, 2, 1, 4, 4, 3; 3, 2; 3; 1, 22, 13, 4; 1, 2, 10, 4; 8, 7, 7, 7, 7, 8
func.func @main() -> (tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<1xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<3x2xi8>) {
  %x = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %i = arith.constant dense<[1, -1, 0]> : tensor<3xi64>
  %e = arith.constant dense<[[-1, 0]]> : tensor<1x2xi64>
  %n = arith.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %u = arith.constant dense<[[10, 20]]> : tensor<1x2xi32>
  %p = arith.constant dense<[10]> : tensor<1xi32>
  %o = arith.constant dense<[0, 5, -1]> : tensor<3xi64>
  %ov = arith.constant dense<[7, 8]> : tensor<2xi8>
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<2x2xi32>, tensor<3xi64>) -> tensor<3x2xi32>
  %1 = nn.gather %x, %i {axis = 1 : i64} : (tensor<2x2xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  %2 = nn.gather_elements %x, %e {axis = 0 : i64} : (tensor<2x2xi32>, tensor<1x2xi64>) -> tensor<1x2xi32>
  %3 = nn.gather_nd %x, %n {batch_dims = 0 : i64} : (tensor<2x2xi32>, tensor<1x2xi64>) -> tensor<1xi32>
  %4 = nn.scatter_elements add %x, %e, %u {axis = 0 : i64} : (tensor<2x2xi32>, tensor<1x2xi64>, tensor<1x2xi32>) -> tensor<2x2xi32>
  %5 = nn.scatter_nd max %x, %n, %p : (tensor<2x2xi32>, tensor<1x2xi64>, tensor<1xi32>) -> tensor<2x2xi32>
  %6 = nn.one_hot %o, %ov {axis = 1 : i64, depth = 2 : i64} : (tensor<3xi64>, tensor<2xi8>) -> tensor<3x2xi8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<1xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<3x2xi8>
}
// -----
// An index that names nothing.
// ERROR: index 2 is out of bounds of a dimension with 2 elements
func.func @main() {
  %x = arith.constant dense<[1, 2]> : tensor<2xi32>
  %i = arith.constant dense<[2]> : tensor<1xi64>
  %0 = nn.gather %x, %i {axis = 0 : i64} : (tensor<2xi32>, tensor<1xi64>) -> tensor<1xi32>
  return
}
// -----
// Extents that only show at run time not to fit.
// ERROR: has operands whose extents do not fit: [2] and [3]
func.func @main() {
  %x = arith.constant dense<[1, 2]> : tensor<2xi32>
  %n = arith.constant 3 : index
  %v = nn.reshape %x extents %n : tensor<2xi32> -> tensor<?xi32>
  return
}
// -----
// A window that only shows at run time not to fit.
// ERROR: has a window of 3 elements over 2 with pads
func.func @main() {
  %x = arith.constant dense<1.0> : tensor<1x1x2xf32>
  %v = tensor.cast %x : tensor<1x1x2xf32> to tensor<1x1x?xf32>
  %0 = nn.pool max %v {dilations = array<i64: 1>, kernel = array<i64: 3>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<1x1x?xf32> -> tensor<1x1x?xf32>
  return
}
// -----
// An element that nobody wrote.
// ERROR: an undefined value is used
func.func @main() {
  %e = tensor.empty() : tensor<2xf32>
  %0 = nn.unary exp %e : tensor<2xf32> -> tensor<2xf32>
  return
}
// -----
// Recurrent layers: lengths end a sequence, the other direction begins there.
// EXPECT: 1, 1, 3, 0; 3, 1; 3, 1, 2, 0; 3, 1
func.func @main() -> (tensor<2x1x2x1xf32>, tensor<1x2x1xf32>, tensor<2x1x2x1xf32>, tensor<1x2x1xf32>) {
  %x = arith.constant dense<[[[1.0], [1.0]], [[2.0], [2.0]]]> : tensor<2x2x1xf32>
  %w = arith.constant dense<[[[1.0]]]> : tensor<1x1x1xf32>
  %l = arith.constant dense<[2, 1]> : tensor<2xi32>
  %0:3 = nn.recurrent rnn %x, %w, %w, %l {direction = "forward", activations = ["affine"], alphas = array<f64: 1.0>, betas = array<f64: 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>} : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<2xi32>) -> (tensor<2x1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>)
  %1:3 = nn.recurrent rnn %x, %w, %w, %l {direction = "reverse", activations = ["affine"], alphas = array<f64: 1.0>, betas = array<f64: 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>} : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<2xi32>) -> (tensor<2x1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<2x1x2x1xf32>, tensor<1x2x1xf32>, tensor<2x1x2x1xf32>, tensor<1x2x1xf32>
}
// -----
// Gates with the identity as function: GRU (update 0.5, reset 2), LSTM (gates 1, 2, 3 and cell 5).
// EXPECT: 7.5; 34; 17
func.func @main() -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1xf32>) {
  %x = arith.constant dense<[[[1.0]]]> : tensor<1x1x1xf32>
  %h = arith.constant dense<[[[4.0]]]> : tensor<1x1x1xf32>
  %wg = arith.constant dense<[[[0.5], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %rg = arith.constant dense<[[[0.0], [0.0], [1.0]]]> : tensor<1x3x1xf32>
  %wl = arith.constant dense<[[[1.0], [2.0], [3.0], [5.0]]]> : tensor<1x4x1xf32>
  %rl = arith.constant dense<0.0> : tensor<1x4x1xf32>
  %0:3 = nn.recurrent gru %x, %wg, %rg, %h {direction = "forward", activations = ["affine", "affine"], alphas = array<f64: 1.0, 1.0>, betas = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>} : (tensor<1x1x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>)
  %1:3 = nn.recurrent lstm %x, %wl, %rl, %h {direction = "forward", activations = ["affine", "affine", "affine"], alphas = array<f64: 1.0, 1.0, 1.0>, betas = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0>} : (tensor<1x1x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>)
  return %0#0, %1#0, %1#2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1xf32>
}
// -----
// Attention: equal scores give the mean; a mask excludes; nothing left gives zeros.
// EXPECT: 3, 2, 0
func.func @main() -> (tensor<1x1x3x1xf32>) {
  %q = arith.constant dense<[[[[0.0], [0.0], [0.0]]]]> : tensor<1x1x3x1xf32>
  %k = arith.constant dense<[[[[1.0], [1.0]]]]> : tensor<1x1x2x1xf32>
  %v = arith.constant dense<[[[[2.0], [4.0]]]]> : tensor<1x1x2x1xf32>
  %m = arith.constant dense<[[0.0, 0.0], [0.0, 0xFF800000], [0xFF800000, 0xFF800000]]> : tensor<3x2xf32>
  %0 = nn.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<1x1x3x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<3x2xf32>) -> tensor<1x1x3x1xf32>
  return %0 : tensor<1x1x3x1xf32>
}
// -----
// Half floats round once: 2048 + 1 + 1 is 2050, and a third has the nearest half.
// EXPECT: 2050; 0x3555
func.func @main() -> (tensor<f16>, tensor<f16>) {
  %a = arith.constant dense<[2048.0, 1.0, 1.0]> : tensor<3xf16>
  %t = arith.constant dense<3.0> : tensor<f16>
  %0 = nn.reduce sum %a {axes = array<i64: 0>} : tensor<3xf16> -> tensor<f16>
  %1 = nn.unary reciprocal %t : tensor<f16> -> tensor<f16>
  return %0, %1 : tensor<f16>, tensor<f16>
}
