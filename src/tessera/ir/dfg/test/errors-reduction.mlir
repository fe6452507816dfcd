// Rules of reductions (r): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected a reduction on 'acc' ports and on no other, but got 'acc' port #0 without one (dfg-r1)}}
  %0 = "dfg.node"(%b) <{name = "n", operandSegmentSizes = array<i32: 0, 1>, ports = [#dfg.port<acc>], yields = []}> ({
  ^bb0(%v: memref<4xf32>):
    "dfg.yield"() : () -> ()
  }) : (memref<4xf32>) -> memref<4xf32>
  dfg.return
}

// -----

dfg.graph @g(%b: f32) {
  // expected-error @+1 {{expected a reduction on 'acc' ports and on no other, but got 'whole' port #0 with one (dfg-r1)}}
  "dfg.node"(%b) <{name = "n", operandSegmentSizes = array<i32: 0, 1>, ports = [#dfg.port<whole, <addf>>], yields = []}> ({
  ^bb0(%v: f32):
    "dfg.yield"() : () -> ()
  }) : (f32) -> ()
  dfg.return
}

// -----

// `fold` and `reduce` never mix on one result: the mode is one word, and each carries one reduction.
dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected a reduction on 'reduce' and 'fold' results and on no other, but got 'fold' result #0 without one (dfg-r1)}}
  %y = "dfg.node"(%n, %x) <{name = "n", operandSegmentSizes = array<i32: 1, 1>, ports = [#dfg.port<whole>], yields = [#dfg.result<fold>]}> ({
  ^bb0(%i: index, %v: f32):
    "dfg.yield"(%v) : (f32) -> ()
  }) : (index, f32) -> f32
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32, %n: index) -> tensor<?xf32> {
  // expected-error @+1 {{expected a reduction on 'reduce' and 'fold' results and on no other, but got 'gather' result #0 with one (dfg-r1)}}
  %y = "dfg.node"(%n, %x) <{name = "n", operandSegmentSizes = array<i32: 1, 1>, ports = [#dfg.port<whole>], yields = [#dfg.result<gather, <addf>, dims = [0]>]}> ({
  ^bb0(%i: index, %v: f32):
    "dfg.yield"(%v) : (f32) -> ()
  }) : (index, f32) -> tensor<?xf32>
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected the reduced dimensions of result #0 to be below the grid's rank of 1, but got 1 (dfg-r2)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> f32 reduce<addf> over [1] {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected the reduced dimensions of result #0 to rise, but got 0 after 1 (dfg-r2)}}
  %y = dfg.node @n grid(%i = %n, %j = %n) (%v = %x : f32) -> f32 fold<addf> over [1, 0] {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: i32, %n: index) -> i32 {
  // expected-error @+1 {{expected the reduction 'addf' of result #0 to combine floats, but got 'i32' (dfg-r3)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : i32) -> i32 reduce<addf> {
    dfg.yield %v : i32
  }
  dfg.return %y : i32
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected the reduction 'xori' of port #0 to combine integers, but got 'f32' (dfg-r3)}}
  %y = dfg.node @n (acc<xori> %v = %b : memref<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: f8E4M3FN, %n: index) -> f8E4M3FN {
  // expected-error @+2 {{expected the reduction 'maximumf' of result #0 to have an identity, but 'f8E4M3FN' cannot represent it (dfg-r4)}}
  // expected-note @+1 {{reduce in a wider float type}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f8E4M3FN) -> f8E4M3FN reduce<maximumf> {
    dfg.yield %v : f8E4M3FN
  }
  dfg.return %y : f8E4M3FN
}

// -----

dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected 'nowhere' to be a 'dfg.combiner', but got no such symbol (dfg-r5)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> f32 reduce<@nowhere> {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

// expected-note @+1 {{the symbol is defined here}}
func.func private @f()
dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected 'f' to be a 'dfg.combiner', but got 'func.func' (dfg-r5)}}
  %b1 = dfg.node @n (acc<@f> %v = %b : memref<4xf32>) {
  }
  dfg.return
}

// -----

// expected-note @+1 {{the combiner is defined here}}
dfg.combiner @sum(%a: f64, %b: f64) identity 0.0 : f64 {
  %c = arith.addf %a, %b : f64
  dfg.yield %c : f64
}
dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected the combiner 'sum' to combine 'f32', but got one for 'f64' (dfg-r5)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> f32 reduce<@sum> {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

// expected-error @+1 {{expected a combiner to combine scalars, but got 'tensor<2xf32>' (dfg-r6)}}
dfg.combiner @c(%a: tensor<2xf32>, %b: tensor<2xf32>) identity dense<0.0> : tensor<2xf32> {
  dfg.yield %a : tensor<2xf32>
}

// -----

// expected-error @+1 {{expected a combiner to take 2 values, but got 1 (dfg-r6)}}
dfg.combiner @c(%a: f32) identity 0.0 : f32 {
  dfg.yield %a : f32
}

// -----

// expected-error @+1 {{expected argument #1 to have the identity's type 'f32', but got 'f64' (dfg-r6)}}
dfg.combiner @c(%a: f32, %b: f64) identity 0.0 : f32 {
  dfg.yield %a : f32
}

// -----

// expected-error @+1 {{expected a combiner to end with 'dfg.yield', but got 'llvm.unreachable' (dfg-r6)}}
dfg.combiner @c(%a: f32, %b: f32) identity 0.0 : f32 {
  llvm.unreachable
}

// -----

dfg.combiner @c(%a: f32, %b: f32) identity 0.0 : f32 {
  // expected-error @+1 {{expected a combiner to yield one value of the identity's type 'f32', but got 2 values (dfg-r6)}}
  dfg.yield %a, %b : f32, f32
}

// -----

dfg.combiner @c(%a: f32, %b: f32) identity 0.0 : f32 {
  %d = arith.extf %a : f32 to f64
  // expected-error @+1 {{expected a combiner to yield one value of the identity's type 'f32', but got 'f64' (dfg-r6)}}
  dfg.yield %d : f64
}

// -----

// expected-note @+1 {{in this combiner}}
dfg.combiner @c(%a: f32, %b: f32) identity 0.0 : f32 {
  // expected-error @+1 {{expected no effects in a combiner, but got an operation that may have one (dfg-r7)}}
  %m = memref.alloc() : memref<4xf32>
  dfg.yield %a : f32
}

// -----

dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{unknown reduction 'plus'; expected one of addf, addi, mulf, muli, minimumf, maximumf, minnumf, maxnumf, minsi, maxsi, minui, maxui, andi, ori, xori, or a combiner '@name'}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> f32 reduce<plus> {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}
