// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-approximate

// Data that stays data: through elements, sums, memory, states, loops that carry it, calls, versions and a layer.
dfg.graph private @half(%x: tensor<4xf32>) -> (y: tensor<4xf32>) {
  %n = arith.constant 4 : index
  %y = dfg.node @halve grid(%i = %n) (each %e = %x : tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 0.5 : f32
    %v = arith.mulf %e, %c : f32
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<4xf32>
}
dfg.combiner @larger(%a: f32, %b: f32) identity 0.0 : f32 {
  %m = arith.maximumf %a, %b : f32
  dfg.yield %m : f32
}
dfg.graph @data(%x: tensor<4xf32>, %m: memref<4xf32>) -> (y: tensor<4xf32>, s: f32, m: memref<4xf32>, t: tensor<4xf32>) {
  %n = arith.constant 4 : index
  %last = dfg.state init(%x : tensor<4xf32>) : tensor<4xf32>
  %a = dfg.node @source grid(%i = %n) (each %e = %x : tensor<4xf32>, each %l = %last : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.approximate} {
    %v = arith.addf %e, %l : f32
    dfg.yield %v : f32
  }
  dfg.update %last, %a : tensor<4xf32>
  %c = dfg.call @half(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = dfg.node @walk grid(%i = %n) (%t = %c : tensor<4xf32>) -> tensor<4xf32> attributes {dfg.versions = [@half]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %h = tensor.dim %t, %c0 : tensor<4xf32>
    %none = arith.constant 0.0 : f32
    %s = scf.for %k = %c0 to %h step %c1 iter_args(%sum = %none) -> (f32) {
      %v = tensor.extract %t[%k] : tensor<4xf32>
      %w = arith.addf %sum, %v : f32
      scf.yield %w : f32
    }
    %is = arith.cmpf ogt, %s, %none : f32
    %r = arith.select %is, %s, %none : f32
    dfg.yield %r : f32
  }
  %s = dfg.node @most grid(%i = %n) (each %e = %y : tensor<4xf32>) -> f32 reduce<@larger> {
    dfg.yield %e : f32
  }
  %k = dfg.node @store grid(%i = %n) (each %e = %y : tensor<4xf32>, out %o = %m : memref<4xf32>) {
    memref.store %e, %o[%i] : memref<4xf32>
  }
  %t = dfg.node @layer (%a0 = %c : tensor<4xf32>) -> tensor<4xf32> {
    %r = nn.unary relu %a0 : tensor<4xf32> -> tensor<4xf32>
    dfg.yield %r : tensor<4xf32>
  }
  dfg.return %y, %s, %k, %t : tensor<4xf32>, f32, memref<4xf32>, tensor<4xf32>
}

// -----

// An index, through memory and a view of it.
dfg.graph @index(%x: tensor<4xi32>, %m: memref<4xi32>, %o: memref<4xi32>) -> (m: memref<4xi32>, o: memref<4xi32>) {
  %n = arith.constant 4 : index
  // expected-error @+1 {{the results of node 'classes' are marked as approximate, but an index depends on them (dfg-x1)}}
  %k = dfg.node @classes grid(%i = %n) (each %e = %x : tensor<4xi32>) -> tensor<4xi32> attributes {dfg.approximate} {
    dfg.yield %e : i32
  }
  %b = dfg.node @store grid(%i = %n) (each %e = %k : tensor<4xi32>, out %p = %m : memref<4xi32>) {
    %v = memref.subview %p[0] [4] [1] : memref<4xi32> to memref<4xi32, strided<[1]>>
    memref.store %e, %v[%i] : memref<4xi32, strided<[1]>>
  }
  %c = dfg.node @scatter grid(%i = %n) (in %p = %b : memref<4xi32>, inout %q = %o : memref<4xi32>) {
    %v = memref.load %p[%i] : memref<4xi32>
    %at = arith.index_cast %v : i32 to index
    // expected-note @+1 {{here}}
    memref.store %v, %q[%at] : memref<4xi32>
  }
  dfg.return %b, %c : memref<4xi32>, memref<4xi32>
}

// -----

// A branch in a graph that is called.
dfg.graph private @decide(%v: f32) -> (y: f32) {
  %y = dfg.node @choose (%e = %v : f32) -> f32 {
    %none = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %e, %none : f32
    // expected-note @+1 {{here}}
    %r = scf.if %is -> (f32) {
      scf.yield %e : f32
    } else {
      scf.yield %none : f32
    }
    dfg.yield %r : f32
  }
  dfg.return %y : f32
}
dfg.graph @branch(%x: tensor<4xf32>) -> (y: f32) {
  %n = arith.constant 4 : index
  // expected-error @+1 {{but a branch depends on them (dfg-x1)}}
  %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<4xf32>) -> f32 reduce<addf> attributes {dfg.approximate} {
    dfg.yield %e : f32
  }
  %y = dfg.call @decide(%s) : (f32) -> f32
  dfg.return %y : f32
}

// -----

// The bound of a loop, by way of a state.
dfg.graph @bound(%x: i32) -> (y: i32) {
  %zero = arith.constant 0 : i32
  %steps = dfg.state init(%zero : i32) : i32
  // expected-error @+1 {{but the bound of a loop depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : i32) -> i32 attributes {dfg.approximate} {
    dfg.yield %e : i32
  }
  dfg.update %steps, %k : i32
  %y = dfg.node @count (%e = %steps : i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @+1 {{here}}
    %s = scf.for %i = %c0 to %e step %c1 iter_args(%a = %c0) -> (i32) : i32 {
      %b = arith.addi %a, %c1 : i32
      scf.yield %b : i32
    }
    dfg.yield %s : i32
  }
  dfg.return %y : i32
}

