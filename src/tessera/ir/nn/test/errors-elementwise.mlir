// Elementwise operations, casts and formats: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'nn.binary' op expected operands that broadcast against each other, but got shapes 2x3 and 4}}
  %r = nn.binary add %a, %b : tensor<2x3xf32>, tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'b' to have elements of type 'f32', but got 'i32'}}
  %r = nn.binary add %a, %b : tensor<2xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'a' to have integers as elements, but got 'f32'}}
  %r = nn.binary shl %a, %b : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' to have integers as elements, but got 'f32'}}
  %r = nn.unary popcount %a : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' to have floats as elements, but got 'i32'}}
  %r = nn.unary exp %a : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' to have floats as elements, but got 'i32'}}
  %r = nn.activation elu %a : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{incompatible with return type(s)}}
  %r = nn.unary isnan %a : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<3xf32>, %c: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected three operands that broadcast against each other, but got shapes 2, 3 and 4}}
  %r = nn.select %a, %b, %c : tensor<2xi1>, tensor<3xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected the result to have the shape 2, but got 3}}
  %r = nn.cast %a : tensor<2xf32> -> tensor<3xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected the format 'f8e4m3fn' to be stored in i8, but got 'i32'}}
  %r = nn.cast %a {to = 2 : i32} : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected the format 'unsigned_' with integers, but got 'f32'}}
  %r = nn.cast %a {from = 1 : i32} : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected 'round_mode' to be one of nearest, up, down, but got 'odd'}}
  %r = nn.cast %a {round_mode = "odd"} : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected types of the same width, but got 'f32' and 'i16'}}
  %r = nn.bitcast %a : tensor<2xf32> -> tensor<2xi16>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{expected a block of at least 0, but got -1}}
  %r = nn.quantize %a, %b {block = -1 : i64} : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xi8>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<4xf32>, %c: tensor<2xi8>) {
  // expected-error @+1 {{expected the zero point to have the scale's shape 4, but got 2}}
  %r = nn.quantize %a, %b, %c : (tensor<2x4xf32>, tensor<4xf32>, tensor<2xi8>) -> tensor<2x4xi8>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expected extent 0 of 'scale' to be 4, but got 3}}
  %r = nn.quantize %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xi8>
  return
}

// -----

func.func @f(%a: tensor<2x4xi8>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{expected extent 1 of 'scale' to be 2, but got 3}}
  %r = nn.dequantize %a, %b {block = 2 : i64} : (tensor<2x4xi8>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}
