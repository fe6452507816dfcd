// Products with weights that are mostly zero: odd extents, borders, a block without weights, matrices.

dfg.graph @places(%x: tensor<?x2x7x9x8xf32>, %v: tensor<7x16xf32>, %b: tensor<3x16xf32>) -> (r: tensor<?x3x7x9x16xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x2x7x9x8xf32>, %v_ = %v : tensor<7x16xf32>, %b_ = %b : tensor<3x16xf32>) -> tensor<?x3x7x9x16xf32> {
    %channels = arith.constant dense<[0, 3, 15, 8, 1, 7, 9]> : tensor<7xi32>
    %starts = arith.constant dense<[0, 3, 3, 7]> : tensor<4xi32>
    %c = cpu.packed_sparse %x_, %v_, %channels, %starts, %b_ : (tensor<?x2x7x9x8xf32>, tensor<7x16xf32>, tensor<7xi32>, tensor<4xi32>, tensor<3x16xf32>) -> tensor<?x3x7x9x16xf32>
    %y = nn.unary relu %c : tensor<?x3x7x9x16xf32> -> tensor<?x3x7x9x16xf32>
    dfg.yield %y : tensor<?x3x7x9x16xf32>
  }
  dfg.return %r : tensor<?x3x7x9x16xf32>
}

dfg.graph @border(%x: tensor<?x1x9x8x16xf32>, %v: tensor<5x8xf32>, %s: tensor<?x2x5x6x8xf32>) -> (r: tensor<?x2x7x7x8xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x1x9x8x16xf32>, %v_ = %v : tensor<5x8xf32>, %s_ = %s : tensor<?x2x5x6x8xf32>) -> tensor<?x2x7x7x8xf32> {
    %channels = arith.constant dense<[2, 15, 0, 4, 5]> : tensor<5xi32>
    %starts = arith.constant dense<[0, 2, 5]> : tensor<3xi32>
    %x2 = cpu.crop %x_ {pads = array<i64: 1, 2, 3, 0>} : tensor<?x1x9x8x16xf32> -> tensor<?x1x5x6x16xf32>
    %c = cpu.packed_sparse %x2, %v_, %channels, %starts : (tensor<?x1x5x6x16xf32>, tensor<5x8xf32>, tensor<5xi32>, tensor<3xi32>) -> tensor<?x2x5x6x8xf32>
    %sum = nn.binary add %c, %s_ : tensor<?x2x5x6x8xf32>, tensor<?x2x5x6x8xf32> -> tensor<?x2x5x6x8xf32>
    %y = cpu.halo %sum {pads = array<i64: 1, 0, 1, 1>} : tensor<?x2x5x6x8xf32> -> tensor<?x2x7x7x8xf32>
    dfg.yield %y : tensor<?x2x7x7x8xf32>
  }
  dfg.return %r : tensor<?x2x7x7x8xf32>
}

dfg.graph @matrix(%x: tensor<?x37xf32>, %v: tensor<6x8xf32>, %b: tensor<4x8xf32>) -> (r: tensor<?x32xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x37xf32>, %v_ = %v : tensor<6x8xf32>, %b_ = %b : tensor<4x8xf32>) -> tensor<?x32xf32> {
    %channels = arith.constant dense<[36, 0, 5, 6, 7, 20]> : tensor<6xi32>
    %starts = arith.constant dense<[0, 1, 2, 6, 6]> : tensor<5xi32>
    %c = cpu.packed_sparse %x_, %v_, %channels, %starts, %b_ : (tensor<?x37xf32>, tensor<6x8xf32>, tensor<6xi32>, tensor<5xi32>, tensor<4x8xf32>) -> tensor<?x32xf32>
    %y = nn.unary relu %c : tensor<?x32xf32> -> tensor<?x32xf32>
    dfg.yield %y : tensor<?x32xf32>
  }
  dfg.return %r : tensor<?x32xf32>
}
