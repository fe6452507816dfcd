// The attributes of the dialect: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @fine(%x: tensor<2x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
    nn.knob = "int8+perforate-rows:1/2@0", nn.range = array<f32: -1.0, 2.5>, nn.name = "conv1"} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'nn.name' to be a string that is not empty}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.name = ""} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'nn.demand' to be array<f32: l1, l2> of relative errors, but got array<f32: -1.000000e+00, 0.000000e+00>}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.demand = array<f32: -1.0, 0.0>} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'nn.range' to be array<f32: low, high> with finite low <= high, but got array<f32: 1.000000e+00, 0.000000e+00>}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.range = array<f32: 1.0, 0.0>} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'nn.knob' to be a string, but got 8 : i64}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.knob = 8} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'nn.knob': unknown knob 'in8'; did you mean 'int8'?}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.knob = "in8"} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{does not have the knob 'int8'}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.knob = "int8"} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x1x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // One row is nothing to interpolate from.
  // expected-error @+1 {{does not have the knob 'perforate-rows:1/2@0'}}
  %r = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, nn.knob = "perforate-rows:1/2@0"} : (tensor<2x4x1x8xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x1x8xf32>
  return
}
