// Depthwise convolutions with the pointwise ones behind them, in strips; pools as part of a convolution's stores. Odd extents, strides, borders.

dfg.graph @separable(%x: tensor<?x3x19x17x16xf32>, %w: tensor<3x3x3x16xf32>, %b: tensor<3x16xf32>, %v: tensor<4x3x1x1x16x16xf32>, %e: tensor<4x16xf32>) -> (r: tensor<?x4x19x17x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x19x17x16xf32>, %w_ = %w : tensor<3x3x3x16xf32>, %b_ = %b : tensor<3x16xf32>, %v_ = %v : tensor<4x3x1x1x16x16xf32>, %e_ = %e : tensor<4x16xf32>) -> tensor<?x4x19x17x16xf32> {
    %d = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x19x17x16xf32>, tensor<3x3x3x16xf32>, tensor<3x16xf32>) -> tensor<?x3x17x15x16xf32>
    %a = nn.activation clip %d {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<?x3x17x15x16xf32> -> tensor<?x3x17x15x16xf32>
    %p = cpu.packed_conv %a, %v_, %e_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x17x15x16xf32>, tensor<4x3x1x1x16x16xf32>, tensor<4x16xf32>) -> tensor<?x4x17x15x16xf32>
    %z = nn.unary relu %p : tensor<?x4x17x15x16xf32> -> tensor<?x4x17x15x16xf32>
    %h = cpu.halo %z {pads = array<i64: 1, 1, 1, 1>} : tensor<?x4x17x15x16xf32> -> tensor<?x4x19x17x16xf32>
    dfg.yield %h : tensor<?x4x19x17x16xf32>
  }
  dfg.return %r : tensor<?x4x19x17x16xf32>
}

dfg.graph @separable2(%x: tensor<?x2x23x22x8xf32>, %w: tensor<2x3x3x8xf32>, %b: tensor<2x8xf32>, %v: tensor<3x2x1x1x8x8xf32>, %e: tensor<3x8xf32>) -> (r: tensor<?x3x11x10x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x23x22x8xf32>, %w_ = %w : tensor<2x3x3x8xf32>, %b_ = %b : tensor<2x8xf32>, %v_ = %v : tensor<3x2x1x1x8x8xf32>, %e_ = %e : tensor<3x8xf32>) -> tensor<?x3x11x10x8xf32> {
    %d = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x23x22x8xf32>, tensor<2x3x3x8xf32>, tensor<2x8xf32>) -> tensor<?x2x11x10x8xf32>
    %a = nn.activation clip %d {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<?x2x11x10x8xf32> -> tensor<?x2x11x10x8xf32>
    %p = cpu.packed_conv %a, %v_, %e_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x11x10x8xf32>, tensor<3x2x1x1x8x8xf32>, tensor<3x8xf32>) -> tensor<?x3x11x10x8xf32>
    %z = nn.unary relu %p : tensor<?x3x11x10x8xf32> -> tensor<?x3x11x10x8xf32>
    dfg.yield %z : tensor<?x3x11x10x8xf32>
  }
  dfg.return %r : tensor<?x3x11x10x8xf32>
}

