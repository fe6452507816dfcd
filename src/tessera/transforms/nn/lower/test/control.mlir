// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// Both sides write into one tensor that is made before them.
// CHECK-LABEL: dfg.graph @branch
// CHECK: %[[OUT:.*]] = bufferization.alloc_tensor(%{{.*}}) : tensor<?xf32>
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[OUT]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[OUT]]
dfg.graph @branch(%x: tensor<?xf32>, %flag: i1) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %c = %flag : i1) -> tensor<?xf32> {
    %1 = scf.if %c -> (tensor<?xf32>) {
      %2 = nn.unary relu %a : tensor<?xf32> -> tensor<?xf32>
      scf.yield %2 : tensor<?xf32>
    } else {
      %2 = nn.unary neg %a : tensor<?xf32> -> tensor<?xf32>
      scf.yield %2 : tensor<?xf32>
    }
    dfg.yield %1 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// Sides of different extents: the tensor has those of the side that is taken.
// CHECK-LABEL: dfg.graph @unrelated
// CHECK: dfg.node @net (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %
// CHECK-DAG: %[[YES:.*]] = tensor.dim %[[A]]
// CHECK-DAG: %[[NO:.*]] = tensor.dim %[[B]]
// CHECK: %[[EXTENT:.*]] = arith.select %[[C]], %[[YES]], %[[NO]]
// CHECK: %[[OUT:.*]] = bufferization.alloc_tensor(%[[EXTENT]])
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[OUT]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[OUT]]
dfg.graph @unrelated(%x: tensor<?xf32>, %z: tensor<?xf32>, %flag: i1) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %b = %z : tensor<?xf32>, %c = %flag : i1) -> tensor<?xf32> {
    %1 = scf.if %c -> (tensor<?xf32>) {
      %2 = nn.unary relu %a : tensor<?xf32> -> tensor<?xf32>
      scf.yield %2 : tensor<?xf32>
    } else {
      %2 = nn.unary neg %b : tensor<?xf32> -> tensor<?xf32>
      scf.yield %2 : tensor<?xf32>
    }
    dfg.yield %1 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// A step writes over what it was given, and its extents are those of what the first was given.
// CHECK-LABEL: dfg.graph @loop
// CHECK: dfg.node @net (%[[A:.*]] = %
// CHECK: scf.while
// CHECK: ^bb0(%[[V:[a-z0-9_]+]]: tensor<?xf32>
// CHECK: tensor.dim %[[A]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[V]]
dfg.graph @loop(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %1:2 = scf.while (%v = %a, %i = %c0) : (tensor<?xf32>, i64) -> (tensor<?xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      scf.condition(%2) %v, %i : tensor<?xf32>, i64
    } do {
    ^bb0(%v: tensor<?xf32>, %i: i64):
      %2 = nn.unary exp %v : tensor<?xf32> -> tensor<?xf32>
      %3 = arith.addi %i, %c1 : i64
      scf.yield %2, %3 : tensor<?xf32>, i64
    }
    dfg.yield %1#0 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// A step adds a tensor from outside: it has the extents that the carried one starts with, so no step
// broadcasts.
// CHECK-LABEL: dfg.graph @loop_outside
// CHECK: dfg.node @net (%[[A:.*]] = %{{[a-z]+}} :
// CHECK: scf.while
// CHECK-NOT: tessera.steady
// CHECK: ^bb0(%[[V:[a-z0-9_]+]]: tensor<?xf32>
// CHECK-NOT: arith.select
// CHECK: linalg.generic {{.*}} ins(%[[V]], %[[A]] :
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[V]]
dfg.graph @loop_outside(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %start = nn.unary exp %a : tensor<?xf32> -> tensor<?xf32>
    %1:2 = scf.while (%v = %start, %i = %c0) : (tensor<?xf32>, i64) -> (tensor<?xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      scf.condition(%2) %v, %i : tensor<?xf32>, i64
    } do {
    ^bb0(%v: tensor<?xf32>, %i: i64):
      %2 = nn.binary add %v, %a : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
      %3 = arith.addi %i, %c1 : i64
      scf.yield %2, %3 : tensor<?xf32>, i64
    }
    dfg.yield %1#0 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// A tensor of other extents might be the longer one, and the first step change the extents: they must be equal.
// CHECK-LABEL: dfg.graph @loop_unrelated
// CHECK: dfg.node @net (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %
// CHECK: scf.while
// CHECK: ^bb0(%[[V:[a-z0-9_]+]]: tensor<?xf32>
// CHECK-DAG: %[[THIS:.*]] = tensor.dim %[[B]]
// CHECK-DAG: %[[THAT:.*]] = tensor.dim %[[A]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[THIS]], %[[THAT]]
// CHECK: cf.assert %[[SAME]], "extent 0 of operand 1 of binary"
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[V]]
dfg.graph @loop_unrelated(%x: tensor<?xf32>, %z: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %b = %z : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %1:2 = scf.while (%v = %a, %i = %c0) : (tensor<?xf32>, i64) -> (tensor<?xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      scf.condition(%2) %v, %i : tensor<?xf32>, i64
    } do {
    ^bb0(%v: tensor<?xf32>, %i: i64):
      %2 = nn.binary add %v, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
      %3 = arith.addi %i, %c1 : i64
      scf.yield %2, %3 : tensor<?xf32>, i64
    }
    dfg.yield %1#0 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// Two values of different extents change places: what the first step finds does not hold for the second.
// CHECK-LABEL: dfg.graph @loop_swap
// CHECK: scf.while
// CHECK-NOT: bufferization
dfg.graph @loop_swap(%x: tensor<?xf32>, %z: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %b = %z : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %1:3 = scf.while (%v = %a, %w = %b, %i = %c0) : (tensor<?xf32>, tensor<?xf32>, i64) -> (tensor<?xf32>, tensor<?xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      scf.condition(%2) %v, %w, %i : tensor<?xf32>, tensor<?xf32>, i64
    } do {
    ^bb0(%v: tensor<?xf32>, %w: tensor<?xf32>, %i: i64):
      %2 = nn.unary neg %v : tensor<?xf32> -> tensor<?xf32>
      %3 = nn.unary neg %w : tensor<?xf32> -> tensor<?xf32>
      %4 = arith.addi %i, %c1 : i64
      scf.yield %3, %2, %4 : tensor<?xf32>, tensor<?xf32>, i64
    }
    dfg.yield %1#0 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// What a step hands on as another value is copied before anything is written over it. Both sides of a branch
// have the extents of what the loop carries.
// CHECK-LABEL: dfg.graph @loop_moves
// CHECK: scf.while
// CHECK: ^bb0(%[[V:[a-z0-9_]+]]: tensor<?xf32>, %[[W:[a-z0-9_]+]]: tensor<?xf32>
// CHECK: %[[OLD:.*]] = bufferization.materialize_in_destination %[[V]] in %
// CHECK: %[[NEXT:.*]] = scf.if
// CHECK: bufferization.materialize_in_destination %[[NEXT]] in %[[V]]
// CHECK: bufferization.materialize_in_destination %[[OLD]] in %[[W]]
dfg.graph @loop_moves(%x: tensor<?xf32>, %flag: i1) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %c = %flag : i1) -> tensor<?xf32> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c9 = arith.constant 9 : i64
    %1:3 = scf.while (%v = %a, %w = %a, %i = %c0) : (tensor<?xf32>, tensor<?xf32>, i64) -> (tensor<?xf32>, tensor<?xf32>, i64) {
      %2 = arith.cmpi slt, %i, %c9 : i64
      scf.condition(%2) %v, %w, %i : tensor<?xf32>, tensor<?xf32>, i64
    } do {
    ^bb0(%v: tensor<?xf32>, %w: tensor<?xf32>, %i: i64):
      %2 = scf.if %c -> (tensor<?xf32>) {
        %4 = nn.binary add %v, %w : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
        scf.yield %4 : tensor<?xf32>
      } else {
        %4 = nn.binary sub %a, %w : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
        scf.yield %4 : tensor<?xf32>
      }
      %3 = arith.addi %i, %c1 : i64
      scf.yield %2, %v, %3 : tensor<?xf32>, tensor<?xf32>, i64
    }
    dfg.yield %1#0 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}
