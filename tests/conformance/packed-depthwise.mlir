// Depthwise convolutions and products with packed weights.

dfg.graph @depthwise(%x: tensor<?x3x9x11x16xf32>, %w: tensor<3x3x3x16xf32>, %b: tensor<3x16xf32>) -> (r: tensor<?x3x9x11x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x9x11x16xf32>, %w_ = %w : tensor<3x3x3x16xf32>, %b_ = %b : tensor<3x16xf32>) -> tensor<?x3x9x11x16xf32> {
    %c = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x9x11x16xf32>, tensor<3x3x3x16xf32>, tensor<3x16xf32>) -> tensor<?x3x7x9x16xf32>
    %a = nn.unary relu %c : tensor<?x3x7x9x16xf32> -> tensor<?x3x7x9x16xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x7x9x16xf32> -> tensor<?x3x9x11x16xf32>
    dfg.yield %y : tensor<?x3x9x11x16xf32>
  }
  dfg.return %r : tensor<?x3x9x11x16xf32>
}

dfg.graph @depthwise2(%x: tensor<?x2x9x10x8xf32>, %w: tensor<2x3x3x8xf32>, %b: tensor<2x8xf32>, %s: tensor<?x2x6x5x8xf32>) -> (r: tensor<?x2x4x4x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x10x8xf32>, %w_ = %w : tensor<2x3x3x8xf32>, %b_ = %b : tensor<2x8xf32>, %s_ = %s : tensor<?x2x6x5x8xf32>) -> tensor<?x2x4x4x8xf32> {
    %c = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x10x8xf32>, tensor<2x3x3x8xf32>, tensor<2x8xf32>) -> tensor<?x2x4x4x8xf32>
    %s2 = cpu.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x6x5x8xf32> -> tensor<?x2x4x4x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x2x4x4x8xf32>, tensor<?x2x4x4x8xf32> -> tensor<?x2x4x4x8xf32>
    %y = nn.unary relu %sum : tensor<?x2x4x4x8xf32> -> tensor<?x2x4x4x8xf32>
    dfg.yield %y : tensor<?x2x4x4x8xf32>
  }
  dfg.return %r : tensor<?x2x4x4x8xf32>
}

dfg.graph @depthwise5(%x: tensor<?x2x11x12x4xf32>, %w: tensor<2x5x5x4xf32>, %b: tensor<2x4xf32>) -> (r: tensor<?x2x3x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x11x12x4xf32>, %w_ = %w : tensor<2x5x5x4xf32>, %b_ = %b : tensor<2x4xf32>) -> tensor<?x2x3x4x4xf32> {
    %c = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 2>, dilations = array<i64: 2, 1>} : (tensor<?x2x11x12x4xf32>, tensor<2x5x5x4xf32>, tensor<2x4xf32>) -> tensor<?x2x3x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x3x4x4xf32> -> tensor<?x2x3x4x4xf32>
    dfg.yield %y : tensor<?x2x3x4x4xf32>
  }
  dfg.return %r : tensor<?x2x3x4x4xf32>
}

dfg.graph @product(%x: tensor<?x37xf32>, %w: tensor<5x37x16xf32>, %b: tensor<5x16xf32>) -> (r: tensor<?x74xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x37xf32>, %w_ = %w : tensor<5x37x16xf32>, %b_ = %b : tensor<5x16xf32>) -> tensor<?x74xf32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 74 : i64} : (tensor<?x37xf32>, tensor<5x37x16xf32>, tensor<5x16xf32>) -> tensor<?x74xf32>
    %y = nn.unary relu %c : tensor<?x74xf32> -> tensor<?x74xf32>
    dfg.yield %y : tensor<?x74xf32>
  }
  dfg.return %r : tensor<?x74xf32>
}

dfg.graph @product_whole(%x: tensor<?x16xf32>, %w: tensor<4x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x64xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x16xf32>, %w_ = %w : tensor<4x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x64xf32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 64 : i64} : (tensor<?x16xf32>, tensor<4x16x16xf32>, tensor<4x16xf32>) -> tensor<?x64xf32>
    %y = nn.unary relu %c : tensor<?x64xf32> -> tensor<?x64xf32>
    dfg.yield %y : tensor<?x64xf32>
  }
  dfg.return %r : tensor<?x64xf32>
}

dfg.graph @product_small(%x: tensor<?x9xf32>, %w: tensor<1x9x16xf32>) -> (r: tensor<?x10xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x9xf32>, %w_ = %w : tensor<1x9x16xf32>) -> tensor<?x10xf32> {
    %c = cpu.packed_matmul %x_, %w_ {columns = 10 : i64} : (tensor<?x9xf32>, tensor<1x9x16xf32>) -> tensor<?x10xf32>
    %y = nn.unary relu %c : tensor<?x10xf32> -> tensor<?x10xf32>
    dfg.yield %y : tensor<?x10xf32>
  }
  dfg.return %r : tensor<?x10xf32>
}

dfg.graph @product_eight(%x: tensor<?x33xf32>, %w: tensor<3x33x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x24xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x33xf32>, %w_ = %w : tensor<3x33x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x24xf32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 24 : i64} : (tensor<?x33xf32>, tensor<3x33x8xf32>, tensor<3x8xf32>) -> tensor<?x24xf32>
    %y = nn.unary relu %c : tensor<?x24xf32> -> tensor<?x24xf32>
    dfg.yield %y : tensor<?x24xf32>
  }
  dfg.return %r : tensor<?x24xf32>
}
