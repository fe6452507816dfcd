// A block of a residual network: layers are leaves without a grid, the residual edge is an SSA value used twice. A
// camera pipeline in front of it, instantiated by a call, makes one graph of picture and network.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph private @camera
dfg.graph private @camera(%raw: tensor<66x66xi16>) -> (rgb: tensor<1x66x66x16xf32>) {
  %h = arith.constant 66 : index
  %gray = dfg.node @develop grid(%i = %h, %j = %h) (each %e = %raw : tensor<66x66xi16>) -> tensor<66x66xf32> {
    %scale = arith.constant 6.1035156e-05 : f32
    %f = arith.sitofp %e : i16 to f32
    %v = arith.mulf %f, %scale : f32
    dfg.yield %v : f32
  }
  %lifted = dfg.node @lift (%x = %gray : tensor<66x66xf32>) -> tensor<1x66x66x16xf32> {
    %init = tensor.empty() : tensor<1x66x66x16xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<66x66xf32>) outs(%init : tensor<1x66x66x16xf32>) {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<1x66x66x16xf32>
    dfg.yield %y : tensor<1x66x66x16xf32>
  }
  dfg.return %lifted : tensor<1x66x66x16xf32>
}

// CHECK-LABEL: dfg.graph @network
dfg.graph @network(%raw: tensor<66x66xi16>, %k1: tensor<3x3x16x16xf32>) -> (features: tensor<1x64x64x16xf32>) {
  // CHECK: %[[X:.*]] = dfg.call @camera(%raw)
  %x = dfg.call @camera(%raw) : (tensor<66x66xi16>) -> tensor<1x66x66x16xf32>
  // CHECK: %[[C:.*]] = dfg.node @conv (%{{.*}} = %[[X]] :
  %conv = dfg.node @conv (%v = %x : tensor<1x66x66x16xf32>, %k = %k1 : tensor<3x3x16x16xf32>) -> tensor<1x64x64x16xf32> attributes {quality = #dfg.demand<"l2", 0.02 : f64>} {
    %zero = arith.constant 0.0 : f32
    %init = tensor.empty() : tensor<1x64x64x16xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    %y = linalg.conv_2d_nhwc_hwcf ins(%v, %k : tensor<1x66x66x16xf32>, tensor<3x3x16x16xf32>) outs(%fill : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    dfg.yield %y : tensor<1x64x64x16xf32>
  }
  // CHECK: dfg.node @residual (%{{.*}} = %[[C]] : {{.*}}, %{{.*}} = %[[X]] :
  %sum = dfg.node @residual (%a = %conv : tensor<1x64x64x16xf32>, %b = %x : tensor<1x66x66x16xf32>) -> tensor<1x64x64x16xf32> {
    %zero = arith.constant 0.0 : f32
    %inner = tensor.extract_slice %b[0, 1, 1, 0] [1, 64, 64, 16] [1, 1, 1, 1] : tensor<1x66x66x16xf32> to tensor<1x64x64x16xf32>
    %init = tensor.empty() : tensor<1x64x64x16xf32>
    %s = linalg.add ins(%a, %inner : tensor<1x64x64x16xf32>, tensor<1x64x64x16xf32>) outs(%init : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%init : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    %r = linalg.max ins(%s, %zeros : tensor<1x64x64x16xf32>, tensor<1x64x64x16xf32>) outs(%init : tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
    dfg.yield %r : tensor<1x64x64x16xf32>
  }
  dfg.return %sum : tensor<1x64x64x16xf32>
}
