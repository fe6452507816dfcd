// Views share their memory: subview, cast, expand, collapse, transpose, reinterpret, metadata.
// EXPECT: 0, 1, 2, 3, 4, 50, 6, 70, 80, 9, 10, 11; 5, 4, 1
memref.global constant @table : memref<2xi32> = dense<[70, 80]>
func.func @main() -> (memref<3x4xi32>, tensor<3xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<3x4xi32>
  %flat = memref.collapse_shape %m [[0, 1]] : memref<3x4xi32> into memref<12xi32>
  scf.for %i = %c0 to %c12 step %c1 {
    %v = arith.index_cast %i : index to i32
    memref.store %v, %flat[%i] : memref<12xi32>
  }
  %s = memref.subview %m[1, 1] [2, 2] [1, 1] : memref<3x4xi32> to memref<2x2xi32, strided<[4, 1], offset: 5>>
  %fifty = arith.constant 50 : i32
  memref.store %fifty, %s[%c0, %c0] : memref<2x2xi32, strided<[4, 1], offset: 5>>
  %g = memref.get_global @table : memref<2xi32>
  %t = memref.transpose %m (i, j) -> (j, i) : memref<3x4xi32> to memref<4x3xi32, affine_map<(d0, d1) -> (d1 * 4 + d0)>>
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %g0 = memref.load %g[%c0] : memref<2xi32>
  %g1 = memref.load %g[%c1] : memref<2xi32>
  memref.store %g0, %t[%c3, %c1] : memref<4x3xi32, affine_map<(d0, d1) -> (d1 * 4 + d0)>>
  %r = memref.reinterpret_cast %m to offset: [8], sizes: [2], strides: [1] : memref<3x4xi32> to memref<2xi32, strided<[1], offset: 8>>
  memref.store %g1, %r[%c0] : memref<2xi32, strided<[1], offset: 8>>
  %base, %off, %sizes:2, %strides:2 = memref.extract_strided_metadata %s : memref<2x2xi32, strided<[4, 1], offset: 5>> -> memref<i32>, index, index, index, index, index
  %meta = tensor.from_elements %off, %strides#0, %strides#1 : tensor<3xindex>
  return %m, %meta : memref<3x4xi32>, tensor<3xindex>
}
// -----
// Copies, atomics, reshape, tensors from and to memory.
// EXPECT: 1, 12, 3; 2; 5, 6; 7, 8
func.func @main() -> (memref<3xi32>, i32, tensor<2xf32>, memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %m = bufferization.to_buffer %a : tensor<3xi32> to memref<3xi32>
  %n = memref.alloca() : memref<3xi32>
  memref.copy %m, %n : memref<3xi32> to memref<3xi32>
  %ten = arith.constant 10 : i32
  %old = memref.atomic_rmw addi %ten, %n[%c1] : (i32, memref<3xi32>) -> i32
  %f = memref.alloc() : memref<2xf32>
  %five = arith.constant 5.0 : f32
  %six = arith.constant 6.0 : f32
  memref.store %five, %f[%c0] : memref<2xf32>
  memref.store %five, %f[%c1] : memref<2xf32>
  %o = memref.generic_atomic_rmw %f[%c1] : memref<2xf32> {
  ^bb0(%v: f32):
    %x = arith.maximumf %v, %six : f32
    memref.atomic_yield %x : f32
  }
  %t = bufferization.to_tensor %f : memref<2xf32> to tensor<2xf32>
  memref.store %six, %f[%c0] : memref<2xf32>
  memref.dealloc %f : memref<2xf32>
  %b = arith.constant dense<[7, 8]> : tensor<2xi32>
  %q = bufferization.to_buffer %b : tensor<2xi32> to memref<2xi32>
  %d = memref.cast %q : memref<2xi32> to memref<?xi32>
  return %n, %old, %t, %d : memref<3xi32>, i32, tensor<2xf32>, memref<?xi32>
}
// -----
// ERROR: index [2] is out of bounds of a memref with extents [2]
func.func @main() {
  %m = memref.alloc() : memref<2xi32>
  %c = arith.constant 2 : index
  %v = memref.load %m[%c] : memref<2xi32>
  return
}
// -----
// ERROR: reads element [1] of an 'alloc' before it was written
func.func @main() {
  %m = memref.alloc() : memref<2xi32>
  %c = arith.constant 1 : index
  %v = memref.load %m[%c] : memref<2xi32>
  return
}
// -----
// ERROR: 'memref.atomic_rmw' op reads element [1] of an 'alloca' before it was written
func.func @main() {
  %m = memref.alloca() : memref<2xi32>
  %c = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %v = memref.atomic_rmw addi %z, %m[%c] : (i32, memref<2xi32>) -> i32
  return
}
// -----
// ERROR: uses an 'alloc' after it was freed
func.func @main() {
  %m = memref.alloc() : memref<2xi32>
  %c = arith.constant 1 : index
  memref.dealloc %m : memref<2xi32>
  %z = arith.constant 0 : i32
  memref.store %z, %m[%c] : memref<2xi32>
  return
}
// -----
// ERROR: frees an 'alloc' a second time
func.func @main() {
  %m = memref.alloc() : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return
}
// -----
// ERROR: writes to global 'g', which is constant
memref.global constant @g : memref<1xi32> = dense<1>
func.func @main() {
  %m = memref.get_global @g : memref<1xi32>
  %c = arith.constant 0 : index
  %z = arith.constant 0 : i32
  memref.store %z, %m[%c] : memref<1xi32>
  return
}
// -----
// ERROR: leaves the memory of an 'alloc': element 4 of 4
func.func @main() {
  %m = memref.alloc() : memref<4xi32>
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [8], strides: [1] : memref<4xi32> to memref<8xi32>
  %c = arith.constant 4 : index
  %z = arith.constant 0 : i32
  memref.store %z, %r[%c] : memref<8xi32>
  return
}
// -----
// ERROR: casts to a layout that the memory does not have
func.func @main() {
  %m = memref.alloc() : memref<4x4xi32>
  %s = memref.subview %m[0, 0] [4, 2] [1, 1] : memref<4x4xi32> to memref<4x2xi32, strided<[4, 1]>>
  %d = memref.cast %s : memref<4x2xi32, strided<[4, 1]>> to memref<4x2xi32, strided<[?, 1]>>
  %r = memref.cast %d : memref<4x2xi32, strided<[?, 1]>> to memref<4x2xi32, strided<[2, 1]>>
  return
}
// -----
// ERROR: collapses dimensions that are not contiguous
func.func @main() {
  %m = memref.alloc() : memref<4x4xi32>
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [2, 2], strides: [1, 2] : memref<4x4xi32> to memref<2x2xi32, strided<[1, 2]>>
  %d = memref.cast %r : memref<2x2xi32, strided<[1, 2]>> to memref<2x2xi32, strided<[?, ?]>>
  %c = memref.collapse_shape %d [[0, 1]] : memref<2x2xi32, strided<[?, ?]>> into memref<4xi32, strided<[?]>>
  return
}
// -----
// ERROR: 'memref.expand_shape' op expands extent 4 to 6
func.func @main() {
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %m = memref.alloc(%c4) : memref<?xi32>
  %e = memref.expand_shape %m [[0, 1]] output_shape [%c3, 2] : memref<?xi32> into memref<?x2xi32>
  return
}
// -----
// ERROR: 'memref.reshape' op reshapes [4] to [3]
func.func @main() {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : index
  %m = memref.alloc() : memref<4xi32>
  %s = memref.alloc() : memref<1xindex>
  memref.store %three, %s[%c0] : memref<1xindex>
  %e = memref.reshape %m(%s) : (memref<4xi32>, memref<1xindex>) -> memref<?xi32>
  return
}
// -----
// ERROR: names one buffer twice
func.func @main() {
  %m = memref.alloc() : memref<4xi32>
  %a, %b = memref.distinct_objects %m, %m : memref<4xi32>, memref<4xi32>
  return
}
// -----
// ERROR: expected extents [3], but got [2]
func.func @main() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = memref.alloc(%c2) : memref<?xi32>
  %n = memref.alloc(%c3) : memref<?xi32>
  memref.copy %m, %n : memref<?xi32> to memref<?xi32>
  return
}
// -----
// ERROR: has elements of a type that the oracle cannot represent
func.func @main() {
  %m = memref.alloc() : memref<2xvector<4xf32>>
  return
}
