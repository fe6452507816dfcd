// Layers on blocked activations at odd extents, for any batch (the extent is the number of images): blocks of all widths, spare channels,
// strides, dilations, groups, what follows a layer in its stores, borders made and taken off.

dfg.graph @plain3(%x: tensor<?x2x9x11x16xf32>, %w: tensor<2x2x3x3x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x7x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x11x16xf32>, %w_ = %w : tensor<2x2x3x3x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x7x9x16xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x9x11x16xf32>, tensor<2x2x3x3x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x7x9x16xf32>
    %y = nn.unary relu %c : tensor<?x2x7x9x16xf32> -> tensor<?x2x7x9x16xf32>
    dfg.yield %y : tensor<?x2x7x9x16xf32>
  }
  dfg.return %r : tensor<?x2x7x9x16xf32>
}

dfg.graph @stride2(%x: tensor<?x1x9x10x8xf32>, %w: tensor<3x1x3x3x8x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x3x6x6x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x10x8xf32>, %w_ = %w : tensor<3x1x3x3x8x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x3x6x6x8xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x9x10x8xf32>, tensor<3x1x3x3x8x8xf32>, tensor<3x8xf32>) -> tensor<?x3x4x4x8xf32>
    %a = nn.unary relu %c : tensor<?x3x4x4x8xf32> -> tensor<?x3x4x4x8xf32>
    %y = nn.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x4x4x8xf32> -> tensor<?x3x6x6x8xf32>
    dfg.yield %y : tensor<?x3x6x6x8xf32>
  }
  dfg.return %r : tensor<?x3x6x6x8xf32>
}

dfg.graph @first7(%x: tensor<?x3x15x17x1xf32>, %w: tensor<2x3x7x7x1x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x5x6x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x15x17x1xf32>, %w_ = %w : tensor<2x3x7x7x1x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x5x6x16xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x15x17x1xf32>, tensor<2x3x7x7x1x16xf32>, tensor<2x16xf32>) -> tensor<?x2x5x6x16xf32>
    %y = nn.unary relu %c : tensor<?x2x5x6x16xf32> -> tensor<?x2x5x6x16xf32>
    dfg.yield %y : tensor<?x2x5x6x16xf32>
  }
  dfg.return %r : tensor<?x2x5x6x16xf32>
}

dfg.graph @dilated(%x: tensor<?x2x9x9x4xf32>, %w: tensor<1x2x3x3x4x4xf32>) -> (r: tensor<?x1x7x8x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x9x4xf32>, %w_ = %w : tensor<1x2x3x3x4x4xf32>) -> tensor<?x1x7x8x4xf32> {
    %c = nn.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 2, 1>, groups = 1 : i64} : (tensor<?x2x9x9x4xf32>, tensor<1x2x3x3x4x4xf32>) -> tensor<?x1x5x7x4xf32>
    %a = nn.unary relu %c : tensor<?x1x5x7x4xf32> -> tensor<?x1x5x7x4xf32>
    %y = nn.halo %a {pads = array<i64: 0, 1, 2, 0>} : tensor<?x1x5x7x4xf32> -> tensor<?x1x7x8x4xf32>
    dfg.yield %y : tensor<?x1x7x8x4xf32>
  }
  dfg.return %r : tensor<?x1x7x8x4xf32>
}

dfg.graph @groups(%x: tensor<?x4x7x7x4xf32>, %w: tensor<4x2x3x3x4x8xf32>, %b: tensor<4x8xf32>) -> (r: tensor<?x4x5x5x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x7x7x4xf32>, %w_ = %w : tensor<4x2x3x3x4x8xf32>, %b_ = %b : tensor<4x8xf32>) -> tensor<?x4x5x5x8xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x7x7x4xf32>, tensor<4x2x3x3x4x8xf32>, tensor<4x8xf32>) -> tensor<?x4x5x5x8xf32>
    %y = nn.unary relu %c : tensor<?x4x5x5x8xf32> -> tensor<?x4x5x5x8xf32>
    dfg.yield %y : tensor<?x4x5x5x8xf32>
  }
  dfg.return %r : tensor<?x4x5x5x8xf32>
}

