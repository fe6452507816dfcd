// nn.interpolate: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @fine(%a: tensor<?x4x2x8xf32>, %b: tensor<?x4x1x8xf32>) {
  %r = nn.interpolate %a, %b {rate = 3 : i64, offset = 1 : i64, rows} : (tensor<?x4x2x8xf32>, tensor<?x4x1x8xf32>) -> tensor<?x4x5x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf32>) {
  // expected-error @+1 {{expected a result N x C x H x W or N x C1 x H x W x c, static but for N, but got 'tensor<2x8xf32>'}}
  %r = nn.interpolate %a {rate = 2 : i64, offset = 1 : i64, rows} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4x4x8xf32>) {
  // expected-error @+1 {{expected 'rows' or 'columns', a rate of at least 2 and an offset below it, but got 2 and 2}}
  %r = nn.interpolate %a {rate = 2 : i64, offset = 2 : i64, rows} : (tensor<?x4x4x8xf32>) -> tensor<?x4x8x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4x4x8xf32>) {
  // expected-error @+1 {{expected 2 parts, but got 1}}
  %r = nn.interpolate %a {rate = 3 : i64, offset = 2 : i64, rows} : (tensor<?x4x4x8xf32>) -> tensor<?x4x8x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4x3x8xf32>) {
  // expected-error @+1 {{'nn.interpolate' op expected extent 2 of 'part' to be 4, but got 3}}
  %r = nn.interpolate %a {rate = 2 : i64, offset = 1 : i64, rows} : (tensor<?x4x3x8xf32>) -> tensor<?x4x8x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4x0x8xf32>) {
  // expected-error @+1 {{expected parts that are not empty, but got 'tensor<?x4x0x8xf32>'}}
  %r = nn.interpolate %a {rate = 2 : i64, offset = 0 : i64, rows} : (tensor<?x4x0x8xf32>) -> tensor<?x4x1x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4xf16>) {
  // expected-error @+2 {{'nn.split' op expected 'x' to have elements of type 'f32', but got 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = nn.split %a : tensor<2x4xf16> -> tensor<2x12xbf16>
  return
}

// -----

func.func @f(%a: tensor<2x?xf32>) {
  // expected-error @+2 {{'nn.split' op expected x to be N x C x ... with a known C, but got 'tensor<2x?xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = nn.split %a : tensor<2x?xf32> -> tensor<2x?xbf16>
  return
}
