// Convolutions on blocked activations at odd extents, for any batch (the extent is the number of images): blocks of all widths, strides,
// dilations, groups, what follows a layer in its stores, borders made and taken off.

dfg.graph @plain3(%x: tensor<?x2x9x11x16xf32>, %w: tensor<2x2x3x3x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x7x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x11x16xf32>, %w_ = %w : tensor<2x2x3x3x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x7x9x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x9x11x16xf32>, tensor<2x2x3x3x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x7x9x16xf32>
    %y = nn.unary relu %c : tensor<?x2x7x9x16xf32> -> tensor<?x2x7x9x16xf32>
    dfg.yield %y : tensor<?x2x7x9x16xf32>
  }
  dfg.return %r : tensor<?x2x7x9x16xf32>
}

dfg.graph @stride2(%x: tensor<?x1x9x10x8xf32>, %w: tensor<3x1x3x3x8x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x3x6x6x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x10x8xf32>, %w_ = %w : tensor<3x1x3x3x8x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x3x6x6x8xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x9x10x8xf32>, tensor<3x1x3x3x8x8xf32>, tensor<3x8xf32>) -> tensor<?x3x4x4x8xf32>
    %a = nn.unary relu %c : tensor<?x3x4x4x8xf32> -> tensor<?x3x4x4x8xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x4x4x8xf32> -> tensor<?x3x6x6x8xf32>
    dfg.yield %y : tensor<?x3x6x6x8xf32>
  }
  dfg.return %r : tensor<?x3x6x6x8xf32>
}

dfg.graph @first7(%x: tensor<?x3x15x17x1xf32>, %w: tensor<2x3x7x7x1x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x5x6x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x15x17x1xf32>, %w_ = %w : tensor<2x3x7x7x1x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x5x6x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x15x17x1xf32>, tensor<2x3x7x7x1x16xf32>, tensor<2x16xf32>) -> tensor<?x2x5x6x16xf32>
    %y = nn.unary relu %c : tensor<?x2x5x6x16xf32> -> tensor<?x2x5x6x16xf32>
    dfg.yield %y : tensor<?x2x5x6x16xf32>
  }
  dfg.return %r : tensor<?x2x5x6x16xf32>
}

dfg.graph @dilated(%x: tensor<?x2x9x9x4xf32>, %w: tensor<1x2x3x3x4x4xf32>) -> (r: tensor<?x1x7x8x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x9x4xf32>, %w_ = %w : tensor<1x2x3x3x4x4xf32>) -> tensor<?x1x7x8x4xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 2, 1>, groups = 1 : i64} : (tensor<?x2x9x9x4xf32>, tensor<1x2x3x3x4x4xf32>) -> tensor<?x1x5x7x4xf32>
    %a = nn.unary relu %c : tensor<?x1x5x7x4xf32> -> tensor<?x1x5x7x4xf32>
    %y = cpu.halo %a {pads = array<i64: 0, 1, 2, 0>} : tensor<?x1x5x7x4xf32> -> tensor<?x1x7x8x4xf32>
    dfg.yield %y : tensor<?x1x7x8x4xf32>
  }
  dfg.return %r : tensor<?x1x7x8x4xf32>
}

dfg.graph @groups(%x: tensor<?x4x7x7x4xf32>, %w: tensor<4x2x3x3x4x8xf32>, %b: tensor<4x8xf32>) -> (r: tensor<?x4x5x5x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x7x7x4xf32>, %w_ = %w : tensor<4x2x3x3x4x8xf32>, %b_ = %b : tensor<4x8xf32>) -> tensor<?x4x5x5x8xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x7x7x4xf32>, tensor<4x2x3x3x4x8xf32>, tensor<4x8xf32>) -> tensor<?x4x5x5x8xf32>
    %y = nn.unary relu %c : tensor<?x4x5x5x8xf32> -> tensor<?x4x5x5x8xf32>
    dfg.yield %y : tensor<?x4x5x5x8xf32>
  }
  dfg.return %r : tensor<?x4x5x5x8xf32>
}

dfg.graph @one(%x: tensor<?x2x7x7x16xf32>, %w: tensor<4x2x1x1x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x7x7x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x7x16xf32>, %w_ = %w : tensor<4x2x1x1x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x7x7x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x7x16xf32>, tensor<4x2x1x1x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x7x7x16xf32>
    %y = nn.unary relu %c : tensor<?x4x7x7x16xf32> -> tensor<?x4x7x7x16xf32>
    dfg.yield %y : tensor<?x4x7x7x16xf32>
  }
  dfg.return %r : tensor<?x4x7x7x16xf32>
}

