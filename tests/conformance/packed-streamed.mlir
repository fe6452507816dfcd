// More weights than the caches near by hold: they are asked for ahead.
dfg.graph @streamed(%x: tensor<?x32x1x1x32xbf16>, %w: tensor<17x32x1x1x16x32x2xbf16>) -> (r: tensor<?x17x1x1x32xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x32x1x1x32xbf16>, %w_ = %w : tensor<17x32x1x1x16x32x2xbf16>) -> tensor<?x17x1x1x32xf32> {
    %c = cpu.packed_conv %x_, %w_ {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x32x1x1x32xbf16>, tensor<17x32x1x1x16x32x2xbf16>) -> tensor<?x17x1x1x32xf32>
    dfg.yield %c : tensor<?x17x1x1x32xf32>
  }
  dfg.return %r : tensor<?x17x1x1x32xf32>
}
