// What finding nodes and changing the hierarchy refuses.
// RUN: tessera-opt %s --transform-interpreter -split-input-file -verify-diagnostics

// expected-note @+1 {{nodes here: p}}
module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @p grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    // expected-error @+1 {{there is no node 'nn'}}
    %n = transform.tessera.match_node "nn" in %m : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @p grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    // expected-error @+1 {{there is no graph 'h'}}
    %g = transform.tessera.match_graph "h" in %m : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot flatten 'n': it is a leaf}}
    // expected-note @+1 {{name an internal node}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %y = dfg.node @n grid(%t = %c8) (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c1 = arith.constant 1 : index
      %1 = dfg.node @inner grid(%i = %c1) (%w = %a : tensor<8xf32>) -> f32 reduce<addf> {
        %f = arith.constant 1.0 : f32
        dfg.yield %f : f32
      }
      dfg.yield %1 : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': it is replicated over a grid}}
    // expected-note @+1 {{sequentialise its leaves, or keep the group}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> attributes {versions = [#dfg.version<"cpu">]} {
      %k8 = arith.constant 8 : index
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': it is placed already}}
    // expected-note @+1 {{transform the graph before placement}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> attributes {quality = #dfg.demand<"l2", 0.1 : f64>} {
      %k8 = arith.constant 8 : index
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': its quality demand is for its results as a whole}}
    // expected-note @+1 {{put a demand on the nodes inside instead}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cpu"]} {
      %k8 = arith.constant 8 : index
      // expected-note @+1 {{payload op}}
      %in = dfg.node @inner grid(%i = %k8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cuda"]} {
        dfg.yield %e : f32
      }
      dfg.yield %in : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': its targets and those of 'inner' have none in common}}
    // expected-note @+1 {{allow one target for both}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph private @sub(%t: tensor<8xf32>) -> (r: tensor<8xf32>) {
    dfg.return %t : tensor<8xf32>
  }
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %y = dfg.node @n (%a = %x : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cpu"]} {
      // expected-note @+1 {{payload op}}
      %1 = dfg.call @sub(%a) : (tensor<8xf32>) -> tensor<8xf32>
      dfg.yield %1 : tensor<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': its targets cannot be passed on to a call}}
    // expected-note @+1 {{flatten the call first}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph private @keep(%t: memref<8xf32>) {
    dfg.return
  }
  dfg.graph @g(%x: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n (inout %a = %x : memref<8xf32>) {
      dfg.call @keep(%a) : (memref<8xf32>) -> ()
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten 'n': a call inside keeps the memory of port 0}}
    // expected-note @+1 {{return the memref from the graph that is called}}
    %r = transform.tessera.flatten %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph private @st(%t: f32) -> (r: f32) {
    %s = dfg.state init(%t : f32) : f32
    dfg.return %s : f32
  }
  dfg.graph @g(%x: f32) {
    %c8 = arith.constant 8 : index
    %y = dfg.node @n (%a = %x : f32) -> f32 {
      // expected-note @+1 {{payload op}}
      %1 = dfg.call @st(%a) : (f32) -> f32
      dfg.yield %1 : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %c = transform.structured.match ops{["dfg.call"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot flatten the call: graph 'st' keeps a state, which stands in a graph only}}
    // expected-note @+1 {{flatten the internal node around the call first}}
    %r = transform.tessera.flatten %c : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected handles of 'dfg.node', but got 'builtin.module'}}
    %r = transform.tessera.outline %m as "o" : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %c = transform.structured.match ops{["scf.for"]} in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected a handle of at least one node, but got none}}
    %r = transform.tessera.outline %c as "o" : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot outline into graph 'g': the name is taken}}
    // expected-note @+1 {{choose another name}}
    %r = transform.tessera.outline %n as "g" {as_graph} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @p grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
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
    %p = transform.tessera.match_node in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot outline 'p' and 'inner' together: they stand in different graphs}}
    // expected-note @+1 {{outline nodes of one graph}}
    %r = transform.tessera.outline %p as "o" : (!transform.any_op) -> !transform.any_op
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
    %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    // expected-note @+1 {{payload op}}
    %3 = dfg.node @c grid(%i = %c8) (each %e = %2 : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %a = transform.tessera.match_node "a" in %m : (!transform.any_op) -> !transform.any_op
    %c = transform.tessera.match_node "c" in %m : (!transform.any_op) -> !transform.any_op
    %h = transform.merge_handles %a, %c : !transform.any_op
    // expected-error @+2 {{'c' depends on 'b', which depends on 'a'}}
    // expected-note @+1 {{include it as well, or fuse in another order}}
    %r = transform.tessera.outline %h as "o" : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %t = memref.cast %mm : memref<8xf32> to memref<?xf32>
    // expected-note @+1 {{payload op}}
    %m1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>, out %p = %mm : memref<8xf32>) {
      memref.store %e, %p[%i] : memref<8xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot outline 'n' into a graph: it uses memory of which there is a view}}
    // expected-note @+1 {{outline it into an internal node instead}}
    %r = transform.tessera.outline %n as "o" {as_graph} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>, %mm: memref<8xf32>) {
    %c8 = arith.constant 8 : index
    %m1 = dfg.node @o (%a = %x : tensor<8xf32>, acc<addf> %b = %mm : memref<8xf32>) {
      %k8 = arith.constant 8 : index
      // expected-note @+1 {{payload op}}
      %in = dfg.node @n grid(%i = %k8) (each %e = %a : tensor<8xf32>, acc<addf> %p = %b : memref<8xf32>) {
        dfg.accumulate %e, %p[%i] : memref<8xf32>
      }
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot outline 'n' into a graph: a call may read and write its memory, and 'o' around it may not}}
    // expected-note @+1 {{outline it into an internal node instead}}
    %r = transform.tessera.outline %n as "s" {as_graph} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
