// RUN: tessera-opt %s --tessera-tile-grid="node=scale sizes=16" | FileCheck %s
// RUN: tessera-opt %s --tessera-tile-grid="node=sum sizes=4,0" | FileCheck %s --check-prefix=SUM

// CHECK-LABEL: dfg.graph @gather
// CHECK: %[[T:.*]] = dfg.node @scale_tiles grid(%[[I:.*]] = %{{.*}}) (%[[A:.*]] = %x : tensor<64xf32>) -> tensor<64xf32> tile {
// CHECK: %[[BASE:.*]] = arith.muli %[[I]], %[[C:.*]] : index
// CHECK: %[[S:.*]] = tensor.extract_slice %[[A]][%[[BASE]]] [16] [1] : tensor<64xf32> to tensor<16xf32>
// CHECK: %[[L:.*]] = dfg.node @scale grid(%[[K:.*]] = %[[C]]) (each %[[E:.*]] = %[[S]] : tensor<16xf32>, %[[B:.*]] = %[[BASE]] : index) -> tensor<16xf32> {
// CHECK: %[[ID:.*]] = arith.addi %[[B]], %[[K]] : index
// CHECK: %[[N:.*]] = arith.constant 64 : index
// CHECK: arith.subi %[[N]], %[[ID]] : index
// CHECK: dfg.yield %[[L]] : tensor<16xf32>
dfg.graph @gather(%x: tensor<64xf32>) -> (y: tensor<64xf32>) {
  %c64 = arith.constant 64 : index
  %1 = dfg.node @scale grid(%i = %c64) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {
    %n = dfg.extent 0
    %k = arith.subi %n, %i : index
    %k1 = arith.index_cast %k : index to i32
    %f = arith.sitofp %k1 : i32 to f32
    %v = arith.mulf %e, %f : f32
    dfg.yield %v : f32
  }
  dfg.return %1 : tensor<64xf32>
}

// A reduction may have a short last tile, and a dimension in one piece.
// SUM-LABEL: dfg.graph @reduce
// SUM: %[[T:.*]] = arith.ceildivsi %{{.*}}, %{{.*}} : index
// SUM: dfg.node @sum_tiles grid(%[[I:.*]] = %[[T]], %{{.*}} = %{{.*}}) ({{.*}}) -> f32 reduce<addf> {
// SUM: %[[REST:.*]] = arith.subi
// SUM: %[[LEN:.*]] = arith.minsi %{{.*}}, %[[REST]] : index
// SUM: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%[[LEN]], %{{.*}}] [1, 1]
// SUM: dfg.node @sum grid(%{{.*}} = %[[LEN]], %{{.*}} = %{{.*}}) (each {{.*}}) -> f32 reduce<addf> {
dfg.graph @reduce(%x: tensor<?x?xf32>) -> (s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : tensor<?x?xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?xf32>
  %1 = dfg.node @sum grid(%i = %h, %j = %w) (each %e = %x : tensor<?x?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %1 : f32
}