dfg.graph @one(%x: tensor<?x2x7x7x16xf32>, %w: tensor<4x2x1x1x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x7x7x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x7x16xf32>, %w_ = %w : tensor<4x2x1x1x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x7x7x16xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x7x16xf32>, tensor<4x2x1x1x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x7x7x16xf32>
    %y = nn.unary relu %c : tensor<?x4x7x7x16xf32> -> tensor<?x4x7x7x16xf32>
    dfg.yield %y : tensor<?x4x7x7x16xf32>
  }
  dfg.return %r : tensor<?x4x7x7x16xf32>
}

dfg.graph @one_residual(%x: tensor<?x2x7x5x8xf32>, %w: tensor<2x2x1x1x8x8xf32>, %b: tensor<2x8xf32>, %s: tensor<?x2x9x6x8xf32>) -> (r: tensor<?x2x9x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x5x8xf32>, %w_ = %w : tensor<2x2x1x1x8x8xf32>, %b_ = %b : tensor<2x8xf32>, %s_ = %s : tensor<?x2x9x6x8xf32>) -> tensor<?x2x9x7x8xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x5x8xf32>, tensor<2x2x1x1x8x8xf32>, tensor<2x8xf32>) -> tensor<?x2x7x5x8xf32>
    %s2 = nn.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x9x6x8xf32> -> tensor<?x2x7x5x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x2x7x5x8xf32>, tensor<?x2x7x5x8xf32> -> tensor<?x2x7x5x8xf32>
    %a = nn.unary relu %sum : tensor<?x2x7x5x8xf32> -> tensor<?x2x7x5x8xf32>
    %y = nn.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x7x5x8xf32> -> tensor<?x2x9x7x8xf32>
    dfg.yield %y : tensor<?x2x9x7x8xf32>
  }
  dfg.return %r : tensor<?x2x9x7x8xf32>
}

dfg.graph @one_stride(%x: tensor<?x2x8x10x16xf32>, %w: tensor<2x2x1x1x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x4x5x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x8x10x16xf32>, %w_ = %w : tensor<2x2x1x1x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x4x5x16xf32> {
    %in = nn.crop %x_ {pads = array<i64: 1, 1, 0, 0>} : tensor<?x2x8x10x16xf32> -> tensor<?x2x7x9x16xf32>
    %c = nn.packed_conv %in, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x9x16xf32>, tensor<2x2x1x1x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x4x5x16xf32>
    %y = nn.unary relu %c : tensor<?x2x4x5x16xf32> -> tensor<?x2x4x5x16xf32>
    dfg.yield %y : tensor<?x2x4x5x16xf32>
  }
  dfg.return %r : tensor<?x2x4x5x16xf32>
}

dfg.graph @wide(%x: tensor<?x1x4x70x16xf32>, %w: tensor<5x1x1x3x16x16xf32>, %b: tensor<5x16xf32>, %s: tensor<?x5x6x69x16xf32>) -> (r: tensor<?x5x4x68x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x4x70x16xf32>, %w_ = %w : tensor<5x1x1x3x16x16xf32>, %b_ = %b : tensor<5x16xf32>, %s_ = %s : tensor<?x5x6x69x16xf32>) -> tensor<?x5x4x68x16xf32> {
    %c = nn.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x4x70x16xf32>, tensor<5x1x1x3x16x16xf32>, tensor<5x16xf32>) -> tensor<?x5x4x68x16xf32>
    %s2 = nn.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x5x6x69x16xf32> -> tensor<?x5x4x68x16xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x5x4x68x16xf32>, tensor<?x5x4x68x16xf32> -> tensor<?x5x4x68x16xf32>
    %y = nn.unary relu %sum : tensor<?x5x4x68x16xf32> -> tensor<?x5x4x68x16xf32>
    dfg.yield %y : tensor<?x5x4x68x16xf32>
  }
  dfg.return %r : tensor<?x5x4x68x16xf32>
}