dfg.graph @one_residual(%x: tensor<?x2x7x5x8xf32>, %w: tensor<2x2x1x1x8x8xf32>, %b: tensor<2x8xf32>, %s: tensor<?x2x9x6x8xf32>) -> (r: tensor<?x2x9x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x5x8xf32>, %w_ = %w : tensor<2x2x1x1x8x8xf32>, %b_ = %b : tensor<2x8xf32>, %s_ = %s : tensor<?x2x9x6x8xf32>) -> tensor<?x2x9x7x8xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x5x8xf32>, tensor<2x2x1x1x8x8xf32>, tensor<2x8xf32>) -> tensor<?x2x7x5x8xf32>
    %s2 = cpu.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x9x6x8xf32> -> tensor<?x2x7x5x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x2x7x5x8xf32>, tensor<?x2x7x5x8xf32> -> tensor<?x2x7x5x8xf32>
    %a = nn.unary relu %sum : tensor<?x2x7x5x8xf32> -> tensor<?x2x7x5x8xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x7x5x8xf32> -> tensor<?x2x9x7x8xf32>
    dfg.yield %y : tensor<?x2x9x7x8xf32>
  }
  dfg.return %r : tensor<?x2x9x7x8xf32>
}

dfg.graph @one_stride(%x: tensor<?x2x8x10x16xf32>, %w: tensor<2x2x1x1x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x4x5x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x8x10x16xf32>, %w_ = %w : tensor<2x2x1x1x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x4x5x16xf32> {
    %in = cpu.crop %x_ {pads = array<i64: 1, 1, 0, 0>} : tensor<?x2x8x10x16xf32> -> tensor<?x2x7x9x16xf32>
    %c = cpu.packed_conv %in, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x9x16xf32>, tensor<2x2x1x1x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x4x5x16xf32>
    %y = nn.unary relu %c : tensor<?x2x4x5x16xf32> -> tensor<?x2x4x5x16xf32>
    dfg.yield %y : tensor<?x2x4x5x16xf32>
  }
  dfg.return %r : tensor<?x2x4x5x16xf32>
}

dfg.graph @wide(%x: tensor<?x1x4x70x16xf32>, %w: tensor<5x1x1x3x16x16xf32>, %b: tensor<5x16xf32>, %s: tensor<?x5x6x69x16xf32>) -> (r: tensor<?x5x4x68x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x4x70x16xf32>, %w_ = %w : tensor<5x1x1x3x16x16xf32>, %b_ = %b : tensor<5x16xf32>, %s_ = %s : tensor<?x5x6x69x16xf32>) -> tensor<?x5x4x68x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x4x70x16xf32>, tensor<5x1x1x3x16x16xf32>, tensor<5x16xf32>) -> tensor<?x5x4x68x16xf32>
    %s2 = cpu.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x5x6x69x16xf32> -> tensor<?x5x4x68x16xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x5x4x68x16xf32>, tensor<?x5x4x68x16xf32> -> tensor<?x5x4x68x16xf32>
    %y = nn.unary relu %sum : tensor<?x5x4x68x16xf32> -> tensor<?x5x4x68x16xf32>
    dfg.yield %y : tensor<?x5x4x68x16xf32>
  }
  dfg.return %r : tensor<?x5x4x68x16xf32>
}

dfg.graph @small(%x: tensor<?x4x6x4x16xf32>, %w: tensor<4x4x3x3x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x2x2x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x6x4x16xf32>, %w_ = %w : tensor<4x4x3x3x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x2x2x16xf32> {
    %in = cpu.crop %x_ {pads = array<i64: 1, 0, 1, 0>} : tensor<?x4x6x4x16xf32> -> tensor<?x4x4x4x16xf32>
    %c = cpu.packed_conv %in, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x4x16xf32>, tensor<4x4x3x3x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x2x2x16xf32>
    %y = nn.unary relu %c : tensor<?x4x2x2x16xf32> -> tensor<?x4x2x2x16xf32>
    dfg.yield %y : tensor<?x4x2x2x16xf32>
  }
  dfg.return %r : tensor<?x4x2x2x16xf32>
}
