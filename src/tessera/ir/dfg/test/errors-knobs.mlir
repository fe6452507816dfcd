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

// Nobody said that these may be wrong.
dfg.graph @unmarked(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'bit-errors:0.001'}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.knob = "bit-errors:0.001"} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @bits(%x: tensor<4xi1>) -> (y: tensor<4xi1>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'bit-errors:0.001'}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xi1>) -> tensor<4xi1> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    dfg.yield %e : i1
  }
  dfg.return %y : tensor<4xi1>
}

// -----

dfg.graph @late(%x: tensor<?xf32>, %n: index) -> (y: tensor<?xf32>) {
  // expected-error @+1 {{does not have the knob 'stale:1'}}
  %y = dfg.node @n grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> attributes {dfg.approximate, dfg.knob = "stale:1"} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph private @other(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  dfg.return %x : tensor<4xf32>
}
dfg.graph @versions(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'version:2'}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.knob = "version:2", dfg.versions = [@other]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @place(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  %y = dfg.node @outer (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 4 : index
    // expected-error @+1 {{expected 'dfg.versions' on a node that stands directly in a graph (dfg-v1), but got it on 'dfg.node'; leave it out}}
    %z = dfg.node @n grid(%i = %c) (each %e = %a : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [@other]} {
      dfg.yield %e : f32
    }
    dfg.yield %z : tensor<4xf32>
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @names(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected 'dfg.versions' to list names of graphs, but got [3] (dfg-v2)}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [3]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph private @scalar(%x: f32) -> (y: f32) {
  dfg.return %x : f32
}
dfg.graph @types(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected the version @scalar to be a graph of type '(tensor<4xf32>) -> tensor<4xf32>' (dfg-v3)}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [@scalar]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @itself(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected calls not to be recursive, but graph 'itself' reaches itself (dfg-c4)}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [@through]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}
dfg.graph private @through(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{graph 'through' has a node with versions here}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [@itself]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @first(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected 'dfg.first' to list a value for each yielded result of a node, but got [5.000000e-01 : f32] (dfg-v4)}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.approximate, dfg.first = [0.5 : f32]} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @mark(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected 'dfg.approximate' to be without a value, but got true}}
  %y = dfg.node @n grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.approximate = true} {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<4xf32>
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

// -----

// Functions are not those of f16.
dfg.graph @functions(%x: tensor<4x4xf32>) -> (y: tensor<4x4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'f16-math'}}
  %y = dfg.node @n grid(%i = %c4, %j = %c4) (each %e = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dfg.knob = "f16-math"} {
    %f = math.exp %e : f32
    dfg.yield %f : f32
  }
  dfg.return %y : tensor<4x4xf32>
}

// -----

// Another type of floats on the way.
dfg.graph @wider(%x: tensor<4x4xf32>) -> (y: tensor<4x4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'f16-math+perforate-rows:1/2@0'}}
  %y = dfg.node @n grid(%i = %c4, %j = %c4) (each %e = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {dfg.knob = "f16-math+perforate-rows:1/2@0"} {
    %w = arith.extf %e : f32 to f64
    %s = arith.addf %w, %w : f64
    %n = arith.truncf %s : f64 to f32
    dfg.yield %n : f32
  }
  dfg.return %y : tensor<4x4xf32>
}

// -----

// Memory keeps its type.
dfg.graph @stores(%x: memref<4x4xf32>, %z: memref<4x4xf32>) -> (z: memref<4x4xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{does not have the knob 'f16-math'}}
  %m = dfg.node @n grid(%i = %c4, %j = %c4) (in %a = %x : memref<4x4xf32>, out %b = %z : memref<4x4xf32>) attributes {dfg.knob = "f16-math"} {
    %v = memref.load %a[%i, %j] : memref<4x4xf32>
    %s = arith.addf %v, %v : f32
    memref.store %s, %b[%i, %j] : memref<4x4xf32>
  }
  dfg.return %m : memref<4x4xf32>
}

// -----

// expected-error @+1 {{expected 'dfg.check_accesses' to be without a value, but got true}}
module attributes {dfg.check_accesses = true} {
}

// -----

// expected-error @+1 {{expected 'dfg.approximate' on a node (dfg-v5), but got it on 'dfg.graph'; leave it out}}
dfg.graph @place(%x: f32) -> (y: f32) attributes {dfg.approximate} {
  dfg.return %x : f32
}

// -----

// expected-error @+1 {{expected 'dfg.check_accesses' on a module (dfg-v6), but got it on 'dfg.graph'; leave it out}}
dfg.graph @place(%x: f32) -> (y: f32) attributes {dfg.check_accesses} {
  dfg.return %x : f32
}

// -----

// expected-error @+1 {{expected 'dfg.knob' on a node, but got it on 'dfg.graph'; leave it out}}
dfg.graph @place(%x: f32) -> (y: f32) attributes {dfg.knob = "f32"} {
  dfg.return %x : f32
}