// -----

dfg.graph @extent(%x: tensor<4xf32>) -> (y: tensor<?xf32>) {
  // expected-error @+1 {{but the extent of a grid depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : tensor<4xf32>) -> index attributes {dfg.approximate} {
    %c = arith.constant 3 : index
    dfg.yield %c : index
  }
  // expected-note @+1 {{here}}
  %y = dfg.node @use grid(%i = %k) (%e = %x : tensor<4xf32>) -> tensor<?xf32> {
    %c = arith.constant 3.0 : f32
    dfg.yield %c : f32
  }
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph @while(%x: f32) -> (y: f32) {
  // expected-error @+1 {{but the bound of a loop depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : f32) -> f32 attributes {dfg.approximate} {
    dfg.yield %e : f32
  }
  %y = dfg.node @converge (%e = %k : f32) -> f32 {
    %half = arith.constant 0.5 : f32
    %r = scf.while (%v = %e) : (f32) -> f32 {
      %more = arith.cmpf ogt, %v, %half : f32
      // expected-note @+1 {{here}}
      scf.condition(%more) %v : f32
    } do {
    ^bb0(%v: f32):
      %w = arith.mulf %v, %half : f32
      scf.yield %w : f32
    }
    dfg.yield %r : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @divisor(%x: i32) -> (y: i32) {
  // expected-error @+1 {{but a divisor of integers depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : i32) -> i32 attributes {dfg.approximate} {
    dfg.yield %e : i32
  }
  %y = dfg.node @divide (%e = %k : i32, %f = %x : i32) -> i32 {
    // expected-note @+1 {{here}}
    %q = arith.divsi %f, %e : i32
    dfg.yield %q : i32
  }
  dfg.return %y : i32
}

// -----

// Classes that choose rows.
dfg.graph @gather(%x: tensor<4xi64>, %t: tensor<9x2xf32>) -> (y: tensor<4x2xf32>) {
  %n = arith.constant 4 : index
  // expected-error @+1 {{but an index depends on them (dfg-x1)}}
  %k = dfg.node @guess grid(%i = %n) (each %e = %x : tensor<4xi64>) -> tensor<4xi64> attributes {dfg.approximate} {
    dfg.yield %e : i64
  }
  %y = dfg.node @pick (%a = %t : tensor<9x2xf32>, %b = %k : tensor<4xi64>) -> tensor<4x2xf32> {
    // expected-note @+1 {{here}}
    %r = nn.gather %a, %b {axis = 0 : i64} : (tensor<9x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
    dfg.yield %r : tensor<4x2xf32>
  }
  dfg.return %y : tensor<4x2xf32>
}

// -----

func.func private @unknown(f32) -> f32
dfg.graph @unknown_call(%x: f32) -> (y: f32) {
  // expected-error @+1 {{but an operation that may decide by it depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : f32) -> f32 attributes {dfg.approximate} {
    dfg.yield %e : f32
  }
  %y = dfg.node @ask (%e = %k : f32) -> f32 {
    // expected-note @+1 {{here}}
    %r = func.call @unknown(%e) : (f32) -> f32
    dfg.yield %r : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @buffer(%x: index) -> (y: memref<?xf32>) {
  // expected-error @+1 {{but the extent of a buffer depends on them (dfg-x1)}}
  %k = dfg.node @guess (%e = %x : index) -> index attributes {dfg.approximate} {
    dfg.yield %e : index
  }
  // expected-note @+1 {{here}}
  %b = dfg.buffer(%k) : memref<?xf32>
  dfg.return %b : memref<?xf32>
}
