// A generic with an index, a reduction, and named operations.
// EXPECT: 0, 11, 11, 22; 6; 19, 22, 43, 50; 5.0, 5.0
func.func @main() -> (tensor<2x2xi32>, tensor<i32>, tensor<2x2xi32>, tensor<2xf32>) {
  %m = arith.constant dense<[[0, 1], [1, 2]]> : tensor<2x2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %c = arith.index_cast %s : index to i32
    %ten = arith.constant 10 : i32
    %t = arith.muli %c, %ten : i32
    %r = arith.addi %t, %x : i32
    linalg.yield %r : i32
  } -> tensor<2x2xi32>
  %v = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %z = arith.constant dense<0> : tensor<i32>
  %b = linalg.reduce { arith.addi } ins(%v : tensor<3xi32>) outs(%z : tensor<i32>) dimensions = [0]
  %p = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %q = arith.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %zero = arith.constant 0 : i32
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %c = linalg.matmul ins(%p, %q : tensor<2x2xi32>, tensor<2x2xi32>) outs(%init : tensor<2x2xi32>) -> tensor<2x2xi32>
  %x = arith.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %y = arith.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %f = tensor.empty() : tensor<2xf32>
  %d = linalg.add ins(%x, %y : tensor<2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %a, %b, %c, %d : tensor<2x2xi32>, tensor<i32>, tensor<2x2xi32>, tensor<2xf32>
}
// -----
// Convolution with strides, pooling, transpose, broadcast, map, copy into memory.
// EXPECT: 8, 24; 4.0, 8.0; 1, 3, 2, 4; 1, 1, 2, 2; 2, 4; 1, 2, 3, 4
func.func @main() -> (tensor<1x1x2x1xi32>, tensor<1x2x1x1xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>, memref<2x2xi32>) {
  // The windows [1, 3] and [5, 7] of 1 to 8, times [2, 2].
  %img = arith.constant dense<[[[[1], [2], [3], [4], [5], [6], [7], [8]]]]> : tensor<1x1x8x1xi32>
  %k = arith.constant dense<2> : tensor<1x2x1x1xi32>
  %z = arith.constant dense<0> : tensor<1x1x2x1xi32>
  %a = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[1, 4]> : tensor<2xi64>} ins(%img, %k : tensor<1x1x8x1xi32>, tensor<1x2x1x1xi32>) outs(%z : tensor<1x1x2x1xi32>) -> tensor<1x1x2x1xi32>
  %p = arith.constant dense<[[[[1.0]], [[4.0]], [[8.0]], [[2.0]]]]> : tensor<1x4x1x1xf32>
  %w = tensor.empty() : tensor<2x1xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<1x2x1x1xf32>
  %b = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%p, %w : tensor<1x4x1x1xf32>, tensor<2x1xf32>) outs(%ninf : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %m = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %c = linalg.transpose ins(%m : tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) permutation = [1, 0]
  %v = arith.constant dense<[1, 2]> : tensor<2xi32>
  %d = linalg.broadcast ins(%v : tensor<2xi32>) outs(%e : tensor<2x2xi32>) dimensions = [1]
  %f = tensor.empty() : tensor<2xi32>
  %g = linalg.map { arith.addi } ins(%v, %v : tensor<2xi32>, tensor<2xi32>) outs(%f : tensor<2xi32>)
  %src = bufferization.to_buffer %m : tensor<2x2xi32> to memref<2x2xi32>
  %dst = memref.alloc() : memref<2x2xi32>
  linalg.copy ins(%src : memref<2x2xi32>) outs(%dst : memref<2x2xi32>)
  return %a, %b, %c, %d, %g, %dst : tensor<1x1x2x1xi32>, tensor<1x2x1x1xf32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>, memref<2x2xi32>
}
// -----
// Packing into tiles and back, and softmax.
// EXPECT: 1, 2, 3, 4, 5, 0; 1, 2, 3, 4, 5; 0.25, 0.75
func.func @main() -> (tensor<3x2xi32>, tensor<5xi32>, tensor<2xf32>) {
  %v = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x2xi32>
  %a = linalg.pack %v padding_value(%z : i32) inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<5xi32> -> tensor<3x2xi32>
  %f = tensor.empty() : tensor<5xi32>
  %b = linalg.unpack %a inner_dims_pos = [0] inner_tiles = [2] into %f : tensor<3x2xi32> -> tensor<5xi32>
  %x = arith.constant dense<[0.0, 1.0986122886681098]> : tensor<2xf32>
  %g = tensor.empty() : tensor<2xf32>
  %s = linalg.softmax dimension(0) ins(%x : tensor<2xf32>) outs(%g : tensor<2xf32>) -> tensor<2xf32>
  return %a, %b, %s : tensor<3x2xi32>, tensor<5xi32>, tensor<2xf32>
}
// -----
// ERROR: has operands whose extents do not agree: 3 and 2 for loop 2
func.func @main() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %a = tensor.splat %z[%c2, %c3] : tensor<?x?xf32>
  %b = tensor.splat %z[%c2, %c2] : tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}
// -----
// ERROR: 'arith.addi' op an undefined value is used
func.func @main() -> tensor<2xi32> {
  %e = tensor.empty() : tensor<2xi32>
  %z = arith.constant dense<1> : tensor<2xi32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%z : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%x: i32, %o: i32):
    %r = arith.addi %o, %x : i32
    linalg.yield %r : i32
  } -> tensor<2xi32>
  return %a : tensor<2xi32>
}
// -----
// ERROR: accesses 0 to 3 of extent 3 in dimension 0
func.func @main() {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0 : i32
  %a = tensor.splat %z[%c3] : tensor<?xi32>
  %k = tensor.splat %z[%c2] : tensor<?xi32>
  %o = tensor.splat %z[%c3] : tensor<?xi32>
  %r = linalg.conv_1d ins(%a, %k : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}
// -----
// ERROR: has a tile whose extent is not positive
func.func @main() {
  %v = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %z = arith.constant 0 : index
  %n = arith.subi %z, %z : index
  %e = tensor.empty(%z, %z) : tensor<?x?xi32>
  %a = linalg.pack %v inner_dims_pos = [0] inner_tiles = [%n] into %e : tensor<4xi32> -> tensor<?x?xi32>
  return
}
// -----
// UNVERIFIED: the verifier refuses this
// ERROR: has a loop 1 whose extent no operand gives
func.func @main() {
  %v = arith.constant dense<[1, 2]> : tensor<2xi32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "parallel"]} outs(%v : tensor<2xi32>) {
  ^bb0(%o: i32):
    linalg.yield %o : i32
  } -> tensor<2xi32>
  return
}
