// Pools, means, and copies between layouts.

dfg.graph @max2(%x: tensor<?x2x8x9x16xf32>) -> (r: tensor<?x2x4x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x8x9x16xf32>) -> tensor<?x2x4x4x16xf32> {
    %c = cpu.packed_pool max %x_ {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x8x9x16xf32> -> tensor<?x2x4x4x16xf32>
    %y = nn.unary relu %c : tensor<?x2x4x4x16xf32> -> tensor<?x2x4x4x16xf32>
    dfg.yield %y : tensor<?x2x4x4x16xf32>
  }
  dfg.return %r : tensor<?x2x4x4x16xf32>
}

dfg.graph @max3(%x: tensor<?x1x9x9x8xf32>) -> (r: tensor<?x1x7x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x9x8xf32>) -> tensor<?x1x7x7x8xf32> {
    %c = cpu.packed_pool max %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x1x9x9x8xf32> -> tensor<?x1x5x5x8xf32>
    %a = nn.unary relu %c : tensor<?x1x5x5x8xf32> -> tensor<?x1x5x5x8xf32>
    %y = cpu.halo %a {pads = array<i64: 1, 1, 1, 1>} : tensor<?x1x5x5x8xf32> -> tensor<?x1x7x7x8xf32>
    dfg.yield %y : tensor<?x1x7x7x8xf32>
  }
  dfg.return %r : tensor<?x1x7x7x8xf32>
}

dfg.graph @mean3(%x: tensor<?x2x7x9x4xf32>) -> (r: tensor<?x2x7x4x4xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x9x4xf32>) -> tensor<?x2x7x4x4xf32> {
    %c = cpu.packed_pool mean %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x7x9x4xf32> -> tensor<?x2x7x4x4xf32>
    %y = nn.unary relu %c : tensor<?x2x7x4x4xf32> -> tensor<?x2x7x4x4xf32>
    dfg.yield %y : tensor<?x2x7x4x4xf32>
  }
  dfg.return %r : tensor<?x2x7x4x4xf32>
}

dfg.graph @mean_pads(%x: tensor<?x1x7x7x16xf32>) -> (r: tensor<?x1x4x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x7x7x16xf32>) -> tensor<?x1x4x4x16xf32> {
    %c = cpu.packed_pool mean %x_ {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 0>, dilations = array<i64: 1, 1>, count_pad} : tensor<?x1x7x7x16xf32> -> tensor<?x1x4x4x16xf32>
    %y = nn.unary relu %c : tensor<?x1x4x4x16xf32> -> tensor<?x1x4x4x16xf32>
    dfg.yield %y : tensor<?x1x4x4x16xf32>
  }
  dfg.return %r : tensor<?x1x4x4x16xf32>
}

dfg.graph @means(%x: tensor<?x3x5x7x16xf32>) -> (r: tensor<?x48xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x5x7x16xf32>) -> tensor<?x48xf32> {
    %y = cpu.packed_mean %x_ : tensor<?x3x5x7x16xf32> -> tensor<?x48xf32>
    dfg.yield %y : tensor<?x48xf32>
  }
  dfg.return %r : tensor<?x48xf32>
}

dfg.graph @pack1(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x19x7x8x1xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x19x7x8x1xf32> {
    %p = cpu.pack %x_ {block = 1 : i64} : tensor<?x19x5x6xf32> -> tensor<?x19x5x6x1xf32>
    %y = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x19x5x6x1xf32> -> tensor<?x19x7x8x1xf32>
    dfg.yield %y : tensor<?x19x7x8x1xf32>
  }
  dfg.return %r : tensor<?x19x7x8x1xf32>
}

dfg.graph @pack8(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x3x7x8x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x3x7x8x8xf32> {
    %p = cpu.pack %x_ {block = 8 : i64} : tensor<?x19x5x6xf32> -> tensor<?x3x5x6x8xf32>
    %y = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x5x6x8xf32> -> tensor<?x3x7x8x8xf32>
    dfg.yield %y : tensor<?x3x7x8x8xf32>
  }
  dfg.return %r : tensor<?x3x7x8x8xf32>
}

dfg.graph @pack16(%x: tensor<?x19x5x6xf32>) -> (r: tensor<?x2x7x8x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x19x5x6xf32>) -> tensor<?x2x7x8x16xf32> {
    %p = cpu.pack %x_ {block = 16 : i64} : tensor<?x19x5x6xf32> -> tensor<?x2x5x6x16xf32>
    %y = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x5x6x16xf32> -> tensor<?x2x7x8x16xf32>
    dfg.yield %y : tensor<?x2x7x8x16xf32>
  }
  dfg.return %r : tensor<?x2x7x8x16xf32>
}

dfg.graph @unpack(%x: tensor<?x3x5x6x8xf32>) -> (r: tensor<?x19x5x6xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x5x6x8xf32>) -> tensor<?x19x5x6xf32> {
    %y = cpu.unpack %x_ {channels = 19 : i64} : tensor<?x3x5x6x8xf32> -> tensor<?x19x5x6xf32>
    dfg.yield %y : tensor<?x19x5x6xf32>
  }
  dfg.return %r : tensor<?x19x5x6xf32>
}

dfg.graph @border(%x: tensor<?x2x5x6x8xf32>) -> (r: tensor<?x2x8x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x5x6x8xf32>) -> tensor<?x2x8x7x8xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 1, 0, 2, 1>} : tensor<?x2x5x6x8xf32> -> tensor<?x2x8x7x8xf32>
    dfg.yield %y : tensor<?x2x8x7x8xf32>
  }
  dfg.return %r : tensor<?x2x8x7x8xf32>
}

dfg.graph @middle(%x: tensor<?x2x5x6x8xf32>) -> (r: tensor<?x2x3x5x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x5x6x8xf32>) -> tensor<?x2x3x5x8xf32> {
    %y = cpu.crop %x_ {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x5x6x8xf32> -> tensor<?x2x3x5x8xf32>
    dfg.yield %y : tensor<?x2x3x5x8xf32>
  }
  dfg.return %r : tensor<?x2x3x5x8xf32>
}
