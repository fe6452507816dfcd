// Wrapping, in several widths.
// EXPECT: -128, 127, 1; -2147483648; 0; 340282366920938463463374607431768211455
func.func @main() -> (tensor<3xi8>, i32, i1, i128) {
  %a = arith.constant dense<[127, -128, -1]> : tensor<3xi8>
  %b = arith.constant dense<[1, -1, -1]> : tensor<3xi8>
  %s = arith.addi %a, %b : tensor<3xi8>
  %p = arith.muli %b, %b : tensor<3xi8>
  %c2 = arith.constant dense<[0, 1, 2]> : tensor<3xindex>
  %i2 = arith.constant 2 : index
  %last = tensor.extract %p[%i2] : tensor<3xi8>
  %t = tensor.insert %last into %s[%i2] : tensor<3xi8>
  %max = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  %w = arith.addi %max, %one : i32
  %true = arith.constant true
  %z = arith.addi %true, %true : i1
  %zero = arith.constant 0 : i128
  %uno = arith.constant 1 : i128
  %m = arith.subi %zero, %uno : i128
  return %t, %w, %z, %m : tensor<3xi8>, i32, i1, i128
}
// -----
// Division and remainders of negatives.
// EXPECT: -3, -1, -4, -3; 2147483644, 1; 3, 2
func.func @main() -> (tensor<4xi32>, tensor<2xi32>, tensor<2xi64>) {
  %a = arith.constant -7 : i32
  %b = arith.constant 2 : i32
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %a, %b : i32
  %f = arith.floordivsi %a, %b : i32
  %c = arith.ceildivsi %a, %b : i32
  %t = tensor.from_elements %q, %r, %f, %c : tensor<4xi32>
  %uq = arith.divui %a, %b : i32
  %ur = arith.remui %a, %b : i32
  %u = tensor.from_elements %uq, %ur : tensor<2xi32>
  %five = arith.constant 5 : i64
  %two = arith.constant 2 : i64
  %cu = arith.ceildivui %five, %two : i64
  %fl = arith.floordivsi %five, %two : i64
  %v = tensor.from_elements %cu, %fl : tensor<2xi64>
  return %t, %u, %v : tensor<4xi32>, tensor<2xi32>, tensor<2xi64>
}
// -----
// Shifts, bits, extremes.
// EXPECT: -128, -16, 112, -128, 127, 127, -128
func.func @main() -> tensor<7xi8> {
  %m = arith.constant -128 : i8
  %p = arith.constant 127 : i8
  %three = arith.constant 3 : i8
  %seven = arith.constant 7 : i8
  %one = arith.constant 1 : i8
  %a = arith.shli %one, %seven : i8
  %b = arith.shrsi %m, %three : i8
  %c0 = arith.constant -32 : i8
  %c = arith.shrui %c0, %one : i8
  %d = arith.minsi %m, %p : i8
  %e = arith.maxsi %m, %p : i8
  %f = arith.minui %m, %p : i8
  %g = arith.maxui %m, %p : i8
  %t = tensor.from_elements %a, %b, %c, %d, %e, %f, %g : tensor<7xi8>
  return %t : tensor<7xi8>
}
// -----
// EXPECT: 44; 1; -1; -1; 254; 1
func.func @main() -> (i8, i1, i16, i16, i8, i8) {
  %a = arith.constant 200 : i8
  %b = arith.constant 100 : i8
  %s, %o = arith.addui_extended %a, %b : i8, i1
  %x = arith.constant -1 : i16
  %y = arith.constant 1 : i16
  %l, %h = arith.mulsi_extended %x, %y : i16
  %u = arith.constant 255 : i8
  %two = arith.constant 2 : i8
  %ul, %uh = arith.mului_extended %u, %two : i8
  return %s, %o, %l, %h, %ul, %uh : i8, i1, i16, i16, i8, i8
}
// -----
// Comparisons of integers: signed and unsigned differ.
// EXPECT: 1, 0, 0, 1
func.func @main() -> tensor<4xi1> {
  %a = arith.constant -1 : i32
  %b = arith.constant 1 : i32
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  %2 = arith.cmpi eq, %a, %b : i32
  %3 = arith.cmpi uge, %a, %b : i32
  %t = tensor.from_elements %0, %1, %2, %3 : tensor<4xi1>
  return %t : tensor<4xi1>
}
// -----
// Floats: NaN, infinities, signed zeros.
// EXPECT: nan, nan, inf, -0.0, 0.0, nan, 3.0, -0.0, 0.0
func.func @main() -> tensor<9xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nz = arith.constant -0.0 : f32
  %z = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = arith.subf %inf, %inf : f32
  %1 = arith.maximumf %nan, %three : f32
  %2 = arith.divf %three, %z : f32
  %3 = arith.minimumf %z, %nz : f32
  %4 = arith.maximumf %z, %nz : f32
  %5 = arith.remf %three, %z : f32
  %6 = arith.maxnumf %nan, %three : f32
  %7 = arith.negf %z : f32
  %8 = arith.addf %z, %nz : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<9xf32>
  return %t : tensor<9xf32>
}
// -----
// Ordered and unordered comparisons with NaN; -0.0 equals 0.0.
// EXPECT: 0, 1, 0, 1, 1, 1, 0
func.func @main() -> tensor<7xi1> {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %z = arith.constant 0.0 : f64
  %nz = arith.constant -0.0 : f64
  %0 = arith.cmpf oeq, %nan, %nan : f64
  %1 = arith.cmpf une, %nan, %nan : f64
  %2 = arith.cmpf ord, %nan, %z : f64
  %3 = arith.cmpf uno, %nan, %z : f64
  %4 = arith.cmpf oeq, %z, %nz : f64
  %5 = arith.cmpf ult, %nan, %z : f64
  %6 = arith.cmpf olt, %nz, %z : f64
  %t = tensor.from_elements %0, %1, %2, %3, %4, %5, %6 : tensor<7xi1>
  return %t : tensor<7xi1>
}
// -----
// f16: 2048 + 1 is a tie and goes to even; 2048 + 3 to 2052; overflow to infinity; 1/3; a subnormal.
// EXPECT: 2048, 2052, inf, 0x3555, 0x0001
func.func @main() -> tensor<5xf16> {
  %a = arith.constant 2048.0 : f16
  %one = arith.constant 1.0 : f16
  %three = arith.constant 3.0 : f16
  %big = arith.constant 65504.0 : f16
  %tiny = arith.constant 0x0002 : f16
  %half = arith.constant 0.5 : f16
  %0 = arith.addf %a, %one : f16
  %1 = arith.addf %a, %three : f16
  %2 = arith.addf %big, %big : f16
  %3 = arith.divf %one, %three : f16
  %4 = arith.mulf %tiny, %half : f16
  %t = tensor.from_elements %0, %1, %2, %3, %4 : tensor<5xf16>
  return %t : tensor<5xf16>
}
// -----
// bf16: 8 bits of precision.
// EXPECT: 256, 260, 0x3EAB
func.func @main() -> tensor<3xbf16> {
  %a = arith.constant 256.0 : bf16
  %one = arith.constant 1.0 : bf16
  %three = arith.constant 3.0 : bf16
  %0 = arith.addf %a, %one : bf16
  %1 = arith.addf %a, %three : bf16
  %2 = arith.divf %one, %three : bf16
  %t = tensor.from_elements %0, %1, %2 : tensor<3xbf16>
  return %t : tensor<3xbf16>
}
// -----
// f80 and f128 go through exact arithmetic, f8 too.
// EXPECT: 0.75; 1.5; 0.25
func.func @main() -> (f32, f64, f8E4M3FN) {
  %a = arith.constant 0.5 : f80
  %b = arith.constant 0.25 : f80
  %s = arith.addf %a, %b : f80
  %t = arith.truncf %s : f80 to f32
  %c = arith.constant 3.0 : f128
  %d = arith.constant 2.0 : f128
  %q = arith.divf %c, %d : f128
  %u = arith.truncf %q : f128 to f64
  %e = arith.constant 0.5 : f8E4M3FN
  %f = arith.mulf %e, %e : f8E4M3FN
  return %t, %u, %f : f32, f64, f8E4M3FN
}
// -----
// Casts.
// EXPECT: -1, 255; -2, 254; 3.0, 4294967296.0; -1.0, 255.0; 16777216.0
func.func @main() -> (tensor<2xi16>, tensor<2xi64>, tensor<2xf32>, tensor<2xf16>, f32) {
  %a = arith.constant -1 : i8
  %s = arith.extsi %a : i8 to i16
  %u = arith.extui %a : i8 to i16
  %0 = tensor.from_elements %s, %u : tensor<2xi16>
  %m = arith.constant -2.9 : f32
  %p = arith.constant 254.5 : f64
  %si = arith.fptosi %m : f32 to i64
  %ui8 = arith.fptoui %p : f64 to i8
  %ui = arith.extui %ui8 : i8 to i64
  %1 = tensor.from_elements %si, %ui : tensor<2xi64>
  %three = arith.constant 3 : i32
  %f = arith.sitofp %three : i32 to f32
  %minus = arith.constant -1 : i32
  %g = arith.uitofp %minus : i32 to f32
  %2 = tensor.from_elements %f, %g : tensor<2xf32>
  %h = arith.sitofp %a : i8 to f16
  %k = arith.uitofp %a : i8 to f16
  %3 = tensor.from_elements %h, %k : tensor<2xf16>
  %big = arith.constant 16777217 : i64
  %r = arith.sitofp %big : i64 to f32
  return %0, %1, %2, %3, %r : tensor<2xi16>, tensor<2xi64>, tensor<2xf32>, tensor<2xf16>, f32
}
// -----
// f64 to f16 rounds once: through f32 this would be a tie. Rounding modes.
// EXPECT: 0x3C01; 0x3C01, 0x3C00; 1065353216; -1
func.func @main() -> (f16, tensor<2xf16>, i32, index) {
  %a = arith.constant 0x3FF0020000000001 : f64
  %h = arith.truncf %a : f64 to f16
  %b = arith.constant 1.0001 : f32
  %up = arith.truncf %b upward : f32 to f16
  %down = arith.truncf %b downward : f32 to f16
  %t = tensor.from_elements %up, %down : tensor<2xf16>
  %one = arith.constant 1.0 : f32
  %bits = arith.bitcast %one : f32 to i32
  %m = arith.constant -1 : i32
  %i = arith.index_cast %m : i32 to index
  return %h, %t, %bits, %i : f16, tensor<2xf16>, i32, index
}
// -----
// The index dialect.
// EXPECT: 7, -3, 1, 4294967295, 64
func.func @main() -> tensor<5xindex> {
  %a = index.constant 3
  %b = index.constant 4
  %m = index.constant -3
  %0 = index.add %a, %b
  %1 = index.mins %a, %m
  %c = index.cmp slt(%m, %a)
  %flag = index.castu %c : i1 to index
  %m32 = arith.constant -1 : i32
  %2 = index.castu %m32 : i32 to index
  %s = index.sizeof
  %t = tensor.from_elements %0, %1, %flag, %2, %s : tensor<5xindex>
  return %t : tensor<5xindex>
}
// -----
// Only the chosen value must be defined; a vector's lanes are chosen one by one.
// EXPECT: 5; 1, 6
func.func @main() -> (i32, vector<2xi32>) {
  %p = ub.poison : i32
  %five = arith.constant 5 : i32
  %true = arith.constant true
  %s = arith.select %true, %five, %p : i32
  %c = arith.constant dense<[true, false]> : vector<2xi1>
  %a = arith.constant dense<[1, 2]> : vector<2xi32>
  %b = arith.constant dense<[5, 6]> : vector<2xi32>
  %v = arith.select %c, %a, %b : vector<2xi1>, vector<2xi32>
  return %s, %v : i32, vector<2xi32>
}