dfg.graph @separable5(%x: tensor<?x2x16x15x4xf32>, %w: tensor<2x5x5x4xf32>, %b: tensor<2x4xf32>, %v: tensor<5x2x1x1x4x16xf32>, %e: tensor<5x16xf32>) -> (r: tensor<?x5x10x7x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x16x15x4xf32>, %w_ = %w : tensor<2x5x5x4xf32>, %b_ = %b : tensor<2x4xf32>, %v_ = %v : tensor<5x2x1x1x4x16xf32>, %e_ = %e : tensor<5x16xf32>) -> tensor<?x5x10x7x16xf32> {
    %d = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 2>, dilations = array<i64: 2, 1>} : (tensor<?x2x16x15x4xf32>, tensor<2x5x5x4xf32>, tensor<2x4xf32>) -> tensor<?x2x8x6x4xf32>
    %a = nn.activation clip %d {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<?x2x8x6x4xf32> -> tensor<?x2x8x6x4xf32>
    %p = cpu.packed_conv %a, %v_, %e_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x8x6x4xf32>, tensor<5x2x1x1x4x16xf32>, tensor<5x16xf32>) -> tensor<?x5x8x6x16xf32>
    %z = nn.unary relu %p : tensor<?x5x8x6x16xf32> -> tensor<?x5x8x6x16xf32>
    %h = cpu.halo %z {pads = array<i64: 0, 1, 2, 0>} : tensor<?x5x8x6x16xf32> -> tensor<?x5x10x7x16xf32>
    dfg.yield %h : tensor<?x5x10x7x16xf32>
  }
  dfg.return %r : tensor<?x5x10x7x16xf32>
}

dfg.graph @separable_residual(%x: tensor<?x4x11x13x16xf32>, %w: tensor<4x3x3x16xf32>, %b: tensor<4x16xf32>, %v: tensor<2x4x1x1x16x16xf32>, %e: tensor<2x16xf32>, %s: tensor<?x2x9x11x16xf32>) -> (r: tensor<?x2x9x11x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x11x13x16xf32>, %w_ = %w : tensor<4x3x3x16xf32>, %b_ = %b : tensor<4x16xf32>, %v_ = %v : tensor<2x4x1x1x16x16xf32>, %e_ = %e : tensor<2x16xf32>, %s_ = %s : tensor<?x2x9x11x16xf32>) -> tensor<?x2x9x11x16xf32> {
    %d = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x11x13x16xf32>, tensor<4x3x3x16xf32>, tensor<4x16xf32>) -> tensor<?x4x9x11x16xf32>
    %a = nn.activation clip %d {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<?x4x9x11x16xf32> -> tensor<?x4x9x11x16xf32>
    %p = cpu.packed_conv %a, %v_, %e_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x9x11x16xf32>, tensor<2x4x1x1x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x9x11x16xf32>
    %q = nn.binary add %p, %s_ : tensor<?x2x9x11x16xf32>, tensor<?x2x9x11x16xf32> -> tensor<?x2x9x11x16xf32>
    %z = nn.unary relu %q : tensor<?x2x9x11x16xf32> -> tensor<?x2x9x11x16xf32>
    dfg.yield %z : tensor<?x2x9x11x16xf32>
  }
  dfg.return %r : tensor<?x2x9x11x16xf32>
}

dfg.graph @separable_plain(%x: tensor<?x1x9x30x16xf32>, %w: tensor<1x3x3x16xf32>, %b: tensor<1x16xf32>, %v: tensor<2x1x1x1x16x8xf32>, %e: tensor<2x8xf32>) -> (r: tensor<?x2x7x28x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x30x16xf32>, %w_ = %w : tensor<1x3x3x16xf32>, %b_ = %b : tensor<1x16xf32>, %v_ = %v : tensor<2x1x1x1x16x8xf32>, %e_ = %e : tensor<2x8xf32>) -> tensor<?x2x7x28x8xf32> {
    %d = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x9x30x16xf32>, tensor<1x3x3x16xf32>, tensor<1x16xf32>) -> tensor<?x1x7x28x16xf32>
    %p = cpu.packed_conv %d, %v_, %e_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x7x28x16xf32>, tensor<2x1x1x1x16x8xf32>, tensor<2x8xf32>) -> tensor<?x2x7x28x8xf32>
    %z = nn.unary relu %p : tensor<?x2x7x28x8xf32> -> tensor<?x2x7x28x8xf32>
    dfg.yield %z : tensor<?x2x7x28x8xf32>
  }
  dfg.return %r : tensor<?x2x7x28x8xf32>
}

