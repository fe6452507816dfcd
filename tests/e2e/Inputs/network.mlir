// A small network with a residual, a branch of depthwise and pointwise layers, pools, a batch norm and a product.
dfg.graph @network(%x: tensor<?x3x16x16xf32>) -> (y: tensor<?x10xf32>, z: tensor<?x20x8x8xf32>) {
  %r:2 = dfg.node @net (%a = %x : tensor<?x3x16x16xf32>) -> (tensor<?x10xf32>, tensor<?x20x8x8xf32>) {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x3x16x16xf32>
    %mean = arith.constant dense<0.25> : tensor<1xf32>
    %deviation = arith.constant dense<0.5> : tensor<1xf32>
    %w1 = arith.constant dense<0.0625> : tensor<32x3x3x3xf32>
    %b1 = arith.constant dense<-0.125> : tensor<32xf32>
    %w2 = arith.constant dense<0.015625> : tensor<32x32x3x3xf32>
    %scale = arith.constant dense<0.75> : tensor<32xf32>
    %offset = arith.constant dense<0.125> : tensor<32xf32>
    %average = arith.constant dense<0.5> : tensor<32xf32>
    %variance = arith.constant dense<1.5> : tensor<32xf32>
    %w3 = arith.constant dense<0.125> : tensor<32x1x3x3xf32>
    %w4 = arith.constant dense<0.03125> : tensor<20x32x1x1xf32>
    %w5 = arith.constant dense<0.0078125> : tensor<10x1280xf32>
    %b5 = arith.constant dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]> : tensor<10xf32>
    %1 = nn.binary sub %a, %mean : tensor<?x3x16x16xf32>, tensor<1xf32> -> tensor<?x3x16x16xf32>
    %2 = nn.binary div %1, %deviation : tensor<?x3x16x16xf32>, tensor<1xf32> -> tensor<?x3x16x16xf32>
    %3 = nn.conv %2, %w1, %b1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<?x32x16x16xf32> loc("first")
    %4 = nn.unary tanh %3 : tensor<?x32x16x16xf32> -> tensor<?x32x16x16xf32>
    %5 = nn.conv %4, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<?x32x16x16xf32> loc("second")
    %6 = nn.batch_norm %5, %scale, %offset, %average, %variance {epsilon = 1.0e-5 : f64} : (tensor<?x32x16x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32x16x16xf32>
    %7 = nn.binary add %6, %4 : tensor<?x32x16x16xf32>, tensor<?x32x16x16xf32> -> tensor<?x32x16x16xf32>
    %8 = nn.unary relu %7 : tensor<?x32x16x16xf32> -> tensor<?x32x16x16xf32>
    %9 = nn.conv %8, %w3 {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<?x32x16x16xf32>, tensor<32x1x3x3xf32>) -> tensor<?x32x8x8xf32> loc("depthwise")
    %10 = nn.activation clip %9 {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<?x32x8x8xf32> -> tensor<?x32x8x8xf32>
    %11 = nn.conv %10, %w4 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x32x8x8xf32>, tensor<20x32x1x1xf32>) -> tensor<?x20x8x8xf32> loc("pointwise")
    %12 = nn.pool mean %11 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x20x8x8xf32> -> tensor<?x20x8x8xf32>
    %13 = nn.reshape %12 extents %d : tensor<?x20x8x8xf32> -> tensor<?x1280xf32>
    %14 = nn.matmul %13, %w5 {transpose_b} : tensor<?x1280xf32>, tensor<10x1280xf32> -> tensor<?x10xf32> loc("fc")
    %15 = nn.binary add %14, %b5 : tensor<?x10xf32>, tensor<10xf32> -> tensor<?x10xf32>
    %16 = nn.softmax %15 {axis = 1 : i64} : tensor<?x10xf32> -> tensor<?x10xf32>
    dfg.yield %16, %11 : tensor<?x10xf32>, tensor<?x20x8x8xf32>
  }
  dfg.return %r#0, %r#1 : tensor<?x10xf32>, tensor<?x20x8x8xf32>
}
