// RUN: tessera-opt %s --tessera-split-grid="node=sum at=100" | FileCheck %s
// RUN: tessera-opt %s --tessera-split-grid="node=cols dim=0 at=2" | FileCheck %s --check-prefix=COLS

// CHECK-LABEL: dfg.graph @sum
// CHECK: %[[M:.*]] = arith.minsi
// CHECK: %[[R:.*]] = arith.subi %{{.*}}, %[[M]] : index
// CHECK: %[[A:.+]]:2 = dfg.node @sum_lower grid(%{{.*}} = %[[M]]) (each {{.*}}, acc<addi> %{{.*}} = %h : memref<4xi32>{{.*}}) -> f32 reduce<addf>
// CHECK: %[[B:.+]]:2 = dfg.node @sum_upper grid(%[[I:.*]] = %[[R]]) (each {{.*}}, acc<addi> %{{.*}} = %[[A]]#1 : memref<4xi32>, %[[O:.*]] = %[[M]] : index) -> f32 reduce<addf>
// CHECK: arith.addi %[[O]], %[[I]] : index
// CHECK: %[[C:.*]] = dfg.node @sum_combine (%[[P:.*]] = %[[A]]#0 : f32, %[[Q:.*]] = %[[B]]#0 : f32) -> f32 {
// CHECK-NEXT: arith.addf %[[P]], %[[Q]] : f32
// CHECK: dfg.return %[[C]], %[[B]]#1
dfg.graph @sum(%x: tensor<?xf32>, %h: memref<4xi32>) -> (s: f32, ho: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %s, %h1 = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>, acc<addi> %b = %h : memref<4xi32>) -> f32 reduce<addf> {
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : index
    %k = arith.remui %i, %four : index
    dfg.accumulate %one, %b[%k] : memref<4xi32>
    dfg.yield %e : f32
  }
  dfg.return %s, %h1 : f32, memref<4xi32>
}

// COLS-LABEL: dfg.graph @columns
// COLS: dfg.node @cols_combine grid(%{{.*}} = %c8) (each %{{.*}} = %{{.*}} : tensor<8xi32>, each %{{.*}} = %{{.*}} : tensor<8xi32>) -> tensor<8xi32>
dfg.graph @columns(%x: tensor<4x8xi32>) -> (s: tensor<8xi32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %s = dfg.node @cols grid(%i = %c4, %j = %c8) (each %e = %x : tensor<4x8xi32>) -> tensor<8xi32> reduce<maxsi> over [0] {
    dfg.yield %e : i32
  }
  dfg.return %s : tensor<8xi32>
}
