// Rules of what stands only in a leaf (l) and of barriers (b): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @g(%b: memref<4xf32>) {
  // expected-note @+1 {{the memory comes from here}}
  %b1 = dfg.node @n (inout %v = %b : memref<4xf32>) {
    %z = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{expected the memory to be an 'acc' port of the enclosing leaf, but got another memref (dfg-l1)}}
    dfg.accumulate %f, %v[%z] : memref<4xf32>
  }
  dfg.return
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  %b1 = dfg.node @n (acc<addf> %v = %b : memref<4xf32>) {
    %z = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{expected 1 indices, as many as the memory has dimensions, but got 2 (dfg-l2)}}
    dfg.accumulate %f, %v[%z, %z] : memref<4xf32>
  }
  dfg.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected an extent to be asked for inside a leaf, but got none around it (dfg-l3)}}
  %e = dfg.extent 0
  return
}

// -----

dfg.graph @g(%n: index) {
  // expected-note @+1 {{the grid is here}}
  dfg.node @n grid(%i = %n) () {
    // expected-error @+1 {{expected a dimension below the grid's rank of 1, but got 1 (dfg-l4)}}
    %e = dfg.extent 1
  }
  dfg.return
}

// -----

dfg.graph @g() {
  dfg.node @n () {
    // expected-error @+2 {{expected scratch memory to stand directly in a leaf with a grid, but got 'dfg.node' around it (dfg-l5)}}
    // expected-note @+1 {{a grid has one piece for all its instances, so it is not made in loops or branches}}
    %s = dfg.scratch : memref<4xf32>
  }
  dfg.return
}

// -----

dfg.graph @g(%n: index, %c: i1) {
  dfg.node @n grid(%i = %n) (%d = %c : i1) {
    scf.if %d {
      // expected-error @+2 {{expected scratch memory to stand directly in a leaf with a grid, but got 'scf.if' around it (dfg-l5)}}
      // expected-note @+1 {{a grid has one piece for all its instances, so it is not made in loops or branches}}
      %s = dfg.scratch : memref<4xf32>
    }
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-note @+1 {{the leaf is here}}
  dfg.node @n () {
    // expected-error @+1 {{expected a barrier to stand in a leaf with a grid, but got a leaf without one (dfg-b1)}}
    dfg.barrier
  }
  dfg.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a barrier to stand in a leaf with a grid, but got no leaf around it (dfg-b1)}}
  dfg.barrier
  return
}

// -----

dfg.graph @id(%n: index) {
  dfg.node @n grid(%i = %n) () {
    %z = arith.constant 0 : index
    %c = arith.cmpi eq, %i, %z : index
    // expected-note @+1 {{control may diverge here; ids, 'each' elements and memory that the leaf writes differ between instances}}
    scf.if %c {
      // expected-error @+1 {{expected all instances to reach a barrier, but it stands in 'scf.if' whose condition may differ between instances (dfg-b2)}}
      dfg.barrier
    }
  }
  dfg.return
}

// -----

dfg.graph @each(%x: tensor<?xindex>, %n: index) {
  dfg.node @n grid(%i = %n) (each %e = %x : tensor<?xindex>) {
    %z = arith.constant 0 : index
    %o = arith.constant 1 : index
    // expected-note @+1 {{control may diverge here}}
    scf.for %k = %z to %e step %o {
      // expected-error @+1 {{expected all instances to reach a barrier, but it stands in 'scf.for' whose bounds may differ between instances (dfg-b2)}}
      dfg.barrier
    }
  }
  dfg.return
}

// -----

// A loop carries the difference: after one round the flag depends on the id.
dfg.graph @carried(%n: index) {
  dfg.node @n grid(%i = %n) () {
    %z = arith.constant 0 : index
    %o = arith.constant 1 : index
    %four = arith.constant 4 : index
    %t = arith.constant true
    %r = scf.for %k = %z to %four step %o iter_args(%f = %t) -> i1 {
      // expected-note @+1 {{control may diverge here}}
      scf.if %f {
        // expected-error @+1 {{it stands in 'scf.if' whose condition may differ between instances (dfg-b2)}}
        dfg.barrier
      }
      %g = arith.cmpi eq, %i, %k : index
      scf.yield %g : i1
    }
  }
  dfg.return
}

// -----

// What the leaf writes may differ by the time it is read.
dfg.graph @memory(%b: memref<4xi1>, %n: index) {
  %b1 = dfg.node @n grid(%i = %n) (inout %m = %b : memref<4xi1>) {
    %z = arith.constant 0 : index
    // expected-note @+1 {{control may diverge here}}
    scf.while : () -> () {
      %c = memref.load %m[%z] : memref<4xi1>
      scf.condition(%c)
    } do {
      // expected-error @+1 {{it stands in 'scf.while' whose condition may differ between instances (dfg-b2)}}
      dfg.barrier
      scf.yield
    }
  }
  dfg.return
}

// -----

dfg.graph @parallel(%n: index) {
  dfg.node @n grid(%i = %n) () {
    // expected-note @+1 {{control may diverge here}}
    scf.forall (%k) in (4) {
      // expected-error @+1 {{it stands in 'scf.forall', which does not promise to run its region once for all instances (dfg-b2)}}
      dfg.barrier
    }
  }
  dfg.return
}

// -----

// Uniform control flow is no divergence: bounds from whole operands, extents and read-only memory.
dfg.graph @uniform(%b: memref<4xindex>, %flag: i1, %n: index) {
  dfg.node @n grid(%i = %n) (in %m = %b : memref<4xindex>, %f = %flag : i1) {
    %z = arith.constant 0 : index
    %o = arith.constant 1 : index
    %e = dfg.extent 0
    %l = memref.load %m[%z] : memref<4xindex>
    %u = arith.addi %l, %e : index
    scf.for %k = %z to %u step %o {
      scf.if %f {
        dfg.barrier
      }
      dfg.barrier
    }
    %w = scf.while (%x = %u) : (index) -> index {
      %c = arith.cmpi sgt, %x, %z : index
      scf.condition(%c) %x : index
    } do {
    ^bb0(%x: index):
      dfg.barrier
      %y = arith.subi %x, %o : index
      scf.yield %y : index
    }
  }
  dfg.return
}
