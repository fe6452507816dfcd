// RUN: tessera-opt %s --tessera-hoist="node=f" | FileCheck %s

// CHECK-LABEL: dfg.graph @main
// CHECK: %[[R:.*]] = dfg.node @f_invariant (%[[A:.*]] = %x : f32) -> f32 {
// CHECK: %[[E:.*]] = math.exp %[[A]] : f32
// CHECK: %[[H:.*]] = arith.mulf %[[E]], %{{.*}} : f32
// CHECK: dfg.yield %[[H]] : f32
// CHECK: dfg.node @f grid(%{{.*}} = %{{.*}}) (each %[[T:.*]] = %t : tensor<?xf32>, %[[S:.*]] = %[[R]] : f32) -> tensor<?xf32> {
// CHECK-NEXT: %{{.*}} = arith.constant
// CHECK-NEXT: arith.mulf %[[T]], %[[S]] : f32
dfg.graph @main(%x: f32, %t: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %t, %c0 : tensor<?xf32>
  %y = dfg.node @f grid(%i = %n) (%a = %x : f32, each %e = %t : tensor<?xf32>) -> tensor<?xf32> {
    %half = arith.constant 0.5 : f32
    %r = math.exp %a : f32
    %h = arith.mulf %r, %half : f32
    %v = arith.mulf %e, %h : f32
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<?xf32>
}
