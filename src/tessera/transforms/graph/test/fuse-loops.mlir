// RUN: tessera-opt %s --tessera-fuse-loops="node=two" | FileCheck %s

// The second loop reads what the same trip of the first one wrote.
// CHECK-LABEL: dfg.graph @loops
// CHECK: %[[F:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f32) {
// CHECK: memref.store %{{.*}}, %[[M:.*]][%[[K]]]
// CHECK: %[[W:.*]] = memref.load %[[M]][%[[K]]]
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[W]] : f32
// CHECK: scf.yield %[[S]] : f32
// CHECK-NOT: scf.for
// CHECK: dfg.yield %[[F]] : f32
dfg.graph @loops(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %1 = dfg.node @two grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    %m = memref.alloc() : memref<4xf32>
    scf.for %k = %c0 to %n step %c1 {
      memref.store %e, %m[%k] : memref<4xf32>
    }
    %zero = arith.constant 0.0 : f32
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
      %w = memref.load %m[%k] : memref<4xf32>
      %b = arith.addf %a, %w : f32
      scf.yield %b : f32
    }
    memref.dealloc %m : memref<4xf32>
    dfg.yield %s : f32
  }
  dfg.return %1 : tensor<8xf32>
}
