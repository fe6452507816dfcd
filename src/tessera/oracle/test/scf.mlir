// for, while, if, switch, nested; a loop with no iteration keeps its initial value.
// EXPECT: 45; 7; 64; 20; 5
func.func @main() -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %z = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %z) -> i32 {
    %v = arith.index_cast %i : index to i32
    %s = arith.addi %a, %v : i32
    scf.yield %s : i32
  }
  %seven = arith.constant 7 : i32
  %none = scf.for %i = %c10 to %c0 step %c1 iter_args(%a = %seven) -> i32 {
    scf.yield %z : i32
  }
  %one = arith.constant 1 : i32
  %limit = arith.constant 50 : i32
  %pow = scf.while (%x = %one) : (i32) -> i32 {
    %go = arith.cmpi slt, %x, %limit : i32
    scf.condition(%go) %x : i32
  } do {
  ^bb0(%x: i32):
    %d = arith.addi %x, %x : i32
    scf.yield %d : i32
  }
  %c2 = arith.constant 2 : index
  %sw = scf.index_switch %c2 -> i32
  case 1 { %v = arith.constant 10 : i32 scf.yield %v : i32 }
  case 2 { %v = arith.constant 20 : i32 scf.yield %v : i32 }
  default { %v = arith.constant 30 : i32 scf.yield %v : i32 }
  %f = arith.constant false
  %br = scf.if %f -> i32 {
    scf.yield %z : i32
  } else {
    %v = scf.execute_region -> i32 {
      %w = arith.constant 5 : i32
      scf.yield %w : i32
    }
    scf.yield %v : i32
  }
  return %sum, %none, %pow, %sw, %br : i32, i32, i32, i32, i32
}
// -----
// The induction variable of a narrow loop does not wrap around for ever; unsigned bounds.
// EXPECT: 3; 2
func.func @main() -> (i32, i32) {
  %lo = arith.constant 120 : i8
  %hi = arith.constant 127 : i8
  %st = arith.constant 3 : i8
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = scf.for %i = %lo to %hi step %st iter_args(%a = %z) -> i32 : i8 {
    %s = arith.addi %a, %one : i32
    scf.yield %s : i32
  }
  %ulo = arith.constant 250 : i8
  %uhi = arith.constant 255 : i8
  %m = scf.for unsigned %i = %ulo to %uhi step %st iter_args(%a = %z) -> i32 : i8 {
    %s = arith.addi %a, %one : i32
    scf.yield %s : i32
  }
  return %n, %m : i32, i32
}
// -----
// Parallel loops: a reduction, and inserting into a shared tensor.
// EXPECT: 15; 0, 0, 1, 2, 2, 4
func.func @main() -> (i32, tensor<3x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %z = arith.constant 0 : i32
  %sum = scf.parallel (%i) = (%c0) to (%c6) step (%c1) init (%z) -> i32 {
    %v = arith.index_cast %i : index to i32
    scf.reduce(%v : i32) {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      scf.reduce.return %s : i32
    }
  }
  %e = tensor.empty() : tensor<3x2xi32>
  %t = scf.forall (%i) in (3) shared_outs(%o = %e) -> tensor<3x2xi32> {
    %v = arith.index_cast %i : index to i32
    %w = arith.addi %v, %v : i32
    %row = tensor.from_elements %v, %w : tensor<1x2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
    }
  }
  return %sum, %t : i32, tensor<3x2xi32>
}
// -----
// Branches between blocks, calls, recursion.
// EXPECT: 120; 30
func.func @fact(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %c = arith.cmpi sle, %n, %one : i64
  cf.cond_br %c, ^done(%one : i64), ^more
^more:
  %m = arith.subi %n, %one : i64
  %r = func.call @fact(%m) : (i64) -> i64
  %p = arith.muli %n, %r : i64
  cf.br ^done(%p : i64)
^done(%v: i64):
  return %v : i64
}
func.func @main() -> (i64, i64) {
  %n = arith.constant 5 : i64
  %f = func.call @fact(%n) : (i64) -> i64
  %two = arith.constant 2 : i32
  cf.switch %two : i32, [default: ^d, 1: ^a, 2: ^b]
^a:
  %x = arith.constant 20 : i64
  cf.br ^end(%x : i64)
^b:
  %y = arith.constant 30 : i64
  cf.br ^end(%y : i64)
^d:
  %z = arith.constant 40 : i64
  cf.br ^end(%z : i64)
^end(%r: i64):
  return %f, %r : i64, i64
}
// -----
// Affine expressions of negatives round down, loops and conditions.
// EXPECT: -2, 1, -1, 3, 4; 30; 11, 2
func.func @main() -> (tensor<5xindex>, i32, tensor<2xindex>) {
  %a = arith.constant -5 : index
  %b = arith.constant 7 : index
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%a)
  %1 = affine.apply affine_map<(d0) -> (d0 mod 3)>(%a)
  %2 = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%a)
  %3 = affine.min affine_map<(d0)[s0] -> (d0 - 4, s0)>(%b)[%b]
  %4 = affine.max affine_map<(d0) -> (d0 - 4, 4)>(%b)
  %t = tensor.from_elements %0, %1, %2, %3, %4 : tensor<5xindex>
  %m = memref.alloc() : memref<10xi32>
  affine.for %i = 0 to 10 {
    %v = arith.index_cast %i : index to i32
    affine.store %v, %m[%i] : memref<10xi32>
  }
  %z = arith.constant 0 : i32
  %s = affine.for %i = 0 to 10 step 2 iter_args(%acc = %z) -> i32 {
    %v = affine.load %m[%i] : memref<10xi32>
    %r = affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) -> i32 {
      %d = arith.addi %v, %v : i32
      affine.yield %d : i32
    } else {
      affine.yield %z : i32
    }
    %n = arith.addi %acc, %r : i32
    affine.yield %n : i32
  }
  %six = arith.constant 6 : i32
  %u = arith.subi %s, %six : i32
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %l = affine.linearize_index [%c2, %c3] by (3, 4) : index
  %q:2 = affine.delinearize_index %l into (3, 4) : index, index
  %w = tensor.from_elements %l, %q#0 : tensor<2xindex>
  return %t, %u, %w : tensor<5xindex>, i32, tensor<2xindex>
}
