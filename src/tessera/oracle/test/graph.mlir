// Whole and each ports, gather, reduce over all and over some dimensions, fold.
// EXPECT: 1, 3, 5, 7, 12, 14; 21; 6, 15; 5, 7, 9; -19
dfg.graph @g(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>, i32, tensor<2xi32>, tensor<3xi32>, i32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  // Each element plus its left neighbour, plus the extent of the row times the number of the row.
  %a = dfg.node @shift grid(%i = %c2, %j = %c3) (%w = %x : tensor<2x3xi32>, each %e = %x : tensor<2x3xi32>) -> tensor<2x3xi32> {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %ew = dfg.extent 1
    %l0 = arith.subi %j, %one : index
    %l = arith.maxsi %l0, %zero : index
    %first = arith.cmpi eq, %j, %zero : index
    %v = tensor.extract %w[%i, %l] : tensor<2x3xi32>
    %lin = arith.muli %i, %ew : index
    %li = arith.index_cast %lin : index to i32
    %z = arith.constant 0 : i32
    %n = arith.select %first, %z, %v : i32
    %s = arith.addi %e, %n : i32
    %r = arith.addi %s, %li : i32
    dfg.yield %r : i32
  }
  %b:3 = dfg.node @sums grid(%i = %c2, %j = %c3) (each %e = %x : tensor<2x3xi32>) -> (i32 reduce<addi>, tensor<2xi32> reduce<addi> over [1], tensor<3xi32> reduce<addi> over [0]) {
    dfg.yield %e, %e, %e : i32, i32, i32
  }
  %f = dfg.node @last grid(%i = %c2, %j = %c3) (each %e = %x : tensor<2x3xi32>) -> i32 fold<@minus> {
    dfg.yield %e : i32
  }
  dfg.return %a, %b#0, %b#1, %b#2, %f : tensor<2x3xi32>, i32, tensor<2xi32>, tensor<3xi32>, i32
}
// Not associative: only a fold gives it a meaning. It starts at the identity, 2.
dfg.combiner @minus(%a: i32, %b: i32) identity 2 : i32 {
  %s = arith.subi %a, %b : i32
  dfg.yield %s : i32
}
func.func @main() -> (tensor<2x3xi32>, i32, tensor<2xi32>, tensor<3xi32>, i32) {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = dfg.launch @g(%x) : tensor<2x3xi32>
  %o:5 = dfg.wait %r : tensor<2x3xi32>, i32, tensor<2xi32>, tensor<3xi32>, i32
  return %o#0, %o#1, %o#2, %o#3, %o#4 : tensor<2x3xi32>, i32, tensor<2xi32>, tensor<3xi32>, i32
}
// -----
// Tiles, tiles gathered, tiles reduced; empty grids give identities.
// EXPECT: 0, 0, 1, 1, 0, 0, 1, 1; 0, 0, 1, 1, 10, 10, 11, 11; 21, 21; -2147483648; -0.0; inf
dfg.graph @g(%c0: index) -> (tensor<2x4xi32>, tensor<2x2x2xi32>, tensor<2xi32>, i32, f32, f32) {
  %c2 = arith.constant 2 : index
  %a = dfg.node @tiles grid(%i = %c2, %j = %c2) () -> tensor<2x4xi32> tile {
    %v = arith.index_cast %j : index to i32
    %t = tensor.splat %v : tensor<1x2xi32>
    dfg.yield %t : tensor<1x2xi32>
  }
  %b:2 = dfg.node @parts grid(%i = %c2, %j = %c2) () -> (tensor<2x2x2xi32>, tensor<2xi32> reduce<xori>) {
    %v = arith.index_cast %j : index to i32
    %u = arith.index_cast %i : index to i32
    %ten = arith.constant 10 : i32
    %p = arith.muli %u, %ten : i32
    %s = arith.addi %p, %v : i32
    %t = tensor.splat %s : tensor<2xi32>
    %m = arith.muli %u, %v : i32
    %c21 = arith.constant 21 : i32
    %x = arith.muli %m, %c21 : i32
    %y = tensor.splat %x : tensor<2xi32>
    dfg.yield %t, %y : tensor<2xi32>, tensor<2xi32>
  }
  %c:3 = dfg.node @none grid(%i = %c0) () -> (i32 reduce<maxsi>, f32 reduce<addf>, f32 reduce<minimumf>) {
    %v = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    dfg.yield %v, %f, %f : i32, f32, f32
  }
  dfg.return %a, %b#0, %b#1, %c#0, %c#1, %c#2 : tensor<2x4xi32>, tensor<2x2x2xi32>, tensor<2xi32>, i32, f32, f32
}
func.func @main() -> (tensor<2x4xi32>, tensor<2x2x2xi32>, tensor<2xi32>, i32, f32, f32) {
  %c0 = arith.constant 0 : index
  %r = dfg.launch @g(%c0) : index
  %o:6 = dfg.wait %r : tensor<2x4xi32>, tensor<2x2x2xi32>, tensor<2xi32>, i32, f32, f32
  return %o#0, %o#1, %o#2, %o#3, %o#4, %o#5 : tensor<2x4xi32>, tensor<2x2x2xi32>, tensor<2xi32>, i32, f32, f32
}
// -----
// A float sum is collected in double and rounded once; a fold rounds at each step.
// EXPECT: 0x4B800001; 16777216.0; 16777218.0
dfg.graph @g(%x: tensor<4xf32>) -> (f32, f32, memref<1xf32>) {
  %c4 = arith.constant 4 : index
  %s = dfg.node @sum grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  %f = dfg.node @fold grid(%i = %c4) (each %e = %x : tensor<4xf32>) -> f32 fold<addf> {
    dfg.yield %e : f32
  }
  %z = arith.constant 0.0 : f32
  %b = dfg.buffer() fill(%z : f32) : memref<1xf32>
  %b1 = dfg.node @scatter grid(%i = %c4) (each %e = %x : tensor<4xf32>, acc<addf> %m = %b : memref<1xf32>) {
    %c0 = arith.constant 0 : index
    dfg.accumulate %e, %m[%c0] : memref<1xf32>
  }
  dfg.return %s, %f, %b1 : f32, f32, memref<1xf32>
}
func.func @main() -> (f32, f32, memref<1xf32>) {
  %x = arith.constant dense<[16777216.0, 0.75, 0.75, 0.5]> : tensor<4xf32>
  %r = dfg.launch @g(%x) : tensor<4xf32>
  %o:3 = dfg.wait %r : f32, f32, memref<1xf32>
  return %o#0, %o#1, %o#2 : f32, f32, memref<1xf32>
}
// -----
// Memory ports in order, a histogram, a matrix product over memory, an extent that depends on data.
// EXPECT: 2, 1, 3; 19, 22, 43, 50; 0, 1, 2, 3
dfg.graph @g(%x: tensor<6xi32>, %a: memref<2x2xi32>, %b: memref<2x2xi32>) -> (memref<3xi32>, memref<2x2xi32>, tensor<?xindex>) {
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %z = arith.constant 0 : i32
  %h = dfg.buffer() fill(%z : i32) : memref<3xi32>
  %h1 = dfg.node @count grid(%i = %c6) (each %e = %x : tensor<6xi32>, acc<addi> %m = %h : memref<3xi32>) {
    %one = arith.constant 1 : i32
    %k = arith.index_cast %e : i32 to index
    dfg.accumulate %one, %m[%k] : memref<3xi32>
  }
  %c = dfg.buffer() : memref<2x2xi32>
  %c1 = dfg.node @zero grid(%i = %c2, %j = %c2) (out %m = %c : memref<2x2xi32>) {
    %o = arith.constant 0 : i32
    memref.store %o, %m[%i, %j] : memref<2x2xi32>
  }
  %p = dfg.node @product grid(%i = %c2, %j = %c2) (in %u = %a : memref<2x2xi32>, in %v = %b : memref<2x2xi32>, inout %m = %c1 : memref<2x2xi32>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    scf.for %k = %c0 to %two step %one {
      %l = memref.load %u[%i, %k] : memref<2x2xi32>
      %r = memref.load %v[%k, %j] : memref<2x2xi32>
      %q = arith.muli %l, %r : i32
      %o = memref.load %m[%i, %j] : memref<2x2xi32>
      %s = arith.addi %o, %q : i32
      memref.store %s, %m[%i, %j] : memref<2x2xi32>
    }
  }
  %n = dfg.node @most grid(%i = %c6) (each %e = %x : tensor<6xi32>) -> index reduce<maxsi> {
    %k = arith.index_cast %e : i32 to index
    %two = arith.constant 2 : index
    %r = arith.addi %k, %two : index
    dfg.yield %r : index
  }
  %ids = dfg.node @ids grid(%i = %n) () -> tensor<?xindex> {
    dfg.yield %i : index
  }
  dfg.return %h1, %p, %ids : memref<3xi32>, memref<2x2xi32>, tensor<?xindex>
}
func.func @main() -> (memref<3xi32>, memref<2x2xi32>, tensor<?xindex>) {
  %x = arith.constant dense<[0, 2, 1, 2, 0, 2]> : tensor<6xi32>
  %p = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %q = arith.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %a = bufferization.to_buffer %p : tensor<2x2xi32> to memref<2x2xi32>
  %b = bufferization.to_buffer %q : tensor<2x2xi32> to memref<2x2xi32>
  %r = dfg.launch @g(%x, %a, %b) : tensor<6xi32>, memref<2x2xi32>, memref<2x2xi32>
  %o:3 = dfg.wait %r : memref<3xi32>, memref<2x2xi32>, tensor<?xindex>
  return %o#0, %o#1, %o#2 : memref<3xi32>, memref<2x2xi32>, tensor<?xindex>
}
// -----
// Scratch memory and barriers: a sum by halving, in each of two groups; the loop holds the barrier.
// EXPECT: 28, 92
dfg.graph @g(%x: tensor<2x8xi32>) -> tensor<2xi32> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @group grid(%g = %c2) (each %row = %x : tensor<2x8xi32>) -> tensor<2xi32> {
    %c8 = arith.constant 8 : index
    %s = dfg.node @halve grid(%i = %c8) (each %e = %row : tensor<8xi32>) -> i32 reduce<maxsi> {
      %m = dfg.scratch : memref<8xi32>
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %four = arith.constant 4 : index
      %three = arith.constant 3 : index
      memref.store %e, %m[%i] : memref<8xi32>
      dfg.barrier
      scf.for %k = %c0 to %three step %c1 {
        %half = arith.shrui %four, %k : index
        %on = arith.cmpi ult, %i, %half : index
        scf.if %on {
          %o = arith.addi %i, %half : index
          %a = memref.load %m[%i] : memref<8xi32>
          %b = memref.load %m[%o] : memref<8xi32>
          %t = arith.addi %a, %b : i32
          memref.store %t, %m[%i] : memref<8xi32>
        }
        dfg.barrier
      }
      %all = memref.load %m[%c0] : memref<8xi32>
      dfg.yield %all : i32
    }
    dfg.yield %s : i32
  }
  dfg.return %r : tensor<2xi32>
}
func.func @main() -> tensor<2xi32> {
  %x = arith.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<2x8xi32>
  %r = dfg.launch @g(%x) : tensor<2x8xi32>
  %o = dfg.wait %r : tensor<2xi32>
  return %o : tensor<2xi32>
}
// -----
// Calls, internal nodes without a grid, atomics; states from one activation to the next.
// EXPECT: 22, 24; 8; 1; 3; 6
dfg.graph private @double(%x: tensor<2xi32>) -> tensor<2xi32> {
  %c2 = arith.constant 2 : index
  %y = dfg.node @twice grid(%i = %c2) (each %e = %x : tensor<2xi32>) -> tensor<2xi32> {
    %s = arith.addi %e, %e : i32
    dfg.yield %s : i32
  }
  dfg.return %y : tensor<2xi32>
}
dfg.graph @g(%x: tensor<2xi32>) -> (tensor<2xi32>, memref<1xi32>) {
  %a = dfg.call @double(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %b = dfg.node @inner (%y = %a : tensor<2xi32>) -> tensor<2xi32> {
    %d = dfg.call @double(%y) : (tensor<2xi32>) -> tensor<2xi32>
    dfg.yield %d : tensor<2xi32>
  }
  %z = arith.constant 0 : i32
  %c8 = arith.constant 8 : index
  %m = dfg.buffer() fill(%z : i32) : memref<1xi32>
  %m1 = dfg.node @tick grid(%i = %c8) (inout %t = %m : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %t[%c0] : (i32, memref<1xi32>) -> i32
  }
  %five = arith.constant dense<[2, 4]> : tensor<2xi32>
  %r = dfg.node @plus (%p = %b : tensor<2xi32>, %q = %five : tensor<2xi32>) -> tensor<2xi32> {
    %s = arith.addi %p, %q : tensor<2xi32>
    dfg.yield %s : tensor<2xi32>
  }
  dfg.return %r, %m1 : tensor<2xi32>, memref<1xi32>
}
dfg.graph @running(%x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %last = dfg.state init(%z : i32) : i32
  %s = dfg.node @add (%a = %last : i32, %b = %x : i32) -> i32 {
    %t = arith.addi %a, %b : i32
    dfg.yield %t : i32
  }
  dfg.update %last, %s : i32
  dfg.return %s : i32
}
func.func @main() -> (tensor<2xi32>, memref<1xi32>, i32, i32, i32) {
  %x = arith.constant dense<5> : tensor<2xi32>
  %r = dfg.launch @g(%x) : tensor<2xi32>
  %o:2 = dfg.wait %r : tensor<2xi32>, memref<1xi32>
  %s = dfg.open @running
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  dfg.push %s(%one) : i32
  dfg.push %s(%two) : i32
  %p0 = dfg.pop %s : i32
  dfg.push %s(%three) : i32
  %p1 = dfg.pop %s : i32
  %p2 = dfg.pop %s : i32
  dfg.close %s
  return %o#0, %o#1, %p0, %p1, %p2 : tensor<2xi32>, memref<1xi32>, i32, i32, i32
}
// -----
// Without the detector a race takes the last writer in row-major order.
// RACES: off
// EXPECT: 1
dfg.graph @g(%m: memref<1xi32>) -> memref<1xi32> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @race grid(%i = %c2) (out %t = %m : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %v = arith.index_cast %i : index to i32
    memref.store %v, %t[%c0] : memref<1xi32>
  }
  dfg.return %r : memref<1xi32>
}
func.func @main() -> memref<1xi32> {
  %t = arith.constant dense<0> : tensor<1xi32>
  %m = bufferization.to_buffer %t : tensor<1xi32> to memref<1xi32>
  %r = dfg.launch @g(%m) : memref<1xi32>
  %o = dfg.wait %r : memref<1xi32>
  return %o : memref<1xi32>
}
