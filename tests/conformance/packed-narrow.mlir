// Layers on blocked activations of bytes and bf16: sums of bytes are exact, what follows a layer changes the type in its stores, borders hold the
// zero point, and a result that is wanted in two forms is stored in both.

dfg.graph @bytes3(%x: tensor<?x2x9x11x16xi8>, %w: tensor<2x2x3x3x4x16x4xi8>, %b: tensor<2x16xi32>) -> (r: tensor<?x2x7x9x16xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x11x16xi8>, %w_ = %w : tensor<2x2x3x3x4x16x4xi8>, %b_ = %b : tensor<2x16xi32>) -> tensor<?x2x7x9x16xi32> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x9x11x16xi8>, tensor<2x2x3x3x4x16x4xi8>, tensor<2x16xi32>) -> tensor<?x2x7x9x16xi32>
    dfg.yield %c : tensor<?x2x7x9x16xi32>
  }
  dfg.return %r : tensor<?x2x7x9x16xi32>
}

// Pairs of bytes, groups and a stride; the sums are scaled and become bytes again, in a border of 7.
dfg.graph @pairs(%x: tensor<?x4x9x10x8xi8>, %w: tensor<4x2x3x3x4x8x2xi8>, %s: tensor<4x1x1x8xf32>) -> (r: tensor<?x4x6x6x8xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x4x9x10x8xi8>, %w_ = %w : tensor<4x2x3x3x4x8x2xi8>, %s_ = %s : tensor<4x1x1x8xf32>) -> tensor<?x4x6x6x8xi8> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<?x4x9x10x8xi8>, tensor<4x2x3x3x4x8x2xi8>) -> tensor<?x4x4x4x8xi32>
    %f = nn.cast %c : tensor<?x4x4x4x8xi32> -> tensor<?x4x4x4x8xf32>
    %m = nn.binary mul %f, %s_ : tensor<?x4x4x4x8xf32>, tensor<4x1x1x8xf32> -> tensor<?x4x4x4x8xf32>
    %one = arith.constant dense<3.0> : tensor<f32>
    %seven = arith.constant dense<7> : tensor<i8>
    %q = nn.quantize %m, %one, %seven {to = 1 : i32} : (tensor<?x4x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<?x4x4x4x8xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 1, 1, 1>, fill = 7 : i64} : tensor<?x4x4x4x8xi8> -> tensor<?x4x6x6x8xi8>
    dfg.yield %h : tensor<?x4x6x6x8xi8>
  }
  dfg.return %r : tensor<?x4x6x6x8xi8>
}

// One element in a step; both forms of the result are wanted.
dfg.graph @both(%x: tensor<?x1x5x6x4xi8>, %w: tensor<3x1x1x1x4x4x1xi8>) -> (f: tensor<?x3x5x6x4xf32>, q: tensor<?x3x7x7x4xi8>) {
  %r:2 = dfg.node @layer (%x_ = %x : tensor<?x1x5x6x4xi8>, %w_ = %w : tensor<3x1x1x1x4x4x1xi8>) -> (tensor<?x3x5x6x4xf32>, tensor<?x3x7x7x4xi8>) {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x5x6x4xi8>, tensor<3x1x1x1x4x4x1xi8>) -> tensor<?x3x5x6x4xi32>
    %f = nn.cast %c : tensor<?x3x5x6x4xi32> -> tensor<?x3x5x6x4xf32>
    %one = arith.constant dense<0.5> : tensor<f32>
    %zero = arith.constant dense<-56> : tensor<i8>
    %q = nn.quantize %f, %one, %zero {to = 1 : i32} : (tensor<?x3x5x6x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x3x5x6x4xi8>
    %h = cpu.halo %q {pads = array<i64: 1, 0, 1, 1>, fill = 200 : i64} : tensor<?x3x5x6x4xi8> -> tensor<?x3x7x7x4xi8>
    dfg.yield %f, %h : tensor<?x3x5x6x4xf32>, tensor<?x3x7x7x4xi8>
  }
  dfg.return %r#0, %r#1 : tensor<?x3x5x6x4xf32>, tensor<?x3x7x7x4xi8>
}

