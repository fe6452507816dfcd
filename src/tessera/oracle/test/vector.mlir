// Building and cutting.
// EXPECT: 1, 2, 1, 2; 3; 3, 4; 1, 9, 3, 4; 2, 3, 1; 1, 3, 2, 4
func.func @main() -> (vector<2x2xi32>, i32, vector<2xi32>, vector<2x2xi32>, vector<3xi32>, vector<2x2xi32>) {
  %v = arith.constant dense<[1, 2]> : vector<2xi32>
  %b = vector.broadcast %v : vector<2xi32> to vector<2x2xi32>
  %m = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %c1 = arith.constant 1 : index
  %e = vector.extract %m[%c1, 0] : i32 from vector<2x2xi32>
  %r = vector.extract %m[1] : vector<2xi32> from vector<2x2xi32>
  %nine = arith.constant 9 : i32
  %i = vector.insert %nine, %m[0, 1] : i32 into vector<2x2xi32>
  %s = vector.shuffle %v, %r [1, 2, 0] : vector<2xi32>, vector<2xi32>
  %t = vector.transpose %m, [1, 0] : vector<2x2xi32> to vector<2x2xi32>
  return %b, %e, %r, %i, %s, %t : vector<2x2xi32>, i32, vector<2xi32>, vector<2x2xi32>, vector<3xi32>, vector<2x2xi32>
}
// -----
// Masks, steps, slices, interleaving, bit casts.
// EXPECT: 1, 1, 0, 0; 1, 0, 0, 0, 0, 0; 0, 1, 2; 5, 6; 0, 5, 6, 3; 1, 3, 2, 4; 1, 2; 3, 4; 0x04030201; 1, 2, 3, 4
func.func @main() -> (vector<4xi1>, vector<2x3xi1>, vector<3xindex>, vector<1x2xi32>, vector<4xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>, vector<1xi32>, vector<4xi32>) {
  %c2 = arith.constant 2 : index
  %a = vector.create_mask %c2 : vector<4xi1>
  %b = vector.constant_mask [1, 1] : vector<2x3xi1>
  %c = vector.step : vector<3xindex>
  %m = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi32>
  %d = vector.extract_strided_slice %m {offsets = [1, 1], sizes = [1, 2], strides = [1, 1]} : vector<2x3xi32> to vector<1x2xi32>
  %z = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
  %flat = vector.shape_cast %d : vector<1x2xi32> to vector<2xi32>
  %e = vector.insert_strided_slice %flat, %z {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  %p = arith.constant dense<[1, 2]> : vector<2xi32>
  %q = arith.constant dense<[3, 4]> : vector<2xi32>
  %f = vector.interleave %p, %q : vector<2xi32> -> vector<4xi32>
  %g, %h = vector.deinterleave %f : vector<4xi32> -> vector<2xi32>
  %bytes = arith.constant dense<[1, 2, 3, 4]> : vector<4xi8>
  %i = vector.bitcast %bytes : vector<4xi8> to vector<1xi32>
  %x:2 = vector.to_elements %p : vector<2xi32>
  %y:2 = vector.to_elements %q : vector<2xi32>
  %k = vector.from_elements %x#0, %x#1, %y#0, %y#1 : vector<4xi32>
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %k : vector<4xi1>, vector<2x3xi1>, vector<3xindex>, vector<1x2xi32>, vector<4xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>, vector<1xi32>, vector<4xi32>
}
// -----
// Transfers: padding past the end, permuted with a mask, broadcast; writes that are cut off.
// EXPECT: 2, 3, -1, -1; 0, 3, -1, -1; 1, 1; 0, 1, 5, 6
func.func @main() -> (vector<4xi32>, vector<2x2xi32>, vector<2xi32>, memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %pad = arith.constant -1 : i32
  %t = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %m = bufferization.to_buffer %t : tensor<4xi32> to memref<4xi32>
  %a = vector.transfer_read %m[%c2], %pad : memref<4xi32>, vector<4xi32>
  %u = arith.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  // The mask is in the order of the memory's dimensions: two rows, one column.
  %mask = vector.create_mask %c2, %c1 : vector<2x2xi1>
  %b = vector.transfer_read %u[%c0, %c0], %pad, %mask {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : tensor<2x3xi32>, vector<2x2xi32>
  %c = vector.transfer_read %t[%c1], %pad {in_bounds = [true], permutation_map = affine_map<(d0) -> (0)>} : tensor<4xi32>, vector<2xi32>
  %w = arith.constant dense<[5, 6, 7]> : vector<3xi32>
  vector.transfer_write %w, %m[%c2] : vector<3xi32>, memref<4xi32>
  return %a, %b, %c, %m : vector<4xi32>, vector<2x2xi32>, vector<2xi32>, memref<4xi32>
}
// -----
// Contiguous, masked, indexed, expanding and compressing accesses.
// EXPECT: 1, 2; 0, 9; 3, 0, 9; 0, 9, 1; 7, 1, 7, 8, 3, 6
func.func @main() -> (vector<2xi32>, vector<2xi32>, vector<3xi32>, vector<3xi32>, memref<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %t = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %m = bufferization.to_buffer %t : tensor<6xi32> to memref<6xi32>
  %a = vector.load %m[%c1] : memref<6xi32>, vector<2xi32>
  %nine2 = arith.constant dense<9> : vector<2xi32>
  %nine = arith.constant dense<9> : vector<3xi32>
  %first = vector.create_mask %c1 : vector<2xi1>
  %b = vector.maskedload %m[%c0], %first, %nine2 : memref<6xi32>, vector<2xi1>, vector<2xi32> into vector<2xi32>
  %ids = arith.constant dense<[3, 0, 100]> : vector<3xindex>
  %two = vector.create_mask %c2 : vector<3xi1>
  %c = vector.gather %m[%c0] [%ids], %two, %nine : memref<6xi32>, vector<3xindex>, vector<3xi1>, vector<3xi32> into vector<3xi32>
  %odd = arith.constant dense<[true, false, true]> : vector<3xi1>
  %d = vector.expandload %m[%c0], %odd, %nine : memref<6xi32>, vector<3xi1>, vector<3xi32> into vector<3xi32>
  %s = arith.constant dense<[7, 8]> : vector<2xi32>
  vector.store %s, %m[%c2] : memref<6xi32>, vector<2xi32>
  %w = arith.constant dense<[7, 8, 6]> : vector<3xi32>
  vector.maskedstore %m[%c0], %first, %s : memref<6xi32>, vector<2xi1>, vector<2xi32>
  %where = arith.constant dense<[0, 100, 4]> : vector<3xindex>
  %three = arith.constant dense<[7, 9, 3]> : vector<3xi32>
  vector.scatter %m[%c0] [%where], %odd, %three : memref<6xi32>, vector<3xindex>, vector<3xi1>, vector<3xi32>
  %last = arith.constant dense<[false, false, true]> : vector<3xi1>
  vector.compressstore %m[%c5], %last, %w : memref<6xi32>, vector<3xi1>, vector<3xi32>
  return %a, %b, %c, %d, %m : vector<2xi32>, vector<2xi32>, vector<3xi32>, vector<3xi32>, memref<6xi32>
}
// -----
// Reductions and products.
// EXPECT: 10; 16.0; 4, 6; 19, 22, 43, 50; 3, 4, 6, 8; 7.0, 10.0; 1, 3, 6; 6; 3
func.func @main() -> (i32, f32, vector<2xi32>, vector<2x2xi32>, vector<2x2xi32>, vector<2xf32>, vector<3xi32>, vector<i32>, i32) {
  %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %a = vector.reduction <add>, %v : vector<4xi32> into i32
  %f = arith.constant dense<[1.0, 2.0, 3.0]> : vector<3xf32>
  %ten = arith.constant 10.0 : f32
  %b = vector.reduction <add>, %f, %ten : vector<3xf32> into f32
  %m = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %z = arith.constant dense<0> : vector<2xi32>
  %c = vector.multi_reduction <add>, %m, %z [0] : vector<2x2xi32> to vector<2xi32>
  %n = arith.constant dense<[[5, 6], [7, 8]]> : vector<2x2xi32>
  %zz = arith.constant dense<0> : vector<2x2xi32>
  %d = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %m, %n, %zz : vector<2x2xi32>, vector<2x2xi32> into vector<2x2xi32>
  %p = arith.constant dense<[1, 2]> : vector<2xi32>
  %q = arith.constant dense<[3, 4]> : vector<2xi32>
  %e = vector.outerproduct %p, %q : vector<2xi32>, vector<2xi32>
  %x = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %y = arith.constant dense<[3.0, 4.0]> : vector<2xf32>
  %w = arith.constant dense<[4.0, 2.0]> : vector<2xf32>
  %g = vector.fma %x, %y, %w : vector<2xf32>
  %s = arith.constant dense<[1, 2, 3]> : vector<3xi32>
  %i = arith.constant dense<0> : vector<i32>
  %h:2 = vector.scan <add>, %s, %i {inclusive = true, reduction_dim = 0 : i64} : vector<3xi32>, vector<i32>
  %c2 = arith.constant 2 : index
  %mask = vector.create_mask %c2 : vector<4xi1>
  %k = vector.mask %mask { vector.reduction <add>, %v : vector<4xi32> into i32 } : vector<4xi1> -> i32
  return %a, %b, %c, %d, %e, %g, %h#0, %h#1, %k : i32, f32, vector<2xi32>, vector<2x2xi32>, vector<2x2xi32>, vector<2xf32>, vector<3xi32>, vector<i32>, i32
}
// -----
// ERROR: is out of bounds at [4] of [4] although it is marked 'in_bounds'
func.func @main() -> vector<2xi32> {
  %t = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %c3 = arith.constant 3 : index
  %pad = arith.constant -1 : i32
  %a = vector.transfer_read %t[%c3], %pad {in_bounds = [true]} : tensor<4xi32>, vector<2xi32>
  return %a : vector<2xi32>
}
// -----
// ERROR: 'vector.load' op index [2] is out of bounds
func.func @main() -> vector<2xi32> {
  %t = arith.constant dense<[0, 1]> : tensor<2xi32>
  %m = bufferization.to_buffer %t : tensor<2xi32> to memref<2xi32>
  %c1 = arith.constant 1 : index
  %a = vector.load %m[%c1] : memref<2xi32>, vector<2xi32>
  return %a : vector<2xi32>
}
// -----
// ERROR: 'vector.extract' op index [2] is out of bounds of a vector
func.func @main() -> i32 {
  %t = arith.constant dense<[0, 1]> : vector<2xi32>
  %c1 = arith.constant 2 : index
  %a = vector.extract %t[%c1] : i32 from vector<2xi32>
  return %a : i32
}
// -----
// ERROR: an undefined lane is used
func.func @main() -> i32 {
  %v = ub.poison : vector<2xi32>
  %a = vector.reduction <add>, %v : vector<2xi32> into i32
  return %a : i32
}
// -----
// ERROR: the mask is undefined
func.func @main() -> vector<2xi32> {
  %t = arith.constant dense<[0, 1]> : tensor<2xi32>
  %m = bufferization.to_buffer %t : tensor<2xi32> to memref<2xi32>
  %c0 = arith.constant 0 : index
  %p = ub.poison : vector<2xi1>
  %v = arith.constant dense<1> : vector<2xi32>
  %a = vector.maskedload %m[%c0], %p, %v : memref<2xi32>, vector<2xi1>, vector<2xi32> into vector<2xi32>
  return %a : vector<2xi32>
}
