// RUN: tessera-opt %s --tessera-fuse-nodes="producer=a consumer=c" | FileCheck %s

// A node between that reads the producer's result moves after the fused node; so does one that writes memory the
// producer reads.
// CHECK-LABEL: dfg.graph @between
// CHECK: %[[F:.+]]:2 = dfg.node @a_c grid(%{{.*}} = %c8) (each %{{.*}} = %x : tensor<8xf32>, in %{{.*}} = %m : memref<8xf32>)
// CHECK: dfg.node @b grid({{.*}}) (each %{{.*}} = %[[F]]#1 : tensor<8xf32>)
// CHECK: dfg.node @w grid({{.*}}) (out %{{.*}} = %m : memref<8xf32>)
dfg.graph @between(%x: tensor<8xf32>, %m: memref<8xf32>) -> (y: tensor<8xf32>, z: tensor<8xf32>, mo: memref<8xf32>) {
  %c8 = arith.constant 8 : index
  %1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, in %p = %m : memref<8xf32>) -> tensor<8xf32> {
    %q = memref.load %p[%i] : memref<8xf32>
    %v = arith.mulf %e, %q : f32
    dfg.yield %v : f32
  }
  %2 = dfg.node @b grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  %m1 = dfg.node @w grid(%i = %c8) (out %p = %m : memref<8xf32>) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i] : memref<8xf32>
  }
  %3 = dfg.node @c grid(%i = %c8) (each %e = %1 : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.addf %e, %e : f32
    dfg.yield %v : f32
  }
  dfg.return %2, %3, %m1 : tensor<8xf32>, tensor<8xf32>, memref<8xf32>
}
