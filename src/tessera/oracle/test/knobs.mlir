// Perforated rows: the mean of the computed neighbours, at the border a copy; then the bias.
// EXPECT: 6, 6, 8, 10; 5, 4, 3, 6
func.func @main() -> (tensor<1x1x4x1xf32>, tensor<1x1x1x4xf32>) {
  %x = arith.constant dense<[[[[1.0], [5.0], [3.0], [9.0]]]]> : tensor<1x1x4x1xf32>
  %c = arith.constant dense<[[[[5.0, 9.0, 3.0, 6.0]]]]> : tensor<1x1x1x4xf32>
  %w = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %b = arith.constant dense<1.0> : tensor<1xf32>
  %0 = nn.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.knob = "perforate-rows:1/2@0"} : (tensor<1x1x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x1xf32>
  %1 = nn.conv %c, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.knob = "perforate-cols:1/3@1"} : (tensor<1x1x1x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x4xf32>
  return %0, %1 : tensor<1x1x4x1xf32>, tensor<1x1x1x4xf32>
}
// -----
// Both: rows first, then columns. The same from its parts, and Winograd is a convolution like any other.
// EXPECT: 1, 2.5, 4, 2, 4, 6, 3, 5.5, 8; 1, 2.5, 4, 2, 4, 6, 3, 5.5, 8; 16, 16, 16, 16
func.func @main() -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) {
  %x = arith.constant dense<[[[[1.0, 0.0, 4.0], [0.0, 0.0, 0.0], [3.0, 0.0, 8.0]]]]> : tensor<1x1x3x3xf32>
  %p = arith.constant dense<[[[[1.0, 4.0], [3.0, 8.0]]]]> : tensor<1x1x2x2xf32>
  %w = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %w3 = arith.constant dense<1.0> : tensor<1x1x3x3xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.knob = "perforate-both:1/2@1"} : (tensor<1x1x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x3xf32>
  %1 = nn.interpolate %p {rate = 2 : i64, offset = 1 : i64, rows, columns} : (tensor<1x1x2x2xf32>) -> tensor<1x1x3x3xf32>
  %2 = nn.conv %p, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, nn.knob = "winograd:4"} : (tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  return %0, %1, %2 : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>
}
// -----
// int8: scale 0.25 and zero 128 for x, 0.5 for w; exact sums. bf16: operands are rounded.
// EXPECT: 135.5; 3
func.func @main() -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %x = arith.constant dense<[[1.1, -2.3]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[63.5], [-32.0]]> : tensor<2x1xf32>
  %h = arith.constant dense<1.00390625> : tensor<1x1xf32>
  %three = arith.constant dense<3.0> : tensor<1x1xf32>
  %0 = nn.matmul %x, %w {nn.knob = "int8", nn.range = array<f32: -32.0, 31.75>} : tensor<1x2xf32>, tensor<2x1xf32> -> tensor<1x1xf32>
  %1 = nn.matmul %h, %three {nn.knob = "bf16"} : tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<1x1xf32>
}
// -----
// Weights that change: sampled, pruned, of four bits, of rank 1.
// EXPECT: 12; -1; 5; 3, 6
func.func @main() -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %one = arith.constant dense<1.0> : tensor<1x4xf32>
  %pair = arith.constant dense<1.0> : tensor<1x2xf32>
  %w = arith.constant dense<1.0> : tensor<4x1xf32>
  %p = arith.constant dense<[[1.0, -4.0, 3.0, 2.0]]> : tensor<1x4xf32>
  %q = arith.constant dense<[[7.0, 2.5, -3.5, 0.0]]> : tensor<1x4xf32>
  %r = arith.constant dense<[[1.0, 2.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %x, %w {nn.knob = "sample-filter:1/2@0"} : tensor<1x4xf32>, tensor<4x1xf32> -> tensor<1x1xf32>
  %1 = nn.matmul %one, %p {transpose_b, nn.knob = "prune:2/4"} : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<1x1xf32>
  %2 = nn.matmul %one, %q {transpose_b, nn.knob = "int4"} : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<1x1xf32>
  %3 = nn.matmul %pair, %r {nn.knob = "low-rank:1"} : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  return %0, %1, %2, %3 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>
}
// -----
// Sampled reductions and pools: a sum is scaled up, a mean is one of fewer.
// EXPECT: 2; 8; 3; 5, 3
func.func @main() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<1x1x2x1xf32>) {
  %x = arith.constant dense<[10.0, 1.0, 20.0, 3.0]> : tensor<4xf32>
  %p = arith.constant dense<[[[[5.0], [9.0], [3.0], [1.0]]]]> : tensor<1x1x4x1xf32>
  %0 = nn.reduce mean %x {axes = array<i64: 0>, nn.knob = "sample:1/2@0"} : tensor<4xf32> -> tensor<f32>
  %1 = nn.reduce sum %x {axes = array<i64: 0>, nn.knob = "sample:1/2@0"} : tensor<4xf32> -> tensor<f32>
  %2 = nn.reduce max %x {axes = array<i64: 0>, nn.knob = "sample:1/2@0"} : tensor<4xf32> -> tensor<f32>
  %3 = nn.pool max %p {kernel = array<i64: 2, 1>, strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.knob = "sample:1/2@1"} : tensor<1x1x4x1xf32> -> tensor<1x1x2x1xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<1x1x2x1xf32>
}
// -----
// PROMISE: nothing is left of 0 to be noisy, and noise without any spread is none.
// EXPECT: 0; 1, 2
func.func @main() -> (tensor<1x1xf32>, tensor<2xf32>) {
  %x = arith.constant dense<0.0> : tensor<1x2xf32>
  %w = arith.constant dense<[[1.0], [-1.0]]> : tensor<2x1xf32>
  %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = nn.matmul %x, %w {nn.knob = "promise:1", nn.range = array<f32: 0.0, 1.0>, nn.name = "fc"} : tensor<1x2xf32>, tensor<2x1xf32> -> tensor<1x1xf32>
  %1 = nn.noise %v {sigma = 0.0 : f64, key = 7 : i64} : tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<2xf32>
}
// -----
// A range that nobody measured.
// ERROR: has the knob int8, but no 'nn.range'
func.func @main() {
  %x = arith.constant dense<1.0> : tensor<2x2xf32>
  %0 = nn.matmul %x, %x {nn.knob = "int8"} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return
}
// -----
// ERROR: has the knob promise, but no 'nn.range'
func.func @main() {
  %x = arith.constant dense<1.0> : tensor<2x2xf32>
  %0 = nn.matmul %x, %x {nn.knob = "promise:2"} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return
}
