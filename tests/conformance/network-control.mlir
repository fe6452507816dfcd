// Branches and loops over a batch that is known only when the network runs, and layers that a batch must pass
// through whole.

dfg.graph @branch(%x: tensor<?x4xf32>) -> (y: tensor<?x4xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %1 = nn.reduce sum %a {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
    %2 = nn.binary gt %1, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %flag = tensor.extract %2[] : tensor<i1>
    %3 = scf.if %flag -> (tensor<?x4xf32>) {
      %4 = nn.unary relu %a : tensor<?x4xf32> -> tensor<?x4xf32>
      %5 = nn.softmax %4 {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
      scf.yield %5 : tensor<?x4xf32>
    } else {
      %4 = nn.unary neg %a : tensor<?x4xf32> -> tensor<?x4xf32>
      %5 = nn.softmax %4 {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
      scf.yield %5 : tensor<?x4xf32>
    }
    dfg.yield %3 : tensor<?x4xf32>
  }
  dfg.return %0 : tensor<?x4xf32>
}

// Sides of different extents, one of which is computed.
dfg.graph @branch_extents(%x: tensor<?x4xf32>) -> (y: tensor<?x4xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %1 = nn.reduce sum %a {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
    %2 = nn.binary gt %1, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %flag = tensor.extract %2[] : tensor<i1>
    %3 = scf.if %flag -> (tensor<?x4xf32>) {
      %4 = nn.unary relu %a : tensor<?x4xf32> -> tensor<?x4xf32>
      scf.yield %4 : tensor<?x4xf32>
    } else {
      %4 = nn.concat %a, %a {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      scf.yield %4 : tensor<?x4xf32>
    }
    %5 = nn.unary neg %3 : tensor<?x4xf32> -> tensor<?x4xf32>
    dfg.yield %5 : tensor<?x4xf32>
  }
  dfg.return %0 : tensor<?x4xf32>
}

// At most nine steps, fewer when the sum grows beyond 100.
dfg.graph @loop(%x: tensor<?x4xf32>) -> (y: tensor<?x4xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %most = arith.constant dense<100.0> : tensor<f32>
    %true = arith.constant true
    %1:3 = scf.while (%v = %a, %i = %c0, %going = %true) : (tensor<?x4xf32>, i64, i1) -> (tensor<?x4xf32>, i64, i1) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      %3 = arith.andi %2, %going : i1
      scf.condition(%3) %v, %i, %going : tensor<?x4xf32>, i64, i1
    } do {
    ^bb0(%v: tensor<?x4xf32>, %i: i64, %going: i1):
      %2 = nn.softmax %v {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
      %3 = nn.binary add %v, %2 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
      %4 = nn.reduce sum %3 {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
      %5 = nn.binary lt %4, %most : tensor<f32>, tensor<f32> -> tensor<i1>
      %6 = arith.addi %i, %c1 : i64
      %more = tensor.extract %5[] : tensor<i1>
      scf.yield %3, %6, %more : tensor<?x4xf32>, i64, i1
    }
    dfg.yield %1#0 : tensor<?x4xf32>
  }
  dfg.return %0 : tensor<?x4xf32>
}

// The same with a tensor from outside in each step, by way of a branch, and what each step was given kept for the
// next.
dfg.graph @loop_outside(%x: tensor<?x4xf32>) -> (y: tensor<?x4xf32>, was: tensor<?x4xf32>) {
  %0:2 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %most = arith.constant dense<100.0> : tensor<f32>
    %few = arith.constant dense<5.0> : tensor<f32>
    %true = arith.constant true
    %start = nn.softmax %a {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
    %1:4 = scf.while (%v = %start, %w = %a, %i = %c0, %going = %true) : (tensor<?x4xf32>, tensor<?x4xf32>, i64, i1) -> (tensor<?x4xf32>, tensor<?x4xf32>, i64, i1) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      %3 = arith.andi %2, %going : i1
      scf.condition(%3) %v, %w, %i, %going : tensor<?x4xf32>, tensor<?x4xf32>, i64, i1
    } do {
    ^bb0(%v: tensor<?x4xf32>, %w: tensor<?x4xf32>, %i: i64, %going: i1):
      %2 = nn.reduce sum %v {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
      %3 = nn.binary lt %2, %few : tensor<f32>, tensor<f32> -> tensor<i1>
      %flag = tensor.extract %3[] : tensor<i1>
      %4 = scf.if %flag -> (tensor<?x4xf32>) {
        %8 = nn.binary sub %v, %a : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
        scf.yield %8 : tensor<?x4xf32>
      } else {
        %8 = nn.binary add %w, %v : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
        scf.yield %8 : tensor<?x4xf32>
      }
      %5 = nn.reduce sum %4 {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
      %6 = nn.binary lt %5, %most : tensor<f32>, tensor<f32> -> tensor<i1>
      %7 = arith.addi %i, %c1 : i64
      %more = tensor.extract %6[] : tensor<i1>
      scf.yield %4, %v, %7, %more : tensor<?x4xf32>, tensor<?x4xf32>, i64, i1
    }
    dfg.yield %1#0, %1#1 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  dfg.return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// States of a loop and what they are combined with are inputs of their own, whose extents meet in each step.
dfg.graph @loop_inputs(%x: tensor<?x4xf32>, %h: tensor<?x4xf32>, %c: tensor<?x4xf32>) -> (y: tensor<?x4xf32>, z: tensor<?x4xf32>) {
  %0:2 = dfg.node @net (%a = %x : tensor<?x4xf32>, %p = %h : tensor<?x4xf32>, %q = %c : tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c5 = arith.constant 5 : i64
    %1:3 = scf.while (%v = %p, %w = %q, %i = %c0) : (tensor<?x4xf32>, tensor<?x4xf32>, i64) -> (tensor<?x4xf32>, tensor<?x4xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c5 : i64
      scf.condition(%2) %v, %w, %i : tensor<?x4xf32>, tensor<?x4xf32>, i64
    } do {
    ^bb0(%v: tensor<?x4xf32>, %w: tensor<?x4xf32>, %i: i64):
      %2 = nn.binary add %a, %v : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
      %3 = nn.unary tanh %2 : tensor<?x4xf32> -> tensor<?x4xf32>
      %4 = nn.binary mul %3, %w : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
      %5 = nn.softmax %4 {axis = 1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
      %6 = arith.addi %i, %c1 : i64
      scf.yield %5, %4, %6 : tensor<?x4xf32>, tensor<?x4xf32>, i64
    }
    dfg.yield %1#0, %1#1 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  dfg.return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// A loop in a loop; neither takes a step when the sum is above zero.
dfg.graph @loops(%x: tensor<?x4xf32>) -> (y: tensor<?x4xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c3 = arith.constant 3 : i64
    %zero = arith.constant dense<0.0> : tensor<f32>
    %sum = nn.reduce sum %a {axes = array<i64: 0, 1>} : tensor<?x4xf32> -> tensor<f32>
    %below = nn.binary lt %sum, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %going = tensor.extract %below[] : tensor<i1>
    %1:2 = scf.while (%v = %a, %i = %c0) : (tensor<?x4xf32>, i64) -> (tensor<?x4xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c3 : i64
      %3 = arith.andi %2, %going : i1
      scf.condition(%3) %v, %i : tensor<?x4xf32>, i64
    } do {
    ^bb0(%v: tensor<?x4xf32>, %i: i64):
      %2:2 = scf.while (%w = %v, %j = %c0) : (tensor<?x4xf32>, i64) -> (tensor<?x4xf32>, i64) {
        %4 = arith.cmpi slt, %j, %i : i64
        scf.condition(%4) %w, %j : tensor<?x4xf32>, i64
      } do {
      ^bb0(%w: tensor<?x4xf32>, %j: i64):
        %4 = nn.binary add %a, %w : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
        %5 = arith.addi %j, %c1 : i64
        scf.yield %4, %5 : tensor<?x4xf32>, i64
      }
      %3 = nn.binary add %2#0, %a : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
      %6 = arith.addi %i, %c1 : i64
      scf.yield %3, %6 : tensor<?x4xf32>, i64
    }
    %2 = nn.binary sub %1#0, %a : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    dfg.yield %2 : tensor<?x4xf32>
  }
  dfg.return %0 : tensor<?x4xf32>
}

// A dimension that becomes two open ones, within a branch.
dfg.graph @branch_view(%x: tensor<?x?xf32>) -> (y: tensor<?x1x?xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x?xf32>) -> tensor<?x1x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %a, %c0 : tensor<?x?xf32>
    %m = tensor.dim %a, %c1 : tensor<?x?xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %1 = nn.reduce sum %a {axes = array<i64: 0, 1>} : tensor<?x?xf32> -> tensor<f32>
    %2 = nn.binary gt %1, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %flag = tensor.extract %2[] : tensor<i1>
    %3 = scf.if %flag -> (tensor<?x1x?xf32>) {
      %4 = nn.reshape %a extents %n, %m : tensor<?x?xf32> -> tensor<?x1x?xf32>
      %5 = nn.unary neg %4 : tensor<?x1x?xf32> -> tensor<?x1x?xf32>
      scf.yield %5 : tensor<?x1x?xf32>
    } else {
      %4 = nn.reshape %a extents %n, %m : tensor<?x?xf32> -> tensor<?x1x?xf32>
      %5 = nn.unary exp %4 : tensor<?x1x?xf32> -> tensor<?x1x?xf32>
      scf.yield %5 : tensor<?x1x?xf32>
    }
    dfg.yield %3 : tensor<?x1x?xf32>
  }
  dfg.return %0 : tensor<?x1x?xf32>
}

// Weights times rows whose length is open.
dfg.graph @open_columns(%x: tensor<?x4xf32>) -> (y: tensor<?x5xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x4xf32>) -> tensor<?x5xf32> {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tensor.dim %a, %c0 : tensor<?x4xf32>
    %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, 0.5, 2.5, 1.5, 0.0], [3.0, 1.0, 0.25, -2.0, 1.0], [0.5, -0.5, 0.75, 2.0, -3.0]]> : tensor<4x5xf32>
    %1 = nn.reshape %a extents %n, %c4 : tensor<?x4xf32> -> tensor<?x?xf32>
    %2 = nn.unary relu %1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %3 = nn.matmul %2, %w : tensor<?x?xf32>, tensor<4x5xf32> -> tensor<?x5xf32>
    dfg.yield %3 : tensor<?x5xf32>
  }
  dfg.return %0 : tensor<?x5xf32>
}

dfg.graph @classify(%x: tensor<?x10xf32>) -> (y: tensor<?xi64>) {
  %0 = dfg.node @net (%a = %x : tensor<?x10xf32>) -> tensor<?xi64> {
    %1 = nn.softmax %a {axis = 1 : i64} : tensor<?x10xf32> -> tensor<?x10xf32>
    %2 = nn.arg_reduce %1 {axis = 1 : i64} : tensor<?x10xf32> -> tensor<?xi64>
    dfg.yield %2 : tensor<?xi64>
  }
  dfg.return %0 : tensor<?xi64>
}

// As Keras has it: channels last outside.
dfg.graph @transposed_convolution(%x: tensor<?x5x6x3xf32>, %w: tensor<3x4x3x3xf32>, %b: tensor<4xf32>) -> (y: tensor<?x7x8x4xf32>) {
  %0 = dfg.node @net (%a = %x : tensor<?x5x6x3xf32>, %w_ = %w : tensor<3x4x3x3xf32>, %b_ = %b : tensor<4xf32>) -> tensor<?x7x8x4xf32> {
    %1 = nn.transpose %a {permutation = array<i64: 0, 3, 1, 2>} : tensor<?x5x6x3xf32> -> tensor<?x3x5x6xf32>
    %2 = nn.conv_transpose %1, %w_, %b_ {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x3x5x6xf32>, tensor<3x4x3x3xf32>, tensor<4xf32>) -> tensor<?x4x7x8xf32>
    %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : tensor<?x4x7x8xf32> -> tensor<?x7x8x4xf32>
    dfg.yield %3 : tensor<?x7x8x4xf32>
  }
  dfg.return %0 : tensor<?x7x8x4xf32>
}
