// Barriers, scratch memory and groups.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-races

// A barrier between the write and the neighbour's read.
dfg.graph @reverse(%x: tensor<64xf32>) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @reverse grid(%i = %n) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    %s = dfg.scratch : memref<64xf32>
    %last = arith.constant 63 : index
    memref.store %e, %s[%i] : memref<64xf32>
    dfg.barrier
    %j = arith.subi %last, %i : index
    %v = memref.load %s[%j] : memref<64xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// Without it.
dfg.graph @reverse(%x: tensor<64xf32>) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @reverse grid(%i = %n) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    // expected-note @+1 {{the memory is here}}
    %s = dfg.scratch : memref<64xf32>
    %last = arith.constant 63 : index
    // expected-error-re @+1 {{instance ({{[0-9]+}}) writes and instance ({{[0-9]+}}) reads element [{{[0-9]+}}] of scratch memory of node 'reverse' (dfg-p1)}}
    memref.store %e, %s[%i] : memref<64xf32>
    %j = arith.subi %last, %i : index
    // expected-note @+1 {{the other access is here}}
    %v = memref.load %s[%j] : memref<64xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// A loop with one barrier: the read at the end of a round meets the write at the beginning of the next.
dfg.graph @once(%x: tensor<64xf32>) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @once grid(%i = %n) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    // expected-note @+1 {{the memory is here}}
    %s = dfg.scratch : memref<64xf32>
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %last = arith.constant 63 : index
    %j = arith.subi %last, %i : index
    %r = scf.for %k = %zero to %four step %one iter_args(%a = %e) -> f32 {
      // expected-error-re @+1 {{instance ({{[0-9]+}}) writes and instance ({{[0-9]+}}) reads element [{{[0-9]+}}] of scratch memory of node 'once' (dfg-p1)}}
      memref.store %a, %s[%i] : memref<64xf32>
      dfg.barrier
      // expected-note @+1 {{the other access is here}}
      %v = memref.load %s[%j] : memref<64xf32>
      scf.yield %v : f32
    }
    dfg.yield %r : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// With two, each round has its own phases; so has what follows the loop, after the last barrier of its last round.
dfg.graph @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @twice grid(%i = %n) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    %s = dfg.scratch : memref<64xf32>
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %last = arith.constant 63 : index
    %j = arith.subi %last, %i : index
    %r = scf.for %k = %zero to %four step %one iter_args(%a = %e) -> f32 {
      memref.store %a, %s[%i] : memref<64xf32>
      dfg.barrier
      %v = memref.load %s[%j] : memref<64xf32>
      dfg.barrier
      scf.yield %v : f32
    }
    memref.store %r, %s[%i] : memref<64xf32>
    dfg.yield %r : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// A tree over halves: in each round the readers' elements are not written.
dfg.graph @tree(%x: tensor<64xf32>) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @tree grid(%i = %n) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    %s = dfg.scratch : memref<64xf32>
    %half = arith.constant 32 : index
    memref.store %e, %s[%i] : memref<64xf32>
    dfg.barrier
    %low = arith.cmpi ult, %i, %half : index
    scf.if %low {
      %k = arith.addi %i, %half : index
      %a = memref.load %s[%i] : memref<64xf32>
      %b = memref.load %s[%k] : memref<64xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %s[%i] : memref<64xf32>
    }
    dfg.barrier
    %v = memref.load %s[%i] : memref<64xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// A barrier that a uniform flag may skip.
