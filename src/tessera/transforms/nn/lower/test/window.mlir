// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// The border changes no maximum: the smallest number, of the right kind.
// CHECK-LABEL: dfg.graph @unsigned
// CHECK: arith.constant 0 : i8
// CHECK: tensor.insert_slice
// CHECK: arith.maxui
dfg.graph @unsigned(%x: tensor<2x4x9x9xi8>) -> (out: tensor<2x4x5x5xi8>) {
  %out = dfg.node @net (%x_ = %x : tensor<2x4x9x9xi8>) -> tensor<2x4x5x5xi8> {
    %1 = nn.pool max %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, is_unsigned} : tensor<2x4x9x9xi8> -> tensor<2x4x5x5xi8>
    dfg.yield %1 : tensor<2x4x5x5xi8>
  }
  dfg.return %out : tensor<2x4x5x5xi8>
}

// -----

// Without pads all windows are whole: the divisor is a constant.
// CHECK-LABEL: dfg.graph @whole
// CHECK-NOT: insert_slice
// CHECK: arith.divf %{{.*}}, %cst
dfg.graph @whole(%x: tensor<?x4x9x9xf32>) -> (out: tensor<?x4x4x4xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x9x9xf32>) -> tensor<?x4x4x4xf32> {
    %1 = nn.pool mean %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<?x4x9x9xf32> -> tensor<?x4x4x4xf32>
    dfg.yield %1 : tensor<?x4x4x4xf32>
  }
  dfg.return %out : tensor<?x4x4x4xf32>
}

// -----

// With pads it is counted.
// CHECK-LABEL: dfg.graph @counted
// CHECK: linalg.index
// CHECK: arith.sitofp
// CHECK: arith.divf
dfg.graph @counted(%x: tensor<?x4x9x9xf32>) -> (out: tensor<?x4x5x5xf32>) {
  %out = dfg.node @net (%x_ = %x : tensor<?x4x9x9xf32>) -> tensor<?x4x5x5xf32> {
    %1 = nn.pool mean %x_ {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x4x9x9xf32> -> tensor<?x4x5x5xf32>
    dfg.yield %1 : tensor<?x4x5x5xf32>
  }
  dfg.return %out : tensor<?x4x5x5xf32>
}
