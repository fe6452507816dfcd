// Decided and racy, with the witness; decided and clean; not decided, with the reason.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-races

// b[i] = b[i + 1]: the neighbour may have been there already.
dfg.graph @shift(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the memory is here; give each instance elements of its own, combine their values (an 'acc' port), use an atomic operation, or put a barrier between the accesses}}
  %b1 = dfg.node @shift grid(%i = %n) (inout %p = %b : memref<?xf32>) {
    %one = arith.constant 1 : index
    %j = arith.addi %i, %one : index
    // expected-note @+1 {{the other access is here}}
    %x = memref.load %p[%j] : memref<?xf32>
    // expected-error @+1 {{instance (1) writes and instance (0) reads element [1] of port #0 of node 'shift', e.g. for extents (2) (dfg-p1)}}
    memref.store %x, %p[%i] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// b[2i] = b[2i + 1] never meets.
dfg.graph @pairs(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @pairs grid(%i = %n) (inout %p = %b : memref<?xf32>) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %j = arith.muli %i, %two : index
    %k = arith.addi %j, %one : index
    %x = memref.load %p[%k] : memref<?xf32>
    memref.store %x, %p[%j] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Blocks of eight, loops of eight.
dfg.graph @blocks(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @blocks grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %f = arith.constant 1.0 : f32
    %j = arith.muli %i, %eight : index
    scf.for %k = %zero to %eight step %one {
      %l = arith.addi %j, %k : index
      memref.store %f, %p[%l] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Blocks of eight, loops of nine: the ninth is the neighbour's first.
dfg.graph @overlap(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @overlap grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %nine = arith.constant 9 : index
    %f = arith.constant 1.0 : f32
    %j = arith.muli %i, %eight : index
    scf.for %k = %zero to %nine step %one {
      %l = arith.addi %j, %k : index
      // expected-error @+1 {{instances (1) and (0) both write element [8] of port #0 of node 'overlap', e.g. for extents (2) (dfg-p1)}}
      memref.store %f, %p[%l] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// A transposed write in two dimensions meets nobody; a projection meets a whole row.
dfg.graph @project(%b: memref<?x?xf32>, %c: memref<?xf32>, %h: index, %w: index) -> (memref<?x?xf32>, memref<?xf32>) {
  // expected-note @+1 {{the memory is here}}
  %b1, %c1 = dfg.node @project grid(%i = %h, %j = %w) (out %p = %b : memref<?x?xf32>, out %q = %c : memref<?xf32>) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%j, %i] : memref<?x?xf32>
    // expected-error @+1 {{instances (1, 0) and (0, 0) both write element [0] of port #1 of node 'project', e.g. for extents (2, 1) (dfg-p1)}}
    memref.store %f, %q[%j] : memref<?xf32>
  }
  dfg.return %b1, %c1 : memref<?x?xf32>, memref<?xf32>
}

// -----

// Constant extents need no example; a clamp makes the last two instances meet.
dfg.graph @clamp(%b: memref<8xf32>) -> memref<8xf32> {
  %n = arith.constant 8 : index
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @clamp grid(%i = %n) (out %p = %b : memref<8xf32>) {
    %six = arith.constant 6 : index
    %f = arith.constant 1.0 : f32
    %j = arith.minsi %i, %six : index
    // expected-error @+1 {{instances (6) and (7) both write element [6] of port #0 of node 'clamp' (dfg-p1)}}
    memref.store %f, %p[%j] : memref<8xf32>
  }
  dfg.return %b1 : memref<8xf32>
}

// -----

// A guard keeps one instance; quotient and remainder spread a line over a plane.
dfg.graph @guarded(%b: memref<?xf32>, %c: memref<?x4xf32>, %n: index) -> (memref<?xf32>, memref<?x4xf32>) {
  %b1, %c1 = dfg.node @guarded grid(%i = %n) (out %p = %b : memref<?xf32>, out %q = %c : memref<?x4xf32>) {
    %zero = arith.constant 0 : index
    %four = arith.constant 4 : index
    %f = arith.constant 1.0 : f32
    %first = arith.cmpi eq, %i, %zero : index
    scf.if %first {
      memref.store %f, %p[%zero] : memref<?xf32>
    }
    %row = arith.divui %i, %four : index
    %col = arith.remui %i, %four : index
    memref.store %f, %q[%row, %col] : memref<?x4xf32>
  }
  dfg.return %b1, %c1 : memref<?xf32>, memref<?x4xf32>
}

// -----

// Two instances below the limit remain, and both write.
dfg.graph @loose(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @loose grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %f = arith.constant 1.0 : f32
    %few = arith.cmpi slt, %i, %two : index
    scf.if %few {
      // expected-error @+1 {{instances (1) and (0) both write element [0] of port #0 of node 'loose', e.g. for extents (2) (dfg-p1)}}
      memref.store %f, %p[%zero] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Atomic updates do not race with each other.
dfg.graph @atomic(%b: memref<?xi32>, %x: tensor<?xindex>, %n: index) -> memref<?xi32> {
  %b1 = dfg.node @atomic grid(%i = %n) (inout %p = %b : memref<?xi32>, each %k = %x : tensor<?xindex>) {
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %p[%k] : (i32, memref<?xi32>) -> i32
  }
  dfg.return %b1 : memref<?xi32>
}

// -----

// A plain read beside them does.
dfg.graph @mixed(%b: memref<?xi32>, %n: index) -> memref<?xi32> {
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @mixed grid(%i = %n) (inout %p = %b : memref<?xi32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i32
    // expected-error @+1 {{instance (1) writes and instance (0) reads element [0] of port #0 of node 'mixed', e.g. for extents (2) (dfg-p1)}}
    %old = memref.atomic_rmw addi %one, %p[%zero] : (i32, memref<?xi32>) -> i32
    // expected-note @+1 {{the other access is here}}
    %x = memref.load %p[%zero] : memref<?xi32>
  }
  dfg.return %b1 : memref<?xi32>
}

// -----

// An index read from memory is not decided.
dfg.graph @scatter(%b: memref<?xf32>, %x: tensor<?xindex>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @scatter grid(%i = %n) (out %p = %b : memref<?xf32>, each %k = %x : tensor<?xindex>) {
    %f = arith.constant 1.0 : f32
    // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'scatter': an index comes from an 'each' port (dfg-p2)}}
    memref.store %f, %p[%k] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Nor is a row-major index by hand with a stride that is not constant.
dfg.graph @linear(%b: memref<?xf32>, %h: index, %w: index) -> memref<?xf32> {
  %b1 = dfg.node @linear grid(%i = %h, %j = %w) (out %p = %b : memref<?xf32>) {
    %f = arith.constant 1.0 : f32
    %e = dfg.extent 1
    %row = arith.muli %i, %e : index
    %k = arith.addi %row, %j : index
    // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'linear': an index multiplies two values that are not constant (dfg-p2)}}
    memref.store %f, %p[%k] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// An unknown index in one dimension does not matter when another one decides.
dfg.graph @rows(%b: memref<?x?xf32>, %x: tensor<?xindex>, %n: index) -> memref<?x?xf32> {
  %b1 = dfg.node @rows grid(%i = %n) (out %p = %b : memref<?x?xf32>, each %k = %x : tensor<?xindex>) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i, %k] : memref<?x?xf32>
  }
  dfg.return %b1 : memref<?x?xf32>
}

// -----

// Calls and operations on whole memrefs are not followed.
func.func private @outside(memref<?xf32>, index)
dfg.graph @call(%b: memref<?xf32>, %c: memref<4xf32>, %n: index) -> (memref<?xf32>, memref<4xf32>) {
  %b1, %c1 = dfg.node @call grid(%i = %n) (inout %p = %b : memref<?xf32>, inout %q = %c : memref<4xf32>) {
    // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'call': it goes through a call (dfg-p2)}}
    func.call @outside(%p, %i) : (memref<?xf32>, index) -> ()
    %f = arith.constant 1.0 : f32
    // expected-remark @+1 {{could not decide whether instances race on port #1 of node 'call': 'linalg.fill' touches elements that are not followed (dfg-p2)}}
    linalg.fill ins(%f : f32) outs(%q : memref<4xf32>)
  }
  dfg.return %b1, %c1 : memref<?xf32>, memref<4xf32>
}

// -----

// Vectors cover several elements.
dfg.graph @vectors(%b: memref<64xf32>, %c: memref<64xf32>) -> (memref<64xf32>, memref<64xf32>) {
  %n = arith.constant 8 : index
  // expected-note @+1 {{the memory is here}}
  %b1, %c1 = dfg.node @vectors grid(%i = %n) (out %p = %b : memref<64xf32>, out %q = %c : memref<64xf32>) {
    %eight = arith.constant 8 : index
    %four = arith.constant 4 : index
    %v = arith.constant dense<1.0> : vector<8xf32>
    %k = arith.muli %i, %eight : index
    vector.store %v, %p[%k] : memref<64xf32>, vector<8xf32>
    %l = arith.muli %i, %four : index
    // expected-error @+1 {{instances (1) and (0) both write element [4] of port #1 of node 'vectors' (dfg-p1)}}
    vector.store %v, %q[%l] : memref<64xf32>, vector<8xf32>
  }
  dfg.return %b1, %c1 : memref<64xf32>, memref<64xf32>
}

// -----

// Cases of cases: each selection reads the one before it four times, as an index and in a condition. Neither takes long.
dfg.graph @selections(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @selections grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %f = arith.constant 1.0 : f32
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %m0 = arith.cmpi slt, %i, %c7 : index
    %u0 = arith.addi %i, %c1 : index
    %s0 = arith.select %m0, %u0, %i : index
    %m1 = arith.cmpi slt, %s0, %c7 : index
    %u1 = arith.addi %s0, %c1 : index
    %s1 = arith.select %m1, %u1, %s0 : index
    %m2 = arith.cmpi slt, %s1, %c7 : index
    %u2 = arith.addi %s1, %c1 : index
    %s2 = arith.select %m2, %u2, %s1 : index
    %m3 = arith.cmpi slt, %s2, %c7 : index
    %u3 = arith.addi %s2, %c1 : index
    %s3 = arith.select %m3, %u3, %s2 : index
    %m4 = arith.cmpi slt, %s3, %c7 : index
    %u4 = arith.addi %s3, %c1 : index
    %s4 = arith.select %m4, %u4, %s3 : index
    %m5 = arith.cmpi slt, %s4, %c7 : index
    %u5 = arith.addi %s4, %c1 : index
    %s5 = arith.select %m5, %u5, %s4 : index
    %m6 = arith.cmpi slt, %s5, %c7 : index
    %u6 = arith.addi %s5, %c1 : index
    %s6 = arith.select %m6, %u6, %s5 : index
    %m7 = arith.cmpi slt, %s6, %c7 : index
    %u7 = arith.addi %s6, %c1 : index
    %s7 = arith.select %m7, %u7, %s6 : index
    %m8 = arith.cmpi slt, %s7, %c7 : index
    %u8 = arith.addi %s7, %c1 : index
    %s8 = arith.select %m8, %u8, %s7 : index
    %m9 = arith.cmpi slt, %s8, %c7 : index
    %u9 = arith.addi %s8, %c1 : index
    %s9 = arith.select %m9, %u9, %s8 : index
    %m10 = arith.cmpi slt, %s9, %c7 : index
    %u10 = arith.addi %s9, %c1 : index
    %s10 = arith.select %m10, %u10, %s9 : index
    %m11 = arith.cmpi slt, %s10, %c7 : index
    %u11 = arith.addi %s10, %c1 : index
    %s11 = arith.select %m11, %u11, %s10 : index
    %m12 = arith.cmpi slt, %s11, %c7 : index
    %u12 = arith.addi %s11, %c1 : index
    %s12 = arith.select %m12, %u12, %s11 : index
    %m13 = arith.cmpi slt, %s12, %c7 : index
    %u13 = arith.addi %s12, %c1 : index
    %s13 = arith.select %m13, %u13, %s12 : index
    %m14 = arith.cmpi slt, %s13, %c7 : index
    %u14 = arith.addi %s13, %c1 : index
    %s14 = arith.select %m14, %u14, %s13 : index
    %m15 = arith.cmpi slt, %s14, %c7 : index
    %u15 = arith.addi %s14, %c1 : index
    %s15 = arith.select %m15, %u15, %s14 : index
    %m16 = arith.cmpi slt, %s15, %c7 : index
    %u16 = arith.addi %s15, %c1 : index
    %s16 = arith.select %m16, %u16, %s15 : index
    %m17 = arith.cmpi slt, %s16, %c7 : index
    %u17 = arith.addi %s16, %c1 : index
    %s17 = arith.select %m17, %u17, %s16 : index
    %m18 = arith.cmpi slt, %s17, %c7 : index
    %u18 = arith.addi %s17, %c1 : index
    %s18 = arith.select %m18, %u18, %s17 : index
    %m19 = arith.cmpi slt, %s18, %c7 : index
    %u19 = arith.addi %s18, %c1 : index
    %s19 = arith.select %m19, %u19, %s18 : index
    %m20 = arith.cmpi slt, %s19, %c7 : index
    %u20 = arith.addi %s19, %c1 : index
    %s20 = arith.select %m20, %u20, %s19 : index
    %m21 = arith.cmpi slt, %s20, %c7 : index
    %u21 = arith.addi %s20, %c1 : index
    %s21 = arith.select %m21, %u21, %s20 : index
    %m22 = arith.cmpi slt, %s21, %c7 : index
    %u22 = arith.addi %s21, %c1 : index
    %s22 = arith.select %m22, %u22, %s21 : index
    %m23 = arith.cmpi slt, %s22, %c7 : index
    %u23 = arith.addi %s22, %c1 : index
    %s23 = arith.select %m23, %u23, %s22 : index
    %last = arith.cmpi eq, %s23, %c7 : index
    scf.if %last {
      // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'selections': an index has too many cases (dfg-p2)}}
      memref.store %f, %p[%i] : memref<?xf32>
    }
    // expected-note @+1 {{the other access is here}}
    memref.store %f, %p[%s23] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// What wraps around by the extent meets its neighbour: one linear form for each quotient.
dfg.graph @rotates(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @rotates grid(%i = %n) (inout %p = %b : memref<?xf32>) {
    %one = arith.constant 1 : index
    %e = dfg.extent 0
    %next = arith.addi %i, %one : index
    %k = arith.remsi %next, %e : index
    // expected-note @+1 {{the other access is here}}
    %x = memref.load %p[%k] : memref<?xf32>
    // expected-error @+1 {{instance (1) writes and instance (0) reads element [1] of port #0 of node 'rotates', e.g. for extents (2) (dfg-p1)}}
    memref.store %x, %p[%i] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Into other memory it meets nobody, whatever the extent.
dfg.graph @permutes(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @permutes grid(%i = %n) (in %q = %a : memref<?xf32>, out %p = %b : memref<?xf32>) {
    %one = arith.constant 1 : index
    %e = dfg.extent 0
    %before = arith.subi %i, %one : index
    %up = arith.addi %before, %e : index
    %k = arith.remui %up, %e : index
    %x = memref.load %q[%i] : memref<?xf32>
    memref.store %x, %p[%k] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Quotients by a value that may be anything: some are followed, and one meeting is enough.
dfg.graph @blocks(%b: memref<?xf32>, %n: index, %w: index) -> memref<?xf32> {
  // expected-note @+1 {{the memory is here}}
  %b1 = dfg.node @blocks grid(%i = %n) (out %p = %b : memref<?xf32>, whole %v = %w : index) {
    %f = arith.constant 1.0 : f32
    %k = arith.divsi %i, %v : index
    // expected-error @+1 {{instances (1) and (0) both write element [0] of port #0 of node 'blocks', e.g. for extents (2) (dfg-p1)}}
    memref.store %f, %p[%k] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// The first of each block writes: beyond a few blocks it is not decided.
dfg.graph @leaders(%b: memref<?xf32>, %n: index, %w: index) -> memref<?xf32> {
  %b1 = dfg.node @leaders grid(%i = %n) (out %p = %b : memref<?xf32>, whole %v = %w : index) {
    %f = arith.constant 1.0 : f32
    %zero = arith.constant 0 : index
    %k = arith.divsi %i, %v : index
    %rest = arith.remsi %i, %v : index
    %first = arith.cmpi eq, %rest, %zero : index
    scf.if %first {
      // expected-remark @+1 {{could not decide whether instances race on port #0 of node 'leaders': an index divides by a value that is not a positive constant (dfg-p2)}}
      memref.store %f, %p[%k] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}
