// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @word(%x: tensor<4x4xf32>) -> (y: tensor<4x4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{'dfg.knob': unknown knob 'perforate'}}
  %y = dfg.node @n grid(%i = %c4, %j = %c4) (each %e = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dfg.knob = "perforate"} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4x4xf32>
}

// -----

dfg.graph @type(%x: tensor<4x4xf32>) -> (y: tensor<4x4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected 'dfg.knob' to be a string}}
  %y = dfg.node @n grid(%i = %c4, %j = %c4) (each %e = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dfg.knob = 3 : i64} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4x4xf32>
}

// -----

// Rows of one element are not worth leaving out.
dfg.graph @rank(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'perforate-rows:1/2@0'}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.knob = "perforate-rows:1/2@0"} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

// What is kept must have a size.
dfg.graph @reuse(%x: tensor<?xf32>, %n: index) -> (y: tensor<?xf32>) {
  // expected-error @+1 {{does not have the knob 'reuse:1/2@1'}}
  %y = dfg.node @n grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> attributes {dfg.knob = "reuse:1/2@1"} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// Integers may be indices.
dfg.graph @integers(%x: tensor<4x4xi32>) -> (y: tensor<4x4xi32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'perforate-rows:1/2@0'}}
  %y = dfg.node @n grid(%i = %c4, %j = %c4) (each %e = %x : tensor<4x4xi32>) -> tensor<4x4xi32> attributes {dfg.knob = "perforate-rows:1/2@0"} {
    dfg.yield %e : i32
  }
  dfg.return %y : tensor<4x4xi32>
}
