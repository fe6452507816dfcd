// Layers on narrow blocked activations as products of matrices: blocks as wide as a tile's row and narrower ones, taps side by side in one row,
// tiles that begin earlier than their place to be full, several rows of a small plane, products with few and many rows, the way through every kind of store.

// Four tiles of channels in a block, stored as bytes in a border of 100.
dfg.graph @wide(%x: tensor<?x1x9x11x64xi8>, %w: tensor<1x1x3x3x16x64x4xi8>, %b: tensor<1x64xi32>) -> (r: tensor<?x1x9x11x64xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x11x64xi8>, %w_ = %w : tensor<1x1x3x3x16x64x4xi8>, %b_ = %b : tensor<1x64xi32>) -> tensor<?x1x9x11x64xi8> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x9x11x64xi8>, tensor<1x1x3x3x16x64x4xi8>, tensor<1x64xi32>) -> tensor<?x1x7x9x64xi32>
    %f = nn.cast %c : tensor<?x1x7x9x64xi32> -> tensor<?x1x7x9x64xf32>
    %scale = arith.constant dense<512.0> : tensor<f32>
    %zero = arith.constant dense<100> : tensor<i8>
    %q = nn.quantize %f, %scale, %zero {to = 1 : i32} : (tensor<?x1x7x9x64xf32>, tensor<f32>, tensor<i8>) -> tensor<?x1x7x9x64xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 100 : i64} : tensor<?x1x7x9x64xi8> -> tensor<?x1x9x11x64xi8>
    dfg.yield %h : tensor<?x1x9x11x64xi8>
  }
  dfg.return %r : tensor<?x1x9x11x64xi8>
}

// 49 places in one row: the last tile begins three places early.
dfg.graph @pointwise(%x: tensor<?x2x7x7x64xi8>, %w: tensor<3x2x1x1x16x16x4xi8>, %b: tensor<3x16xi32>) -> (r: tensor<?x3x7x7x16xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x7x64xi8>, %w_ = %w : tensor<3x2x1x1x16x16x4xi8>, %b_ = %b : tensor<3x16xi32>) -> tensor<?x3x7x7x16xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x7x7x64xi8>, tensor<3x2x1x1x16x16x4xi8>, tensor<3x16xi32>) -> tensor<?x3x7x7x16xi32>
    dfg.yield %c : tensor<?x3x7x7x16xi32>
  }
  dfg.return %r : tensor<?x3x7x7x16xi32>
}

// The same with a border, so rows stay rows.
dfg.graph @pointwise_border(%x: tensor<?x1x5x20x64xi8>, %w: tensor<1x1x1x1x16x64x4xi8>, %b: tensor<1x64xi32>) -> (r: tensor<?x1x7x22x64xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x5x20x64xi8>, %w_ = %w : tensor<1x1x1x1x16x64x4xi8>, %b_ = %b : tensor<1x64xi32>) -> tensor<?x1x7x22x64xi8> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x5x20x64xi8>, tensor<1x1x1x1x16x64x4xi8>, tensor<1x64xi32>) -> tensor<?x1x5x20x64xi32>
    %f = nn.cast %c : tensor<?x1x5x20x64xi32> -> tensor<?x1x5x20x64xf32>
    %scale = arith.constant dense<512.0> : tensor<f32>
    %zero = arith.constant dense<100> : tensor<i8>
    %q = nn.quantize %f, %scale, %zero {to = 1 : i32} : (tensor<?x1x5x20x64xf32>, tensor<f32>, tensor<i8>) -> tensor<?x1x5x20x64xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 100 : i64} : tensor<?x1x5x20x64xi8> -> tensor<?x1x7x22x64xi8>
    dfg.yield %h : tensor<?x1x7x22x64xi8>
  }
  dfg.return %r : tensor<?x1x7x22x64xi8>
}

dfg.graph @strided(%x: tensor<?x1x11x41x32xi8>, %w: tensor<2x1x3x3x8x32x4xi8>) -> (r: tensor<?x2x5x20x32xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x11x41x32xi8>, %w_ = %w : tensor<2x1x3x3x8x32x4xi8>) -> tensor<?x2x5x20x32xi32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x11x41x32xi8>, tensor<2x1x3x3x8x32x4xi8>) -> tensor<?x2x5x20x32xi32>
    dfg.yield %c : tensor<?x2x5x20x32xi32>
  }
  dfg.return %r : tensor<?x2x5x20x32xi32>
}

