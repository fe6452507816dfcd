// ERROR: divides by zero
func.func @main() -> i32 {
  %a = arith.constant 1 : i32
  %z = arith.constant 0 : i32
  %q = arith.divsi %a, %z : i32
  return %q : i32
}
// -----
// ERROR: 'arith.remui' op divides by zero
func.func @main() -> i32 {
  %a = arith.constant 1 : i32
  %z = arith.constant 0 : i32
  %q = arith.remui %a, %z : i32
  return %q : i32
}
// -----
// ERROR: overflows: the smallest number is divided by -1
func.func @main() -> i8 {
  %a = arith.constant -128 : i8
  %m = arith.constant -1 : i8
  %q = arith.divsi %a, %m : i8
  return %q : i8
}
// -----
// ERROR: shifts by 8, which is not less than the width 8
func.func @main() -> i8 {
  %a = arith.constant 1 : i8
  %m = arith.constant 8 : i8
  %q = arith.shli %a, %m : i8
  return %q : i8
}
// -----
// ERROR: marked 'nsw'
func.func @main() -> i8 {
  %a = arith.constant 127 : i8
  %q = arith.addi %a, %a overflow<nsw> : i8
  return %q : i8
}
// -----
// ERROR: marked 'nuw'
func.func @main() -> i8 {
  %a = arith.constant 0 : i8
  %b = arith.constant 1 : i8
  %q = arith.subi %a, %b overflow<nuw> : i8
  return %q : i8
}
// -----
// ERROR: 'arith.trunci' op overflows as a signed number although it is marked 'nsw'
func.func @main() -> i8 {
  %a = arith.constant 300 : i32
  %q = arith.trunci %a overflow<nsw> : i32 to i8
  return %q : i8
}
// -----
// ERROR: 'arith.trunci' op overflows as an unsigned number although it is marked 'nuw'
func.func @main() -> i8 {
  %a = arith.constant -1 : i32
  %q = arith.trunci %a overflow<nuw> : i32 to i8
  return %q : i8
}
// -----
// ERROR: leaves a remainder although it is marked 'exact'
func.func @main() -> i8 {
  %a = arith.constant 3 : i8
  %b = arith.constant 2 : i8
  %q = arith.divui %a, %b exact : i8
  return %q : i8
}
// -----
// ERROR: shifts bits out although it is marked 'exact'
func.func @main() -> i8 {
  %a = arith.constant 3 : i8
  %b = arith.constant 1 : i8
  %q = arith.shrui %a, %b exact : i8
  return %q : i8
}
// -----
// ERROR: converts 128, which does not fit into 8 signed bits
func.func @main() -> i8 {
  %a = arith.constant 128.0 : f32
  %q = arith.fptosi %a : f32 to i8
  return %q : i8
}
// -----
// ERROR: converts NaN, which does not fit into 32 unsigned bits
func.func @main() -> i32 {
  %a = arith.constant 0x7FC00000 : f32
  %q = arith.fptoui %a : f32 to i32
  return %q : i32
}
// -----
// ERROR: an undefined value is used
func.func @main() -> i32 {
  %a = ub.poison : i32
  %q = arith.addi %a, %a : i32
  return %q : i32
}
// -----
// ERROR: the condition is undefined
func.func @main() -> i32 {
  %c = ub.poison : i1
  %a = arith.constant 1 : i32
  %q = arith.select %c, %a, %a : i32
  return %q : i32
}
// -----
// ERROR: has operands of different extents [2] and [3]
func.func @main() -> tensor<?xi32> {
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %p = tensor.cast %a : tensor<2xi32> to tensor<?xi32>
  %q = tensor.cast %b : tensor<3xi32> to tensor<?xi32>
  %s = arith.addi %p, %q : tensor<?xi32>
  return %s : tensor<?xi32>
}
// -----
// ERROR: 'arith.select' op has operands of different extents
func.func @main() -> tensor<?xi32> {
  %c = arith.constant dense<[1, 0]> : tensor<2xi1>
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %o = tensor.cast %c : tensor<2xi1> to tensor<?xi1>
  %p = tensor.cast %a : tensor<2xi32> to tensor<?xi32>
  %q = tensor.cast %b : tensor<3xi32> to tensor<?xi32>
  %s = arith.select %o, %p, %q : tensor<?xi1>, tensor<?xi32>
  return %s : tensor<?xi32>
}
// -----
// ERROR: is a constant that the oracle cannot represent
func.func @main() -> i32 {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>
  %a = arith.constant 1 : i32
  return %a : i32
}
// -----
// ERROR: 'arith.scaling_extf' op has no meaning in the oracle
func.func @main() -> f32 {
  %a = arith.constant 1.0 : f8E5M2
  %b = arith.constant 1.0 : f8E8M0FNU
  %c = arith.scaling_extf %a, %b : f8E5M2, f8E8M0FNU to f32
  return %c : f32
}
