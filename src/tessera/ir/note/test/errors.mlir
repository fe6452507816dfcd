// Notes: one case for each message of the verifier, and where dialects differ.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// What is right passes.
module attributes {tessera.version = 2 : i64} {
  func.func @right(%x: memref<4xf32> {tessera.in_place = 0 : i64}) attributes {tessera.align = 1 : i64} {
    return
  }
}

// -----

// expected-error @+1 {{'func.func' op unknown attribute 'tessera.algin'; did you mean 'tessera.align'? attributes of the dialect: tessera.align, tessera.schedules}}
func.func @misspelt() attributes {tessera.algin = 1 : i64} {
  return
}

// -----

func.func @misspelt(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{unknown attribute 'nn.knobs'; did you mean 'nn.knob'? attributes of the dialect: nn.name, nn.knob, nn.range, nn.demand, nn.layer}}
  %r = nn.reduce mean %x {axes = array<i64: 1>, nn.knobs = "f32"} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{unknown attribute 'dfg.unsinged'; did you mean 'dfg.unsigned'?}}
dfg.graph @misspelt(%x: tensor<4xi32>) -> (y: tensor<4xi32>) attributes {dfg.unsinged = ["x"]} {
  dfg.return %x : tensor<4xi32>
}

// -----

func.func @misspelt(%a: i32, %b: i32) {
  // expected-error @+1 {{unknown attribute 'fault.guard'; did you mean 'fault.guarded'?}}
  %0 = arith.divui %a, %b {fault.guard} : i32
  return
}

// -----

func.func @place(%x: f32) {
  // expected-error @+1 {{'arith.addf' op expected 'nn.name' on an operation of networks, but got it on 'arith.addf'; leave it out}}
  %0 = arith.addf %x, %x {nn.name = "sum"} : f32
  return
}

// -----

// An argument is another place than its function, for both kinds of notes.
// expected-error @+1 {{expected 'tessera.in_place' on an argument of a function, but got it on 'func.func'; leave it out}}
func.func @place(%x: f32) attributes {tessera.in_place = 0 : i64} {
  return
}

// -----

// expected-error @+1 {{expected 'tessera.align' on a graph or a function, but got it on an argument of 'func.func'; leave it out}}
func.func @place(%x: f32 {tessera.align = 1 : i64}) {
  return
}

// -----

// expected-error @+1 {{expected 'tessera.in_place' on an argument of a function, but got it on a result of 'func.func'; leave it out}}
func.func @place(%x: f32) -> (f32 {tessera.in_place = 0 : i64}) {
  return %x : f32
}

// -----

// expected-error @+1 {{expected 'tessera.align' to be an integer, but got "one"}}
func.func @type() attributes {tessera.align = "one"} {
  return
}

// -----

func.func @type(%a: i32, %b: i32) {
  // expected-error @+1 {{expected 'fault.guarded' to be without a value, but got 3 : i64}}
  %0 = arith.divui %a, %b {fault.guarded = 3} : i32
  return
}

// -----

// expected-error @+1 {{expected 'dfg.unsigned' to list names of inputs and outputs, but got [1]}}
dfg.graph @names(%x: tensor<4xi32>) -> (y: tensor<4xi32>) attributes {dfg.unsigned = [1]} {
  dfg.return %x : tensor<4xi32>
}