dfg.graph @small(%x: tensor<?x4x6x4x16xf32>, %w: tensor<4x4x3x3x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x2x2x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x6x4x16xf32>, %w_ = %w : tensor<4x4x3x3x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x2x2x16xf32> {
    %in = nn.crop %x_ {pads = array<i64: 1, 0, 1, 0>} : tensor<?x4x6x4x16xf32> -> tensor<?x4x4x4x16xf32>
    %c = nn.packed_conv %in, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x4x16xf32>, tensor<4x4x3x3x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x2x2x16xf32>
    %y = nn.unary relu %c : tensor<?x4x2x2x16xf32> -> tensor<?x4x2x2x16xf32>
    dfg.yield %y : tensor<?x4x2x2x16xf32>
  }
  dfg.return %r : tensor<?x4x2x2x16xf32>
}

dfg.graph @tile4(%x: tensor<?x2x10x10x16xf32>, %w: tensor<2x36x32x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x10x10x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x10x10x16xf32>, %w_ = %w : tensor<2x36x32x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x10x10x16xf32> {
    %c = nn.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x10x10x16xf32>, tensor<2x36x32x16xf32>, tensor<2x16xf32>) -> tensor<?x2x8x8x16xf32>
    %a = nn.unary relu %c : tensor<?x2x8x8x16xf32> -> tensor<?x2x8x8x16xf32>
    %y = nn.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x8x8x16xf32> -> tensor<?x2x10x10x16xf32>
    dfg.yield %y : tensor<?x2x10x10x16xf32>
  }
  dfg.return %r : tensor<?x2x10x10x16xf32>
}

dfg.graph @tile4_ragged(%x: tensor<?x1x9x13x8xf32>, %w: tensor<3x36x8x8xf32>, %b: tensor<3x8xf32>, %s: tensor<?x3x9x12x8xf32>) -> (r: tensor<?x3x7x11x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x13x8xf32>, %w_ = %w : tensor<3x36x8x8xf32>, %b_ = %b : tensor<3x8xf32>, %s_ = %s : tensor<?x3x9x12x8xf32>) -> tensor<?x3x7x11x8xf32> {
    %c = nn.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x1x9x13x8xf32>, tensor<3x36x8x8xf32>, tensor<3x8xf32>) -> tensor<?x3x7x11x8xf32>
    %s2 = nn.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x3x9x12x8xf32> -> tensor<?x3x7x11x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x3x7x11x8xf32>, tensor<?x3x7x11x8xf32> -> tensor<?x3x7x11x8xf32>
    %y = nn.unary relu %sum : tensor<?x3x7x11x8xf32> -> tensor<?x3x7x11x8xf32>
    dfg.yield %y : tensor<?x3x7x11x8xf32>
  }
  dfg.return %r : tensor<?x3x7x11x8xf32>
}

dfg.graph @tile2(%x: tensor<?x2x6x6x4xf32>, %w: tensor<2x16x8x4xf32>) -> (r: tensor<?x2x4x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x6x6x4xf32>, %w_ = %w : tensor<2x16x8x4xf32>) -> tensor<?x2x4x4x4xf32> {
    %c = nn.packed_winograd %x_, %w_ {tile = 2 : i64} : (tensor<?x2x6x6x4xf32>, tensor<2x16x8x4xf32>) -> tensor<?x2x4x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x4x4x4xf32> -> tensor<?x2x4x4x4xf32>
    dfg.yield %y : tensor<?x2x4x4x4xf32>
  }
  dfg.return %r : tensor<?x2x4x4x4xf32>
}

dfg.graph @tile2_ragged(%x: tensor<?x1x7x10x16xf32>, %w: tensor<4x16x16x16xf32>, %b: tensor<4x16xf32>, %s: tensor<?x4x7x9x16xf32>) -> (r: tensor<?x4x6x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x7x10x16xf32>, %w_ = %w : tensor<4x16x16x16xf32>, %b_ = %b : tensor<4x16xf32>, %s_ = %s : tensor<?x4x7x9x16xf32>) -> tensor<?x4x6x9x16xf32> {
    %c = nn.packed_winograd %x_, %w_, %b_ {tile = 2 : i64} : (tensor<?x1x7x10x16xf32>, tensor<4x16x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x5x8x16xf32>
    %s2 = nn.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x4x7x9x16xf32> -> tensor<?x4x5x8x16xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x4x5x8x16xf32>, tensor<?x4x5x8x16xf32> -> tensor<?x4x5x8x16xf32>
    %a = nn.unary relu %sum : tensor<?x4x5x8x16xf32> -> tensor<?x4x5x8x16xf32>
    %y = nn.halo %a {pads = array<i64: 1, 0, 0, 1>} : tensor<?x4x5x8x16xf32> -> tensor<?x4x6x9x16xf32>
    dfg.yield %y : tensor<?x4x6x9x16xf32>
  }
  dfg.return %r : tensor<?x4x6x9x16xf32>
}

