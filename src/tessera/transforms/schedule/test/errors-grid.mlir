// What changing a grid refuses.
// RUN: tessera-opt %s --transform-interpreter -split-input-file -verify-diagnostics

// expected-note @+1 {{payload op}}
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
    // expected-error @+1 {{expected a handle of 'dfg.node', but got 'builtin.module'}}
    %r:2 = transform.tessera.tile_grid %m sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
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
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': it is an internal node}}
    // expected-note @+1 {{flatten it first}}
    %r:2 = transform.tessera.tile_grid %n sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
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
    // expected-error @+2 {{cannot tile 'n': expected 1 tile sizes, one for each grid dimension, but got 2}}
    // expected-note @+1 {{use size 0 for a dimension to leave in one piece}}
    %r:2 = transform.tessera.tile_grid %n sizes [2, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
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
    // expected-error @+2 {{cannot tile 'n': expected tile sizes that are not negative}}
    // expected-note @+1 {{use size 0 to leave a dimension in one piece}}
    %r:2 = transform.tessera.tile_grid %n sizes [-1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
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
    // expected-error @+2 {{cannot tile 'n': all tile sizes are 0}}
    // expected-note @+1 {{give a size for at least one dimension}}
    %r:2 = transform.tessera.tile_grid %n sizes [0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
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
    // expected-error @+2 {{cannot tile 'n': grid dimension 0 of extent 8 cannot be cut into tiles of 3 exactly}}
    // expected-note @+1 {{use a divisor of 8, or write through a memory port}}
    %r:2 = transform.tessera.tile_grid %n sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<?xf32>, %k: index) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %k) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': grid dimension 0 has an unknown extent and results are gathered over it}}
    // expected-note @+1 {{make the extent static, or write through a memory port}}
    %r:2 = transform.tessera.tile_grid %n sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<2xf32>
      %z = arith.constant 0 : index
      memref.store %e, %s[%z] : memref<2xf32>
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': its instances share scratch memory or a barrier}}
    // expected-note @+1 {{remove them first}}
    %r:2 = transform.tessera.tile_grid %n sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 fold<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': result 0 is a fold, which must not be regrouped}}
    // expected-note @+1 {{use 'reduce'}}
    %r:2 = transform.tessera.tile_grid %n sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (%w = %x : tensor<8xf32>) -> tensor<8xf32> tile {
      %z = arith.constant 1.0 : f32
      %f = tensor.from_elements %z : tensor<1xf32>
      dfg.yield %f : tensor<1xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': result 0 is made of tiles already}}
    // expected-note @+1 {{tile before unrolling the grid}}
    %r:2 = transform.tessera.tile_grid %n sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8, %j = %c8) (each %e = %x : tensor<8x8xf32>) -> tensor<8xf32> reduce<addf> over [0] {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot tile 'n': result 0 is reduced over some dimensions only}}
    // expected-note @+1 {{sequentialise the reduced dimensions first}}
    %r:2 = transform.tessera.tile_grid %n sizes [2, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot split 'n': expected a grid dimension below 1, but got 1}}
    // expected-note @+1 {{name a dimension of its grid}}
    %r:3 = transform.tessera.split_grid %n at 2 {dim = 1} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot split 'n': expected a point inside the grid dimension, but got 8}}
    // expected-note @+1 {{choose a point between its first and its last instance}}
    %r:3 = transform.tessera.split_grid %n at 8 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<2xf32>
      %z = arith.constant 0 : index
      memref.store %e, %s[%z] : memref<2xf32>
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot split 'n': its instances share scratch memory or a barrier}}
    // expected-note @+1 {{remove them first}}
    %r:3 = transform.tessera.split_grid %n at 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 fold<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot split 'n': result 0 is a fold, which must not be regrouped}}
    // expected-note @+1 {{use 'reduce'}}
    %r:3 = transform.tessera.split_grid %n at 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
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
    // expected-error @+2 {{cannot split 'n': result 0 is gathered over the dimension}}
    // expected-note @+1 {{write through a memory port, or tile the grid}}
    %r:3 = transform.tessera.split_grid %n at 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x?xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8x?xf32>) -> tensor<?xf32> reduce<addf> {
      dfg.yield %e : tensor<?xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot split 'n': result 0 is made of tiles of unknown size}}
    // expected-note @+1 {{give the tiles a static size}}
    %r:3 = transform.tessera.split_grid %n at 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%t: f32) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n (%s = %t : f32) -> f32 {
      %v = arith.negf %s : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': it has no grid}}
    // expected-note @+1 {{name a replicated leaf}}
    %r = transform.tessera.sequentialise %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<2xf32>
      %z = arith.constant 0 : index
      memref.store %e, %s[%z] : memref<2xf32>
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': its instances share scratch memory or a barrier}}
    // expected-note @+1 {{remove them first}}
    %r = transform.tessera.sequentialise %n : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot sequentialise 'n': expected grid dimensions below 1, but got 1}}
    // expected-note @+1 {{name dimensions of its grid}}
    %r = transform.tessera.sequentialise %n dims [1] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (%w = %x : tensor<8xf32>) -> tensor<8xf32> tile {
      %z = arith.constant 1.0 : f32
      %f = tensor.from_elements %z : tensor<1xf32>
      dfg.yield %f : tensor<1xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': result 0 is made of tiles}}
    // expected-note @+1 {{sequentialise before unrolling the grid}}
    %r = transform.tessera.sequentialise %n : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8, %j = %c8) (each %e = %x : tensor<8x8xf32>) -> f32 fold<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': result 0 is a fold, which must not be regrouped}}
    // expected-note @+1 {{sequentialise all the dimensions that it folds}}
    %r = transform.tessera.sequentialise %n dims [1] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8, %j = %c8) (each %e = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': result 0 is gathered over dimension 0 outside dimension 1, which stays in the grid}}
    // expected-note @+1 {{sequentialise the innermost dimensions}}
    %r = transform.tessera.sequentialise %n dims [0] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x?xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8x?xf32>) -> tensor<8x?xf32> {
      dfg.yield %e : tensor<?xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot sequentialise 'n': result 0 is made of tiles of unknown size}}
    // expected-note @+1 {{give the tiles a static size}}
    %r = transform.tessera.sequentialise %n : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot unroll 'n': expected a grid dimension below 1, but got 1}}
    // expected-note @+1 {{name a dimension of its grid}}
    %r = transform.tessera.unroll_grid %n by 2 {dim = 1} : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot unroll 'n': expected a factor above 1, but got 1}}
    // expected-note @+1 {{use 2 or more}}
    %r = transform.tessera.unroll_grid %n by 1 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<?xf32>, %k: index) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %k) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll 'n': grid dimension 0 has an unknown extent}}
    // expected-note @+1 {{make the extent static}}
    %r = transform.tessera.unroll_grid %n by 2 : (!transform.any_op) -> !transform.any_op
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
    // expected-error @+2 {{cannot unroll 'n': its extent 8 is not a multiple of 3}}
    // expected-note @+1 {{use a divisor of 8}}
    %r = transform.tessera.unroll_grid %n by 3 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %s = dfg.scratch : memref<2xf32>
      %z = arith.constant 0 : index
      memref.store %e, %s[%z] : memref<2xf32>
      %v = arith.negf %e : f32
      dfg.yield %v : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll 'n': its instances share scratch memory or a barrier}}
    // expected-note @+1 {{remove them first}}
    %r = transform.tessera.unroll_grid %n by 2 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> f32 fold<addf> {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll 'n': result 0 is a fold, which must not be regrouped}}
    // expected-note @+1 {{use 'reduce'}}
    %r = transform.tessera.unroll_grid %n by 2 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8x8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8, %j = %c8) (each %e = %x : tensor<8x8xf32>) -> tensor<8xf32> reduce<addf> over [0] {
      dfg.yield %e : f32
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll 'n': result 0 is reduced, but not over the dimension}}
    // expected-note @+1 {{unroll a dimension that it reduces}}
    %r = transform.tessera.unroll_grid %n by 2 {dim = 1} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  dfg.graph @g(%x: tensor<8xf32>) {
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{payload op}}
    %1 = dfg.node @n grid(%i = %c8) (%w = %x : tensor<8xf32>) -> tensor<8xf32> tile {
      %z = arith.constant 1.0 : f32
      %f = tensor.from_elements %z : tensor<1xf32>
      dfg.yield %f : tensor<1xf32>
    }
    dfg.return
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %n = transform.tessera.match_node "n" in %m : (!transform.any_op) -> !transform.any_op
    // expected-error @+2 {{cannot unroll 'n': result 0 is made of tiles already}}
    // expected-note @+1 {{unroll a loop inside instead}}
    %r = transform.tessera.unroll_grid %n by 2 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
