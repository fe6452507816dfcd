// What changing the inside of a leaf refuses.
// RUN: tessera-opt %s --transform-interpreter -split-input-file -verify-diagnostics

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise in 'n': it has no scratch memory}}
    // expected-note @+1 {{name a port}}
    %r:2 = transform.tessera.privatise %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      // expected-note @+1 {{payload op}}
      %s = dfg.scratch : memref<8xf32>
      memref.store %e, %s[%i] : memref<8xf32>
      dfg.barrier
      %v = memref.load %s[%i] : memref<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise the scratch memory: instances exchange values through it at a barrier}}
    // expected-note @+1 {{keep it shared}}
    %r:2 = transform.tessera.privatise %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<8xf32>
      memref.store %e, %s[%i] : memref<8xf32>
      %z = arith.constant 0 : index
      // expected-note @+1 {{payload op}}
      %v = memref.load %s[%z] : memref<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise the scratch memory: this may read what the instance has not written}}
    // expected-note @+1 {{write the element before reading it}}
    %r:2 = transform.tessera.privatise %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<8xf32>
      // expected-note @+1 {{payload op}}
      %t = memref.subview %s[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise the scratch memory: 'memref.subview' uses it as a whole}}
    // expected-note @+1 {{use loads and stores of elements}}
    %r:2 = transform.tessera.privatise %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': expected an 'out' or 'inout' port}}
    // expected-note @+1 {{name a port that it writes}}
    %r:2 = transform.tessera.privatise %n port 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %mm : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 1 of 'n': its memory is used elsewhere}}
    // expected-note @+1 {{use a buffer of its own}}
    %r:2 = transform.tessera.privatise %n port 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %b = dfg.buffer(%c8) : memref<?xf32>
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %b : memref<?xf32>) {
      memref.store %e, %p[%i] : memref<?xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 1 of 'n': its memory has no static, plain shape}}
    // expected-note @+1 {{give the buffer a static shape}}
    %r:2 = transform.tessera.privatise %n port 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %b = dfg.buffer() : memref<8xf32>
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %b : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
      dfg.barrier
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 1 of 'n': instances may exchange values through it at a barrier}}
    // expected-note @+1 {{keep it shared}}
    %r:2 = transform.tessera.privatise %n port 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n (acc<addf> %p = %mm : memref<8xf32>) {
      %z = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%z] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': the node has no grid to cut into chunks}}
    // expected-note @+1 {{name a replicated leaf}}
    %r:2 = transform.tessera.privatise %n port 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (acc<addf> %p = %mm : memref<8xf32>) {
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': expected at least one chunk, but got 0}}
    // expected-note @+1 {{use 2 or more}}
    %r:2 = transform.tessera.privatise %n port 0 {chunks = 0} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (acc<addf> %p = %mm : memref<8xf32>) {
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%i] : memref<8xf32>
      dfg.barrier
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': its instances share scratch memory or a barrier}}
    // expected-note @+1 {{remove them first}}
    %r:2 = transform.tessera.privatise %n port 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%mm: memref<2x2x2x2xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (acc<addf> %p = %mm : memref<2x2x2x2xf32>) {
      %z = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%z, %z, %z, %z] : memref<2x2x2x2xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': its memory has more than three dimensions or a layout of its own}}
    // expected-note @+1 {{use a plain memref}}
    %r:2 = transform.tessera.privatise %n port 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %m1 = dfg.node @n grid(%i = %c8) (acc<addf> %p = %mm : memref<8xf32>) {
      // expected-note @+1 {{payload op}}
      %d = memref.dim %p, %i : memref<8xf32>
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 0 of 'n': 'memref.dim' uses its memory as a whole}}
    // expected-note @+1 {{use 'dfg.accumulate' only}}
    %r:2 = transform.tessera.privatise %n port 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1, %m1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>, acc<addf> %p = %mm : memref<8xf32>) -> tensor<8xf32> {
      %one = arith.constant 1.0 : f32
      dfg.accumulate %one, %p[%i] : memref<8xf32>
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot privatise port 1 of 'n': result 0 is not a reduction over the whole grid}}
    // expected-note @+1 {{let another node compute it}}
    %r:2 = transform.tessera.privatise %n port 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      // expected-note @+1 {{payload op}}
      scf.for %k = %c0 to %i step %c1 {
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll the loop fully: its trip count is not known}}
    // expected-note @+1 {{unroll it by a factor}}
    transform.tessera.unroll_loop %l : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      // expected-note @+1 {{payload op}}
      scf.for %k = %c0 to %c4 step %c1 {
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll the loop: expected a factor that is not negative, but got -2}}
    // expected-note @+1 {{use 0 to unroll it fully}}
    transform.tessera.unroll_loop %l {factor = -2} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      // expected-note @+1 {{payload op}}
      scf.for %k = %c0 to %c4 step %c1 {
      }
      scf.for %k = %c0 to %c4 step %c1 {
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: they do not follow each other in one block}}
    // expected-note @+1 {{name the earlier loop first}}
    %r = transform.tessera.fuse_loops %b, %a : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      scf.for %k = %c0 to %c4 step %c1 {
      }
      // expected-note @+1 {{payload op}}
      scf.for %k = %c0 to %c5 step %c1 {
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: their bounds or steps differ}}
    // expected-note @+1 {{give both the same bounds}}
    %r = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %t = memref.alloc() : memref<8xf32>
      scf.for %k = %c0 to %c4 step %c1 {
      }
      // expected-note @+1 {{payload op}}
      memref.store %e, %t[%i] : memref<8xf32>
      scf.for %k = %c0 to %c4 step %c1 {
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: 'memref.store' between them touches memory}}
    // expected-note @+1 {{move it before the first or after the second}}
    %r = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %s = scf.for %k = %c0 to %c4 step %c1 iter_args(%q = %e) -> f32 {
        scf.yield %q : f32
      }
      // expected-note @+1 {{payload op}}
      %u = scf.for %k = %c0 to %c4 step %c1 iter_args(%q = %s) -> f32 {
        scf.yield %q : f32
      }
      dfg.yield %u : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: the second needs a result of the first}}
    // expected-note @+1 {{keep them apart}}
    %r = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %t = memref.alloc() : memref<8xf32>
      scf.for %k = %c0 to %c4 step %c1 {
        memref.store %e, %t[%k] : memref<8xf32>
      }
      scf.for %k = %c0 to %c4 step %c1 {
        %k1 = arith.addi %k, %c1 : index
        // expected-note @+1 {{payload op}}
        %v = memref.load %t[%k1] : memref<8xf32>
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: this may touch an element that the first loop uses in another trip}}
    // expected-note @+1 {{index both by the loop's own counter}}
    %r = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %t = memref.alloc() : memref<8xf32>
      scf.for %k = %c0 to %c4 step %c1 {
        memref.store %e, %t[%k] : memref<8xf32>
      }
      scf.for %k = %c0 to %c4 step %c1 {
        // expected-note @+1 {{payload op}}
        memref.dealloc %t : memref<8xf32>
      }
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %l = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %l : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @+2 {{cannot fuse the loops: what 'memref.dealloc' does to memory is not known}}
    // expected-note @+1 {{use loads and stores}}
    %r = transform.tessera.fuse_loops %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%t: f32) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n (%s = %t : f32) -> f32 {
      %v = math.exp %s : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot hoist from 'n': it has one instance only}}
    // expected-note @+1 {{name a replicated leaf}}
    %r:2 = transform.tessera.hoist %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot hoist from 'n': no dear operation is the same in all instances}}
    // expected-note @+1 {{leave it as it is}}
    %r:2 = transform.tessera.hoist %n : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
