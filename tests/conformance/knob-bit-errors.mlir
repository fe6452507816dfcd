// Bits that memory loses: of integers and floats of several widths, of tensors of up to three dimensions and of none, of
// numbers and sums; and who reads them.

dfg.graph @integers0(%x: tensor<?x5x3xi32>, %b: tensor<6xi8>, %d: tensor<4x4xi64>) -> (y: tensor<?x5x3xi32>, z: tensor<6xi8>, s: i32, l: tensor<i16>, m: tensor<4x4xi64>) {
  %c0 = arith.constant 0 : index
  %h = tensor.dim %x, %c0 : tensor<?x5x3xi32>
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %a = dfg.node @words grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    %v = arith.addi %e, %e : i32
    dfg.yield %v : i32
  }
  %y = dfg.node @reader grid(%i = %h, %j = %c5, %k = %c3) (each %e = %a : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> {
    %c7 = arith.constant 7 : i32
    %v = arith.muli %e, %c7 : i32
    dfg.yield %v : i32
  }
  %z = dfg.node @bytes grid(%i = %c6) (each %e = %b : tensor<6xi8>) -> tensor<6xi8> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    dfg.yield %e : i8
  }
  %s = dfg.node @sum grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> i32 reduce<addi> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    dfg.yield %e : i32
  }
  %l = dfg.node @alone (%v = %s : i32) -> tensor<i16> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    %t = arith.trunci %v : i32 to i16
    %f = tensor.from_elements %t : tensor<i16>
    dfg.yield %f : tensor<i16>
  }
  %m = dfg.node @wide grid(%i = %c4) (%t = %d : tensor<4x4xi64>) -> tensor<4x4xi64> attributes {dfg.approximate, dfg.knob = "bit-errors:0.001"} {
    %r = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<4x4xi64> to tensor<4xi64>
    dfg.yield %r : tensor<4xi64>
  }
  dfg.return %y, %z, %s, %l, %m : tensor<?x5x3xi32>, tensor<6xi8>, i32, tensor<i16>, tensor<4x4xi64>
}

dfg.graph @integers1(%x: tensor<?x5x3xi32>, %b: tensor<6xi8>, %d: tensor<4x4xi64>) -> (y: tensor<?x5x3xi32>, z: tensor<6xi8>, s: i32, l: tensor<i16>, m: tensor<4x4xi64>) {
  %c0 = arith.constant 0 : index
  %h = tensor.dim %x, %c0 : tensor<?x5x3xi32>
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %a = dfg.node @words grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> attributes {dfg.approximate, dfg.knob = "bit-errors:0.05"} {
    %v = arith.addi %e, %e : i32
    dfg.yield %v : i32
  }
  %y = dfg.node @reader grid(%i = %h, %j = %c5, %k = %c3) (each %e = %a : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> {
    %c7 = arith.constant 7 : i32
    %v = arith.muli %e, %c7 : i32
    dfg.yield %v : i32
  }
  %z = dfg.node @bytes grid(%i = %c6) (each %e = %b : tensor<6xi8>) -> tensor<6xi8> attributes {dfg.approximate, dfg.knob = "bit-errors:0.05"} {
    dfg.yield %e : i8
  }
  %s = dfg.node @sum grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> i32 reduce<addi> attributes {dfg.approximate, dfg.knob = "bit-errors:0.05"} {
    dfg.yield %e : i32
  }
  %l = dfg.node @alone (%v = %s : i32) -> tensor<i16> attributes {dfg.approximate, dfg.knob = "bit-errors:0.05"} {
    %t = arith.trunci %v : i32 to i16
    %f = tensor.from_elements %t : tensor<i16>
    dfg.yield %f : tensor<i16>
  }
  %m = dfg.node @wide grid(%i = %c4) (%t = %d : tensor<4x4xi64>) -> tensor<4x4xi64> attributes {dfg.approximate, dfg.knob = "bit-errors:0.05"} {
    %r = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<4x4xi64> to tensor<4xi64>
    dfg.yield %r : tensor<4xi64>
  }
  dfg.return %y, %z, %s, %l, %m : tensor<?x5x3xi32>, tensor<6xi8>, i32, tensor<i16>, tensor<4x4xi64>
}

dfg.graph @integers2(%x: tensor<?x5x3xi32>, %b: tensor<6xi8>, %d: tensor<4x4xi64>) -> (y: tensor<?x5x3xi32>, z: tensor<6xi8>, s: i32, l: tensor<i16>, m: tensor<4x4xi64>) {
  %c0 = arith.constant 0 : index
  %h = tensor.dim %x, %c0 : tensor<?x5x3xi32>
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %a = dfg.node @words grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> attributes {dfg.approximate, dfg.knob = "bit-errors:0.5"} {
    %v = arith.addi %e, %e : i32
    dfg.yield %v : i32
  }
  %y = dfg.node @reader grid(%i = %h, %j = %c5, %k = %c3) (each %e = %a : tensor<?x5x3xi32>) -> tensor<?x5x3xi32> {
    %c7 = arith.constant 7 : i32
    %v = arith.muli %e, %c7 : i32
    dfg.yield %v : i32
  }
  %z = dfg.node @bytes grid(%i = %c6) (each %e = %b : tensor<6xi8>) -> tensor<6xi8> attributes {dfg.approximate, dfg.knob = "bit-errors:0.5"} {
    dfg.yield %e : i8
  }
  %s = dfg.node @sum grid(%i = %h, %j = %c5, %k = %c3) (each %e = %x : tensor<?x5x3xi32>) -> i32 reduce<addi> attributes {dfg.approximate, dfg.knob = "bit-errors:0.5"} {
    dfg.yield %e : i32
  }
  %l = dfg.node @alone (%v = %s : i32) -> tensor<i16> attributes {dfg.approximate, dfg.knob = "bit-errors:0.5"} {
    %t = arith.trunci %v : i32 to i16
    %f = tensor.from_elements %t : tensor<i16>
    dfg.yield %f : tensor<i16>
  }
  %m = dfg.node @wide grid(%i = %c4) (%t = %d : tensor<4x4xi64>) -> tensor<4x4xi64> attributes {dfg.approximate, dfg.knob = "bit-errors:0.5"} {
    %r = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<4x4xi64> to tensor<4xi64>
    dfg.yield %r : tensor<4xi64>
  }
  dfg.return %y, %z, %s, %l, %m : tensor<?x5x3xi32>, tensor<6xi8>, i32, tensor<i16>, tensor<4x4xi64>
}

dfg.graph @floats(%x: tensor<40x9xf32>) -> (y: tensor<40x9xf32>, h: tensor<40xf16>) {
  %h = arith.constant 40 : index
  %w = arith.constant 9 : index
  %y, %z = dfg.node @two grid(%i = %h, %j = %w) (each %e = %x : tensor<40x9xf32>) -> (tensor<40x9xf32>, tensor<40xf32> reduce<maximumf> over [1]) attributes {dfg.approximate, dfg.knob = "bit-errors:0.002"} {
    %v = arith.addf %e, %e : f32
    dfg.yield %v, %e : f32, f32
  }
  %g = dfg.node @halves grid(%i = %h) (each %e = %z : tensor<40xf32>) -> tensor<40xf16> attributes {dfg.approximate, dfg.knob = "bit-errors:0.002"} {
    %v = arith.truncf %e : f32 to f16
    dfg.yield %v : f16
  }
  dfg.return %y, %g : tensor<40x9xf32>, tensor<40xf16>
}
