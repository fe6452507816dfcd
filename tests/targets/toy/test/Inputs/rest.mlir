// What whole.mlir has behind its convolution.
dfg.graph @net(%x: tensor<?x16x16x16xf32>) -> (y: tensor<?x10xf32>) {
  %r = dfg.node @net (%a = %x : tensor<?x16x16x16xf32>) -> tensor<?x10xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x16x16x16xf32>
    %w1 = arith.constant dense<0.0078125> : tensor<10x1024xf32>
    %2 = nn.pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x16x16x16xf32> -> tensor<?x16x8x8xf32> loc("pool")
    %3 = nn.reshape %2 extents %d : tensor<?x16x8x8xf32> -> tensor<?x1024xf32>
    %4 = nn.matmul %3, %w1 {transpose_b} : tensor<?x1024xf32>, tensor<10x1024xf32> -> tensor<?x10xf32> loc("dense")
    %5 = nn.softmax %4 {axis = 1 : i64} : tensor<?x10xf32> -> tensor<?x10xf32> loc("soft")
    dfg.yield %5 : tensor<?x10xf32>
  }
  dfg.return %r : tensor<?x10xf32>
}
