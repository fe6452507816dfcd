// Every operation, through text, generic text and bytecode and back. Types with unknown extents are what inference gives.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s -mlir-print-op-generic | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<?x6x9x9xf32>, %w: tensor<3x2x3x3x4x8xf32>, %b: tensor<3x8xf32>, %t: tensor<3x36x8x8xf32>, %d: tensor<2x3x3x4xf32>,
                  %m: tensor<?x5xf32>, %p: tensor<2x5x8xf32>, %n: tensor<?x?x5xf32>, %e: tensor<?x?x?xf32>) {
  // CHECK: cpu.pack %{{.*}} {block = 4 : i64} : tensor<?x6x9x9xf32> -> tensor<?x2x9x9x4xf32>
  %0 = cpu.pack %x {block = 4 : i64} : tensor<?x6x9x9xf32> -> tensor<?x2x9x9x4xf32>
  // CHECK: cpu.unpack %{{.*}} {channels = 6 : i64} : tensor<?x2x9x9x4xf32> -> tensor<?x6x9x9xf32>
  %1 = cpu.unpack %0 {channels = 6 : i64} : tensor<?x2x9x9x4xf32> -> tensor<?x6x9x9xf32>
  // CHECK: cpu.halo %{{.*}} {pads = array<i64: 1, 2, 3, 4>} : tensor<?x2x9x9x4xf32> -> tensor<?x2x13x15x4xf32>
  %2 = cpu.halo %0 {pads = array<i64: 1, 2, 3, 4>} : tensor<?x2x9x9x4xf32> -> tensor<?x2x13x15x4xf32>
  // CHECK: cpu.crop %{{.*}} {pads = array<i64: 1, 2, 3, 4>} : tensor<?x2x13x15x4xf32> -> tensor<?x2x9x9x4xf32>
  %3 = cpu.crop %2 {pads = array<i64: 1, 2, 3, 4>} : tensor<?x2x13x15x4xf32> -> tensor<?x2x9x9x4xf32>
  // CHECK: cpu.packed_conv {{.*}} -> tensor<?x3x4x4x8xf32>
  %4 = cpu.packed_conv %0, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x9x4xf32>, tensor<3x2x3x3x4x8xf32>, tensor<3x8xf32>) -> tensor<?x3x4x4x8xf32>
  // CHECK: cpu.packed_winograd {{.*}} -> tensor<?x3x7x7x8xf32>
  %5 = cpu.packed_winograd %0, %t {tile = 4 : i64} : (tensor<?x2x9x9x4xf32>, tensor<3x36x8x8xf32>) -> tensor<?x3x7x7x8xf32>
  // CHECK: cpu.packed_winograd {{.*}} -> tensor<?x3x5x5x8xf32>
  %t5 = arith.constant dense<1.0> : tensor<3x64x8x8xf32>
  %w5 = cpu.packed_winograd %0, %t5 {tile = 4 : i64} : (tensor<?x2x9x9x4xf32>, tensor<3x64x8x8xf32>) -> tensor<?x3x5x5x8xf32>
  // CHECK: cpu.packed_depthwise {{.*}} -> tensor<?x2x7x7x4xf32>
  %6 = cpu.packed_depthwise %0, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x2x9x9x4xf32>, tensor<2x3x3x4xf32>) -> tensor<?x2x7x7x4xf32>
  // CHECK: cpu.packed_matmul {{.*}} -> tensor<?x13xf32>
  %7 = cpu.packed_matmul %m, %p {columns = 13 : i64} : (tensor<?x5xf32>, tensor<2x5x8xf32>) -> tensor<?x13xf32>
  // CHECK: cpu.packed_matmul {{.*}} -> tensor<?x?x13xf32>
  %rows = cpu.packed_matmul %n, %p {columns = 13 : i64} : (tensor<?x?x5xf32>, tensor<2x5x8xf32>) -> tensor<?x?x13xf32>
  // CHECK: cpu.product {{.*}} into {{.*}} {transpose_y} : {{.*}} -> tensor<?x?x?xf32>
  %scores = cpu.product %n, %n into %e {transpose_y} : tensor<?x?x5xf32>, tensor<?x?x5xf32>, tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // CHECK: cpu.attend {{.*}} into {{.*}} {zeros} : {{.*}} -> tensor<?x?x5xf32>
  %attended = cpu.attend %scores, %n into %n {zeros} : tensor<?x?x?xf32>, tensor<?x?x5xf32>, tensor<?x?x5xf32> -> tensor<?x?x5xf32>
  // CHECK: cpu.packed_pool max {{.*}} -> tensor<?x2x5x5x4xf32>
  %8 = cpu.packed_pool max %0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<?x2x9x9x4xf32> -> tensor<?x2x5x5x4xf32>
  // CHECK: cpu.packed_mean {{.*}} -> tensor<?x8xf32>
  %9 = cpu.packed_mean %0 : tensor<?x2x9x9x4xf32> -> tensor<?x8xf32>
  return
}