dfg.graph @depthwise(%x: tensor<?x3x9x11x16xf32>, %w: tensor<3x3x3x16xf32>, %b: tensor<3x16xf32>) -> (r: tensor<?x3x9x11x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x9x11x16xf32>, %w_ = %w : tensor<3x3x3x16xf32>, %b_ = %b : tensor<3x16xf32>) -> tensor<?x3x9x11x16xf32> {
    %c = nn.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x9x11x16xf32>, tensor<3x3x3x16xf32>, tensor<3x16xf32>) -> tensor<?x3x7x9x16xf32>
    %a = nn.unary relu %c : tensor<?x3x7x9x16xf32> -> tensor<?x3x7x9x16xf32>
    %y = nn.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x7x9x16xf32> -> tensor<?x3x9x11x16xf32>
    dfg.yield %y : tensor<?x3x9x11x16xf32>
  }
  dfg.return %r : tensor<?x3x9x11x16xf32>
}

dfg.graph @depthwise2(%x: tensor<?x2x9x10x8xf32>, %w: tensor<2x3x3x8xf32>, %b: tensor<2x8xf32>, %s: tensor<?x2x6x5x8xf32>) -> (r: tensor<?x2x4x4x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x10x8xf32>, %w_ = %w : tensor<2x3x3x8xf32>, %b_ = %b : tensor<2x8xf32>, %s_ = %s : tensor<?x2x6x5x8xf32>) -> tensor<?x2x4x4x8xf32> {
    %c = nn.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x10x8xf32>, tensor<2x3x3x8xf32>, tensor<2x8xf32>) -> tensor<?x2x4x4x8xf32>
    %s2 = nn.crop %s_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x6x5x8xf32> -> tensor<?x2x4x4x8xf32>
    %sum = nn.binary add %c, %s2 : tensor<?x2x4x4x8xf32>, tensor<?x2x4x4x8xf32> -> tensor<?x2x4x4x8xf32>
    %y = nn.unary relu %sum : tensor<?x2x4x4x8xf32> -> tensor<?x2x4x4x8xf32>
    dfg.yield %y : tensor<?x2x4x4x8xf32>
  }
  dfg.return %r : tensor<?x2x4x4x8xf32>
}

dfg.graph @depthwise5(%x: tensor<?x2x11x12x4xf32>, %w: tensor<2x5x5x4xf32>, %b: tensor<2x4xf32>) -> (r: tensor<?x2x3x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x11x12x4xf32>, %w_ = %w : tensor<2x5x5x4xf32>, %b_ = %b : tensor<2x4xf32>) -> tensor<?x2x3x4x4xf32> {
    %c = nn.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 2>, dilations = array<i64: 2, 1>} : (tensor<?x2x11x12x4xf32>, tensor<2x5x5x4xf32>, tensor<2x4xf32>) -> tensor<?x2x3x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x3x4x4xf32> -> tensor<?x2x3x4x4xf32>
    dfg.yield %y : tensor<?x2x3x4x4xf32>
  }
  dfg.return %r : tensor<?x2x3x4x4xf32>
}

