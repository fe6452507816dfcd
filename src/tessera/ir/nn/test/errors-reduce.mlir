// Reductions and order: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis from 0 to 1, but got 2}}
  %r = nn.reduce sum %a {axes = array<i64: 2>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis from 0 to 1, but got -1}}
  %r = nn.reduce sum %a {axes = array<i64: -1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected each axis once, but got axis 1 twice}}
  %r = nn.reduce sum %a {axes = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected prefixes of kind 'sum' or 'prod', but got 'max'}}
  %r = nn.cumulative max %a {axis = 0 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected k to be from 0 to the axis's extent 3, but got 4}}
  %v, %i = nn.topk %a {k = 4 : i64, axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}