// Taps that are not neighbours take a step each.
dfg.graph @dilated(%x: tensor<?x1x12x12x64xi8>, %w: tensor<1x1x3x3x16x16x4xi8>, %b: tensor<1x16xi32>) -> (r: tensor<?x1x8x8x16xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x12x12x64xi8>, %w_ = %w : tensor<1x1x3x3x16x16x4xi8>, %b_ = %b : tensor<1x16xi32>) -> tensor<?x1x8x8x16xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<?x1x12x12x64xi8>, tensor<1x1x3x3x16x16x4xi8>, tensor<1x16xi32>) -> tensor<?x1x8x8x16xi32>
    dfg.yield %c : tensor<?x1x8x8x16xi32>
  }
  dfg.return %r : tensor<?x1x8x8x16xi32>
}

dfg.graph @grouped(%x: tensor<?x4x6x8x16xi8>, %w: tensor<4x2x3x3x4x16x4xi8>) -> (r: tensor<?x4x6x8x16xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x6x8x16xi8>, %w_ = %w : tensor<4x2x3x3x4x16x4xi8>) -> tensor<?x4x6x8x16xi8> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x6x8x16xi8>, tensor<4x2x3x3x4x16x4xi8>) -> tensor<?x4x4x6x16xi32>
    %f = nn.cast %c : tensor<?x4x4x6x16xi32> -> tensor<?x4x4x6x16xf32>
    %scale = arith.constant dense<512.0> : tensor<f32>
    %zero = arith.constant dense<100> : tensor<i8>
    %q = nn.quantize %f, %scale, %zero {to = 1 : i32} : (tensor<?x4x4x6x16xf32>, tensor<f32>, tensor<i8>) -> tensor<?x4x4x6x16xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 100 : i64} : tensor<?x4x4x6x16xi8> -> tensor<?x4x6x8x16xi8>
    dfg.yield %h : tensor<?x4x6x8x16xi8>
  }
  dfg.return %r : tensor<?x4x6x8x16xi8>
}

// An image of few channels: the taps of a row of the window are one step.
dfg.graph @image(%x: tensor<?x1x18x37x4xi8>, %w: tensor<2x1x7x7x1x16x4xi8>, %b: tensor<2x16xi32>) -> (r: tensor<?x2x6x16x16xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x18x37x4xi8>, %w_ = %w : tensor<2x1x7x7x1x16x4xi8>, %b_ = %b : tensor<2x16xi32>) -> tensor<?x2x6x16x16xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x18x37x4xi8>, tensor<2x1x7x7x1x16x4xi8>, tensor<2x16xi32>) -> tensor<?x2x6x16x16xi32>
    dfg.yield %c : tensor<?x2x6x16x16xi32>
  }
  dfg.return %r : tensor<?x2x6x16x16xi32>
}

// Several rows of a small plane.
dfg.graph @small(%x: tensor<?x2x6x6x64xi8>, %w: tensor<3x2x3x3x16x16x4xi8>, %b: tensor<3x16xi32>) -> (r: tensor<?x3x4x4x16xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x6x6x64xi8>, %w_ = %w : tensor<3x2x3x3x16x16x4xi8>, %b_ = %b : tensor<3x16xi32>) -> tensor<?x3x4x4x16xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x6x6x64xi8>, tensor<3x2x3x3x16x16x4xi8>, tensor<3x16xi32>) -> tensor<?x3x4x4x16xi32>
    dfg.yield %c : tensor<?x3x4x4x16xi32>
  }
  dfg.return %r : tensor<?x3x4x4x16xi32>
}

