// Clusters of points: each point goes to the nearest centre, then each centre to the middle of its points; two rounds. examples/hetero/kmeans has the same in C++.
dfg.graph private @round(%points: tensor<?x?xf32>, %centres: tensor<?x?xf32>) -> (moved: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %points, %c0 : tensor<?x?xf32>
  %f = tensor.dim %points, %c1 : tensor<?x?xf32>
  %k = tensor.dim %centres, %c0 : tensor<?x?xf32>

  %distances = dfg.node @distances grid(%i = %n, %j = %k, %e = %f) (%x = %points : tensor<?x?xf32>, %c = %centres : tensor<?x?xf32>) -> tensor<?x?xf32> reduce<addf> over [2] {
    %a = tensor.extract %x[%i, %e] : tensor<?x?xf32>
    %b = tensor.extract %c[%j, %e] : tensor<?x?xf32>
    %d = arith.subf %a, %b : f32
    %s = arith.mulf %d, %d : f32
    dfg.yield %s : f32
  }
  %nearest = dfg.node @nearest grid(%i = %n) (%d = %distances : tensor<?x?xf32>) -> tensor<?xi32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %none = arith.constant 0 : i32
    %far = arith.constant 3.0e+38 : f32
    %clusters = tensor.dim %d, %one : tensor<?x?xf32>
    %best, %at = scf.for %j = %zero to %clusters step %one iter_args(%least = %far, %which = %none) -> (f32, i32) {
      %v = tensor.extract %d[%i, %j] : tensor<?x?xf32>
      %number = arith.index_cast %j : index to i32
      %less = arith.cmpf olt, %v, %least : f32
      %l = arith.select %less, %v, %least : f32
      %w = arith.select %less, %number, %which : i32
      scf.yield %l, %w : f32, i32
    }
    dfg.yield %at : i32
  }
  %sums = dfg.node @sums grid(%i = %n, %j = %k, %e = %f) (%x = %points : tensor<?x?xf32>, %m = %nearest : tensor<?xi32>) -> tensor<?x?xf32> reduce<addf> over [0] {
    %zero = arith.constant 0.0 : f32
    %which = tensor.extract %m[%i] : tensor<?xi32>
    %number = arith.index_cast %j : index to i32
    %own = arith.cmpi eq, %which, %number : i32
    %a = tensor.extract %x[%i, %e] : tensor<?x?xf32>
    %v = arith.select %own, %a, %zero : f32
    dfg.yield %v : f32
  }
  %counts = dfg.node @counts grid(%i = %n, %j = %k) (%m = %nearest : tensor<?xi32>) -> tensor<?xf32> reduce<addf> over [0] {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %which = tensor.extract %m[%i] : tensor<?xi32>
    %number = arith.index_cast %j : index to i32
    %own = arith.cmpi eq, %which, %number : i32
    %v = arith.select %own, %one, %zero : f32
    dfg.yield %v : f32
  }
  %moved = dfg.node @move grid(%j = %k, %e = %f) (each %s = %sums : tensor<?x?xf32>, %t = %counts : tensor<?xf32>, each %old = %centres : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %number = tensor.extract %t[%j] : tensor<?xf32>
    %some = arith.cmpf ogt, %number, %zero : f32
    %by = arith.select %some, %number, %one : f32
    %mean = arith.divf %s, %by : f32
    %v = arith.select %some, %mean, %old : f32
    dfg.yield %v : f32
  }
  dfg.return %moved : tensor<?x?xf32>
}

dfg.graph @kmeans(%points: tensor<?x?xf32>, %centres: tensor<?x?xf32>) -> (moved: tensor<?x?xf32>) {
  %1 = dfg.call @round(%points, %centres) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = dfg.call @round(%points, %1) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %2 : tensor<?x?xf32>
}
