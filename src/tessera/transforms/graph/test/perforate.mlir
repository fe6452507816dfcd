// RUN: tessera-opt %s --tessera-perforate-grid="node=twice rate=3 skip=2 offset=1" | FileCheck %s
// RUN: not tessera-opt %s --tessera-perforate-grid="node=twice dim=2" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not tessera-opt %s --tessera-perforate-grid="node=twice skip=2" 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not tessera-opt %s --tessera-perforate-grid="node=sum" 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not tessera-opt %s --tessera-perforate-grid="node=store" 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: not tessera-opt %s --tessera-perforate-grid="node=meet" 2>&1 | FileCheck %s --check-prefix=MEET

// DIM: error: cannot perforate 'twice': expected a grid dimension below 2, but got 2
// RATE: error: cannot perforate 'twice': expected to leave out 1 to rate - 1 of every rate positions, from an offset below the rate
// RATE: note: for example 1 of 2 from 0
// SUM: error: cannot perforate 'sum': result 0 is not one float for each instance
// STORE: error: cannot perforate 'store': it writes memory
// MEET: error: cannot perforate 'meet': its instances share scratch memory or a barrier

// Rows 0, 3, 6, … are computed, as numbers 0, 1, 2, …; an own element becomes one of a whole tensor.
// CHECK-LABEL: dfg.graph @g
// CHECK: %[[C:.*]] = dfg.node @twice_some grid(%[[I:.*]] = %{{[0-9]+}}, %[[J:.*]] = %w) (%[[X:.*]] = %x : tensor<?x?xf32>, %[[H:.*]] = %h : index) -> tensor<?x?xf32> {
// CHECK: %[[LAST:.*]] = arith.subi %[[H]], %{{.*}} : index
// CHECK: %[[P:.*]] = arith.divui %[[I]], %{{.*}} : index
// CHECK: arith.muli %[[P]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]] : index
// CHECK: tensor.extract %[[X]][%[[ROW]], %[[J]]]
// CHECK: dfg.node @twice_fill grid(%{{.*}} = %h, %{{.*}} = %w) (%{{.*}} = %[[C]] : tensor<?x?xf32>, %{{.*}} : index) -> tensor<?x?xf32> {
// CHECK: arith.subf
// CHECK: arith.select %{{.*}} : f32
dfg.graph @g(%x: tensor<?x?xf32>, %h: index, %w: index) -> (y: tensor<?x?xf32>, s: f32) {
  %y = dfg.node @twice grid(%i = %h, %j = %w) (each %e = %x : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %v = arith.addf %e, %e : f32
    dfg.yield %v : f32
  }
  %s = dfg.node @sum grid(%i = %h, %j = %w) (each %e = %y : tensor<?x?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %y, %s : tensor<?x?xf32>, f32
}

dfg.graph @memory(%m: memref<4x4xf32>) -> (n: memref<4x4xf32>, y: tensor<4x4xf32>) {
  %c4 = arith.constant 4 : index
  %n = dfg.node @store grid(%i = %c4, %j = %c4) (out %b = %m : memref<4x4xf32>) {
    %one = arith.constant 1.0 : f32
    memref.store %one, %b[%i, %j] : memref<4x4xf32>
    dfg.yield
  }
  %y = dfg.node @meet grid(%i = %c4, %j = %c4) () -> tensor<4x4xf32> {
    %one = arith.constant 1.0 : f32
    dfg.barrier
    dfg.yield %one : f32
  }
  dfg.return %n, %y : memref<4x4xf32>, tensor<4x4xf32>
}
