// RUN: tessera-opt %s --tessera-simplify | FileCheck %s

// CHECK-LABEL: dfg.graph @copies
// CHECK-NOT: dfg.node
// CHECK: dfg.return %x : tensor<?xf32>
dfg.graph @copies(%x: tensor<?xf32>) -> (y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %1 = dfg.node @copy grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    dfg.yield %e : f32
  }
  %2 = dfg.node @dead grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  dfg.return %1 : tensor<?xf32>
}

// A dead result and operand, an operand given twice, a node computed twice, a port that nobody uses.
// CHECK-LABEL: dfg.graph @parts
// CHECK: %[[A:.*]] = dfg.node @a grid(%{{.*}} = %c8) (each %[[E:.*]] = %x : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[V:.*]] = arith.addf %[[E]], %[[E]] : f32
// CHECK-NEXT: dfg.yield %[[V]] : f32
// CHECK-NOT: dfg.node
// CHECK: dfg.return %[[A]], %[[A]], %m
dfg.graph @parts(%x: tensor<8xf32>, %m: memref<4xf32>) -> (y: tensor<8xf32>, z: tensor<8xf32>, mo: memref<4xf32>) {
  %c8 = arith.constant 8 : index
  %y, %d, %m1 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>, each %f = %x : tensor<8xf32>, %u = %x : tensor<8xf32>, inout %p = %m : memref<4xf32>) -> (tensor<8xf32>, f32 reduce<addf>) {
    %v = arith.addf %e, %f : f32
    %w = arith.negf %e : f32
    dfg.yield %v, %w : f32, f32
  }
  %z = dfg.node @b grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.addf %e, %e : f32
    dfg.yield %v : f32
  }
  dfg.return %y, %z, %m1 : tensor<8xf32>, tensor<8xf32>, memref<4xf32>
}

// Writing memory that came from outside is never dead; a buffer that nobody reads is.
// CHECK-LABEL: dfg.graph @memory
// CHECK-NOT: dfg.buffer
// CHECK: dfg.node @outside
// CHECK-NOT: dfg.node @inside
dfg.graph @memory(%m: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  %b = dfg.buffer() : memref<4xf32>
  %b1 = dfg.node @inside grid(%i = %c4) (out %p = %b : memref<4xf32>) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i] : memref<4xf32>
  }
  %m1 = dfg.node @outside grid(%i = %c4) (out %p = %m : memref<4xf32>) {
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i] : memref<4xf32>
  }
  dfg.return
}

// One instance needs no grid, and the extent of a gathered result is its grid's.
// CHECK-LABEL: dfg.graph @grids
// CHECK: dfg.node @one (%{{.*}} = %x : tensor<1xf32>) -> f32 {
// CHECK: dfg.return %{{.*}}, %n
dfg.graph @grids(%x: tensor<1xf32>, %n: index) -> (s: f32, e: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = dfg.node @one grid(%i = %c1) (each %e = %x : tensor<1xf32>) -> f32 reduce<addf> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  %t = dfg.node @gather grid(%i = %n) () -> tensor<?xf32> {
    %f = arith.constant 1.0 : f32
    dfg.yield %f : f32
  }
  %e = tensor.dim %t, %c0 : tensor<?xf32>
  dfg.return %s, %e : f32, index
}

// Of two operands that are the same, the unused one goes, whichever comes first.
// CHECK-LABEL: dfg.graph @first_unused
// CHECK: dfg.node @a grid(%{{.*}} = %c8) (each %[[E:.*]] = %x : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: arith.negf %[[E]] : f32
dfg.graph @first_unused(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  %y = dfg.node @a grid(%i = %c8) (each %u = %x : tensor<8xf32>, each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    %v = arith.negf %e : f32
    dfg.yield %v : f32
  }
  dfg.return %y : tensor<8xf32>
}
