// ERROR: races: instances (0) and (1) of node 'race' touch element 0 of a 'dfg.buffer' without order (write, then write)
// NOTE: in instance (1) of node 'race'
dfg.graph @g() -> memref<1xi32> {
  %c2 = arith.constant 2 : index
  %m = dfg.buffer() : memref<1xi32>
  %r = dfg.node @race grid(%i = %c2) (out %t = %m : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %v = arith.index_cast %i : index to i32
    memref.store %v, %t[%c0] : memref<1xi32>
  }
  dfg.return %r : memref<1xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : memref<1xi32>
  return
}
// -----
// ERROR: touch element 1 of a 'dfg.buffer' without order (read, then write)
dfg.graph @g() -> memref<2xi32> {
  %c2 = arith.constant 2 : index
  %z = arith.constant 0 : i32
  %m = dfg.buffer() fill(%z : i32) : memref<2xi32>
  %r = dfg.node @race grid(%i = %c2) (inout %t = %m : memref<2xi32>) {
    %c1 = arith.constant 1 : index
    %v = memref.load %t[%c1] : memref<2xi32>
    memref.store %v, %t[%i] : memref<2xi32>
  }
  dfg.return %r : memref<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : memref<2xi32>
  return
}
// -----
// Two groups write the same element; inside each group there is no race.
// ERROR: races: instances (0) and (1) of node 'group' touch element 0 of a 'dfg.buffer' without order (write, then write)
dfg.graph @g() -> memref<2xi32> {
  %c2 = arith.constant 2 : index
  %z = arith.constant 0 : i32
  %m = dfg.buffer() fill(%z : i32) : memref<2xi32>
  %r = dfg.node @group grid(%g = %c2) (inout %t = %m : memref<2xi32>) {
    %two = arith.constant 2 : index
    %u = dfg.node @write grid(%i = %two) (out %v = %t : memref<2xi32>) {
      %o = arith.constant 1 : i32
      memref.store %o, %v[%i] : memref<2xi32>
    }
  }
  dfg.return %r : memref<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : memref<2xi32>
  return
}
// -----
// Scratch memory without a barrier between writing and reading.
// ERROR: touch element 0 of the scratch memory without order (write, then read)
dfg.graph @g() -> tensor<2xi32> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @race grid(%i = %c2) () -> tensor<2xi32> {
    %c0 = arith.constant 0 : index
    %v = arith.index_cast %i : index to i32
    %t = dfg.scratch : memref<2xi32>
    memref.store %v, %t[%i] : memref<2xi32>
    %w = memref.load %t[%c0] : memref<2xi32>
    dfg.yield %w : i32
  }
  dfg.return %r : tensor<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2xi32>
  return
}
// -----
// ERROR: reads element [1] of the scratch memory before it was written
dfg.graph @g() -> tensor<2xi32> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @early grid(%i = %c2) () -> tensor<2xi32> {
    %c1 = arith.constant 1 : index
    %t = dfg.scratch : memref<2xi32>
    %w = memref.load %t[%c1] : memref<2xi32>
    dfg.yield %w : i32
  }
  dfg.return %r : tensor<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2xi32>
  return
}
// -----
// ERROR: reads element [0] of a 'dfg.buffer' before it was written
dfg.graph @g() -> (i32, memref<1xi32>) {
  %m = dfg.buffer() : memref<1xi32>
  %r:2 = dfg.node @early (inout %t = %m : memref<1xi32>) -> i32 {
    %c0 = arith.constant 0 : index
    %w = memref.load %t[%c0] : memref<1xi32>
    memref.store %w, %t[%c0] : memref<1xi32>
    dfg.yield %w : i32
  }
  dfg.return %r#0, %r#1 : i32, memref<1xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o:2 = dfg.wait %r : i32, memref<1xi32>
  return
}
// -----
// ERROR: 'dfg.accumulate' op reads element [0] of a 'dfg.buffer' before it was written
dfg.graph @g() -> memref<1xi32> {
  %m = dfg.buffer() : memref<1xi32>
  %r = dfg.node @early (acc<addi> %t = %m : memref<1xi32>) {
    %c0 = arith.constant 0 : index
    %o = arith.constant 1 : i32
    dfg.accumulate %o, %t[%c0] : memref<1xi32>
  }
  dfg.return %r : memref<1xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : memref<1xi32>
  return
}
// -----
// ERROR: expected the leading extents of 'each' operand 0 to be the grid's [3], but got [2]
dfg.graph @g(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c3 = arith.constant 3 : index
  %r = dfg.node @n grid(%i = %c3) (each %e = %x : tensor<?xi32>) -> tensor<?xi32> {
    dfg.yield %e : i32
  }
  dfg.return %r : tensor<?xi32>
}
func.func @main() {
  %t = arith.constant dense<0> : tensor<2xi32>
  %x = tensor.cast %t : tensor<2xi32> to tensor<?xi32>
  %r = dfg.launch @g(%x) : tensor<?xi32>
  %o = dfg.wait %r : tensor<?xi32>
  return
}
// -----
// ERROR: has a grid with a negative extent: [-1]
dfg.graph @g(%n: index) -> tensor<?xindex> {
  %r = dfg.node @n grid(%i = %n) () -> tensor<?xindex> {
    dfg.yield %i : index
  }
  dfg.return %r : tensor<?xindex>
}
func.func @main() {
  %m = arith.constant -1 : index
  %r = dfg.launch @g(%m) : index
  %o = dfg.wait %r : tensor<?xindex>
  return
}
// -----
// ERROR: expected each instance to yield extents [0], but got [1]
dfg.graph @g() -> tensor<2x?xi32> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) () -> tensor<2x?xi32> {
    %z = arith.constant 0 : i32
    %t = tensor.splat %z[%i] : tensor<?xi32>
    dfg.yield %t : tensor<?xi32>
  }
  dfg.return %r : tensor<2x?xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2x?xi32>
  return
}
// -----
// ERROR: expected extents of 'tensor<4xindex>', but got [3]
dfg.graph @g(%n: index) -> tensor<4xindex> {
  %r = dfg.node @n grid(%i = %n) () -> tensor<4xindex> {
    dfg.yield %i : index
  }
  dfg.return %r : tensor<4xindex>
}
func.func @main() {
  %m = arith.constant 3 : index
  %r = dfg.launch @g(%m) : index
  %o = dfg.wait %r : tensor<4xindex>
  return
}
// -----
// ERROR: an undefined value is reduced
dfg.graph @g() -> i32 {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) () -> i32 reduce<addi> {
    %p = ub.poison : i32
    dfg.yield %p : i32
  }
  dfg.return %r : i32
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : i32
  return
}
// -----
// ERROR: pops from a stream with no activation in flight
dfg.graph @g(%x: i32) -> i32 {
  dfg.return %x : i32
}
func.func @main() {
  %s = dfg.open @g
  %o = dfg.pop %s : i32
  return
}
// -----
// ERROR: pushes into a stream that is closed
dfg.graph @g(%x: i32) -> i32 {
  dfg.return %x : i32
}
func.func @main() {
  %s = dfg.open @g
  %o = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    dfg.push %s(%o) : i32
    dfg.close %s
  }
  return
}
// -----
// ERROR: closes a stream a second time
dfg.graph @g(%x: i32) -> i32 {
  dfg.return %x : i32
}
func.func @main() {
  %s = dfg.open @g
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    dfg.close %s
  }
  return
}
// -----
// ERROR: waits for a run a second time
dfg.graph @g(%x: i32) -> i32 {
  dfg.return %x : i32
}
func.func @main() {
  %o = arith.constant 1 : i32
  %r = dfg.launch @g(%o) : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %a = dfg.wait %r : i32
  }
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: is not reached by all instances: instance (1) of node 'n' has finished
dfg.graph @g(%x: tensor<2xindex>) -> tensor<2xindex> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) (%all = %x : tensor<2xindex>) -> tensor<2xindex> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = dfg.scratch : memref<1xindex>
    %n = tensor.extract %all[%i] : tensor<2xindex>
    scf.for %k = %c0 to %n step %c1 {
      dfg.barrier
    }
    dfg.yield %i : index
  }
  dfg.return %r : tensor<2xindex>
}
func.func @main() {
  %x = arith.constant dense<[2, 1]> : tensor<2xindex>
  %r = dfg.launch @g(%x) : tensor<2xindex>
  %o = dfg.wait %r : tensor<2xindex>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: waits at another barrier
dfg.graph @g() -> tensor<2xindex> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) () -> tensor<2xindex> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i32
    %m = dfg.scratch : memref<1xi32>
    %f = arith.cmpi eq, %i, %c0 : index
    scf.if %f {
      dfg.barrier
    } else {
      dfg.barrier
    }
    dfg.yield %i : index
  }
  dfg.return %r : tensor<2xindex>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2xindex>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: writes to a 'dfg.buffer', which is an 'in' port