dfg.graph @maybe(%x: tensor<64xf32>, %flag: i1) -> tensor<64xf32> {
  %n = arith.constant 64 : index
  %y = dfg.node @maybe grid(%i = %n) (each %e = %x : tensor<64xf32>, %f = %flag : i1) -> tensor<64xf32> {
    %s = dfg.scratch : memref<64xf32>
    %last = arith.constant 63 : index
    // expected-remark @+1 {{could not decide whether instances race on scratch memory of node 'maybe': a barrier stands where it may not be passed (dfg-p2)}}
    memref.store %e, %s[%i] : memref<64xf32>
    scf.if %f {
      dfg.barrier
    }
    %j = arith.subi %last, %i : index
    // expected-note @+1 {{the other access is here}}
    %v = memref.load %s[%j] : memref<64xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<64xf32>
}

// -----

// The children of a group know its instance only through operands; tiles of eight do not meet.
dfg.graph @tiles(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @tiles grid(%t = %n) (inout %p = %b : memref<?xf32>) {
    %eight = arith.constant 8 : index
    %p1 = dfg.node @fill grid(%i = %eight) (inout %q = %p : memref<?xf32>, %tile = %t : index) {
      %w = arith.constant 8 : index
      %f = arith.constant 1.0 : f32
      %base = arith.muli %tile, %w : index
      %k = arith.addi %base, %i : index
      memref.store %f, %q[%k] : memref<?xf32>
    }
    %p2 = dfg.node @scale grid(%i = %eight) (inout %q = %p1 : memref<?xf32>, %tile = %t : index) {
      %w = arith.constant 8 : index
      %seven = arith.constant 7 : index
      %base = arith.muli %tile, %w : index
      %k = arith.addi %base, %i : index
      %x = memref.load %q[%k] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %q[%k] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// One child of a tile reads what another child of the next tile writes: nothing orders groups.
dfg.graph @halo(%b: memref<?xf32>, %c: memref<?xf32>, %n: index) -> (memref<?xf32>, memref<?xf32>) {
  %b1, %c1 = dfg.node @halo grid(%t = %n) (inout %p = %b : memref<?xf32>, out %o = %c : memref<?xf32>) {
    %eight = arith.constant 8 : index
    // expected-note @+1 {{the memory is here}}
    %p1 = dfg.node @fill grid(%i = %eight) (inout %q = %p : memref<?xf32>, %tile = %t : index) {
      %w = arith.constant 8 : index
      %f = arith.constant 1.0 : f32
      %base = arith.muli %tile, %w : index
      %k = arith.addi %base, %i : index
      // expected-error @+1 {{instance (1, 0) writes and instance (0, 7) reads element [8] of port #0 of node 'fill', e.g. for extents (2, 8) (dfg-p1)}}
      memref.store %f, %q[%k] : memref<?xf32>
    }
    %o1 = dfg.node @shift grid(%i = %eight) (in %q = %p1 : memref<?xf32>, out %r = %o : memref<?xf32>, %tile = %t : index) {
      %w = arith.constant 8 : index
      %one = arith.constant 1 : index
      %base = arith.muli %tile, %w : index
      %k = arith.addi %base, %i : index
      %l = arith.addi %k, %one : index
      // expected-note @+1 {{the other access is here}}
      %x = memref.load %q[%l] : memref<?xf32>
      memref.store %x, %r[%k] : memref<?xf32>
    }
  }
  dfg.return %b1, %c1 : memref<?xf32>, memref<?xf32>
}

// -----

// A buffer of a group belongs to one instance of it.
dfg.graph @private(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %y = dfg.node @private grid(%t = %n) (each %e = %x : tensor<?x8xf32>) -> tensor<?x8xf32> {
    %eight = arith.constant 8 : index
    %s = dfg.buffer() : memref<8xf32>
    %s1 = dfg.node @put grid(%i = %eight) (each %v = %e : tensor<8xf32>, out %q = %s : memref<8xf32>) {
      memref.store %v, %q[%i] : memref<8xf32>
    }
    %r = dfg.node @get grid(%i = %eight) (in %q = %s1 : memref<8xf32>) -> tensor<8xf32> {
      %last = arith.constant 7 : index
      %j = arith.subi %last, %i : index
      %v = memref.load %q[%j] : memref<8xf32>
      dfg.yield %v : f32
    }
    dfg.yield %r : tensor<8xf32>
  }
  dfg.return %y : tensor<?x8xf32>
}

// -----

// What the copies of a called graph do to each other is not followed.
dfg.graph private @put(%b: memref<?xf32>, %k: index) -> memref<?xf32> {
  %b1 = dfg.node @store (inout %p = %b : memref<?xf32>, %i = %k : index) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}
dfg.graph @calls(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @group grid(%i = %n) (inout %p = %b : memref<?xf32>) {
    // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'group': it goes through a call (dfg-p2)}}
    %p1 = dfg.call @put(%p, %i) : (memref<?xf32>, index) -> memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Accumulating does not race with itself, but with what another child reads in another instance of the group.
dfg.graph @sums(%b: memref<4xi32>, %c: memref<?xi32>, %n: index) -> (memref<4xi32>, memref<?xi32>) {
  %b1, %c1 = dfg.node @sums grid(%t = %n) (inout %p = %b : memref<4xi32>, out %o = %c : memref<?xi32>) {
    %four = arith.constant 4 : index
    // expected-note @+1 {{the memory is here}}
    %p1 = dfg.node @add grid(%i = %four) (acc<addi> %q = %p : memref<4xi32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : i32
      // expected-error @+1 {{instance (1, 0) writes and instance (0) reads element [0] of port #0 of node 'add', e.g. for extents (2, 4) (dfg-p1)}}
      dfg.accumulate %one, %q[%zero] : memref<4xi32>
    }
    %o1 = dfg.node @read (in %q = %p1 : memref<4xi32>, out %r = %o : memref<?xi32>, %k = %t : index) {
      %zero = arith.constant 0 : index
      // expected-note @+1 {{the other access is here}}
      %v = memref.load %q[%zero] : memref<4xi32>
      memref.store %v, %r[%k] : memref<?xi32>
    }
  }
  dfg.return %b1, %c1 : memref<4xi32>, memref<?xi32>
}