dfg.graph @pooled(%x: tensor<?x2x13x16x8xf32>, %w: tensor<4x2x3x3x8x16xf32>, %b: tensor<4x16xf32>) -> (r: tensor<?x4x7x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x13x16x8xf32>, %w_ = %w : tensor<4x2x3x3x8x16xf32>, %b_ = %b : tensor<4x16xf32>) -> tensor<?x4x7x9x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x13x16x8xf32>, tensor<4x2x3x3x8x16xf32>, tensor<4x16xf32>) -> tensor<?x4x11x14x16xf32>
    %a = nn.unary relu %c : tensor<?x4x11x14x16xf32> -> tensor<?x4x11x14x16xf32>
    %p = cpu.packed_pool max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x4x11x14x16xf32> -> tensor<?x4x5x7x16xf32>
    %h = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x4x5x7x16xf32> -> tensor<?x4x7x9x16xf32>
    dfg.yield %h : tensor<?x4x7x9x16xf32>
  }
  dfg.return %r : tensor<?x4x7x9x16xf32>
}

dfg.graph @pooled_mean(%x: tensor<?x3x12x9x16xf32>, %w: tensor<2x3x1x1x16x16xf32>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x6x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x3x12x9x16xf32>, %w_ = %w : tensor<2x3x1x1x16x16xf32>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x6x4x16xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x12x9x16xf32>, tensor<2x3x1x1x16x16xf32>, tensor<2x16xf32>) -> tensor<?x2x12x9x16xf32>
    %a = nn.unary relu %c : tensor<?x2x12x9x16xf32> -> tensor<?x2x12x9x16xf32>
    %p = cpu.packed_pool mean %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x2x12x9x16xf32> -> tensor<?x2x6x4x16xf32>
    %t = nn.unary neg %p : tensor<?x2x6x4x16xf32> -> tensor<?x2x6x4x16xf32>
    dfg.yield %t : tensor<?x2x6x4x16xf32>
  }
  dfg.return %r : tensor<?x2x6x4x16xf32>
}

dfg.graph @pooled_strided(%x: tensor<?x1x29x31x4xf32>, %w: tensor<3x1x5x5x4x8xf32>, %b: tensor<3x8xf32>) -> (r: tensor<?x3x4x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x29x31x4xf32>, %w_ = %w : tensor<3x1x5x5x4x8xf32>, %b_ = %b : tensor<3x8xf32>) -> tensor<?x3x4x7x8xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x1x29x31x4xf32>, tensor<3x1x5x5x4x8xf32>, tensor<3x8xf32>) -> tensor<?x3x13x14x8xf32>
    %a = nn.unary relu %c : tensor<?x3x13x14x8xf32> -> tensor<?x3x13x14x8xf32>
    %p = cpu.packed_pool max %a {kernel = array<i64: 3, 2>, strides = array<i64: 3, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x3x13x14x8xf32> -> tensor<?x3x4x7x8xf32>
    dfg.yield %p : tensor<?x3x4x7x8xf32>
  }
  dfg.return %r : tensor<?x3x4x7x8xf32>
}

dfg.graph @pooled_groups(%x: tensor<?x4x10x11x8xf32>, %w: tensor<4x2x3x3x8x8xf32>, %b: tensor<4x8xf32>) -> (r: tensor<?x4x4x4x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x10x11x8xf32>, %w_ = %w : tensor<4x2x3x3x8x8xf32>, %b_ = %b : tensor<4x8xf32>) -> tensor<?x4x4x4x8xf32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x10x11x8xf32>, tensor<4x2x3x3x8x8xf32>, tensor<4x8xf32>) -> tensor<?x4x8x9x8xf32>
    %a = nn.unary relu %c : tensor<?x4x8x9x8xf32> -> tensor<?x4x8x9x8xf32>
    %p = cpu.packed_pool min %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x4x8x9x8xf32> -> tensor<?x4x4x4x8xf32>
    dfg.yield %p : tensor<?x4x4x4x8xf32>
  }
  dfg.return %r : tensor<?x4x4x4x8xf32>
}