dfg.graph @g() -> tensor<2xindex> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %m = dfg.buffer() fill(%zero : i32) : memref<2xi32>
  %r = dfg.node @n grid(%i = %c2) (in %t = %m : memref<2xi32>) -> tensor<2xindex> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i32
    memref.store %z, %t[%i] : memref<2xi32>
    dfg.yield %i : index
  }
  dfg.return %r : tensor<2xindex>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2xindex>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: reads or writes memory of an 'acc' port; expected 'dfg.accumulate'
dfg.graph @g() -> memref<2xi32> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %m = dfg.buffer() fill(%zero : i32) : memref<2xi32>
  %r = dfg.node @n grid(%i = %c2) (acc<addi> %t = %m : memref<2xi32>) {
    %z = memref.load %t[%i] : memref<2xi32>
  }
  dfg.return %r : memref<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: expected memory of an 'acc' port
dfg.graph @g() -> memref<2xi32> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %m = dfg.buffer() fill(%zero : i32) : memref<2xi32>
  %r = dfg.node @n grid(%i = %c2) (inout %t = %m : memref<2xi32>) {
    %z = arith.constant 0 : i32
    dfg.accumulate %z, %t[%i] : memref<2xi32>
  }
  dfg.return %r : memref<2xi32>
}
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: asks for dimension 1 of a grid that has none
dfg.graph @g() -> tensor<2xindex> {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) () -> tensor<2xindex> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i32
    %e = dfg.extent 1
    dfg.yield %i : index
  }
  dfg.return %r : tensor<2xindex>
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : tensor<2xindex>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: names the combiner 'none', which does not exist
dfg.graph @g() -> i32 {
  %c2 = arith.constant 2 : index
  %r = dfg.node @n grid(%i = %c2) () -> i32 reduce<@none> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i32
    dfg.yield %z : i32
  }
  dfg.return %r : i32
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : i32
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: has no initial value
dfg.graph @g() -> i32 {
  %s = dfg.state : i32
  dfg.return %s : i32
}
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: launches 'g', which is no graph
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: opens 'g', which is no graph
func.func @main() {
  %r = dfg.open @g
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: calls 'h', which is no graph
dfg.graph @g() {
  dfg.call @h() : () -> ()
  dfg.return
}
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: calls 'h', which is no function
func.func @main() {
  func.call @h() : () -> ()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: nests calls more than 200 deep
dfg.graph @g() {
  dfg.call @g() : () -> ()
  dfg.return
}
func.func @main() {
  %r = dfg.launch @g()
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: stands outside a leaf
func.func @main() {
  %m = dfg.scratch : memref<1xi32>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: stands outside a linalg operation
func.func @main() {
  %m = linalg.index 0 : index
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: names 'g', which is no global
func.func @main() {
  %m = memref.get_global @g : memref<1xi32>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: expected the value of a 'dfg.state'
dfg.graph @g(%x: i32) {
  dfg.update %x, %x : i32
  dfg.return
}
func.func @main() {
  %o = arith.constant 1 : i32
  %r = dfg.launch @g(%o) : i32
  return
}
// -----
// ERROR: has 16385 instances that meet at barriers; the oracle runs 16384 at most
dfg.graph @g() -> i32 {
  %c = arith.constant 16385 : index
  %r = dfg.node @n grid(%i = %c) () -> i32 reduce<addi> {
    %o = arith.constant 1 : i32
    dfg.barrier
    dfg.yield %o : i32
  }
  dfg.return %r : i32
}
func.func @main() {
  %r = dfg.launch @g()
  %o = dfg.wait %r : i32
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: has a version that is no graph
dfg.graph @g() -> (y: tensor<4xf32>) {
  %n = arith.constant 4 : index
  %y = dfg.node @a grid(%i = %n) () -> tensor<4xf32> attributes {dfg.versions = [@h], dfg.knob = "version:1"} {
    %one = arith.constant 1.0 : f32
    dfg.yield %one : f32
  }
  dfg.return %y : tensor<4xf32>
}
func.func @main() {
  %r = dfg.launch @g()
  %y = dfg.wait %r : tensor<4xf32>
  return
}
// -----
// ERROR: has a 'dfg.first' that the oracle cannot represent
dfg.graph @g() -> (y: tensor<4xf32>) {
  %n = arith.constant 4 : index
  %y = dfg.node @a grid(%i = %n) () -> tensor<4xf32> attributes {dfg.approximate, dfg.first = [dense_resource<none> : tensor<4xf32>], dfg.knob = "stale:1"} {
    %one = arith.constant 1.0 : f32
    dfg.yield %one : f32
  }
  dfg.return %y : tensor<4xf32>
}
func.func @main() {
  %r = dfg.launch @g()
  %y = dfg.wait %r : tensor<4xf32>
  return
}
