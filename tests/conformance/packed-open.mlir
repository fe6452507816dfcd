// Layers on blocked activations whose planes are open: one program for any batch, rows and columns (the extent is all of them). Tiles of
// rows that overlap, planes narrower than a tile, borders, what follows a layer, and residuals without their border.

dfg.graph @conv(%x: tensor<?x2x?x?x8xf32>, %w: tensor<4x2x3x3x8x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x?x?x16xf32>) {
  %0 = dfg.node @pad (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %y : tensor<?x2x?x?x8xf32>
  }
  %r = dfg.node @layer (%x_ = %0 : tensor<?x2x?x?x8xf32>, %w_ = %w : tensor<4x2x3x3x8x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x?x?x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<4x2x3x3x8x16xf32>, tensor<4x16xf32>) -> tensor<?x4x?x?x16xf32>
    %y = nn.unary relu %c : tensor<?x4x?x?x16xf32> -> tensor<?x4x?x?x16xf32>
    %h = cpu.halo %y {pads = array<i64: 1, 0, 2, 1>} : tensor<?x4x?x?x16xf32> -> tensor<?x4x?x?x16xf32>
    dfg.yield %h : tensor<?x4x?x?x16xf32>
  }
  dfg.return %r : tensor<?x4x?x?x16xf32>
}

// Stride, dilation and groups.
dfg.graph @strided(%x: tensor<?x4x?x?x4xf32>, %w: tensor<2x2x3x1x4x8xf32>) -> (r: tensor<?x2x?x?x8xf32>) {
  %0 = dfg.node @pad (%x_ = %x : tensor<?x4x?x?x4xf32>) -> tensor<?x4x?x?x4xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 2, 0, 2, 0>} : tensor<?x4x?x?x4xf32> -> tensor<?x4x?x?x4xf32>
    dfg.yield %y : tensor<?x4x?x?x4xf32>
  }
  %r = dfg.node @layer (%x_ = %0 : tensor<?x4x?x?x4xf32>, %w_ = %w : tensor<2x2x3x1x4x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 2, 3>, dilations = array<i64: 2, 1>, groups = 2 : i64} : (tensor<?x4x?x?x4xf32>, tensor<2x2x3x1x4x8xf32>) -> tensor<?x2x?x?x8xf32>
    dfg.yield %c : tensor<?x2x?x?x8xf32>
  }
  dfg.return %r : tensor<?x2x?x?x8xf32>
}

// All places are one long row, and so they are with a residual.
dfg.graph @one(%x: tensor<?x2x?x?x16xf32>, %w: tensor<2x2x1x1x16x16xf32>) -> (r: tensor<?x2x?x?x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x?x?x16xf32>, %w_ = %w : tensor<2x2x1x1x16x16xf32>) -> tensor<?x2x?x?x16xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x16xf32>, tensor<2x2x1x1x16x16xf32>) -> tensor<?x2x?x?x16xf32>
    %s = nn.binary add %c, %x_ : tensor<?x2x?x?x16xf32>, tensor<?x2x?x?x16xf32> -> tensor<?x2x?x?x16xf32>
    dfg.yield %s : tensor<?x2x?x?x16xf32>
  }
  dfg.return %r : tensor<?x2x?x?x16xf32>
}

