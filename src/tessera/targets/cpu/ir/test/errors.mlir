// Layers on blocked activations: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<1x2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' of shape N x C1 x H x W x c with static channels, but got 'tensor<1x2x3xf32>'}}
  %r = cpu.packed_mean %a : tensor<1x2x3xf32> -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %b: tensor<3x2x3x3x4x?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'w' of static shape, but got 'tensor<3x2x3x3x4x?xf32>'}}
  %r = cpu.packed_conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x9x9x4xf32>, tensor<3x2x3x3x4x?xf32>) -> tensor<1x3x7x7x8xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %b: tensor<3x2x11x3x4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a window that fits, but got 11 elements over 9}}
  %r = cpu.packed_conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x9x9x4xf32>, tensor<3x2x11x3x4x8xf32>) -> tensor<1x3x7x7x8xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %b: tensor<3x2x3x3x4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected groups that divide the blocks of channels, but got 2 for 2 and 3}}
  %r = cpu.packed_conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x2x9x9x4xf32>, tensor<3x2x3x3x4x8xf32>) -> tensor<1x3x7x7x8xf32>
  return
}

// -----

func.func @f(%a: tensor<1x?x9x9xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with static channels and blocks of at least 1 channel, but got 'tensor<1x?x9x9xf32>' and 4}}
  %r = cpu.pack %a {block = 4 : i64} : tensor<1x?x9x9xf32> -> tensor<1x2x9x9x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 1 to 8 channels, but got 9}}
  %r = cpu.unpack %a {channels = 9 : i64} : tensor<1x2x9x9x4xf32> -> tensor<1x9x9x9xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected something left of 'tensor<1x2x9x9x4xf32>', but got -1 x 9}}
  %r = cpu.crop %a {pads = array<i64: 5, 0, 5, 0>} : tensor<1x2x9x9x4xf32> -> tensor<1x2x9x9x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %b: tensor<3x25x8x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a tile of 2 or 4, but got 3}}
  %r = cpu.packed_winograd %a, %b {tile = 3 : i64} : (tensor<1x2x9x9x4xf32>, tensor<3x25x8x8xf32>) -> tensor<1x3x7x7x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %b: tensor<2x5x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 1 to 16 columns, but got 17}}
  %r = cpu.packed_matmul %a, %b {columns = 17 : i64} : (tensor<4x5xf32>, tensor<2x5x8xf32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected max, min, mean or sum, but got l1}}
  %r = cpu.packed_pool l1 %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<1x2x9x9x4xf32> -> tensor<1x2x5x5x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %v: tensor<3x8xf32>, %c: tensor<3xi32>, %s: tensor<1xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'starts' of one block at least, but got 'tensor<1xi32>'}}
  %r = cpu.packed_sparse %a, %v, %c, %s : (tensor<1x2x9x9x4xf32>, tensor<3x8xf32>, tensor<3xi32>, tensor<1xi32>) -> tensor<1x1x9x9x8xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x9x9x4xf32>, %v: tensor<?x8xf32>, %c: tensor<3xi32>, %s: tensor<2xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'values' of static shape, but got 'tensor<?x8xf32>'}}
  %r = cpu.packed_sparse %a, %v, %c, %s : (tensor<1x2x9x9x4xf32>, tensor<?x8xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<1x1x9x9x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x?xf32>, %b: tensor<2x5x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with a static number of columns, but got 'tensor<?x?xf32>'}}
  %r = cpu.packed_matmul %a, %b {columns = 16 : i64} : (tensor<?x?xf32>, tensor<2x5x8xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x?x?x?x5xf32>, %b: tensor<2x5x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' of 2 to 4 dimensions, but got 'tensor<?x?x?x?x5xf32>'}}
  %r = cpu.packed_matmul %a, %b {columns = 16 : i64} : (tensor<?x?x?x?x5xf32>, tensor<2x5x8xf32>) -> tensor<?x?x?x?x16xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3x4xf32>, %c: tensor<2x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected operands of one rank, 2 or more, but got 'tensor<2x3xf32>', 'tensor<1x3x4xf32>' and 'tensor<2x4xf32>'}}
  %r = cpu.product %a, %b into %c : tensor<2x3xf32>, tensor<1x3x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf16>, %c: tensor<2x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected elements of f32, but got 'tensor<3x4xf16>'}}
  %r = cpu.product %a, %b into %c : tensor<2x3xf32>, tensor<3x4xf16>, tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<5x2x3xf32>, %b: tensor<4x3x4xf32>, %c: tensor<5x2x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extents that fit each other, but got 'tensor<5x2x3xf32>', 'tensor<4x3x4xf32>' and 'tensor<5x2x4xf32>'}}
  %r = cpu.product %a, %b into %c : tensor<5x2x3xf32>, tensor<4x3x4xf32>, tensor<5x2x4xf32> -> tensor<5x2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'values' with a static number of columns, but got 'tensor<?x?xf32>'}}
  %r = cpu.attend %a, %b into %c : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}
