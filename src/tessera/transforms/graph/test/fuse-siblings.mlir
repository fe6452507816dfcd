// RUN: tessera-opt %s --tessera-fuse-siblings="first=lo second=hi" | FileCheck %s

// CHECK-LABEL: dfg.graph @range
// CHECK: %[[R:.+]]:2 = dfg.node @lo_hi grid(%{{.*}} = %{{.*}}) (each %[[E:.*]] = %x : tensor<?xf32>) -> (f32 reduce<minimumf>, f32 reduce<maximumf>) {
// CHECK-NEXT: dfg.yield %[[E]], %[[E]] : f32, f32
// CHECK: dfg.return %[[R]]#0, %[[R]]#1
dfg.graph @range(%x: tensor<?xf32>) -> (a: f32, b: f32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %1 = dfg.node @lo grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<minimumf> {
    dfg.yield %e : f32
  }
  %2 = dfg.node @hi grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<maximumf> {
    dfg.yield %e : f32
  }
  dfg.return %1, %2 : f32, f32
}
