// Products of matrices in any number of dimensions, of packed and of computed operands, and attention, whose scores
// are computed where they are read. Extents end within tiles and blocks.

// Rows in two dimensions, with what follows: a tensor of the same rows, one number for each of the inner ones, one row.
dfg.graph @rows(%x: tensor<?x?x37xf32>, %w: tensor<5x37x16xf32>, %b: tensor<5x16xf32>, %s: tensor<?x?x74xf32>, %p: tensor<?x1xf32>, %q: tensor<1x74xf32>) -> (r: tensor<?x?x74xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<?x?x37xf32>, %w_ = %w : tensor<5x37x16xf32>, %b_ = %b : tensor<5x16xf32>, %s_ = %s : tensor<?x?x74xf32>, %p_ = %p : tensor<?x1xf32>, %q_ = %q : tensor<1x74xf32>) -> tensor<?x?x74xf32> {
    %c = cpu.packed_matmul %x_, %w_, %b_ {columns = 74 : i64} : (tensor<?x?x37xf32>, tensor<5x37x16xf32>, tensor<5x16xf32>) -> tensor<?x?x74xf32>
    %d = nn.unary gelu %c : tensor<?x?x74xf32> -> tensor<?x?x74xf32>
    %e = nn.binary add %d, %s_ : tensor<?x?x74xf32>, tensor<?x?x74xf32> -> tensor<?x?x74xf32>
    %f = nn.binary mul %e, %p_ : tensor<?x?x74xf32>, tensor<?x1xf32> -> tensor<?x?x74xf32>
    %y = nn.binary add %f, %q_ : tensor<?x?x74xf32>, tensor<1x74xf32> -> tensor<?x?x74xf32>
    dfg.yield %y : tensor<?x?x74xf32>
  }
  dfg.return %r : tensor<?x?x74xf32>
}

// And in three, as bf16.
dfg.graph @rows_of_rows(%x: tensor<2x?x?x16xbf16>, %w: tensor<2x8x16x2xbf16>) -> (r: tensor<2x?x?x24xf32>) {
  %r = dfg.node @layer (%x_ = %x : tensor<2x?x?x16xbf16>, %w_ = %w : tensor<2x8x16x2xbf16>) -> tensor<2x?x?x24xf32> {
    %y = cpu.packed_matmul %x_, %w_ {columns = 24 : i64} : (tensor<2x?x?x16xbf16>, tensor<2x8x16x2xbf16>) -> tensor<2x?x?x24xf32>
    dfg.yield %y : tensor<2x?x?x24xf32>
  }
  dfg.return %r : tensor<2x?x?x24xf32>
}

