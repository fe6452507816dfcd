// ERROR: has a step that is not positive: 0
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c0 { }
  return
}
// -----
// ERROR: 'scf.parallel' op has a step that is not positive: -1
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.subi %c0, %c1 : index
  scf.parallel (%i) = (%c0) to (%c0) step (%m) { }
  return
}
// -----
// ERROR: a bound is undefined
func.func @main() {
  %c1 = arith.constant 1 : index
  %p = ub.poison : index
  scf.for %i = %p to %c1 step %c1 { }
  return
}
// -----
// ERROR: 'scf.if' op the condition is undefined
func.func @main() {
  %p = ub.poison : i1
  scf.if %p { }
  return
}
// -----
// ERROR: the branch depends on an undefined value
func.func @main() {
  %p = ub.poison : i1
  cf.cond_br %p, ^a, ^a
^a:
  return
}
// -----
// ERROR: has an induction variable of more than 64 bits
func.func @main() {
  %c = arith.constant 1 : i128
  scf.for %i = %c to %c step %c : i128 { }
  return
}
// -----
// LIMIT: operations
// ERROR: is beyond the limit of 10000 operations
func.func @main() {
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
}
// -----
// ERROR: fails: too small
func.func @main() {
  %f = arith.constant false
  cf.assert %f, "too small"
  return
}
// -----
// ERROR: nests calls more than 200 deep
func.func @main() {
  func.call @main() : () -> ()
  return
}
// -----
// ERROR: calls 'outside', which has no body
func.func private @outside()
func.func @main() {
  func.call @outside() : () -> ()
  return
}
// -----
// ERROR: 'ub.unreachable' op is reached
func.func @main() {
  ub.unreachable
}
// -----
// ERROR: races: iterations (0) and (1) insert element 0 of the result
// NOTE: in iteration (1) of this loop
func.func @main() -> tensor<2xi32> {
  %e = arith.constant dense<0> : tensor<2xi32>
  %t = scf.forall (%i) in (3) shared_outs(%o = %e) -> tensor<2xi32> {
    %row = arith.constant dense<1> : tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[0] [2] [1] : tensor<2xi32> into tensor<2xi32>
    }
  }
  return %t : tensor<2xi32>
}
// -----
// ERROR: races: iterations (0) and (1) touch element 0 of an 'alloc' without order (write, then write)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = arith.constant 1 : i32
  %m = memref.alloc() : memref<1xi32>
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    memref.store %v, %m[%c0] : memref<1xi32>
  }
  return
}
// -----
// ERROR: divides by a number that is not positive
func.func @main() -> index {
  %a = arith.constant 1 : index
  %z = arith.constant 0 : index
  %r = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%a)[%z]
  return %r : index
}
