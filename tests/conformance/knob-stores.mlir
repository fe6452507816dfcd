// Loops that store what they compute, as those of C++ do: rows left out, rounding, two stores of one node, places that are
// not those of the grid, and who reads the memory.
dfg.graph @rows(%x: memref<13x6xf32>, %y: memref<78xf32>, %z: memref<6x13xf32>) -> (y: memref<78xf32>, z: memref<6x13xf32>) {
  %h = arith.constant 13 : index
  %w = arith.constant 6 : index
  %n = dfg.node @blur grid(%i = %h, %j = %w) (in %a = %x : memref<13x6xf32>, inout %b = %y : memref<78xf32>) attributes {dfg.knob = "perforate-rows:2/3@1"} {
    %c6 = arith.constant 6 : index
    %c5 = arith.constant 5 : index
    %c1 = arith.constant 1 : index
    %half = arith.constant 0.5 : f32
    %j1 = arith.addi %j, %c1 : index
    %k = arith.minsi %j1, %c5 : index
    %p = memref.load %a[%i, %j] : memref<13x6xf32>
    %q = memref.load %a[%i, %k] : memref<13x6xf32>
    %s = arith.addf %p, %q : f32
    %v = arith.mulf %s, %half : f32
    %row = arith.muli %i, %c6 : index
    %at = arith.addi %row, %j : index
    memref.store %v, %b[%at] : memref<78xf32>
  }
  %m = dfg.node @turn grid(%i = %h, %j = %w) (in %a = %n : memref<78xf32>, out %b = %z : memref<6x13xf32>) attributes {dfg.knob = "f16+cubic-rows:1/2@0"} {
    %c6 = arith.constant 6 : index
    %c12 = arith.constant 12 : index
    %row = arith.muli %i, %c6 : index
    %at = arith.addi %row, %j : index
    %p = memref.load %a[%at] : memref<78xf32>
    %s = arith.mulf %p, %p : f32
    %back = arith.subi %c12, %i : index
    memref.store %s, %b[%j, %back] : memref<6x13xf32>
  }
  dfg.return %n, %m : memref<78xf32>, memref<6x13xf32>
}

dfg.graph @both(%x: tensor<?x5xf32>, %y: memref<?x5xf32>, %z: memref<?x5xf64>) -> (y: memref<?x5xf32>, z: memref<?x5xf64>) {
  %c0 = arith.constant 0 : index
  %h = tensor.dim %x, %c0 : tensor<?x5xf32>
  %w = arith.constant 5 : index
  %a, %b = dfg.node @two grid(%i = %h, %j = %w) (each %e = %x : tensor<?x5xf32>, out %p = %y : memref<?x5xf32>, inout %q = %z : memref<?x5xf64>) attributes {dfg.knob = "perforate-rows:1/4@3"} {
    %d = arith.extf %e : f32 to f64
    %s = arith.addf %d, %d : f64
    %t = arith.negf %e : f32
    memref.store %t, %p[%i, %j] : memref<?x5xf32>
    memref.store %s, %q[%i, %j] : memref<?x5xf64>
  }
  dfg.return %a, %b : memref<?x5xf32>, memref<?x5xf64>
}

dfg.graph @rounded(%x: tensor<7x9xf32>, %y: memref<9x7xf32>) -> (y: memref<9x7xf32>) {
  %h = arith.constant 7 : index
  %w = arith.constant 9 : index
  %a = dfg.node @halves grid(%i = %h, %j = %w) (each %e = %x : tensor<7x9xf32>, out %p = %y : memref<9x7xf32>) attributes {dfg.knob = "bf16"} {
    %c3 = arith.constant 3.0 : f32
    %v = arith.divf %e, %c3 : f32
    memref.store %v, %p[%j, %i] : memref<9x7xf32>
  }
  dfg.return %a : memref<9x7xf32>
}
