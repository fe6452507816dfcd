// What holds is no question; what does not, or is not known, stays where the program asks it.
// RUN: tessera-opt %s --canonicalize --cse --loop-invariant-code-motion | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @holds
// CHECK-NEXT: return %arg0
func.func @holds(%v: index, %n: index) -> index {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %r = fault.require %true, %v else %c0 reports %v of %n {kind = "index", what = "axis 0"} : i1, index, index
  return %r : index
}

// CHECK-LABEL: func.func @doesNot
// CHECK: fault.require %false, %arg0 else %{{.*}} reports %arg0 of %arg1 {kind = "index", what = "axis 0"} : i1, index, index
func.func @doesNot(%v: index, %n: index) -> index {
  %false = arith.constant false
  %c0 = arith.constant 0 : index
  %r = fault.require %false, %v else %c0 reports %v of %n {kind = "index", what = "axis 0"} : i1, index, index
  return %r : index
}

// A loop that may not run asks nothing before.
// CHECK-LABEL: func.func @inLoop
// CHECK: scf.for
// CHECK-NEXT: fault.require
func.func @inLoop(%ok: i1, %v: index, %n: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = fault.require %ok, %v else %c0 reports %v of %n {kind = "index", what = "axis 0"} : i1, index, index
    memref.store %r, %m[%i] : memref<?xindex>
  }
  return
}

// Nobody needs it, nobody asks.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%ok: vector<4xi1>, %v: vector<4xi64>) {
  %r = fault.require %ok, %v else %v reports %v of %v {site = 3 : i64} : vector<4xi1>, vector<4xi64>, vector<4xi64>
  return
}
