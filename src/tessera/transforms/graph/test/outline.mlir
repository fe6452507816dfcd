// RUN: tessera-opt %s --tessera-outline="nodes=a,b name=ab" | FileCheck %s
// RUN: tessera-opt %s --tessera-outline="nodes=a,b name=ab as-graph" | FileCheck %s --check-prefix=GRAPH
// RUN: tessera-opt %s --tessera-outline="nodes=a,b name=ab" --tessera-flatten | FileCheck %s --check-prefix=BACK

// CHECK-LABEL: dfg.graph @main
// CHECK: %[[O:.+]]:2 = dfg.node @ab (%[[N:.*]] = %{{.*}} : index, %[[X:.*]] = %x : tensor<?xf32>, inout %[[M:.*]] = %m : memref<4xf32>) -> tensor<?xf32> {
// CHECK: %[[A:.*]] = dfg.node @a grid(%{{.*}} = %[[N]]) (each %{{.*}} = %[[X]] : tensor<?xf32>)
// CHECK: dfg.node @b grid(%{{.*}} = %[[N]]) (each %{{.*}} = %[[A]] : tensor<?xf32>, inout %{{.*}} = %[[M]] : memref<4xf32>)
// CHECK: dfg.yield
// CHECK: dfg.return %[[O]]#0, %[[O]]#1

// GRAPH-LABEL: dfg.graph private @ab
// GRAPH: dfg.return %{{.*}}, %{{.*}} : tensor<?xf32>, memref<4xf32>
// GRAPH-LABEL: dfg.graph @main
// GRAPH: %[[C:.+]]:2 = dfg.call @ab(%{{.*}}, %x, %m) : (index, tensor<?xf32>, memref<4xf32>) -> (tensor<?xf32>, memref<4xf32>)
// GRAPH: dfg.return %[[C]]#0, %[[C]]#1

// BACK-LABEL: dfg.graph @main
// BACK: dfg.node @ab.a
// BACK: %[[B:.+]]:2 = dfg.node @ab.b
// BACK: dfg.return %[[B]]#0, %[[B]]#1
dfg.graph @main(%x: tensor<?xf32>, %m: memref<4xf32>) -> (y: tensor<?xf32>, mo: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %1 = dfg.node @a grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  %2, %m1 = dfg.node @b grid(%i = %n) (each %e = %1 : tensor<?xf32>, inout %p = %m : memref<4xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %q = memref.load %p[%zero] : memref<4xf32>
    %v = arith.mulf %e, %q : f32
    memref.store %q, %p[%zero] : memref<4xf32>
    dfg.yield %v : f32
  }
  dfg.return %2, %m1 : tensor<?xf32>, memref<4xf32>
}