// Every extent open, and some that no tile divides.
dfg.graph @open(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> (r: tensor<?x?x?xf32>) {
  %r = dfg.node @layer (%a_ = %a : tensor<?x?x?xf32>, %b_ = %b : tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
    %y = nn.matmul %a_, %b_ : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x?x?xf32>
    dfg.yield %y : tensor<?x?x?xf32>
  }
  dfg.return %r : tensor<?x?x?xf32>
}

dfg.graph @turned(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> (r: tensor<?x?x?xf32>) {
  %r = dfg.node @layer (%a_ = %a : tensor<?x?x?xf32>, %b_ = %b : tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
    %y = nn.matmul %a_, %b_ {transpose_b} : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x?x?xf32>
    dfg.yield %y : tensor<?x?x?xf32>
  }
  dfg.return %r : tensor<?x?x?xf32>
}

dfg.graph @shared(%a: tensor<2x3x?x33xf32>, %b: tensor<1x3x33x70xf32>) -> (r: tensor<2x3x?x70xf32>) {
  %r = dfg.node @layer (%a_ = %a : tensor<2x3x?x33xf32>, %b_ = %b : tensor<1x3x33x70xf32>) -> tensor<2x3x?x70xf32> {
    %y = nn.matmul %a_, %b_ : tensor<2x3x?x33xf32>, tensor<1x3x33x70xf32> -> tensor<2x3x?x70xf32>
    dfg.yield %y : tensor<2x3x?x70xf32>
  }
  dfg.return %r : tensor<2x3x?x70xf32>
}

dfg.graph @shared_turned(%a: tensor<2x1x35x300xf32>, %b: tensor<3x?x300xf32>) -> (r: tensor<2x3x35x?xf32>) {
  %r = dfg.node @layer (%a_ = %a : tensor<2x1x35x300xf32>, %b_ = %b : tensor<3x?x300xf32>) -> tensor<2x3x35x?xf32> {
    %y = nn.matmul %a_, %b_ {transpose_b} : tensor<2x1x35x300xf32>, tensor<3x?x300xf32> -> tensor<2x3x35x?xf32>
    dfg.yield %y : tensor<2x3x35x?xf32>
  }
  dfg.return %r : tensor<2x3x35x?xf32>
}

// A scale and a mask of each item between the products.
dfg.graph @attention(%q: tensor<2x3x?x24xf32>, %k: tensor<2x3x24x?xf32>, %v: tensor<2x3x?x40xf32>, %m: tensor<2x1x1x?xf32>) -> (r: tensor<2x3x?x40xf32>) {
  %r = dfg.node @layer (%q_ = %q : tensor<2x3x?x24xf32>, %k_ = %k : tensor<2x3x24x?xf32>, %v_ = %v : tensor<2x3x?x40xf32>, %m_ = %m : tensor<2x1x1x?xf32>) -> tensor<2x3x?x40xf32> {
    %s = nn.matmul %q_, %k_ : tensor<2x3x?x24xf32>, tensor<2x3x24x?xf32> -> tensor<2x3x?x?xf32>
    %n = arith.constant dense<0.25> : tensor<f32>
    %t = nn.binary mul %s, %n : tensor<2x3x?x?xf32>, tensor<f32> -> tensor<2x3x?x?xf32>
    %u = nn.binary add %t, %m_ : tensor<2x3x?x?xf32>, tensor<2x1x1x?xf32> -> tensor<2x3x?x?xf32>
    %p = nn.softmax %u {axis = 3 : i64} : tensor<2x3x?x?xf32> -> tensor<2x3x?x?xf32>
    %y = nn.matmul %p, %v_ : tensor<2x3x?x?xf32>, tensor<2x3x?x40xf32> -> tensor<2x3x?x40xf32>
    dfg.yield %y : tensor<2x3x?x40xf32>
  }
  dfg.return %r : tensor<2x3x?x40xf32>
}

// Keys of 130 take two blocks and a rest; the mask is one of bits.
dfg.graph @attention_bits(%q: tensor<?x17x16xf32>, %k: tensor<?x130x16xf32>, %v: tensor<?x130x16xf32>, %m: tensor<17x130xi1>) -> (r: tensor<?x17x16xf32>) {
  %r = dfg.node @layer (%q_ = %q : tensor<?x17x16xf32>, %k_ = %k : tensor<?x130x16xf32>, %v_ = %v : tensor<?x130x16xf32>, %m_ = %m : tensor<17x130xi1>) -> tensor<?x17x16xf32> {
    %s = nn.matmul %q_, %k_ {transpose_b} : tensor<?x17x16xf32>, tensor<?x130x16xf32> -> tensor<?x17x130xf32>
    %n = arith.constant dense<-1.0e+30> : tensor<f32>
    %u = nn.select %m_, %s, %n : tensor<17x130xi1>, tensor<?x17x130xf32>, tensor<f32> -> tensor<?x17x130xf32>
    %p = nn.softmax %u {axis = 2 : i64} : tensor<?x17x130xf32> -> tensor<?x17x130xf32>
    %y = nn.matmul %p, %v_ : tensor<?x17x130xf32>, tensor<?x130x16xf32> -> tensor<?x17x16xf32>
    dfg.yield %y : tensor<?x17x16xf32>
  }
  dfg.return %r : tensor<?x17x16xf32>
}

// Two heads for each of the keys, scores with a cap.
dfg.graph @grouped(%q: tensor<?x4x?x24xf32>, %k: tensor<?x2x70x24xf32>, %v: tensor<?x2x70x20xf32>, %m: tensor<4x?x70xf32>) -> (r: tensor<?x4x?x20xf32>) {
  %r = dfg.node @layer (%q_ = %q : tensor<?x4x?x24xf32>, %k_ = %k : tensor<?x2x70x24xf32>, %v_ = %v : tensor<?x2x70x20xf32>, %m_ = %m : tensor<4x?x70xf32>) -> tensor<?x4x?x20xf32> {
    %y = nn.attention %q_, %k_, %v_, %m_ {scale = 0.2 : f64, soft_cap = 3.0 : f64} : (tensor<?x4x?x24xf32>, tensor<?x2x70x24xf32>, tensor<?x2x70x20xf32>, tensor<4x?x70xf32>) -> tensor<?x4x?x20xf32>
    dfg.yield %y : tensor<?x4x?x20xf32>
  }
  dfg.return %r : tensor<?x4x?x20xf32>
}

// Scores that somebody else computed.
dfg.graph @weights(%s: tensor<?x9x67xf32>, %v: tensor<?x67x33xf32>) -> (r: tensor<?x9x33xf32>) {
  %r = dfg.node @layer (%s_ = %s : tensor<?x9x67xf32>, %v_ = %v : tensor<?x67x33xf32>) -> tensor<?x9x33xf32> {
    %p = nn.softmax %s_ {axis = 2 : i64} : tensor<?x9x67xf32> -> tensor<?x9x67xf32>
    %y = nn.matmul %p, %v_ : tensor<?x9x67xf32>, tensor<?x67x33xf32> -> tensor<?x9x33xf32>
    dfg.yield %y : tensor<?x9x33xf32>
  }
  dfg.return %r : tensor<?x9x33xf32>
}
