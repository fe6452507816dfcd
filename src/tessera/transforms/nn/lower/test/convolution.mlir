// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// A border of zeros, sums with the innermost place innermost, then the bias.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d2 * 2 + d4, d6 * 2 + d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d4, d5)>
// CHECK-LABEL: dfg.graph @conv
// CHECK: %[[N:.*]] = tensor.dim %[[A:.*]], %{{.*}} : tensor<?x4x9x9xf32>
// CHECK: tensor.insert_slice %[[A]] into %{{.*}}[0, 0, 1, 1] [%{{.*}}, 4, 9, 9] [1, 1, 1, 1]
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
// CHECK: linalg.generic
// CHECK: arith.addf
dfg.graph @conv(%x: tensor<?x4x9x9xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>) -> (out: tensor<?x8x5x5xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x9x9xf32>, %w_ = %w : tensor<8x4x3x3xf32>, %b_ = %b : tensor<8xf32>) -> tensor<?x8x5x5xf32> {
    %1 = nn.conv %x_, %w_, %b_ {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x9x9xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<?x8x5x5xf32>
    dfg.yield %1 : tensor<?x8x5x5xf32>
  }
  dfg.return %out : tensor<?x8x5x5xf32>
}

// -----

// One tap is a matrix product.
// CHECK-LABEL: dfg.graph @one
// CHECK-NOT: insert_slice
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4x81xf32>) outs(%{{.*}} : tensor<8x81xf32>)
dfg.graph @one(%x: tensor<1x4x9x9xf32>, %w: tensor<8x4x1x1xf32>) -> (out: tensor<1x8x9x9xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<1x4x9x9xf32>, %w_ = %w : tensor<8x4x1x1xf32>) -> tensor<1x8x9x9xf32> {
    %1 = nn.conv %x_, %w_ {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x9x9xf32>
    dfg.yield %1 : tensor<1x8x9x9xf32>
  }
  dfg.return %out : tensor<1x8x9x9xf32>
}

// -----

// A filter for each group: no dimension of groups.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d3, d2 + d4, d5 + d6)>
// CHECK-LABEL: dfg.graph @depthwise
// CHECK: linalg.generic {indexing_maps = [#[[X]],
dfg.graph @depthwise(%x: tensor<?x4x9x9xf32>, %w: tensor<4x1x3x3xf32>) -> (out: tensor<?x4x7x7xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x9x9xf32>, %w_ = %w : tensor<4x1x3x3xf32>) -> tensor<?x4x7x7xf32> {
    %1 = nn.conv %x_, %w_ {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 4 : i64} : (tensor<?x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<?x4x7x7xf32>
    dfg.yield %1 : tensor<?x4x7x7xf32>
  }
  dfg.return %out : tensor<?x4x7x7xf32>
}

// -----

// Zeros between the elements, and the taps in reverse.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d1, d4, d5)>
// CHECK-LABEL: dfg.graph @transposed
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 2, 2] [1, 4, 9, 9] [1, 1, 2, 2]
// CHECK-SAME: into tensor<1x4x21x21xf32>
// CHECK: tensor.extract
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[W]],
dfg.graph @transposed(%x: tensor<1x4x9x9xf32>, %w: tensor<4x6x3x3xf32>) -> (out: tensor<1x6x19x19xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<1x4x9x9xf32>, %w_ = %w : tensor<4x6x3x3xf32>) -> tensor<1x6x19x19xf32> {
    %1 = nn.conv_transpose %x_, %w_ {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x9x9xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x19x19xf32>
    dfg.yield %1 : tensor<1x6x19x19xf32>
  }
  dfg.return %out : tensor<1x6x19x19xf32>
}
