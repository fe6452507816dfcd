// Elements: insert in a loop, extract, dim, generate, splat.
// EXPECT: 0, 1, 4, 9; 3; 0, 1, 2, 1, 2, 3; 7, 7
func.func @main() -> (tensor<4xi32>, index, tensor<2x3xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xi32>
  %t = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %e) -> tensor<4xi32> {
    %v = arith.index_cast %i : index to i32
    %s = arith.muli %v, %v : i32
    %n = tensor.insert %s into %a[%i] : tensor<4xi32>
    scf.yield %n : tensor<4xi32>
  }
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    tensor.yield %v : i32
  } : tensor<2x3xi32>
  %d = tensor.dim %g, %c1 : tensor<2x3xi32>
  %seven = arith.constant 7 : i32
  %c2 = arith.constant 2 : index
  %p = tensor.splat %seven[%c2] : tensor<?xi32>
  return %t, %d, %g, %p : tensor<4xi32>, index, tensor<2x3xi32>, tensor<?xi32>
}
// -----
// The old tensor keeps its elements.
// EXPECT: 1, 2; 9, 2
func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
  %c0 = arith.constant 0 : index
  %nine = arith.constant 9 : i32
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = tensor.insert %nine into %a[%c0] : tensor<2xi32>
  return %a, %b : tensor<2xi32>, tensor<2xi32>
}
// -----
// Slices, also strided and rank reducing; pad; concat; reshapes; gather.
// EXPECT: 1, 3, 9, 11; 4, 5, 6, 7; 0, 1, 0, 0; 1, 2, 8, 9; 2, 3, 0, 1
func.func @main() -> (tensor<2x2xi32>, tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2x1x2xi32>) {
  %m = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %a = tensor.extract_slice %m[0, 1] [2, 2] [2, 2] : tensor<3x4xi32> to tensor<2x2xi32>
  %row = tensor.extract_slice %m[1, 0] [1, 4] [1, 1] : tensor<3x4xi32> to tensor<4xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant dense<1> : tensor<1xi32>
  %p = tensor.pad %one low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : i32
  } : tensor<1xi32> to tensor<4xi32>
  %x = arith.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %y = arith.constant dense<[[8, 9]]> : tensor<1x2xi32>
  %c = tensor.concat dim(0) %x, %y : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
  %flat = tensor.extract_slice %m[0, 0] [1, 4] [1, 1] : tensor<3x4xi32> to tensor<4xi32>
  %table = tensor.expand_shape %flat [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  %ids = arith.constant dense<[[1], [0]]> : tensor<2x1xindex>
  %g = tensor.gather %table[%ids] gather_dims([0]) : (tensor<2x2xi32>, tensor<2x1xindex>) -> tensor<2x1x2xi32>
  return %a, %row, %p, %c, %g : tensor<2x2xi32>, tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2x1x2xi32>
}
// -----
// EXPECT: 0, 5, 0, 6, 0, 0; 1, 2, 3, 4; 1, 2, 3, 4; 2
func.func @main() -> (tensor<2x3xi32>, tensor<4xi32>, tensor<4x1xi32>, index) {
  %z = arith.constant dense<0> : tensor<2x3xi32>
  %v = arith.constant dense<[[5], [0]]> : tensor<2x1xi32>
  %w = arith.constant dense<[6]> : tensor<1xi32>
  %a = tensor.insert_slice %v into %z[0, 1] [2, 1] [1, 1] : tensor<2x1xi32> into tensor<2x3xi32>
  %b = tensor.insert_slice %w into %a[1, 0] [1, 1] [1, 1] : tensor<1xi32> into tensor<2x3xi32>
  %m = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %c = tensor.collapse_shape %m [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  %s = arith.constant dense<[4, 1]> : tensor<2xi64>
  %d = tensor.reshape %m(%s) : (tensor<2x2xi32>, tensor<2xi64>) -> tensor<4x1xi32>
  %r = tensor.rank %m : tensor<2x2xi32>
  return %b, %c, %d, %r : tensor<2x3xi32>, tensor<4xi32>, tensor<4x1xi32>, index
}
// -----
// ERROR: index [4] is out of bounds of a tensor with extents [4]
func.func @main() -> i32 {
  %a = arith.constant dense<1> : tensor<4xi32>
  %c = arith.constant 4 : index
  %v = tensor.extract %a[%c] : tensor<4xi32>
  return %v : i32
}
// -----
// ERROR: 'tensor.insert' op index [-1] is out of bounds
func.func @main() -> tensor<4xi32> {
  %a = arith.constant dense<1> : tensor<4xi32>
  %o = arith.constant 1 : i32
  %c = arith.constant -1 : index
  %v = tensor.insert %o into %a[%c] : tensor<4xi32>
  return %v : tensor<4xi32>
}
// -----
// ERROR: reads element [1] of a tensor before it was written
func.func @main() -> i32 {
  %a = tensor.empty() : tensor<4xi32>
  %c = arith.constant 1 : index
  %v = tensor.extract %a[%c] : tensor<4xi32>
  return %v : i32
}
// -----
// ERROR: 'result 0' has an undefined element [0]
func.func @main() -> tensor<4xi32> {
  %a = tensor.empty() : tensor<4xi32>
  return %a : tensor<4xi32>
}
// -----
// ERROR: makes a negative extent in [-1]
func.func @main() {
  %m = arith.constant -1 : index
  %a = tensor.empty(%m) : tensor<?xi32>
  return
}
// -----
// ERROR: asks for more than 268435456 elements: [1099511627776]
func.func @main() {
  %m = arith.constant 1099511627776 : index
  %a = tensor.empty(%m) : tensor<?xi32>
  return
}
// -----
// ERROR: which leaves the extents [4]
func.func @main() -> tensor<2xi32> {
  %a = arith.constant dense<1> : tensor<4xi32>
  %c = arith.constant 3 : index
  %s = tensor.extract_slice %a[%c] [2] [1] : tensor<4xi32> to tensor<2xi32>
  return %s : tensor<2xi32>
}
// -----
// ERROR: expected extents of 'tensor<3xi32>', but got [4]
func.func @main() -> tensor<3xi32> {
  %a = arith.constant dense<1> : tensor<4xi32>
  %d = tensor.cast %a : tensor<4xi32> to tensor<?xi32>
  %s = tensor.cast %d : tensor<?xi32> to tensor<3xi32>
  return %s : tensor<3xi32>
}
// -----
// ERROR: asks for dimension 1 of 1
func.func @main() -> index {
  %a = arith.constant dense<1> : tensor<4xi32>
  %d = tensor.cast %a : tensor<4xi32> to tensor<?xi32>
  %c = arith.constant 1 : index
  %s = tensor.dim %d, %c : tensor<?xi32>
  return %s : index
}
// -----
// ERROR: expands extent 5 to 4
func.func @main() {
  %a = arith.constant dense<1> : tensor<5xi32>
  %d = tensor.cast %a : tensor<5xi32> to tensor<?xi32>
  %c = arith.constant 2 : index
  %e = tensor.expand_shape %d [[0, 1]] output_shape [%c, 2] : tensor<?xi32> into tensor<?x2xi32>
  return
}
// -----
// ERROR: which has another number of elements
func.func @main() {
  %a = arith.constant dense<1> : tensor<5xi32>
  %s = arith.constant dense<3> : tensor<1xi64>
  %e = tensor.reshape %a(%s) : (tensor<5xi32>, tensor<1xi64>) -> tensor<?xi32>
  return
}
// -----
// ERROR: pads by a negative number of elements
func.func @main() {
  %a = arith.constant dense<1> : tensor<5xi32>
  %z = arith.constant 0 : i32
  %m = arith.constant -1 : index
  %p = tensor.pad %a low[%m] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : i32
  } : tensor<5xi32> to tensor<?xi32>
  return
}
// -----
// ERROR: joins extents [1, 2] and [1, 3]
func.func @main() {
  %a = arith.constant dense<1> : tensor<1x2xi32>
  %b = arith.constant dense<1> : tensor<1x3xi32>
  %p = tensor.cast %a : tensor<1x2xi32> to tensor<1x?xi32>
  %q = tensor.cast %b : tensor<1x3xi32> to tensor<1x?xi32>
  %c = tensor.concat dim(0) %p, %q : (tensor<1x?xi32>, tensor<1x?xi32>) -> tensor<2x?xi32>
  return
}
// -----
// ERROR: expected 3 elements, but got 2
func.func @main() {
  %a = arith.constant dense<1> : tensor<4xi32>
  %b = arith.constant dense<1> : tensor<2xi32>
  %q = tensor.cast %b : tensor<2xi32> to tensor<?xi32>
  %c3 = arith.constant 3 : index
  %c = tensor.insert_slice %q into %a[0] [%c3] [1] : tensor<?xi32> into tensor<4xi32>
  return
}
// -----
// ERROR: has more than 8 indices
func.func @main() -> i32 {
  %a = arith.constant dense<1> : tensor<1x1x1x1x1x1x1x1x1xi32>
  %c = arith.constant 0 : index
  %v = tensor.extract %a[%c, %c, %c, %c, %c, %c, %c, %c, %c] : tensor<1x1x1x1x1x1x1x1x1xi32>
  return %v : i32
}
