// Normalisations and layers over sequences: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with a batch and channels, but got 'tensor<3xf32>'}}
  %r = nn.batch_norm %a, %b, %c, %d, %e {epsilon = 1.0 : f64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a number of groups that divides the channels 4, but got 3}}
  %r = nn.group_norm %a, %b, %c {groups = 3 : i64, epsilon = 1.0 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'scale' to broadcast to 2x4, but got 3}}
  %y:3 = nn.layer_norm %a, %b {axis = 1 : i64, epsilon = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4xf32>, tensor<3xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x1x3xf32>, %b: tensor<1x5x3xf32>, %c: tensor<1x5x?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a static number of hidden values, but got 'tensor<1x5x?xf32>'}}
  %y:3 = nn.recurrent rnn %a, %b, %c {direction = "forward", activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x1x3xf32>, tensor<1x5x3xf32>, tensor<1x5x?xf32>) -> (tensor<2x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x1x3xf32>, %b: tensor<1x?x3xf32>, %c: tensor<1x5x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected weights that are open along the input's width at most, but got 'tensor<1x?x3xf32>'}}
  %y:3 = nn.recurrent rnn %a, %b, %c {direction = "forward", activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x1x3xf32>, tensor<1x?x3xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x1x3xf32>, %b: tensor<1x5x3xf32>, %c: tensor<1x5x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 1 activations, alphas and betas, but got 1, 2 and 2}}
  %y:3 = nn.recurrent rnn %a, %b, %c {direction = "forward", activations = ["tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x1x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x1x3xf32>, %b: tensor<1x5x3xf32>, %c: tensor<1x5x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'activations' to be one of relu, tanh,}}
  %y:3 = nn.recurrent rnn %a, %b, %c {direction = "forward", activations = ["odd"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x1x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return
}

// -----

func.func @f(%a: tensor<1x4x2x8xf32>, %b: tensor<1x3x2x8xf32>, %c: tensor<1x3x2x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected the heads of 'k' to divide those of 'q', but got 3 and 4}}
  %r = nn.attention %a, %b, %c {scale = 1.0 : f64} : (tensor<1x4x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x4x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x?xf32>, %b: tensor<?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a static number of channels, but got 'tensor<2x?xf32>'}}
  %r = nn.group_norm %a, %b, %b {groups = 3 : i64, epsilon = 1.0 : f64} : (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  return
}
