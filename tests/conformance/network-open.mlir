// Layers with open extents in every place, at the sizes where something has gone wrong.

// A tile of the rows, whose last one is smaller, needs memory of its own.
dfg.graph @prefixes_from_behind(%x: tensor<?x3x3xf64>) -> (y: tensor<?x3x3xf64>) {
  %0 = dfg.node @net (%a = %x : tensor<?x3x3xf64>) -> tensor<?x3x3xf64> {
    %1 = nn.cumulative sum %a {axis = 1 : i64, reverse} : tensor<?x3x3xf64> -> tensor<?x3x3xf64>
    dfg.yield %1 : tensor<?x3x3xf64>
  }
  dfg.return %0 : tensor<?x3x3xf64>
}

// No repetitions: nothing is left, however many rows there are.
dfg.graph @tile_by_zero(%x: tensor<4x?x4xf32>) -> (y: tensor<8x0x12xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<4x?x4xf32>) -> tensor<8x0x12xf32> {
    %1 = nn.tile %a {repeats = array<i64: 2, 0, 3>} : tensor<4x?x4xf32> -> tensor<8x?x12xf32>
    %2 = tensor.cast %1 : tensor<8x?x12xf32> to tensor<8x0x12xf32>
    dfg.yield %2 : tensor<8x0x12xf32>
  }
  dfg.return %0 : tensor<8x0x12xf32>
}
