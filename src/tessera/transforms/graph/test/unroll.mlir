// RUN: tessera-opt %s --tessera-unroll="node=scale dim=0 factor=2" | FileCheck %s
// RUN: tessera-opt %s --tessera-unroll="node=window" | FileCheck %s --check-prefix=LOOP

// CHECK-LABEL: dfg.graph @grid
// CHECK: dfg.node @scale grid(%[[I:.*]] = %{{.*}}) (%[[A:.*]] = %x : tensor<8xf32>) -> tensor<8xf32> tile {
// CHECK: %[[K:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK: %[[E0:.*]] = tensor.extract %[[A]][%[[K]]]
// CHECK: %[[V0:.*]] = arith.mulf %[[E0]], %[[E0]] : f32
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %{{.*}} : index
// CHECK: %[[V1:.*]] = arith.mulf
// CHECK: %[[T:.*]] = tensor.from_elements %[[V0]], %[[V1]] : tensor<2xf32>
// CHECK: dfg.yield %[[T]] : tensor<2xf32>
dfg.graph @grid(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %1 = dfg.node @scale grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.mulf %e, %e : f32
    dfg.yield %v : f32
  }
  dfg.return %1 : tensor<8xf32>
}

// LOOP-LABEL: dfg.graph @loop
// LOOP-NOT: scf.for
// LOOP-COUNT-3: arith.addf
// LOOP-NOT: arith.addf
dfg.graph @loop(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %1 = dfg.node @window grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %v = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %e) -> f32 {
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    dfg.yield %v : f32
  }
  dfg.return %1 : tensor<8xf32>
}
