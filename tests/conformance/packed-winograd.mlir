// The same by the algorithm of Winograd, whose rounding errors go with the largest sums, not with the result.

dfg.graph @tile4(%x: tensor<?x2x10x10x16xf32>, %w: tensor<2x36x32x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x10x10x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x10x10x16xf32>, %w_ = %w : tensor<2x36x32x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x10x10x16xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x10x10x16xf32>, tensor<2x36x32x16xf32>, tensor<2x16xf32>) -> tensor<?x2x8x8x16xf32>
    %a = nn.unary relu %c : tensor<?x2x8x8x16xf32> -> tensor<?x2x8x8x16xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x8x8x16xf32> -> tensor<?x2x10x10x16xf32>
    dfg.yield %y : tensor<?x2x10x10x16xf32>
  }
  dfg.return %r : tensor<?x2x10x10x16xf32>
}

dfg.graph @tile4_ragged(%x: tensor<?x1x9x13x8xf32>, %w: tensor<3x36x8x8xf32>, %b: tensor<3x8xf32>, %s: tensor<?x3x9x12x8xf32>) -> (r: tensor<?x3x7x11x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x13x8xf32>, %w_ = %w : tensor<3x36x8x8xf32>, %b_ = %b : tensor<3x8xf32>, %s_ = %s : tensor<?x3x9x12x8xf32>) -> tensor<?x3x7x11x8xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x1x9x13x8xf32>, tensor<3x36x8x8xf32>, tensor<3x8xf32>) -> tensor<?x3x7x11x8xf32>
    %s2 = cpu.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x3x9x12x8xf32> -> tensor<?x3x7x11x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x3x7x11x8xf32>, tensor<?x3x7x11x8xf32> -> tensor<?x3x7x11x8xf32>
    %y = nn.unary relu %sum : tensor<?x3x7x11x8xf32> -> tensor<?x3x7x11x8xf32>
    dfg.yield %y : tensor<?x3x7x11x8xf32>
  }
  dfg.return %r : tensor<?x3x7x11x8xf32>
}

dfg.graph @tile2(%x: tensor<?x2x6x6x4xf32>, %w: tensor<2x16x8x4xf32>) -> (r: tensor<?x2x4x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x6x6x4xf32>, %w_ = %w : tensor<2x16x8x4xf32>) -> tensor<?x2x4x4x4xf32> {
    %c = cpu.packed_winograd %x_, %w_ {tile = 2 : i64} : (tensor<?x2x6x6x4xf32>, tensor<2x16x8x4xf32>) -> tensor<?x2x4x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x4x4x4xf32> -> tensor<?x2x4x4x4xf32>
    dfg.yield %y : tensor<?x2x4x4x4xf32>
  }
  dfg.return %r : tensor<?x2x4x4x4xf32>
}

dfg.graph @tile2_ragged(%x: tensor<?x1x7x10x16xf32>, %w: tensor<4x16x16x16xf32>, %b: tensor<4x16xf32>, %s: tensor<?x4x7x9x16xf32>) -> (r: tensor<?x4x6x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x7x10x16xf32>, %w_ = %w : tensor<4x16x16x16xf32>, %b_ = %b : tensor<4x16xf32>, %s_ = %s : tensor<?x4x7x9x16xf32>) -> tensor<?x4x6x9x16xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 2 : i64} : (tensor<?x1x7x10x16xf32>, tensor<4x16x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x5x8x16xf32>
    %s2 = cpu.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x4x7x9x16xf32> -> tensor<?x4x5x8x16xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x4x5x8x16xf32>, tensor<?x4x5x8x16xf32> -> tensor<?x4x5x8x16xf32>
    %a = nn.unary relu %sum : tensor<?x4x5x8x16xf32> -> tensor<?x4x5x8x16xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 0, 0, 1>} : tensor<?x4x5x8x16xf32> -> tensor<?x4x6x9x16xf32>
    dfg.yield %y : tensor<?x4x6x9x16xf32>
  }
  dfg.return %r : tensor<?x4x6x9x16xf32>
}

dfg.graph @window5_tile4(%x: tensor<?x2x11x15x8xf32>, %w: tensor<3x64x16x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x3x11x15x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x11x15x8xf32>, %w_ = %w : tensor<3x64x16x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x3x11x15x8xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x11x15x8xf32>, tensor<3x64x16x8xf32>, tensor<3x8xf32>) -> tensor<?x3x7x11x8xf32>
    %a = nn.unary relu %c : tensor<?x3x7x11x8xf32> -> tensor<?x3x7x11x8xf32>
    %y = cpu.halo %a {pads = array<i64: 2, 2, 2, 2>} : tensor<?x3x7x11x8xf32> -> tensor<?x3x11x15x8xf32>
    dfg.yield %y : tensor<?x3x11x15x8xf32>
  }
  dfg.return %r : tensor<?x3x11x15x8xf32>
}

