// Movement: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected each dimension once in the permutation, but got 0x0}}
  %r = nn.transpose %a {permutation = array<i64: 0, 0>} : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{incompatible with return type(s)}}
  %r = nn.transpose %a {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected at least one input, but got none}}
  %r = nn.concat {axis = 0 : i64} : () -> tensor<1xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{of 'inputs[1]' to be 3, but got 4}}
  %r = nn.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected borders that cut off at most the extent 2, but got -3 and 0}}
  %r = nn.pad constant %a {lows = array<i64: -3>, highs = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%a: tensor<0xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected elements to repeat in the border, but got 'tensor<0xf32>'}}
  %r = nn.pad edge %a {lows = array<i64: 1>, highs = array<i64: 0>} : (tensor<0xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' to be a matrix or more, but got 'tensor<2xf32>'}}
  %r = nn.trilu %a {k = 0 : i64} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected two axes, but got 0 twice}}
  %r = nn.reverse_sequence %a, %b {time_axis = 0 : i64, batch_axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 1 of 'indices' to be at most 3, but got 4}}
  %r = nn.gather_elements %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'indices' to have integers as elements, but got 'f32'}}
  %r = nn.gather %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x1xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected fewer batch dimensions than ranks 2 and 2, but got 2}}
  %r = nn.gather_nd %a, %b {batch_dims = 2 : i64} : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected tuples of 1 to 2 indices, but got 3}}
  %r = nn.gather_nd %a, %b {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xi64>, %c: tensor<1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected tuples of up to 2 indices, but got 'tensor<1x3xi64>'}}
  %r = nn.scatter_nd set %a, %b, %c : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi64>, %b: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a depth of at least 0, but got -1}}
  %r = nn.one_hot %a, %b {depth = -1 : i64, axis = 0 : i64} : (tensor<2xi64>, tensor<2xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{expected an extent for each of the result's 1 dynamic dimensions, but got 0}}
  %r = nn.reshape %a : tensor<2x3xf32> -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{expected as many elements in the result as in the operand, but got 7 and 6}}
  %r = nn.reshape %a : tensor<2x3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 'x' to broadcast to 2x4, but got 2x3}}
  %r = nn.broadcast %a : tensor<2x3xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected steps other than 0, but got 0}}
  %r = nn.slice %a {starts = array<i64: 0>, steps = array<i64: 0>} : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // expected-error @+1 {{expected start 0 and step 1 for a dynamic extent, but got 1 and 1}}
  %r = nn.slice %a {starts = array<i64: 1>, steps = array<i64: 1>} : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected elements from 0 to 3, but got 1 to 5 with step 2}}
  %r = nn.slice %a {starts = array<i64: 1>, steps = array<i64: 2>} : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<i32>) {
  // expected-error @+1 {{expected 'step' to have elements of type 'f32', but got 'i32'}}
  %r = nn.iota %a, %b {axis = 0 : i64} : tensor<f32>, tensor<i32> -> tensor<3xf32>
  return
}