dfg.graph @bf16(%x: tensor<?x2x8x9x16xbf16>, %w: tensor<2x2x3x3x8x16x2xbf16>, %b: tensor<2x16xf32>) -> (r: tensor<?x2x6x7x16xbf16>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x8x9x16xbf16>, %w_ = %w : tensor<2x2x3x3x8x16x2xbf16>, %b_ = %b : tensor<2x16xf32>) -> tensor<?x2x6x7x16xbf16> {
    %c = cpu.packed_conv %x_, %w_, %b_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x8x9x16xbf16>, tensor<2x2x3x3x8x16x2xbf16>, tensor<2x16xf32>) -> tensor<?x2x6x7x16xf32>
    %a = nn.unary relu %c : tensor<?x2x6x7x16xf32> -> tensor<?x2x6x7x16xf32>
    %y = nn.cast %a : tensor<?x2x6x7x16xf32> -> tensor<?x2x6x7x16xbf16>
    dfg.yield %y : tensor<?x2x6x7x16xbf16>
  }
  dfg.return %r : tensor<?x2x6x7x16xbf16>
}

dfg.graph @product(%x: tensor<?x36xi8>, %w: tensor<3x9x16x4xi8>, %b: tensor<3x16xi32>) -> (r: tensor<?x41xi32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x36xi8>, %w_ = %w : tensor<3x9x16x4xi8>, %b_ = %b : tensor<3x16xi32>) -> tensor<?x41xi32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 41 : i64} : (tensor<?x36xi8>, tensor<3x9x16x4xi8>, tensor<3x16xi32>) -> tensor<?x41xi32>
    dfg.yield %c : tensor<?x41xi32>
  }
  dfg.return %r : tensor<?x41xi32>
}

dfg.graph @product_bf16(%x: tensor<?x20xbf16>, %w: tensor<2x10x16x2xbf16>) -> (r: tensor<?x32xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x20xbf16>, %w_ = %w : tensor<2x10x16x2xbf16>) -> tensor<?x32xf32> {
    %c = cpu.packed_matmul %x_, %w_ {columns = 32 : i64} : (tensor<?x20xbf16>, tensor<2x10x16x2xbf16>) -> tensor<?x32xf32>
    dfg.yield %c : tensor<?x32xf32>
  }
  dfg.return %r : tensor<?x32xf32>
}

dfg.graph @depthwise(%x: tensor<?x2x9x9x8xi8>, %w: tensor<2x3x3x8xf32>, %b: tensor<2x8xf32>) -> (r: tensor<?x2x4x4x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x9x9x8xi8>, %w_ = %w : tensor<2x3x3x8xf32>, %b_ = %b : tensor<2x8xf32>) -> tensor<?x2x4x4x8xf32> {
    %c = cpu.packed_depthwise %x_, %w_, %b_ {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x9x8xi8>, tensor<2x3x3x8xf32>, tensor<2x8xf32>) -> tensor<?x2x4x4x8xf32>
    dfg.yield %c : tensor<?x2x4x4x8xf32>
  }
  dfg.return %r : tensor<?x2x4x4x8xf32>
}

dfg.graph @depthwise_bf16(%x: tensor<?x1x8x8x16xbf16>, %w: tensor<1x5x5x16xf32>) -> (r: tensor<?x1x4x4x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x8x8x16xbf16>, %w_ = %w : tensor<1x5x5x16xf32>) -> tensor<?x1x4x4x16xf32> {
    %c = cpu.packed_depthwise %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x1x8x8x16xbf16>, tensor<1x5x5x16xf32>) -> tensor<?x1x4x4x16xf32>
    dfg.yield %c : tensor<?x1x4x4x16xf32>
  }
  dfg.return %r : tensor<?x1x4x4x16xf32>
}

dfg.graph @maximum(%x: tensor<?x2x7x7x16xi8>) -> (r: tensor<?x2x4x4x16xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x7x16xi8>) -> tensor<?x2x4x4x16xi8> {
    %c = cpu.packed_pool max %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x7x7x16xi8> -> tensor<?x2x4x4x16xi8>
    dfg.yield %c : tensor<?x2x4x4x16xi8>
  }
  dfg.return %r : tensor<?x2x4x4x16xi8>
}

dfg.graph @packed(%x: tensor<?x5x4x3xi8>) -> (r: tensor<?x2x6x5x4xi8>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x5x4x3xi8>) -> tensor<?x2x6x5x4xi8> {
    %c = cpu.pack %x_ {block = 4 : i64} : tensor<?x5x4x3xi8> -> tensor<?x2x4x3x4xi8>
    %h = cpu.halo %c {pads = array<i64: 1, 1, 1, 1>, fill = 130 : i64} : tensor<?x2x4x3x4xi8> -> tensor<?x2x6x5x4xi8>
    dfg.yield %h : tensor<?x2x6x5x4xi8>
  }
  dfg.return %r : tensor<?x2x6x5x4xi8>
}
