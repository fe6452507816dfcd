// RUN: tessera-opt %s --tessera-fuse-nodes="producer=scale consumer=sum" | FileCheck %s
// RUN: tessera-opt %s --tessera-fuse-nodes="producer=square consumer=blur recompute" | FileCheck %s --check-prefix=RECOMPUTE

// The producer's element is the consumer's own; a second user keeps the result alive.
// CHECK-LABEL: dfg.graph @chain
// CHECK: %[[F:.+]]:2 = dfg.node @scale_sum grid(%{{.*}} = %[[N:.*]]) (each %[[E:.*]] = %x : tensor<?xf32>) -> (f32 reduce<addf>, tensor<?xf32>) attributes {cost = 3.000000e+00 : f64, criticality = "elevated", targets = ["cpu"]} {
// CHECK-NEXT: %[[V:.*]] = arith.mulf %[[E]], %[[E]] : f32
// CHECK-NEXT: dfg.yield %[[V]], %[[V]] : f32, f32
// CHECK: dfg.node @neg grid({{.*}}) (each %{{.*}} = %[[F]]#1 : tensor<?xf32>)
// CHECK: dfg.return %[[F]]#0
dfg.graph @chain(%x: tensor<?xf32>) -> (s: f32, n: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %1 = dfg.node @scale grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> attributes {cost = 1.0 : f64, targets = ["cpu", "cuda"]} {
    %v = arith.mulf %e, %e : f32
    dfg.yield %v : f32
  }
  %3 = dfg.node @neg grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  %2 = dfg.node @sum grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> f32 reduce<addf> attributes {cost = 2.0 : f64, criticality = "elevated", targets = ["cpu", "opencl"]} {
    dfg.yield %e : f32
  }
  dfg.return %2, %3 : f32, tensor<?xf32>
}

// An element of a whole tensor is computed again where it is read; the extents come along.
// RECOMPUTE-LABEL: dfg.graph @stencil
// RECOMPUTE-NOT: dfg.node @square
// RECOMPUTE: dfg.node @blur grid(%[[I:.*]] = %{{.*}}) (each %[[E:.*]] = %x : tensor<?xf32>, %[[X:.*]] = %x : tensor<?xf32>)
// RECOMPUTE: arith.mulf %[[E]], %[[E]] : f32
// RECOMPUTE: %[[U:.*]] = arith.maxsi
// RECOMPUTE: %[[L:.*]] = tensor.extract %[[X]][%[[U]]] : tensor<?xf32>
// RECOMPUTE: arith.mulf %[[L]], %[[L]] : f32
dfg.graph @stencil(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %1 = dfg.node @square grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    %v = arith.mulf %e, %e : f32
    dfg.yield %v : f32
  }
  %2 = dfg.node @blur grid(%i = %n) (%s = %1 : tensor<?xf32>, each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %l = arith.subi %i, %one : index
    %u = arith.maxsi %l, %zero : index
    %p = tensor.extract %s[%u] : tensor<?xf32>
    %v = arith.addf %p, %e : f32
    dfg.yield %v : f32
  }
  dfg.return %2 : tensor<?xf32>
}
