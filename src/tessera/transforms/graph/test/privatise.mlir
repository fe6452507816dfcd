// RUN: tessera-opt %s --tessera-privatise="node=local" | FileCheck %s
// RUN: tessera-opt %s --tessera-privatise="node=temp port=1" | FileCheck %s --check-prefix=PORT
// RUN: tessera-opt %s --tessera-privatise="node=count port=1 chunks=8" | FileCheck %s --check-prefix=ACC

// CHECK-LABEL: dfg.graph @scratch
// CHECK-NOT: dfg.scratch
// CHECK: memref.alloc{{a?}}() : memref<4xf32>
dfg.graph @scratch(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %y = dfg.node @local grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %s = dfg.scratch : memref<4xf32>
    scf.for %k = %c0 to %c4 step %c1 {
      memref.store %e, %s[%k] : memref<4xf32>
    }
    %v = memref.load %s[%c1] : memref<4xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<8xf32>
}

// PORT-LABEL: dfg.graph @port
// PORT-NOT: dfg.buffer
// PORT: %[[Y:.*]] = dfg.node @temp grid({{.*}}) (each %[[E:.*]] = %x : tensor<8xf32>) -> tensor<8xf32> {
// PORT: %[[A:.*]] = memref.alloc{{a?}}() : memref<2xf32>
// PORT: memref.store %[[E]], %[[A]]
dfg.graph @port(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %b = dfg.buffer() : memref<2xf32>
  %y, %b1 = dfg.node @temp grid(%i = %c8) (each %e = %x : tensor<8xf32>, inout %m = %b : memref<2xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    memref.store %e, %m[%c0] : memref<2xf32>
    %v = memref.load %m[%c0] : memref<2xf32>
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<8xf32>
}

// ACC-LABEL: dfg.graph @histogram
// ACC: %[[P0:.*]] = dfg.buffer() fill(%{{.*}} : i32) : memref<8x256xi32>
// ACC: %[[P1:.*]] = dfg.node @count grid(%[[C:.*]] = %{{.*}}) (%[[X:.*]] = %x : tensor<?xi32>, inout %[[B:.*]] = %[[P0]] : memref<8x256xi32>, %{{.*}} : index) {
// ACC: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// ACC: tensor.extract %[[X]][%[[I]]]
// ACC: %[[OLD:.*]] = memref.load %[[B]][%[[C]], %[[K:.*]]]
// ACC: %[[NEW:.*]] = arith.addi %[[OLD]], %{{.*}} : i32
// ACC: memref.store %[[NEW]], %[[B]][%[[C]], %[[K]]]
// ACC: dfg.node @count_merge grid(%[[E:.*]] = %{{.*}}) (in %[[P:.*]] = %[[P1]] : memref<8x256xi32>, acc<addi> %[[H:.*]] = %h : memref<256xi32>) {
// ACC: dfg.accumulate %{{.*}}, %[[H]][%[[E]]]
dfg.graph @histogram(%x: tensor<?xi32>, %h: memref<256xi32>) -> (ho: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %h1 = dfg.node @count grid(%i = %n) (each %e = %x : tensor<?xi32>, acc<addi> %b = %h : memref<256xi32>) {
    %one = arith.constant 1 : i32
    %k = arith.index_cast %e : i32 to index
    dfg.accumulate %one, %b[%k] : memref<256xi32>
  }
  dfg.return %h1 : memref<256xi32>
}
