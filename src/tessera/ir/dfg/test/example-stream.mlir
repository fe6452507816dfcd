// A stream with state: each frame is compared with the one before; the host keeps two frames in flight.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @motion
dfg.graph @motion(%frame: tensor<480x640xf32>) -> (change: tensor<480x640xf32>) {
  %h = arith.constant 480 : index
  %w = arith.constant 640 : index
  %black = arith.constant dense<0.0> : tensor<480x640xf32>
  // CHECK: %[[LAST:.*]] = dfg.state init(%{{.*}} : tensor<480x640xf32>) : tensor<480x640xf32>
  %last = dfg.state init(%black : tensor<480x640xf32>) : tensor<480x640xf32>
  // CHECK: dfg.node @difference grid({{.*}}) (each %{{.*}} = %frame : tensor<480x640xf32>, each %{{.*}} = %[[LAST]] : tensor<480x640xf32>) -> tensor<480x640xf32> attributes {depth = 2 : i64} {
  %d = dfg.node @difference grid(%i = %h, %j = %w) (each %a = %frame : tensor<480x640xf32>, each %b = %last : tensor<480x640xf32>) -> tensor<480x640xf32> attributes {depth = 2 : i64} {
    %s = arith.subf %a, %b : f32
    %m = math.absf %s : f32
    dfg.yield %m : f32
  }
  // CHECK: dfg.update %[[LAST]], %frame
  dfg.update %last, %frame : tensor<480x640xf32>
  dfg.return %d : tensor<480x640xf32>
}

// CHECK-LABEL: func.func @watch
func.func @watch(%a: tensor<480x640xf32>, %b: tensor<480x640xf32>) -> (tensor<480x640xf32>, tensor<480x640xf32>) {
  %s = dfg.open @motion
  dfg.push %s(%a) : tensor<480x640xf32>
  dfg.push %s(%b) : tensor<480x640xf32>
  %x = dfg.pop %s : tensor<480x640xf32>
  %y = dfg.pop %s : tensor<480x640xf32>
  // CHECK: dfg.close
  dfg.close %s
  return %x, %y : tensor<480x640xf32>, tensor<480x640xf32>
}
