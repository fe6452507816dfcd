// Breadth-first search: a graph for one level, launched in a loop by the host until nobody new was reached. The
// extent of the first grid is the size of the frontier, which only the level before knows.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @level
dfg.graph @level(%rows: tensor<?xindex>, %cols: tensor<?xindex>, %frontier: tensor<?xindex>, %size: index, %dist: memref<?xi32>, %depth: i32) -> (dist: memref<?xi32>, reached: i32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %dist, %c0 : memref<?xi32>
  %no = arith.constant 0 : i8
  %mask = dfg.buffer(%n) fill(%no : i8) : memref<?xi8>
  // CHECK: dfg.node @expand grid(%i = %size)
  %mask1 = dfg.node @expand grid(%i = %size) (%r = %rows : tensor<?xindex>, %c = %cols : tensor<?xindex>, %f = %frontier : tensor<?xindex>, acc<ori> %m = %mask : memref<?xi8>) {
    %one = arith.constant 1 : index
    %yes = arith.constant 1 : i8
    %v = tensor.extract %f[%i] : tensor<?xindex>
    %v1 = arith.addi %v, %one : index
    %begin = tensor.extract %r[%v] : tensor<?xindex>
    %end = tensor.extract %r[%v1] : tensor<?xindex>
    scf.for %e = %begin to %end step %one {
      %to = tensor.extract %c[%e] : tensor<?xindex>
      dfg.accumulate %yes, %m[%to] : memref<?xi8>
    }
  }
  // CHECK: dfg.node @settle grid(%i = %{{.*}}) (in {{.*}}, inout {{.*}}) -> i32 reduce<addi> {
  %reached, %dist1 = dfg.node @settle grid(%i = %n) (in %m = %mask1 : memref<?xi8>, inout %d = %dist : memref<?xi32>, %level = %depth : i32) -> i32 reduce<addi> {
    %zero = arith.constant 0 : i8
    %far = arith.constant -1 : i32
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %hit = memref.load %m[%i] : memref<?xi8>
    %old = memref.load %d[%i] : memref<?xi32>
    %seen = arith.cmpi ne, %hit, %zero : i8
    %new = arith.cmpi eq, %old, %far : i32
    %both = arith.andi %seen, %new : i1
    %r = scf.if %both -> i32 {
      memref.store %level, %d[%i] : memref<?xi32>
      scf.yield %one : i32
    } else {
      scf.yield %none : i32
    }
    dfg.yield %r : i32
  }
  dfg.return %dist1, %reached : memref<?xi32>, i32
}

func.func private @compact(memref<?xi32>, i32) -> (tensor<?xindex>, index)

// CHECK-LABEL: func.func @bfs
func.func @bfs(%rows: tensor<?xindex>, %cols: tensor<?xindex>, %start: tensor<?xindex>, %dist: memref<?xi32>) -> memref<?xi32> {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %size = arith.constant 1 : index
  %r:4 = scf.while (%f = %start, %n = %size, %d = %dist, %depth = %one) : (tensor<?xindex>, index, memref<?xi32>, i32) -> (tensor<?xindex>, index, memref<?xi32>, i32) {
    // CHECK: %[[LAUNCH:.*]] = dfg.launch @level
    %run = dfg.launch @level(%rows, %cols, %f, %n, %d, %depth) : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, index, memref<?xi32>, i32
    // CHECK: dfg.wait %[[LAUNCH]] : memref<?xi32>, i32
    %d1, %reached = dfg.wait %run : memref<?xi32>, i32
    %more = arith.cmpi ne, %reached, %none : i32
    %f1, %n1 = func.call @compact(%d1, %depth) : (memref<?xi32>, i32) -> (tensor<?xindex>, index)
    scf.condition(%more) %f1, %n1, %d1, %depth : tensor<?xindex>, index, memref<?xi32>, i32
  } do {
  ^bb0(%f: tensor<?xindex>, %n: index, %d: memref<?xi32>, %depth: i32):
    %next = arith.addi %depth, %one : i32
    scf.yield %f, %n, %d, %next : tensor<?xindex>, index, memref<?xi32>, i32
  }
  return %r#2 : memref<?xi32>
}
