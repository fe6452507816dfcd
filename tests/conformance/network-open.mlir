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

// What both sides of a branch give has as many elements as the dimensions that they merged.
dfg.graph @branches_that_flatten(%x: tensor<2x?xf32>) -> (y: tensor<?xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<2x?xf32>) -> tensor<?xf32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %a, %c1 : tensor<2x?xf32>
    %count = arith.muli %n, %c2 : index
    %zero = arith.constant dense<0.0> : tensor<f32>
    %1 = nn.reduce sum %a {axes = array<i64: 0, 1>} : tensor<2x?xf32> -> tensor<f32>
    %2 = nn.binary gt %1, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %flag = tensor.extract %2[] : tensor<i1>
    %3 = scf.if %flag -> (tensor<?xf32>) {
      %4 = nn.unary abs %a : tensor<2x?xf32> -> tensor<2x?xf32>
      %5 = nn.reshape %4 extents %count : tensor<2x?xf32> -> tensor<?xf32>
      scf.yield %5 : tensor<?xf32>
    } else {
      %4 = nn.unary neg %a : tensor<2x?xf32> -> tensor<2x?xf32>
      %5 = nn.reshape %4 extents %count : tensor<2x?xf32> -> tensor<?xf32>
      scf.yield %5 : tensor<?xf32>
    }
    dfg.yield %3 : tensor<?xf32>
  }
  dfg.return %0 : tensor<?xf32>
}

// Places are found with two operands, of which the result takes none as it is.
dfg.graph @pool_with_places(%x: tensor<5x?x?xf64>) -> (y: tensor<5x?x?xf64>, i: tensor<5x?x?xi64>) {
  %0:2 = dfg.node @net (%a = %x : tensor<5x?x?xf64>) -> (tensor<5x?x?xf64>, tensor<5x?x?xi64>) {
    %1, %2 = nn.max_pool_indices %a {kernel = array<i64: 1>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<5x?x?xf64>) -> (tensor<5x?x?xf64>, tensor<5x?x?xi64>)
    dfg.yield %1, %2 : tensor<5x?x?xf64>, tensor<5x?x?xi64>
  }
  dfg.return %0#0, %0#1 : tensor<5x?x?xf64>, tensor<5x?x?xi64>
}