dfg.graph @window5_tile2(%x: tensor<?x1x9x8x16xf32>, %w: tensor<2x36x16x16xf32>) -> (r: tensor<?x2x5x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x8x16xf32>, %w_ = %w : tensor<2x36x16x16xf32>) -> tensor<?x2x5x4x16xf32> {
    %c = cpu.packed_winograd %x_, %w_ {tile = 2 : i64} : (tensor<?x1x9x8x16xf32>, tensor<2x36x16x16xf32>) -> tensor<?x2x5x4x16xf32>
    dfg.yield %c : tensor<?x2x5x4x16xf32>
  }
  dfg.return %r : tensor<?x2x5x4x16xf32>
}

// Pools in the stores; what lies behind the last window is not computed.
dfg.graph @pooled4(%x: tensor<?x2x14x18x16xf32>, %w: tensor<2x36x32x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x8x10x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x14x18x16xf32>, %w_ = %w : tensor<2x36x32x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x8x10x16xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x14x18x16xf32>, tensor<2x36x32x16xf32>, tensor<2x16xf32>) -> tensor<?x2x12x16x16xf32>
    %a = nn.unary relu %c : tensor<?x2x12x16x16xf32> -> tensor<?x2x12x16x16xf32>
    %p = cpu.packed_pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x12x16x16xf32> -> tensor<?x2x6x8x16xf32>
    %h = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x6x8x16xf32> -> tensor<?x2x8x10x16xf32>
    dfg.yield %h : tensor<?x2x8x10x16xf32>
  }
  dfg.return %r : tensor<?x2x8x10x16xf32>
}

dfg.graph @pooled4_mean(%x: tensor<?x2x11x15x8xf32>, %w: tensor<4x36x16x8xf32>, %b: tensor<4x8xf32>) -> (r: tensor<?x4x4x6x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x11x15x8xf32>, %w_ = %w : tensor<4x36x16x8xf32>, %b_ = %b : tensor<4x8xf32>) -> tensor<?x4x4x6x8xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x11x15x8xf32>, tensor<4x36x16x8xf32>, tensor<4x8xf32>) -> tensor<?x4x9x13x8xf32>
    %a = nn.unary relu %c : tensor<?x4x9x13x8xf32> -> tensor<?x4x9x13x8xf32>
    %p = cpu.packed_pool mean %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x4x9x13x8xf32> -> tensor<?x4x4x6x8xf32>
    %t = nn.unary neg %p : tensor<?x4x4x6x8xf32> -> tensor<?x4x4x6x8xf32>
    dfg.yield %t : tensor<?x4x4x6x8xf32>
  }
  dfg.return %r : tensor<?x4x4x6x8xf32>
}

dfg.graph @pooled2(%x: tensor<?x2x9x12x16xf32>, %w: tensor<2x16x32x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x3x5x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x12x16xf32>, %w_ = %w : tensor<2x16x32x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x3x5x16xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 2 : i64} : (tensor<?x2x9x12x16xf32>, tensor<2x16x32x16xf32>, tensor<2x16xf32>) -> tensor<?x2x7x10x16xf32>
    %a = nn.unary relu %c : tensor<?x2x7x10x16xf32> -> tensor<?x2x7x10x16xf32>
    %p = cpu.packed_pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x7x10x16xf32> -> tensor<?x2x3x5x16xf32>
    dfg.yield %p : tensor<?x2x3x5x16xf32>
  }
  dfg.return %r : tensor<?x2x3x5x16xf32>
}

dfg.graph @pooled_five(%x: tensor<?x2x17x17x8xf32>, %w: tensor<2x64x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x6x6x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x17x17x8xf32>, %w_ = %w : tensor<2x64x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x6x6x16xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x17x17x8xf32>, tensor<2x64x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x13x13x16xf32>
    %a = nn.unary relu %c : tensor<?x2x13x13x16xf32> -> tensor<?x2x13x13x16xf32>
    %p = cpu.packed_pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x13x13x16xf32> -> tensor<?x2x6x6x16xf32>
    dfg.yield %p : tensor<?x2x6x6x16xf32>
  }
  dfg.return %r : tensor<?x2x6x6x16xf32>
}
