// The notes of the dialect.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown attribute 'cpu.kernels'; did you mean 'cpu.kernel'?}}
func.func @misspelt() attributes {cpu.kernels} {
  return
}

// -----

func.func @tiles(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'cpu.tiles' to be an array of six i64, but got array<i64: 1, 2>}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, cpu.tiles = array<i64: 1, 2>} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @algorithm(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 'cpu.algorithm' to be a string, but got 4 : i64}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, cpu.algorithm = 4} : tensor<2x4xf32> -> tensor<2xf32>
  return
}
