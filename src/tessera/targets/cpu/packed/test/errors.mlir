// What lowering a packed layer refuses.
// RUN: tessera-opt %s --transform-interpreter -split-input-file -verify-diagnostics

module attributes {transform.with_named_sequence} {
  func.func @conv(%x: tensor<1x2x6x6x8xf32>, %w: tensor<3x2x3x3x8x8xf32>) -> tensor<1x3x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<3x2x3x3x8x8xf32>) -> tensor<1x3x4x4x8xf32>
    return %c : tensor<1x3x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles of at least 1 and blocks that divide those of a group}}
    transform.tessera.lower_packed %c rows 1 columns 2 blocks 2 unroll 4 task 2 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @winograd(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x36x16x8xf32>) -> tensor<1x2x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_winograd %x, %w {tile = 4 : i64} : (tensor<1x2x6x6x8xf32>, tensor<2x36x16x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_winograd"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles of at least 1, blocks and parts that divide those of the weights, and tasks of whole tiles}}
    transform.tessera.lower_packed %c rows 2 columns 4 blocks 2 unroll 4 task 6 split 1 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @depthwise(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x3x3x8xf32>) -> tensor<1x2x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x3x3x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles of at least 1}}
    transform.tessera.lower_packed %c : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{payload op}}
    %c = arith.negf %x : tensor<4xf32>
    return %c : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["arith.negf"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: it is not a packed layer}}
    transform.tessera.lower_packed %c : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @dot(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32> {
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{unknown instruction 'vni'; expected plain, vnni, bf16, madd, maddubs, usdot, amx-int8 or amx-bf16}}
    transform.tessera.lower_packed %c rows 1 columns 2 blocks 2 unroll 4 task 2 dot "vni" : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @tiles_f32(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected the elements that the instruction multiplies, in the order that it wants}}
    transform.tessera.lower_packed %c rows 1 columns 2 blocks 2 unroll 1 task 2 dot "amx-int8" : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @tiles_many(%x: tensor<1x1x6x34x64xi8>, %w: tensor<1x1x3x3x16x64x4xi8>) -> tensor<1x1x4x32x64xi32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x6x34x64xi8>, tensor<1x1x3x3x16x64x4xi8>) -> tensor<1x1x4x32x64xi32>
    return %c : tensor<1x1x4x32x64xi32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles that eight registers hold and that divide the channels of a group}}
    transform.tessera.lower_packed %c rows 2 columns 16 blocks 2 unroll 2 task 2 dot "amx-int8" : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @pair(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x3x3x8xf32>, %v: tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %d = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x3x3x8xf32>) -> tensor<1x2x4x4x8xf32>
    %c = cpu.packed_conv %d, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4x8xf32>, tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %d = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layers: expected tiles of at least 1 and blocks that divide those of the result}}
    transform.tessera.lower_separable %d rows 1 columns 2 into %c rows 1 columns 2 blocks 3 task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @window(%x: tensor<1x2x8x8x8xf32>, %w: tensor<2x3x3x8xf32>, %v: tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32> {
    // expected-note @below {{payload op}}
    %d = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8x8xf32>, tensor<2x3x3x8xf32>) -> tensor<1x2x6x6x8xf32>
    %c = cpu.packed_conv %d, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x4x4x8xf32>
    return %c : tensor<1x2x4x4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %d = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layers: expected a depthwise layer that only the pointwise one reads}}
    transform.tessera.lower_separable %d rows 1 columns 2 into %c rows 1 columns 2 blocks 2 task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @others(%x: tensor<1x2x6x6x8xf32>, %w: tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x6x6x8xf32> {
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x6x6x8xf32>, tensor<2x2x1x1x8x8xf32>) -> tensor<1x2x6x6x8xf32>
    return %c : tensor<1x2x6x6x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %d = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    %c = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected handles of one depthwise layer and one convolution}}
    transform.tessera.lower_separable %d rows 1 columns 2 into %c rows 1 columns 2 blocks 2 task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}

// -----

// Tiles of several rows need to know how far apart rows are.
module attributes {transform.with_named_sequence} {
  func.func @open(%x: tensor<?x2x?x?x8xf32>, %w: tensor<2x2x3x3x8x8xf32>) -> tensor<?x2x?x?x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<?x2x?x?x8xf32>
    return %c : tensor<?x2x?x?x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles of one row, since the extents of its planes are open; but got 2}}
    transform.tessera.lower_packed %c rows 2 columns 4 blocks 2 unroll 4 task 2 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @open(%x: tensor<?x2x?x?x8xf32>, %w: tensor<2x3x3x8xf32>) -> tensor<?x2x?x?x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<2x3x3x8xf32>) -> tensor<?x2x?x?x8xf32>
    return %c : tensor<?x2x?x?x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: expected tiles of one row, since the extents of its planes are open; but got 2}}
    transform.tessera.lower_packed %c rows 2 columns 4 task 2 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @pair(%x: tensor<?x2x?x?x8xf32>, %w: tensor<2x3x3x8xf32>, %v: tensor<2x2x1x1x8x8xf32>) -> tensor<?x2x?x?x8xf32> {
    // expected-note @below {{payload op}}
    %d = cpu.packed_depthwise %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<2x3x3x8xf32>) -> tensor<?x2x?x?x8xf32>
    %c = cpu.packed_conv %d, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x?x?x8xf32>, tensor<2x2x1x1x8x8xf32>) -> tensor<?x2x?x?x8xf32>
    return %c : tensor<?x2x?x?x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %d = transform.structured.match ops{["cpu.packed_depthwise"]} in %root : (!transform.any_op) -> !transform.any_op
    %c = transform.structured.match ops{["cpu.packed_conv"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layers: expected tiles of one row, since the extents of its planes are open; but got 2 and 1}}
    transform.tessera.lower_separable %d rows 2 columns 4 into %c rows 1 columns 4 blocks 2 unroll 4 task 2 : !transform.any_op, !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @open(%x: tensor<?x2x?x?x8xf32>, %v: tensor<4x8xf32>, %t: tensor<4xi32>, %s: tensor<2xi32>) -> tensor<?x1x?x?x8xf32> {
    // expected-note @below {{payload op}}
    %c = cpu.packed_sparse %x, %v, %t, %s : (tensor<?x2x?x?x8xf32>, tensor<4x8xf32>, tensor<4xi32>, tensor<2xi32>) -> tensor<?x1x?x?x8xf32>
    return %c : tensor<?x1x?x?x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %c = transform.structured.match ops{["cpu.packed_sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot lower the layer: the rows and columns of its planes must be static, but it takes or gives tensor<?x2x?x?x8xf32>}}
    transform.tessera.lower_packed %c columns 4 task 2 : !transform.any_op
    transform.yield
  }
}
