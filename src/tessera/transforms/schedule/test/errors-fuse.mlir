// What fusing nodes refuses.
// RUN: tessera-opt %s --transform-interpreter -split-input-file -verify-diagnostics

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %k = transform.structured.match ops{["arith.constant"]} in %m : (!transform.any_op) -> !transform.any_op
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected a handle of one operation, but got 2}}
    %r = transform.tessera.fuse_nodes %k into %a : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    // expected-note @+1 {{payload op}}
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %k = transform.structured.match ops{["arith.constant"]} in %m : (!transform.any_op) -> !transform.any_op
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected a handle of 'dfg.node', but got 'arith.constant'}}
    %r = transform.tessera.fuse_nodes %k into %a : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %k8 = arith.constant 8 : index
      // expected-note @+1 {{payload op}}
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "inner" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'inner': they stand in different graphs}}
    // expected-note @+1 {{flatten or outline first}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %k8 = arith.constant 8 : index
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    %2 = dfg.node @b grid(%i = %c8) (each %e = %y : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'n': it is an internal node}}
    // expected-note @+1 {{flatten it first}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> attributes {versions = [#dfg.version<"cpu">]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> attributes {versions = [#dfg.version<"null">]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{'a' and 'b' are placed on different targets}}
    // expected-note @+1 {{give both the same targets}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> attributes {versions = [#dfg.version<"cpu">]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> attributes {versions = [#dfg.version<"cpu", script = "@tile">]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{the versions of 'a' and 'b' have different scripts}}
    // expected-note @+1 {{give both the same script}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': there is no edge between them}}
    // expected-note @+1 {{use 'fuse_siblings' for independent nodes}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %m1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %mm : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (in %p = %m1 : memref<8xf32>) -> tensor<8xf32> {
      %v = memref.load %p[%i] : memref<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': the edge between them is memory, which one instance writes and another may read}}
    // expected-note @+1 {{pass a tensor instead}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>, %s = %1 : f32) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': result 0 of 'a' is a reduce over its grid, known only when all instances have run}}
    // expected-note @+1 {{fuse what follows with another node}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<?xf32>, %n1: index, %n2: index) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %n1) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %n2) (each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': their grids are not certainly equal}}
    // expected-note @+1 {{give both the same extents}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a () -> index {
      %k = arith.constant 4 : index
      dfg.yield %k : index
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %1) (%k = %1 : index) -> f32 reduce<addf> {
      %v = arith.constant 1.0 : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': it computes the extents of the consumer's grid}}
    // expected-note @+1 {{keep them apart}}
    %r = transform.tessera.fuse_nodes %a into %b {recompute} : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (%w = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %z = arith.constant 0 : index
      %v = tensor.extract %w[%z] : tensor<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': it reads more than its own element of the result}}
    // expected-note @+1 {{allow it with 'recompute'}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (%w = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %z = arith.constant 0 : index
      %v = tensor.extract %w[%z] : tensor<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot recompute 'a' into 'b': it would add 1 operations to each instance, more than 0}}
    // expected-note @+1 {{raise 'max_cost', or keep the nodes apart}}
    %r = transform.tessera.fuse_nodes %a into %b {recompute, max_cost = 0.5 : f64} : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %t = memref.alloc() : memref<1xf32>
      dfg.yield %e : f32
    }
    %2 = dfg.node @b grid(%i = %c8) (%w = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %z = arith.constant 0 : index
      %v = tensor.extract %w[%z] : tensor<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot recompute 'a' into 'b': its body writes or allocates memory}}
    // expected-note @+1 {{yield its values instead}}
    %r = transform.tessera.fuse_nodes %a into %b {recompute} : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    %2 = dfg.node @b grid(%i = %c8) (%w = %1 : tensor<8xf32>) -> tensor<8xf32> {
      // expected-note @+1 {{payload op}}
      %q = tensor.extract_slice %w[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
      %z = arith.constant 0 : index
      %v = tensor.extract %q[%z] : tensor<1xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot recompute 'a' into 'b': its result is read by 'tensor.extract_slice', not element by element}}
    // expected-note @+1 {{read it with 'tensor.extract'}}
    %r = transform.tessera.fuse_nodes %a into %b {recompute} : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, in %p = %mm : memref<8xf32>) -> tensor<8xf32> {
      %q = memref.load %p[%i] : memref<8xf32>
      %v = arith.mulf %e, %q : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @w grid(%i = %c8) (out %p = %mm : memref<8xf32>) {
      %f = arith.constant 1.0 : f32
      memref.store %f, %p[%i] : memref<8xf32>
    }
    %2 = dfg.node @b grid(%i = %c8) (%w = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %z = arith.constant 0 : index
      %v = tensor.extract %w[%z] : tensor<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot recompute 'a' into 'b': memory that it reads is written before the consumer runs}}
    // expected-note @+1 {{keep them apart}}
    %r = transform.tessera.fuse_nodes %a into %b {recompute} : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, in %p = %mm : memref<8xf32>) -> tensor<8xf32> {
      %q = memref.load %p[%i] : memref<8xf32>
      %v = arith.mulf %e, %q : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>, out %p = %mm : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' into 'b': both use the same memory and one of them writes it}}
    // expected-note @+1 {{keep them apart}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cpu"]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cuda"]} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{the targets of 'a' and 'b' have none in common}}
    // expected-note @+1 {{allow one target for both}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> attributes {quality = #dfg.demand<"l1", 0.1 : f64>} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> attributes {quality = #dfg.demand<"l2", 0.1 : f64>} {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{the quality demands of 'a' and 'b' use different norms}}
    // expected-note @+1 {{state both in one norm}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    %s = dfg.node @mid grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>, %t = %s : f32) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{'b' depends on 'mid', which depends on 'a'}}
    // expected-note @+1 {{include it as well, or fuse in another order}}
    %r = transform.tessera.fuse_nodes %a into %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %k8 = arith.constant 8 : index
      // expected-note @+1 {{payload op}}
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "inner" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' and 'inner': they stand in different graphs}}
    // expected-note @+1 {{flatten or outline first}}
    %r = transform.tessera.fuse_siblings %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' and 'b': the second reads a result of the first}}
    // expected-note @+1 {{use 'fuse_nodes'}}
    %r = transform.tessera.fuse_siblings %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    %c4 = arith.constant 4 : index
    // expected-note @+1 {{payload op}}
    %2 = dfg.node @b grid(%i = %c4) (%w = %x : tensor<8xf32>) -> tensor<4xf32> {
      %z = arith.constant 0 : index
      %v = tensor.extract %w[%z] : tensor<8xf32>
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' and 'b': their grids are not certainly equal}}
    // expected-note @+1 {{give both the same extents}}
    %r = transform.tessera.fuse_siblings %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, in %p = %mm : memref<8xf32>) -> tensor<8xf32> {
      %q = memref.load %p[%i] : memref<8xf32>
      %v = arith.mulf %e, %q : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %mm : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %b = transform.tessera.match_node "b" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot fuse 'a' and 'b': both use the same memory and one of them writes it}}
    // expected-note @+1 {{keep them apart}}
    %r = transform.tessera.fuse_siblings %a, %b : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}
