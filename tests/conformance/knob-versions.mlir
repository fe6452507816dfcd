// Nodes that are another version of themselves: a graph of two nodes, one of which has a knob and one of which writes
// the node's memory; and one that holds a node with a version of its own.

dfg.graph private @halves(%x: tensor<9x7xf32>, %m: memref<9xf32>, %k: memref<9xf32>) -> (y: tensor<9x7xf32>, m: memref<9xf32>) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %a = dfg.node @scale grid(%i = %h, %j = %w) (each %e = %x : tensor<9x7xf32>) -> tensor<9x7xf32> attributes {dfg.knob = "perforate-rows:1/2@1"} {
    %c = arith.constant 0.5 : f32
    %v = arith.mulf %e, %c : f32
    dfg.yield %v : f32
  }
  %n = dfg.node @mark grid(%i = %h) (%t = %a : tensor<9x7xf32>, out %o = %m : memref<9xf32>, in %l = %k : memref<9xf32>) {
    %c1 = arith.constant 1 : index
    %v = tensor.extract %t[%i, %c1] : tensor<9x7xf32>
    %u = memref.load %l[%i] : memref<9xf32>
    %s = arith.subf %v, %u : f32
    memref.store %s, %o[%i] : memref<9xf32>
  }
  dfg.return %a, %n : tensor<9x7xf32>, memref<9xf32>
}
dfg.graph private @inner(%x: tensor<9x7xf32>) -> (y: tensor<9x7xf32>) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %a = dfg.node @negate grid(%i = %h, %j = %w) (each %e = %x : tensor<9x7xf32>) -> tensor<9x7xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  dfg.return %a : tensor<9x7xf32>
}
dfg.graph private @nested(%x: tensor<9x7xf32>, %m: memref<9xf32>, %k: memref<9xf32>) -> (y: tensor<9x7xf32>, m: memref<9xf32>) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %a = dfg.node @same grid(%i = %h, %j = %w) (each %e = %x : tensor<9x7xf32>) -> tensor<9x7xf32> attributes {dfg.knob = "version:1", dfg.versions = [@inner]} {
    dfg.yield %e : f32
  }
  %n = dfg.node @copy grid(%i = %h) (out %o = %m : memref<9xf32>, in %l = %k : memref<9xf32>) {
    %u = memref.load %l[%i] : memref<9xf32>
    memref.store %u, %o[%i] : memref<9xf32>
  }
  dfg.return %a, %n : tensor<9x7xf32>, memref<9xf32>
}

dfg.graph @g0(%x: tensor<9x7xf32>, %m: memref<9xf32>, %k: memref<9xf32>) -> (y: tensor<9x7xf32>, m: memref<9xf32>, s: f32) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %y, %n = dfg.node @whole grid(%i = %h, %j = %w) (%t = %x : tensor<9x7xf32>, inout %o = %m : memref<9xf32>, in %l = %k : memref<9xf32>) -> tensor<9x7xf32> attributes {dfg.knob = "f32", dfg.versions = [@halves, @nested]} {
    %c0 = arith.constant 0 : index
    %isFirst = arith.cmpi eq, %j, %c0 : index
    %v = tensor.extract %t[%i, %j] : tensor<9x7xf32>
    scf.if %isFirst {
      %u = memref.load %l[%i] : memref<9xf32>
      memref.store %u, %o[%i] : memref<9xf32>
    }
    dfg.yield %v : f32
  }
  %s = dfg.node @sum grid(%i = %h) (in %b = %k : memref<9xf32>) -> f32 reduce<addf> {
    %v = memref.load %b[%i] : memref<9xf32>
    dfg.yield %v : f32
  }
  dfg.return %y, %n, %s : tensor<9x7xf32>, memref<9xf32>, f32
}

dfg.graph @g1(%x: tensor<9x7xf32>, %m: memref<9xf32>, %k: memref<9xf32>) -> (y: tensor<9x7xf32>, m: memref<9xf32>, s: f32) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %y, %n = dfg.node @whole grid(%i = %h, %j = %w) (%t = %x : tensor<9x7xf32>, inout %o = %m : memref<9xf32>, in %l = %k : memref<9xf32>) -> tensor<9x7xf32> attributes {dfg.knob = "version:1", dfg.versions = [@halves, @nested]} {
    %c0 = arith.constant 0 : index
    %isFirst = arith.cmpi eq, %j, %c0 : index
    %v = tensor.extract %t[%i, %j] : tensor<9x7xf32>
    scf.if %isFirst {
      %u = memref.load %l[%i] : memref<9xf32>
      memref.store %u, %o[%i] : memref<9xf32>
    }
    dfg.yield %v : f32
  }
  %s = dfg.node @sum grid(%i = %h) (in %b = %k : memref<9xf32>) -> f32 reduce<addf> {
    %v = memref.load %b[%i] : memref<9xf32>
    dfg.yield %v : f32
  }
  dfg.return %y, %n, %s : tensor<9x7xf32>, memref<9xf32>, f32
}

dfg.graph @g2(%x: tensor<9x7xf32>, %m: memref<9xf32>, %k: memref<9xf32>) -> (y: tensor<9x7xf32>, m: memref<9xf32>, s: f32) {
  %h = arith.constant 9 : index
  %w = arith.constant 7 : index
  %y, %n = dfg.node @whole grid(%i = %h, %j = %w) (%t = %x : tensor<9x7xf32>, inout %o = %m : memref<9xf32>, in %l = %k : memref<9xf32>) -> tensor<9x7xf32> attributes {dfg.knob = "version:2", dfg.versions = [@halves, @nested]} {
    %c0 = arith.constant 0 : index
    %isFirst = arith.cmpi eq, %j, %c0 : index
    %v = tensor.extract %t[%i, %j] : tensor<9x7xf32>
    scf.if %isFirst {
      %u = memref.load %l[%i] : memref<9xf32>
      memref.store %u, %o[%i] : memref<9xf32>
    }
    dfg.yield %v : f32
  }
  %s = dfg.node @sum grid(%i = %h) (in %b = %k : memref<9xf32>) -> f32 reduce<addf> {
    %v = memref.load %b[%i] : memref<9xf32>
    dfg.yield %v : f32
  }
  dfg.return %y, %n, %s : tensor<9x7xf32>, memref<9xf32>, f32
}
