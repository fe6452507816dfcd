// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// Rows, columns, reduction: the form that schedules put into registers. Columns are made neighbours first.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: dfg.graph @matmul
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<16x8xf32>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: linalg.fill {{.*}} -> tensor<?x16xf32>
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
dfg.graph @matmul(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>) -> (out: tensor<?x16xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x8xf32>, %w_ = %w : tensor<16x8xf32>) -> tensor<?x16xf32> {
    %1 = nn.matmul %x_, %w_ {transpose_b} : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    dfg.yield %1 : tensor<?x16xf32>
  }
  dfg.return %out : tensor<?x16xf32>
}

// -----

// One matrix for all items: their rows are those of one product.
// CHECK-LABEL: dfg.graph @rows
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<?x7x5xf32> into tensor<?x5xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: tensor.expand_shape
dfg.graph @rows(%x: tensor<?x7x5xf32>, %w: tensor<5x6xf32>) -> (out: tensor<?x7x6xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x7x5xf32>, %w_ = %w : tensor<5x6xf32>) -> tensor<?x7x6xf32> {
    %1 = nn.matmul %x_, %w_ : tensor<?x7x5xf32>, tensor<5x6xf32> -> tensor<?x7x6xf32>
    dfg.yield %1 : tensor<?x7x6xf32>
  }
  dfg.return %out : tensor<?x7x6xf32>
}

// -----

// A matrix for each item: the innermost loop runs along the columns; an extent of 1 is repeated by the map.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
// CHECK-LABEL: dfg.graph @batches
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
dfg.graph @batches(%x: tensor<?x1x4x5xf32>, %w: tensor<7x5x6xf32>) -> (out: tensor<?x7x4x6xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x1x4x5xf32>, %w_ = %w : tensor<7x5x6xf32>) -> tensor<?x7x4x6xf32> {
    %1 = nn.matmul %x_, %w_ : tensor<?x1x4x5xf32>, tensor<7x5x6xf32> -> tensor<?x7x4x6xf32>
    dfg.yield %1 : tensor<?x7x4x6xf32>
  }
  dfg.return %out : tensor<?x7x4x6xf32>
}

// -----

// Half types are summed in f32.
// CHECK-LABEL: dfg.graph @half
// CHECK: linalg.fill {{.*}} -> tensor<7x6xf32>
// CHECK: arith.extf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
dfg.graph @half(%x: tensor<7x5xbf16>, %w: tensor<5x6xbf16>) -> (out: tensor<7x6xbf16>) {
  %out = dfg.node @net (%x_ = %x : tensor<7x5xbf16>, %w_ = %w : tensor<5x6xbf16>) -> tensor<7x6xbf16> {
    %1 = nn.matmul %x_, %w_ : tensor<7x5xbf16>, tensor<5x6xbf16> -> tensor<7x6xbf16>
    dfg.yield %1 : tensor<7x6xbf16>
  }
  dfg.return %out : tensor<7x6xbf16>
}

// -----

// Nothing to sum: zeros, and no loop.
// CHECK-LABEL: dfg.graph @nothing
// CHECK: linalg.fill
// CHECK-NOT: linalg.generic
// CHECK: dfg.yield
dfg.graph @nothing(%x: tensor<7x0xf32>, %w: tensor<0x6xf32>) -> (out: tensor<7x6xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<7x0xf32>, %w_ = %w : tensor<0x6xf32>) -> tensor<7x6xf32> {
    %1 = nn.matmul %x_, %w_ : tensor<7x0xf32>, tensor<0x6xf32> -> tensor<7x6xf32>
    dfg.yield %1 : tensor<7x6xf32>
  }
  dfg.return %out : tensor<7x6xf32>
}

// -----

// Three factors two at a time; a letter that stands twice in one operand is its diagonal.
// CHECK-DAG: #[[D:.*]] = affine_map<(d0, d1, d2) -> (d0, d0, d2)>
// CHECK-LABEL: dfg.graph @einsum
// CHECK: linalg.generic {indexing_maps = [#[[D]]
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
dfg.graph @einsum(%x: tensor<3x3x4xf32>, %y: tensor<4x5xf32>, %z: tensor<5x6xf32>) -> (out: tensor<3x6xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<3x3x4xf32>, %y_ = %y : tensor<4x5xf32>, %z_ = %z : tensor<5x6xf32>) -> tensor<3x6xf32> {
    %1 = nn.einsum "iij,jk,kl->il" (%x_, %y_, %z_) : (tensor<3x3x4xf32>, tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
    dfg.yield %1 : tensor<3x6xf32>
  }
  dfg.return %out : tensor<3x6xf32>
}

// -----

// Two batches that nothing relates may be equal, or one of them 1: both are repeated to the larger one first.
// CHECK-LABEL: dfg.graph @unrelated_batches
// CHECK: %[[N:.*]] = arith.select
// CHECK: tensor.empty(%[[N]]) : tensor<?x2x3xf32>
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: tensor.empty(%[[N]]) : tensor<?x3x4xf32>
// CHECK: arith.minsi
// CHECK: tensor.extract
dfg.graph @unrelated_batches(%x: tensor<?x2x3xf32>, %z: tensor<?x3x4xf32>) -> (y: tensor<?x2x4xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?x2x3xf32>, %b = %z : tensor<?x3x4xf32>) -> tensor<?x2x4xf32> {
    %1 = nn.matmul %a, %b : tensor<?x2x3xf32>, tensor<?x3x4xf32> -> tensor<?x2x4xf32>
    dfg.yield %1 : tensor<?x2x4xf32>
  }
  dfg.return %y : tensor<?x2x4xf32>
}

// -----

// One batch is read as it is.
// CHECK-LABEL: dfg.graph @related_batches
// CHECK-NOT: arith.select
// CHECK-NOT: tensor.extract
dfg.graph @related_batches(%x: tensor<?x3x3xf32>) -> (y: tensor<?x3x3xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?x3x3xf32>) -> tensor<?x3x3xf32> {
    %0 = nn.unary relu %a : tensor<?x3x3xf32> -> tensor<?x3x3xf32>
    %1 = nn.matmul %a, %0 : tensor<?x3x3xf32>, tensor<?x3x3xf32> -> tensor<?x3x3xf32>
    dfg.yield %1 : tensor<?x3x3xf32>
  }
  dfg.return %y : tensor<?x3x3xf32>
}
