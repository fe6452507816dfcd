// RUN: tessera-opt %s --tessera-flatten | FileCheck %s

// CHECK-NOT: dfg.graph private
dfg.graph private @twice(%t: tensor<8xf32>) -> (r: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %1 = dfg.node @add grid(%i = %c8) (each %e = %t : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.addf %e, %e : f32
    dfg.yield %v : f32
  }
  dfg.return %1 : tensor<8xf32>
}

// Targets and criticality of the outer node hold for its children; memory is threaded through.
// CHECK-LABEL: dfg.graph @main
// CHECK: %[[I:.*]] = dfg.node @outer.inner grid({{.*}}) (each %{{.*}} = %x : tensor<8xf32>) -> tensor<8xf32> attributes {criticality = "critical", targets = ["cpu"]}
// CHECK: %[[M:.*]] = dfg.node @outer.write grid({{.*}}) (out %{{.*}} = %m : memref<8xf32>)
// CHECK: %[[A:.*]] = dfg.node @twice.add grid({{.*}}) (each %{{.*}} = %[[I]] : tensor<8xf32>)
// CHECK: %[[B:.*]] = dfg.node @twice.add_1 grid({{.*}}) (each %{{.*}} = %[[A]] : tensor<8xf32>)
// CHECK: dfg.return %[[B]], %[[M]]
dfg.graph @main(%x: tensor<8xf32>, %m: memref<8xf32>) -> (y: tensor<8xf32>, mo: memref<8xf32>) {
  %y, %m1 = dfg.node @outer (%a = %x : tensor<8xf32>, out %b = %m : memref<8xf32>) -> tensor<8xf32> attributes {criticality = "critical", targets = ["cpu"]} {
    %c8 = arith.constant 8 : index
    %1 = dfg.node @inner grid(%i = %c8) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> attributes {targets = ["cuda", "cpu"]} {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    %2 = dfg.node @write grid(%i = %c8) (out %p = %b : memref<8xf32>) {
      %f = arith.constant 1.0 : f32
      memref.store %f, %p[%i] : memref<8xf32>
    }
    dfg.yield %1 : tensor<8xf32>
  }
  %z = dfg.call @twice(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %w = dfg.call @twice(%z) : (tensor<8xf32>) -> tensor<8xf32>
  dfg.return %w, %m1 : tensor<8xf32>, memref<8xf32>
}