// The residual has a border that the result has not.
dfg.graph @residual(%x: tensor<?x2x?x?x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> (r: tensor<?x2x?x?x8xf32>) {
  %0 = dfg.node @pad (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %y : tensor<?x2x?x?x8xf32>
  }
  %r = dfg.node @layer (%x_ = %0 : tensor<?x2x?x?x8xf32>, %w_ = %w : tensor<2x2x3x3x8x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<?x2x?x?x8xf32>
    %o = cpu.crop %x_ {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    %s = nn.binary add %c, %o : tensor<?x2x?x?x8xf32>, tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    %h = cpu.halo %s {pads = array<i64: 0, 1, 1, 0>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %h : tensor<?x2x?x?x8xf32>
  }
  dfg.return %r : tensor<?x2x?x?x8xf32>
}

dfg.graph @winograd(%x: tensor<?x2x?x?x8xf32>, %w: tensor<2x36x16x8xf32>, %b: tensor<2x8xf32>) -> (r: tensor<?x2x?x?x8xf32>) {
  %0 = dfg.node @pad (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %y : tensor<?x2x?x?x8xf32>
  }
  %r = dfg.node @layer (%x_ = %0 : tensor<?x2x?x?x8xf32>, %w_ = %w : tensor<2x36x16x8xf32>, %b_ = %b : tensor<2x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %c = cpu.packed_winograd %x_, %w_, %b_ {tile = 4 : i64} : (tensor<?x2x?x?x8xf32>, tensor<2x36x16x8xf32>, tensor<2x8xf32>) -> tensor<?x2x?x?x8xf32>
    %h = cpu.halo %c {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %h : tensor<?x2x?x?x8xf32>
  }
  dfg.return %r : tensor<?x2x?x?x8xf32>
}

// Windows of few and of many taps; what follows goes back to the plain layout.
dfg.graph @depthwise(%x: tensor<?x5x?x?xf32>, %w: tensor<1x3x3x8xf32>, %v: tensor<1x5x5x8xf32>) -> (r: tensor<?x5x?x?xf32>) {
  %0 = dfg.node @pack (%x_ = %x : tensor<?x5x?x?xf32>) -> tensor<?x1x?x?x8xf32> {
    %p = cpu.pack %x_ {block = 8 : i64} : tensor<?x5x?x?xf32> -> tensor<?x1x?x?x8xf32>
    %y = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x1x?x?x8xf32> -> tensor<?x1x?x?x8xf32>
    dfg.yield %y : tensor<?x1x?x?x8xf32>
  }
  %1 = dfg.node @few (%x_ = %0 : tensor<?x1x?x?x8xf32>, %w_ = %w : tensor<1x3x3x8xf32>) -> tensor<?x1x?x?x8xf32> {
    %c = cpu.packed_depthwise %x_, %w_ {strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>} : (tensor<?x1x?x?x8xf32>, tensor<1x3x3x8xf32>) -> tensor<?x1x?x?x8xf32>
    %h = cpu.halo %c {pads = array<i64: 2, 2, 2, 2>} : tensor<?x1x?x?x8xf32> -> tensor<?x1x?x?x8xf32>
    dfg.yield %h : tensor<?x1x?x?x8xf32>
  }
  %2 = dfg.node @many (%x_ = %1 : tensor<?x1x?x?x8xf32>, %v_ = %v : tensor<1x5x5x8xf32>) -> tensor<?x1x?x?x8xf32> {
    %c = cpu.packed_depthwise %x_, %v_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x?x?x8xf32>, tensor<1x5x5x8xf32>) -> tensor<?x1x?x?x8xf32>
    dfg.yield %c : tensor<?x1x?x?x8xf32>
  }
  %r = dfg.node @unpack (%x_ = %2 : tensor<?x1x?x?x8xf32>) -> tensor<?x5x?x?xf32> {
    %u = cpu.unpack %x_ {channels = 5 : i64} : tensor<?x1x?x?x8xf32> -> tensor<?x5x?x?xf32>
    %y = nn.unary relu %u : tensor<?x5x?x?xf32> -> tensor<?x5x?x?xf32>
    dfg.yield %y : tensor<?x5x?x?xf32>
  }
  dfg.return %r : tensor<?x5x?x?xf32>
}

dfg.graph @pools(%x: tensor<?x2x?x?x8xf32>) -> (r: tensor<?x2x?x?x8xf32>, s: tensor<?x2x?x?x8xf32>, m: tensor<?x16xf32>) {
  %r = dfg.node @max (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %p = cpu.packed_pool max %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    %h = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %h : tensor<?x2x?x?x8xf32>
  }
  %s = dfg.node @mean (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x2x?x?x8xf32> {
    %p = cpu.packed_pool mean %x_ {kernel = array<i64: 2, 3>, strides = array<i64: 1, 2>, pads = array<i64: 1, 2, 0, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x?x?x8xf32> -> tensor<?x2x?x?x8xf32>
    dfg.yield %p : tensor<?x2x?x?x8xf32>
  }
  %m = dfg.node @planes (%x_ = %x : tensor<?x2x?x?x8xf32>) -> tensor<?x16xf32> {
    %p = cpu.packed_mean %x_ : tensor<?x2x?x?x8xf32> -> tensor<?x16xf32>
    dfg.yield %p : tensor<?x16xf32>
  }
  dfg.return %r, %s, %m : tensor<?x2x?x?x8xf32>, tensor<?x2x?x?x8xf32>, tensor<?x16xf32>
}

// A pair in strips of rows.
dfg.graph @separable(%x: tensor<?x3x?x?x8xf32>, %w: tensor<3x3x3x8xf32>, %v: tensor<4x3x1x1x8x8xf32>) -> (r: tensor<?x4x?x?x8xf32>) {
  %0 = dfg.node @pad (%x_ = %x : tensor<?x3x?x?x8xf32>) -> tensor<?x3x?x?x8xf32> {
    %y = cpu.halo %x_ {pads = array<i64: 1, 1, 1, 1>} : tensor<?x3x?x?x8xf32> -> tensor<?x3x?x?x8xf32>
    dfg.yield %y : tensor<?x3x?x?x8xf32>
  }
  %r = dfg.node @pair (%x_ = %0 : tensor<?x3x?x?x8xf32>, %w_ = %w : tensor<3x3x3x8xf32>, %v_ = %v : tensor<4x3x1x1x8x8xf32>) -> tensor<?x4x?x?x8xf32> {
    %d = cpu.packed_depthwise %x_, %w_ {strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?x8xf32>, tensor<3x3x3x8xf32>) -> tensor<?x3x?x?x8xf32>
    %a = nn.unary relu %d : tensor<?x3x?x?x8xf32> -> tensor<?x3x?x?x8xf32>
    %c = cpu.packed_conv %a, %v_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?x8xf32>, tensor<4x3x1x1x8x8xf32>) -> tensor<?x4x?x?x8xf32>
    %h = cpu.halo %c {pads = array<i64: 1, 1, 1, 1>} : tensor<?x4x?x?x8xf32> -> tensor<?x4x?x?x8xf32>
    dfg.yield %h : tensor<?x4x?x?x8xf32>
  }
  dfg.return %r : tensor<?x4x?x?x8xf32>
}