dfg.graph @product(%x: tensor<?x37xf32>, %w: tensor<5x37x16xf32>, %b: tensor<5x16xf32>) -> (r: tensor<?x74xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x37xf32>, %w_ = %w : tensor<5x37x16xf32>, %b_ = %b : tensor<5x16xf32>) -> tensor<?x74xf32> {
    %c = nn.packed_matmul %x_, %w_, %b_ {columns = 74 : i64} : (tensor<?x37xf32>, tensor<5x37x16xf32>, tensor<5x16xf32>) -> tensor<?x74xf32>
    %y = nn.unary relu %c : tensor<?x74xf32> -> tensor<?x74xf32>
    dfg.yield %y : tensor<?x74xf32>
  }
  dfg.return %r : tensor<?x74xf32>
}

dfg.graph @product_whole(%x: tensor<?x16xf32>, %w: tensor<4x16x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x64xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x16xf32>, %w_ = %w : tensor<4x16x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x64xf32> {
    %c = nn.packed_matmul %x_, %w_, %b_ {columns = 64 : i64} : (tensor<?x16xf32>, tensor<4x16x16xf32>, tensor<4x16xf32>) -> tensor<?x64xf32>
    %y = nn.unary relu %c : tensor<?x64xf32> -> tensor<?x64xf32>
    dfg.yield %y : tensor<?x64xf32>
  }
  dfg.return %r : tensor<?x64xf32>
}

dfg.graph @product_small(%x: tensor<?x9xf32>, %w: tensor<1x9x16xf32>) -> (r: tensor<?x10xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x9xf32>, %w_ = %w : tensor<1x9x16xf32>) -> tensor<?x10xf32> {
    %c = nn.packed_matmul %x_, %w_ {columns = 10 : i64} : (tensor<?x9xf32>, tensor<1x9x16xf32>) -> tensor<?x10xf32>
    %y = nn.unary relu %c : tensor<?x10xf32> -> tensor<?x10xf32>
    dfg.yield %y : tensor<?x10xf32>
  }
  dfg.return %r : tensor<?x10xf32>
}

dfg.graph @product_eight(%x: tensor<?x33xf32>, %w: tensor<3x33x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x24xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x33xf32>, %w_ = %w : tensor<3x33x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x24xf32> {
    %c = nn.packed_matmul %x_, %w_, %b_ {columns = 24 : i64} : (tensor<?x33xf32>, tensor<3x33x8xf32>, tensor<3x8xf32>) -> tensor<?x24xf32>
    %y = nn.unary relu %c : tensor<?x24xf32> -> tensor<?x24xf32>
    dfg.yield %y : tensor<?x24xf32>
  }
  dfg.return %r : tensor<?x24xf32>
}

dfg.graph @max2(%x: tensor<?x2x8x9x16xf32>) -> (r: tensor<?x2x4x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x8x9x16xf32>) -> tensor<?x2x4x4x16xf32> {
    %c = nn.packed_pool max %x_ {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x8x9x16xf32> -> tensor<?x2x4x4x16xf32>
    %y = nn.unary relu %c : tensor<?x2x4x4x16xf32> -> tensor<?x2x4x4x16xf32>
    dfg.yield %y : tensor<?x2x4x4x16xf32>
  }
  dfg.return %r : tensor<?x2x4x4x16xf32>
}

dfg.graph @max3(%x: tensor<?x1x9x9x8xf32>) -> (r: tensor<?x1x7x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x9x8xf32>) -> tensor<?x1x7x7x8xf32> {
    %c = nn.packed_pool max %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x1x9x9x8xf32> -> tensor<?x1x5x5x8xf32>
    %a = nn.unary relu %c : tensor<?x1x5x5x8xf32> -> tensor<?x1x5x5x8xf32>
    %y = nn.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x1x5x5x8xf32> -> tensor<?x1x7x7x8xf32>
    dfg.yield %y : tensor<?x1x7x7x8xf32>
  }
  dfg.return %r : tensor<?x1x7x7x8xf32>
}

dfg.graph @mean3(%x: tensor<?x2x7x9x4xf32>) -> (r: tensor<?x2x7x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x9x4xf32>) -> tensor<?x2x7x4x4xf32> {
    %c = nn.packed_pool mean %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x7x9x4xf32> -> tensor<?x2x7x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x7x4x4xf32> -> tensor<?x2x7x4x4xf32>
    dfg.yield %y : tensor<?x2x7x4x4xf32>
  }
  dfg.return %r : tensor<?x2x7x4x4xf32>
}

