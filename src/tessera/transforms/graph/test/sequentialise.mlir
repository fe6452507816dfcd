// RUN: tessera-opt %s --tessera-sequentialise="node=sum" | FileCheck %s
// RUN: tessera-opt %s --tessera-sequentialise="node=scale dims=1" | FileCheck %s --check-prefix=ROW
// RUN: tessera-opt %s --tessera-sequentialise="node=cols" | FileCheck %s --check-prefix=COLS

// CHECK-LABEL: dfg.graph @fold
// CHECK: dfg.node @sum (%[[A:.*]] = %x : tensor<?xf32>, %[[M:.*]] = %{{.*}} : index) -> f32 {
// CHECK: %[[ID:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[F:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[M]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[ID]]) -> (f32) {
// CHECK-NEXT: %[[E:.*]] = tensor.extract %[[A]][%[[I]]] : tensor<?xf32>
// CHECK-NEXT: %[[V:.*]] = arith.addf %[[ACC]], %[[E]] : f32
// CHECK-NEXT: scf.yield %[[V]] : f32
// CHECK: dfg.yield %[[F]] : f32
dfg.graph @fold(%x: tensor<?xf32>) -> (s: f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 fold<addf> {
    dfg.yield %e : f32
  }
  dfg.return %s : f32
}

// The rows stay a grid; each instance makes one row.
// ROW-LABEL: dfg.graph @rows
// ROW: dfg.node @scale grid(%{{.*}} = %c4) (each %[[R:.*]] = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
// ROW: tensor.empty() : tensor<8xf32>
// ROW: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (tensor<8xf32>) {
// ROW: tensor.extract %[[R]][%[[J]]] : tensor<8xf32>
// ROW: dfg.extent 0
// ROW: tensor.insert %{{.*}} into %[[T]][%[[J]]] : tensor<8xf32>
dfg.graph @rows(%x: tensor<4x8xf32>) -> (y: tensor<4x8xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %y = dfg.node @scale grid(%i = %c4, %j = %c8) (each %e = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %n = dfg.extent 0
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %v = arith.mulf %e, %f : f32
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<4x8xf32>
}

// Reduced over the outer loop and gathered over the inner one: the partial results are a tensor.
// COLS-LABEL: dfg.graph @columns
// COLS: dfg.node @cols (%{{.*}} = %x : tensor<4x8xi32>) -> tensor<8xi32> {
// COLS: tensor.splat %{{.*}} : tensor<8xi32>
// COLS: scf.for
// COLS: scf.for %[[J:.*]] = {{.*}} iter_args(%[[T:.*]] =
// COLS: %[[OLD:.*]] = tensor.extract %[[T]][%[[J]]]
// COLS: %[[MAX:.*]] = arith.maxsi %[[OLD]], %{{.*}} : i32
// COLS: tensor.insert %[[MAX]] into %[[T]][%[[J]]]
dfg.graph @columns(%x: tensor<4x8xi32>) -> (s: tensor<8xi32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %s = dfg.node @cols grid(%i = %c4, %j = %c8) (each %e = %x : tensor<4x8xi32>) -> tensor<8xi32> reduce<maxsi> over [0] {
    dfg.yield %e : i32
  }
  dfg.return %s : tensor<8xi32>
}
