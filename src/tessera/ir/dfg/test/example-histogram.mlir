// A histogram: instances accumulate into bins that they share, through an `acc` port.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @histogram
dfg.graph @histogram(%x: tensor<?xi8>) -> (bins: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %zero = arith.constant 0 : i32
  %h = dfg.buffer() fill(%zero : i32) : memref<256xi32>
  // CHECK: dfg.node @count grid(%i = %{{.*}}) (each %{{.*}} = %x : tensor<?xi8>, acc<addi> %{{.*}} = %{{.*}} : memref<256xi32>) {
  %h1 = dfg.node @count grid(%i = %n) (each %e = %x : tensor<?xi8>, acc<addi> %b = %h : memref<256xi32>) {
    %one = arith.constant 1 : i32
    %k = arith.index_castui %e : i8 to index
    // CHECK: dfg.accumulate
    dfg.accumulate %one, %b[%k] : memref<256xi32>
  }
  dfg.return %h1 : memref<256xi32>
}
