// RUN: tessera-opt %s --tessera-nn-lower -split-input-file | FileCheck %s

// A chain is one loop nest; the bias is broadcast by its map, the square reads its operand once.
// CHECK-LABEL: dfg.graph @chain
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8xf32>)
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
dfg.graph @chain(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> (y: tensor<?x8xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?x8xf32>, %b = %w : tensor<8xf32>) -> tensor<?x8xf32> {
    %1 = nn.binary add %a, %b : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
    %2 = nn.unary relu %1 : tensor<?x8xf32> -> tensor<?x8xf32>
    %3 = nn.binary mul %2, %2 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    dfg.yield %3 : tensor<?x8xf32>
  }
  dfg.return %y : tensor<?x8xf32>
}

// -----

// Two extents that nothing relates may be equal, or one of them 1: that operand is read by index.
// CHECK-LABEL: dfg.graph @unrelated
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: tensor.extract
dfg.graph @unrelated(%x: tensor<?xf32>, %z: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>, %b = %z : tensor<?xf32>) -> tensor<?xf32> {
    %1 = nn.binary add %a, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    dfg.yield %1 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// Two branches of one tensor have its extents.
// CHECK-LABEL: dfg.graph @related
// CHECK-NOT: tensor.extract
// CHECK: dfg.yield
dfg.graph @related(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %1 = nn.unary exp %a : tensor<?xf32> -> tensor<?xf32>
    %2 = nn.binary add %a, %1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    dfg.yield %2 : tensor<?xf32>
  }
  dfg.return %y : tensor<?xf32>
}

// -----

// Half types compute in f32.
// CHECK-LABEL: dfg.graph @half
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
dfg.graph @half(%x: tensor<4xf16>) -> (y: tensor<4xf16>) {
  %y = dfg.node @net (%a = %x : tensor<4xf16>) -> tensor<4xf16> {
    %1 = nn.unary exp %a : tensor<4xf16> -> tensor<4xf16>
    dfg.yield %1 : tensor<4xf16>
  }
  dfg.return %y : tensor<4xf16>
}

// -----

// What each channel shares is computed once for each channel, not for each element.
// CHECK-LABEL: dfg.graph @norm
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<3xf32>)
// CHECK: math.sqrt
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<2x3x4xf32>)
// CHECK-NOT: math.sqrt
// CHECK: dfg.yield
dfg.graph @norm(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>) -> (y: tensor<2x3x4xf32>) {
  %y = dfg.node @net (%a = %x : tensor<2x3x4xf32>, %b = %s : tensor<3xf32>, %c = %m : tensor<3xf32>) -> tensor<2x3x4xf32> {
    %1 = nn.batch_norm %a, %b, %b, %c, %b {epsilon = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
    dfg.yield %1 : tensor<2x3x4xf32>
  }
  dfg.return %y : tensor<2x3x4xf32>
}

// -----

// The same where the batch is open: extents are asked of what comes in.
// CHECK-LABEL: dfg.graph @open
// CHECK: tensor.dim %[[A:.*]], %
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[A]] : tensor<?x3xf32>)
// CHECK: arith.subf
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
// CHECK: dfg.yield
dfg.graph @open(%x: tensor<?x3xf32>) -> (y: tensor<?x3xf32>) {
  %y = dfg.node @net (%a = %x : tensor<?x3xf32>) -> tensor<?x3xf32> {
    %m = arith.constant dense<0.5> : tensor<1x1xf32>
    %d = arith.constant dense<0.25> : tensor<1x1xf32>
    %1 = nn.binary sub %a, %m : tensor<?x3xf32>, tensor<1x1xf32> -> tensor<?x3xf32>
    %2 = nn.binary div %1, %d : tensor<?x3xf32>, tensor<1x1xf32> -> tensor<?x3xf32>
    dfg.yield %2 : tensor<?x3xf32>
  }
  dfg.return %y : tensor<?x3xf32>
}