dfg.graph @mean_pads(%x: tensor<?x1x7x7x16xf32>) -> (r: tensor<?x1x4x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x7x7x16xf32>) -> tensor<?x1x4x4x16xf32> {
    %c = nn.packed_pool mean %x_ {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 0>, dilations = array<i64: 1, 1>, count_pad} : tensor<?x1x7x7x16xf32> -> tensor<?x1x4x4x16xf32>
    %y = nn.unary relu %c : tensor<?x1x4x4x16xf32> -> tensor<?x1x4x4x16xf32>
    dfg.yield %y : tensor<?x1x4x4x16xf32>
  }
  dfg.return %r : tensor<?x1x4x4x16xf32>
}

dfg.graph @means(%x: tensor<?x3x5x7x16xf32>) -> (r: tensor<?x48xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x5x7x16xf32>) -> tensor<?x48xf32> {
    %y = nn.packed_mean %x_ : tensor<?x3x5x7x16xf32> -> tensor<?x48xf32>
    dfg.yield %y : tensor<?x48xf32>
  }
  dfg.return %r : tensor<?x48xf32>
}

dfg.graph @pack1(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x19x7x8x1xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x19x7x8x1xf32> {
    %p = nn.pack %x_ {block = 1 : i64} : tensor<?x19x5x6xf32> -> tensor<?x19x5x6x1xf32>
    %y = nn.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x19x5x6x1xf32> -> tensor<?x19x7x8x1xf32>
    dfg.yield %y : tensor<?x19x7x8x1xf32>
  }
  dfg.return %r : tensor<?x19x7x8x1xf32>
}

dfg.graph @pack8(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x3x7x8x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x3x7x8x8xf32> {
    %p = nn.pack %x_ {block = 8 : i64} : tensor<?x19x5x6xf32> -> tensor<?x3x5x6x8xf32>
    %y = nn.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x5x6x8xf32> -> tensor<?x3x7x8x8xf32>
    dfg.yield %y : tensor<?x3x7x8x8xf32>
  }
  dfg.return %r : tensor<?x3x7x8x8xf32>
}

dfg.graph @pack16(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x2x7x8x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x2x7x8x16xf32> {
    %p = nn.pack %x_ {block = 16 : i64} : tensor<?x19x5x6xf32> -> tensor<?x2x5x6x16xf32>
    %y = nn.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x5x6x16xf32> -> tensor<?x2x7x8x16xf32>
    dfg.yield %y : tensor<?x2x7x8x16xf32>
  }
  dfg.return %r : tensor<?x2x7x8x16xf32>
}

dfg.graph @unpack(%x: tensor<?x3x5x6x8xf32>) -> (r: tensor<?x19x5x6xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x5x6x8xf32>) -> tensor<?x19x5x6xf32> {
    %y = nn.unpack %x_ {channels = 19 : i64} : tensor<?x3x5x6x8xf32> -> tensor<?x19x5x6xf32>
    dfg.yield %y : tensor<?x19x5x6xf32>
  }
  dfg.return %r : tensor<?x19x5x6xf32>
}

dfg.graph @border(%x: tensor<?x2x5x6x8xf32>) -> (r: tensor<?x2x8x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x5x6x8xf32>) -> tensor<?x2x8x7x8xf32> {
    %y = nn.halo %x_ {pads = array<i64: 1, 0, 2, 1>} : tensor<?x2x5x6x8xf32> -> tensor<?x2x8x7x8xf32>
    dfg.yield %y : tensor<?x2x8x7x8xf32>
  }
  dfg.return %r : tensor<?x2x8x7x8xf32>
}

dfg.graph @middle(%x: tensor<?x2x5x6x8xf32>) -> (r: tensor<?x2x3x5x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x5x6x8xf32>) -> tensor<?x2x3x5x8xf32> {
    %y = nn.crop %x_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x5x6x8xf32> -> tensor<?x2x3x5x8xf32>
    dfg.yield %y : tensor<?x2x3x5x8xf32>
  }
  dfg.return %r : tensor<?x2x3x5x8xf32>
}