// Fewer channels than a tile has columns.
dfg.graph @eight(%x: tensor<?x1x6x19x8xi8>, %w: tensor<1x1x5x5x2x8x4xi8>, %b: tensor<1x8xi32>) -> (r: tensor<?x1x2x15x8xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x6x19x8xi8>, %w_ = %w : tensor<1x1x5x5x2x8x4xi8>, %b_ = %b : tensor<1x8xi32>) -> tensor<?x1x2x15x8xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x6x19x8xi8>, tensor<1x1x5x5x2x8x4xi8>, tensor<1x8xi32>) -> tensor<?x1x2x15x8xi32>
    dfg.yield %c : tensor<?x1x2x15x8xi32>
  }
  dfg.return %r : tensor<?x1x2x15x8xi32>
}

dfg.graph @halves(%x: tensor<?x1x9x18x32xbf16>, %w: tensor<1x1x3x3x16x32x2xbf16>, %b: tensor<1x32xf32>) -> (r: tensor<?x1x7x16x32xbf16>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x18x32xbf16>, %w_ = %w : tensor<1x1x3x3x16x32x2xbf16>, %b_ = %b : tensor<1x32xf32>) -> tensor<?x1x7x16x32xbf16> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x9x18x32xbf16>, tensor<1x1x3x3x16x32x2xbf16>, tensor<1x32xf32>) -> tensor<?x1x7x16x32xf32>
    %a = nn.unary relu %c : tensor<?x1x7x16x32xf32> -> tensor<?x1x7x16x32xf32>
    %q = nn.cast %a : tensor<?x1x7x16x32xf32> -> tensor<?x1x7x16x32xbf16>
    dfg.yield %q : tensor<?x1x7x16x32xbf16>
  }
  dfg.return %r : tensor<?x1x7x16x32xbf16>
}

// A block that is two steps wide.
dfg.graph @halves_pointwise(%x: tensor<?x1x9x9x64xbf16>, %w: tensor<1x1x1x1x32x64x2xbf16>) -> (r: tensor<?x1x9x9x64xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x9x64xbf16>, %w_ = %w : tensor<1x1x1x1x32x64x2xbf16>) -> tensor<?x1x9x9x64xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x9x9x64xbf16>, tensor<1x1x1x1x32x64x2xbf16>) -> tensor<?x1x9x9x64xf32>
    dfg.yield %c : tensor<?x1x9x9x64xf32>
  }
  dfg.return %r : tensor<?x1x9x9x64xf32>
}

// A row that does not divide into whole tiles, panels that are left over, and columns.
dfg.graph @product(%x: tensor<?x784xi8>, %w: tensor<5x196x16x4xi8>, %b: tensor<5x16xi32>) -> (r: tensor<?x75xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x784xi8>, %w_ = %w : tensor<5x196x16x4xi8>, %b_ = %b : tensor<5x16xi32>) -> tensor<?x75xi32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 75 : i64} : (tensor<?x784xi8>, tensor<5x196x16x4xi8>, tensor<5x16xi32>) -> tensor<?x75xi32>
    dfg.yield %c : tensor<?x75xi32>
  }
  dfg.return %r : tensor<?x75xi32>
}

dfg.graph @product_halves(%x: tensor<?x96xbf16>, %w: tensor<4x48x16x2xbf16>) -> (r: tensor<?x64xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x96xbf16>, %w_ = %w : tensor<4x48x16x2xbf16>) -> tensor<?x64xf32> {
    %c = cpu.packed_matmul %x_, %w_ {columns = 64 : i64} : (tensor<?x96xbf16>, tensor<4x48x16x2xbf16>) -> tensor<?x64xf32>
    dfg.yield %c : tensor<?x64xf32>
  }
  dfg.return %r : tensor<?x64xf32>
}

// 127 steps do not divide: vectors.
dfg.graph @product_prime(%x: tensor<?x508xi8>, %w: tensor<1x127x16x4xi8>, %b: tensor<1x16xi32>) -> (r: tensor<?x10xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x508xi8>, %w_ = %w : tensor<1x127x16x4xi8>, %b_ = %b : tensor<1x16xi32>) -> tensor<?x10xi32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 10 : i64} : (tensor<?x508xi8>, tensor<1x127x16x4xi8>, tensor<1x16xi32>) -> tensor<?x10xi32>
    dfg.yield %c : tensor<?x10xi32>
  }
  dfg.return %r : tensor<?x10xi32>
}

