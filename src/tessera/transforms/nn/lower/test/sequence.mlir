// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// The input's part of all steps is one product; the loop carries the state and the result.
// CHECK-LABEL: dfg.graph @rnn
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<?x5xf32>, tensor<?x1x?x5xf32>)
// CHECK: math.tanh
// CHECK: linalg.copy
// CHECK: tensor.insert_slice
dfg.graph @rnn(%x: tensor<?x?x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>) -> (out: tensor<?x1x?x5xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x?x3xf32>, %w_ = %w : tensor<1x5x3xf32>, %r_ = %r : tensor<1x5x5xf32>) -> tensor<?x1x?x5xf32> {
    %1, %2, %3 = nn.recurrent rnn %x_, %w_, %r_ {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, direction = "forward", activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<?x?x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<?x1x?x5xf32>, tensor<1x?x5xf32>, tensor<1x?x5xf32>)
    dfg.yield %1 : tensor<?x1x?x5xf32>
  }
  dfg.return %out : tensor<?x1x?x5xf32>
}

// -----

// Heads that share keys are a dimension of their own; a row of -infinity gives zeros.
// CHECK-LABEL: dfg.graph @attention
// CHECK: tensor.expand_shape {{.*}} : tensor<?x4x3x8xf32> into tensor<?x2x2x3x8xf32>
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK: math.exp
// CHECK: arith.select
// CHECK: tensor.collapse_shape
dfg.graph @attention(%q: tensor<?x4x3x8xf32>, %k: tensor<?x2x6x8xf32>, %v: tensor<?x2x6x10xf32>) -> (out: tensor<?x4x3x10xf32>) {
  %out = dfg.node @net (%q_ = %q : tensor<?x4x3x8xf32>, %k_ = %k : tensor<?x2x6x8xf32>, %v_ = %v : tensor<?x2x6x10xf32>) -> tensor<?x4x3x10xf32> {
    %1 = nn.attention %q_, %k_, %v_ {scale = 0.5 : f64} : (tensor<?x4x3x8xf32>, tensor<?x2x6x8xf32>, tensor<?x2x6x10xf32>) -> tensor<?x4x3x10xf32>
    dfg.yield %1 : tensor<?x4x3x10xf32>
  }
  dfg.return %out : tensor<?x4x3x10xf32>
}
