// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// CHECK-LABEL: dfg.graph @reshape
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]]
dfg.graph @reshape(%x: tensor<2x3x4xf32>) -> (y: tensor<6x4xf32>) {
  %y = dfg.node @net (%a = %x : tensor<2x3x4xf32>) -> tensor<6x4xf32> {
    %1 = nn.reshape %a : tensor<2x3x4xf32> -> tensor<6x4xf32>
    dfg.yield %1 : tensor<6x4xf32>
  }
  dfg.return %y : tensor<6x4xf32>
}

// -----

// A transposition is a map of the loop that uses it.
// CHECK: affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: dfg.graph @transpose
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
dfg.graph @transpose(%x: tensor<2x3xf32>) -> (y: tensor<3x2xf32>) {
  %y = dfg.node @net (%a = %x : tensor<2x3xf32>) -> tensor<3x2xf32> {
    %1 = nn.transpose %a {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
    %2 = nn.unary neg %1 : tensor<3x2xf32> -> tensor<3x2xf32>
    dfg.yield %2 : tensor<3x2xf32>
  }
  dfg.return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: dfg.graph @concat
// CHECK: tensor.insert_slice %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}}[0, 3] [2, 4] [1, 1]
dfg.graph @concat(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) -> (y: tensor<2x7xf32>) {
  %y = dfg.node @net (%a = %x : tensor<2x3xf32>, %b = %z : tensor<2x4xf32>) -> tensor<2x7xf32> {
    %1 = nn.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    dfg.yield %1 : tensor<2x7xf32>
  }
  dfg.return %y : tensor<2x7xf32>
}

// -----

// Forwards a slice is a view, backwards loops.
// CHECK-LABEL: dfg.graph @slice
// CHECK: tensor.extract_slice %{{.*}}[1] [4] [2]
// CHECK: linalg.generic
// CHECK: tensor.extract %
dfg.graph @slice(%x: tensor<9xf32>) -> (y: tensor<4xf32>, z: tensor<9xf32>) {
  %y, %z = dfg.node @net (%a = %x : tensor<9xf32>) -> (tensor<4xf32>, tensor<9xf32>) {
    %1 = nn.slice %a {starts = array<i64: 1>, steps = array<i64: 2>} : tensor<9xf32> -> tensor<4xf32>
    %2 = nn.slice %a {starts = array<i64: 8>, steps = array<i64: -1>} : tensor<9xf32> -> tensor<9xf32>
    dfg.yield %1, %2 : tensor<4xf32>, tensor<9xf32>
  }
  dfg.return %y, %z : tensor<4xf32>, tensor<9xf32>
}

// -----

// Rows are independent; one row's list is updated in order.
// CHECK-LABEL: dfg.graph @topk
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.parallel_insert_slice
dfg.graph @topk(%x: tensor<4x9xf32>) -> (y: tensor<4x2xf32>, z: tensor<4x2xi64>) {
  %y, %z = dfg.node @net (%a = %x : tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
    %v, %i = nn.topk %a {k = 2 : i64, axis = 1 : i64} : (tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
    dfg.yield %v, %i : tensor<4x2xf32>, tensor<4x2xi64>
  }
  dfg.return %y, %z : tensor<4x2xf32>, tensor<4x2xi64>
}
