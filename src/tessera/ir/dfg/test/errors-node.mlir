// Rules of nodes (n) and their hints (a, d): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @g(%x: f32) -> f32 {
  %y = dfg.node @n (%v = %x : f32) -> f32 {
    %c = arith.constant true
    %w = scf.if %c -> f32 {
      // expected-error @+1 {{expected a node to stand directly in a graph or an internal node, but got 'scf.if' around it (dfg-n1)}}
      %u = dfg.node @m () -> f32 {
        %f = arith.constant 1.0 : f32
        dfg.yield %f : f32
      }
      scf.yield %u : f32
    } else {
      scf.yield %v : f32
    }
    dfg.yield %w : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected a node to have a name, but got an empty one (dfg-n2)}}
  dfg.node @"" () {
  }
  dfg.return
}

// -----

dfg.graph @g(%n: index) {
  // expected-error @+2 {{expected a grid of at most 3 dimensions, but got 4 (dfg-n3)}}
  // expected-note @+1 {{put further dimensions into loops inside the leaf, or into a group around it}}
  dfg.node @n grid(%i = %n, %j = %n, %k = %n, %l = %n) () {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  %n = arith.constant 0 : index
  // expected-error @+1 {{expected extent #0 of the grid to be positive, but got 0 (dfg-n4)}}
  dfg.node @n grid(%i = %n) () {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: f32) {
  // expected-error @+1 {{expected one port for each of 1 operands, but got 0 (dfg-n5)}}
  "dfg.node"(%x) <{name = "n", operandSegmentSizes = array<i32: 0, 1>, ports = [], yields = []}> ({
  ^bb0(%v: f32):
    "dfg.yield"() : () -> ()
  }) : (f32) -> ()
  dfg.return
}

// -----

dfg.graph @g(%x: f32, %n: index) {
  // expected-error @+1 {{expected 2 arguments of the body, an id for each dimension and one for each operand, but got 1 (dfg-n6)}}
  "dfg.node"(%n, %x) <{name = "n", operandSegmentSizes = array<i32: 1, 1>, ports = [#dfg.port<whole>], yields = []}> ({
  ^bb0(%v: f32):
    "dfg.yield"() : () -> ()
  }) : (index, f32) -> ()
  dfg.return
}

// -----

dfg.graph @g(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{expected argument #1 of the body to have type 'f32', but got 'tensor<?xf32>' (dfg-n6)}}
  "dfg.node"(%n, %x) <{name = "n", operandSegmentSizes = array<i32: 1, 1>, ports = [#dfg.port<each>], yields = []}> ({
  // expected-note @+1 {{the argument is here}}
  ^bb0(%i: index, %v: tensor<?xf32>):
    "dfg.yield"() : () -> ()
  }) : (index, tensor<?xf32>) -> ()
  dfg.return
}

// -----

dfg.graph @g(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected a grid for the 'each' port #0, but got none (dfg-n7)}}
  // expected-note @+1 {{a node without a grid receives its operands whole}}
  dfg.node @n (each %v = %x : tensor<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{expected a tensor with at least the grid's rank of 2 for the 'each' port #0, but got 'tensor<4xf32>' (dfg-n8)}}
  dfg.node @n grid(%i = %n, %j = %n) (each %v = %x : tensor<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: tensor<4xf32>) {
  // expected-note @+1 {{the extent comes from here}}
  %n = arith.constant 5 : index
  // expected-error @+1 {{expected dimension #0 of the 'each' port #0 to have the grid's extent 5, but got 4 (dfg-n9)}}
  dfg.node @n grid(%i = %n) (each %v = %x : tensor<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{expected a grid for the 'reduce' result #0, but got none (dfg-n10)}}
  %y = dfg.node @n (%v = %x : f32) -> f32 reduce<addf> {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{expected a tensor of rank 1 or more for the 'gather' result #0, a dimension for each one of the grid that is kept, but got 'f32' (dfg-n11)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> f32 {
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32, %n: index) -> tensor<?xf32> {
  // expected-error @+1 {{expected a tensor of rank 2 or more for the 'tile' result #0, a dimension for each one of the grid that is kept, but got 'tensor<?xf32>' (dfg-n11)}}
  %y = dfg.node @n grid(%i = %n, %j = %n) (%v = %x : f32) -> tensor<?xf32> tile {
    %t = tensor.from_elements %v : tensor<1xf32>
    dfg.yield %t : tensor<1xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph @g(%x: f32) -> tensor<4xf32> {
  // expected-note @+1 {{the extent comes from here}}
  %n = arith.constant 5 : index
  // expected-error @+1 {{expected dimension #0 of result #0 to be the grid's extent 5, but got 4 (dfg-n12)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : f32) -> tensor<4xf32> {
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<4xf32>
}

// -----

dfg.graph @g(%x: tensor<2xf32>) -> tensor<9xf32> {
  // expected-note @+1 {{the extent comes from here}}
  %n = arith.constant 4 : index
  // expected-error @+1 {{expected dimension #0 of result #0 to be a multiple of the grid's extent 4, but got 9 (dfg-n12)}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : tensor<2xf32>) -> tensor<9xf32> tile {
    dfg.yield %v : tensor<2xf32>
  }
  dfg.return %y : tensor<9xf32>
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected 0 yielded results and 1 of ports, but got 0 in all (dfg-n13)}}
  "dfg.node"(%b) <{name = "n", operandSegmentSizes = array<i32: 0, 1>, ports = [#dfg.port<out>], yields = []}> ({
  ^bb0(%v: memref<4xf32>):
    "dfg.yield"() : () -> ()
  }) : (memref<4xf32>) -> ()
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the body to end with 'dfg.yield', but got 'llvm.unreachable' (dfg-n14)}}
  dfg.node @n () {
    llvm.unreachable
  }
  dfg.return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-note @+1 {{the results of node 'n' are declared here}}
  %y = dfg.node @n (%v = %x : f32) -> f32 {
    // expected-error @+1 {{expected 1 values, one for each yielded result, but got 2 (dfg-n15)}}
    dfg.yield %v, %v : f32, f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-note @+1 {{by the 'gather' result of type 'tensor<?xf32>' of node 'n'}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : tensor<?xf32>) -> tensor<?xf32> {
    // expected-error @+1 {{expected value #0 to have type 'f32', but got 'tensor<?xf32>' (dfg-n16)}}
    dfg.yield %v : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

dfg.graph @g(%x: tensor<3xf32>) -> tensor<8xf32> {
  %n = arith.constant 4 : index
  // expected-note @+1 {{by the 'tile' result of type 'tensor<8xf32>' of node 'n'}}
  %y = dfg.node @n grid(%i = %n) (%v = %x : tensor<3xf32>) -> tensor<8xf32> tile {
    // expected-error @+1 {{expected value #0 to have type 'tensor<2xf32>', but got 'tensor<3xf32>' (dfg-n16)}}
    dfg.yield %v : tensor<3xf32>
  }
  dfg.return %y : tensor<8xf32>
}

// -----

// No value from outside but the operands: a node is isolated from above.
dfg.graph @g(%x: f32) -> f32 {
  %y = dfg.node @n () -> f32 {
    // expected-error @+1 {{use of undeclared SSA value name}}
    dfg.yield %x : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the criticality to be 'base', 'elevated' or 'critical', but got 'urgent' (dfg-a1)}}
  dfg.node @n () attributes {criticality = "urgent"} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the cost to be finite and not negative, but got -1.000000e+00 (dfg-a2)}}
  dfg.node @n () attributes {cost = -1.0 : f64} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+2 {{expected at least one allowed target, but got an empty list (dfg-a3)}}
  // expected-note @+1 {{leave 'targets' out to allow all}}
  dfg.node @n () attributes {targets = []} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the name of an allowed target not to be empty (dfg-a3)}}
  dfg.node @n () attributes {targets = ["cpu", ""]} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the allowed targets to differ, but got 'cpu' twice (dfg-a3)}}
  dfg.node @n () attributes {targets = ["cpu", "cuda", "cpu"]} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the depth of a queue to be at least 1, but got 0 (dfg-a4)}}
  dfg.node @n () attributes {depth = 0 : i64} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected each version to be for an allowed target, but got 'cuda', which 'targets' does not list (dfg-a5)}}
  dfg.node @n () attributes {targets = ["cpu"], versions = [#dfg.version<"cpu">, #dfg.version<"cuda">]} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the norm of a demand to be 'l1' or 'l2', but got 'linf' (dfg-d1)}}
  dfg.node @n () attributes {quality = #dfg.demand<"linf", 0.5 : f64>} {
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected the bound of a demand to be positive, but got 0.000000e+00 (dfg-d1)}}
  dfg.node @n () attributes {quality = #dfg.demand<"l2", 0.0 : f64>} {
  }
  dfg.return
}