// Planes of 2 x 2, in a border: with enough images these are the rows of tiles.
dfg.graph @images(%x: tensor<?x1x4x4x64xi8>, %w: tensor<1x1x3x3x16x64x4xi8>) -> (r: tensor<?x1x4x4x64xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x4x4x64xi8>, %w_ = %w : tensor<1x1x3x3x16x64x4xi8>) -> tensor<?x1x4x4x64xi8> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x4x4x64xi8>, tensor<1x1x3x3x16x64x4xi8>) -> tensor<?x1x2x2x64xi32>
    %f = nn.cast %c : tensor<?x1x2x2x64xi32> -> tensor<?x1x2x2x64xf32>
    %scale = arith.constant dense<300.0> : tensor<f32>
    %zero = arith.constant dense<100> : tensor<i8>
    %q = nn.quantize %f, %scale, %zero {to = 1 : i32} : (tensor<?x1x2x2x64xf32>, tensor<f32>, tensor<i8>) -> tensor<?x1x2x2x64xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 100 : i64} : tensor<?x1x2x2x64xi8> -> tensor<?x1x4x4x64xi8>
    dfg.yield %h : tensor<?x1x4x4x64xi8>
  }
  dfg.return %r : tensor<?x1x4x4x64xi8>
}

// Rows of ten places and the two between them are one long row, in two parts, and the border is somebody's.
dfg.graph @one_row(%x: tensor<?x1x42x12x4xi8>, %w: tensor<1x1x3x3x1x4x4xi8>) -> (r: tensor<?x1x42x12x4xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x42x12x4xi8>, %w_ = %w : tensor<1x1x3x3x1x4x4xi8>) -> tensor<?x1x42x12x4xi8> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x42x12x4xi8>, tensor<1x1x3x3x1x4x4xi8>) -> tensor<?x1x40x10x4xi32>
    %f = nn.cast %c : tensor<?x1x40x10x4xi32> -> tensor<?x1x40x10x4xf32>
    %scale = arith.constant dense<300.0> : tensor<f32>
    %zero = arith.constant dense<100> : tensor<i8>
    %q = nn.quantize %f, %scale, %zero {to = 1 : i32} : (tensor<?x1x40x10x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x1x40x10x4xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 100 : i64} : tensor<?x1x40x10x4xi8> -> tensor<?x1x42x12x4xi8>
    dfg.yield %h : tensor<?x1x42x12x4xi8>
  }
  dfg.return %r : tensor<?x1x42x12x4xi8>
}

// Blocks for tiles in a layer by vectors: one after the other.
dfg.graph @depthwise_wide(%x: tensor<?x2x9x9x64xi8>, %w: tensor<2x3x3x64xf32>, %b: tensor<2x64xf32>) -> (r: tensor<?x2x4x4x64xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x9x64xi8>, %w_ = %w : tensor<2x3x3x64xf32>, %b_ = %b : tensor<2x64xf32>) -> tensor<?x2x4x4x64xf32> {
    %c = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x9x64xi8>, tensor<2x3x3x64xf32>, tensor<2x64xf32>) -> tensor<?x2x4x4x64xf32>
    dfg.yield %c : tensor<?x2x4x4x64xf32>
  }
  dfg.return %r : tensor<?x2x4x4x64xf32>
}

dfg.graph @depthwise_halves(%x: tensor<?x2x9x11x32xbf16>, %w: tensor<2x5x5x32xf32>) -> (r: tensor<?x2x7x9x32xbf16>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x11x32xbf16>, %w_ = %w : tensor<2x5x5x32xf32>) -> tensor<?x2x7x9x32xbf16> {
    %c = cpu.packed_depthwise %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x11x32xbf16>, tensor<2x5x5x32xf32>) -> tensor<?x2x5x7x32xf32>
    %q = nn.cast %c : tensor<?x2x5x7x32xf32> -> tensor<?x2x5x7x32xbf16>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x5x7x32xbf16> -> tensor<?x2x7x9x32xbf16>
    dfg.yield %h : tensor<?x2x7x9x32xbf16>
  }
  dfg.return %r : tensor<?x2x7x9x32xbf16>
}
