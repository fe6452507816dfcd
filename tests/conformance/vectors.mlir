// Leaves with vector operations written by hand: kept as wide as the CPU has them, split where it has not. Inputs are
// of 64 elements a row (the extent is the number of rows).

dfg.graph @axpy(%x: memref<?x64xf32>, %y: memref<?x64xf32>) -> (r: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %o = dfg.buffer(%n) : memref<?x64xf32>
  %r = dfg.node @wide grid(%i = %n) (in %a = %x : memref<?x64xf32>, in %b = %y : memref<?x64xf32>, out %c = %o : memref<?x64xf32>) {
    %zero = arith.constant 0 : index
    %end = arith.constant 64 : index
    %step = arith.constant 16 : index
    %k = arith.constant dense<1.5> : vector<16xf32>
    scf.for %j = %zero to %end step %step {
      %p = vector.load %a[%i, %j] : memref<?x64xf32>, vector<16xf32>
      %q = vector.load %b[%i, %j] : memref<?x64xf32>, vector<16xf32>
      %s = vector.fma %p, %k, %q : vector<16xf32>
      vector.store %s, %c[%i, %j] : memref<?x64xf32>, vector<16xf32>
    }
  }
  dfg.return %r : memref<?x64xf32>
}

// Past the end of a row: padding on reads, nothing on writes.
dfg.graph @edges(%x: memref<?x64xf32>) -> (r: memref<?x61xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %o = dfg.buffer(%n) : memref<?x61xf32>
  %r = dfg.node @cut grid(%i = %n) (in %a = %x : memref<?x64xf32>, out %c = %o : memref<?x61xf32>) {
    %zero = arith.constant 0 : index
    %end = arith.constant 61 : index
    %step = arith.constant 16 : index
    %five = arith.constant 5 : index
    %pad = arith.constant -1.0 : f32
    scf.for %j = %zero to %end step %step {
      %from = arith.addi %j, %five : index
      %p = vector.transfer_read %a[%i, %from], %pad : memref<?x64xf32>, vector<16xf32>
      vector.transfer_write %p, %c[%i, %j] : vector<16xf32>, memref<?x61xf32>
    }
  }
  dfg.return %r : memref<?x61xf32>
}

// Masks made from numbers, on transfers, loads, stores and arithmetic.
dfg.graph @masks(%x: memref<?x64xf32>) -> (r: memref<?x64xf32>, s: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %o = dfg.buffer(%n) fill(%zero : f32) : memref<?x64xf32>
  %p = dfg.buffer(%n) fill(%zero : f32) : memref<?x16xf32>
  %r:2 = dfg.node @masked grid(%i = %n) (in %a = %x : memref<?x64xf32>, inout %c = %o : memref<?x64xf32>, inout %d = %p : memref<?x16xf32>) {
    %j0 = arith.constant 0 : index
    %j20 = arith.constant 20 : index
    %c11 = arith.constant 11 : index
    %k = arith.remui %i, %c11 : index
    %pad = arith.constant 7.0 : f32
    %seven = arith.constant dense<7.0> : vector<16xf32>
    %mask = vector.create_mask %k : vector<16xi1>
    %v = vector.transfer_read %a[%i, %j20], %pad, %mask {in_bounds = [true]} : memref<?x64xf32>, vector<16xf32>
    vector.transfer_write %v, %c[%i, %j20], %mask {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32>
    %w = vector.maskedload %a[%i, %j0], %mask, %seven : memref<?x64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.maskedstore %c[%i, %j0], %mask, %w : memref<?x64xf32>, vector<16xi1>, vector<16xf32>
    %even = arith.constant dense<[true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false]> : vector<16xi1>
    %e = vector.expandload %a[%i, %j0], %even, %seven : memref<?x64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.compressstore %d[%i, %j0], %even, %e : memref<?x16xf32>, vector<16xi1>, vector<16xf32>
    %c40 = arith.constant 40 : index
    vector.mask %mask { vector.transfer_write %e, %c[%i, %c40] {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32> } : vector<16xi1>
  }
  dfg.return %r#0, %r#1 : memref<?x64xf32>, memref<?x16xf32>
}

dfg.graph @reductions(%x: memref<?x64xf32>, %y: memref<?x64xi32>) -> (r: memref<?x4xf32>, s: memref<?x8xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %o = dfg.buffer(%n) : memref<?x4xf32>
  %p = dfg.buffer(%n) : memref<?x8xi32>
  %r:2 = dfg.node @reduce grid(%i = %n) (in %a = %x : memref<?x64xf32>, in %b = %y : memref<?x64xi32>, out %c = %o : memref<?x4xf32>, out %d = %p : memref<?x8xi32>) {
    %j0 = arith.constant 0 : index
    %j1 = arith.constant 1 : index
    %j2 = arith.constant 2 : index
    %j3 = arith.constant 3 : index
    %j4 = arith.constant 4 : index
    %j5 = arith.constant 5 : index
    %j6 = arith.constant 6 : index
    %j7 = arith.constant 7 : index
    %init = arith.constant 0.5 : f32
    %v = vector.load %a[%i, %j0] : memref<?x64xf32>, vector<16xf32>
    %sum = vector.reduction <add>, %v, %init : vector<16xf32> into f32
    %max = vector.reduction <maximumf>, %v : vector<16xf32> into f32
    %min = vector.reduction <minimumf>, %v : vector<16xf32> into f32
    %product = vector.reduction <mul>, %v : vector<16xf32> into f32
    memref.store %sum, %c[%i, %j0] : memref<?x4xf32>
    memref.store %max, %c[%i, %j1] : memref<?x4xf32>
    memref.store %min, %c[%i, %j2] : memref<?x4xf32>
    memref.store %product, %c[%i, %j3] : memref<?x4xf32>
    %w = vector.load %b[%i, %j0] : memref<?x64xi32>, vector<16xi32>
    %k0 = vector.reduction <add>, %w : vector<16xi32> into i32
    %k1 = vector.reduction <mul>, %w : vector<16xi32> into i32
    %k2 = vector.reduction <and>, %w : vector<16xi32> into i32
    %k3 = vector.reduction <or>, %w : vector<16xi32> into i32
    %k4 = vector.reduction <xor>, %w : vector<16xi32> into i32
    %k5 = vector.reduction <maxsi>, %w : vector<16xi32> into i32
    %k6 = vector.reduction <minui>, %w : vector<16xi32> into i32
    %m = vector.create_mask %j5 : vector<16xi1>
    %k7 = vector.mask %m { vector.reduction <add>, %w : vector<16xi32> into i32 } : vector<16xi1> -> i32
    memref.store %k0, %d[%i, %j0] : memref<?x8xi32>
    memref.store %k1, %d[%i, %j1] : memref<?x8xi32>
    memref.store %k2, %d[%i, %j2] : memref<?x8xi32>
    memref.store %k3, %d[%i, %j3] : memref<?x8xi32>
    memref.store %k4, %d[%i, %j4] : memref<?x8xi32>
    memref.store %k5, %d[%i, %j5] : memref<?x8xi32>
    memref.store %k6, %d[%i, %j6] : memref<?x8xi32>
    memref.store %k7, %d[%i, %j7] : memref<?x8xi32>
  }
  dfg.return %r#0, %r#1 : memref<?x4xf32>, memref<?x8xi32>
}

// A 16 by 16 transpose in registers.
dfg.graph @transpose(%x: memref<?x16x16xf32>) -> (r: memref<?x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16x16xf32>
  %o = dfg.buffer(%n) : memref<?x16x16xf32>
  %r = dfg.node @turn grid(%i = %n) (in %a = %x : memref<?x16x16xf32>, out %c = %o : memref<?x16x16xf32>) {
    %zero = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%i, %zero, %zero], %pad {in_bounds = [true, true]} : memref<?x16x16xf32>, vector<16x16xf32>
    %t = vector.transpose %v, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    vector.transfer_write %t, %c[%i, %zero, %zero] {in_bounds = [true, true]} : vector<16x16xf32>, memref<?x16x16xf32>
  }
  dfg.return %r : memref<?x16x16xf32>
}

// A permuted and a broadcast transfer, out of bounds in both dimensions.
dfg.graph @permuted(%x: memref<?x6x7xf64>) -> (r: memref<?x8x8xf64>, s: memref<?x8x8xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x6x7xf64>
  %o = dfg.buffer(%n) : memref<?x8x8xf64>
  %p = dfg.buffer(%n) : memref<?x8x8xf64>
  %r:2 = dfg.node @turn grid(%i = %n) (in %a = %x : memref<?x6x7xf64>, out %c = %o : memref<?x8x8xf64>, out %d = %p : memref<?x8x8xf64>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %pad = arith.constant -3.0 : f64
    %v = vector.transfer_read %a[%i, %two, %zero], %pad {permutation_map = affine_map<(d0, d1, d2) -> (d2, d1)>} : memref<?x6x7xf64>, vector<8x8xf64>
    vector.transfer_write %v, %c[%i, %zero, %zero] : vector<8x8xf64>, memref<?x8x8xf64>
    %w = vector.transfer_read %a[%i, %two, %zero], %pad {permutation_map = affine_map<(d0, d1, d2) -> (0, d2)>} : memref<?x6x7xf64>, vector<8x8xf64>
    vector.transfer_write %w, %d[%i, %zero, %zero] : vector<8x8xf64>, memref<?x8x8xf64>
  }
  dfg.return %r#0, %r#1 : memref<?x8x8xf64>, memref<?x8x8xf64>
}

// A small matrix product, an outer product and reductions over several dimensions.
dfg.graph @contractions(%x: memref<?x4x8xf32>, %y: memref<?x8x4xf32>) -> (r: memref<?x4x4xf32>, s: memref<?x4x4xf32>, t: memref<?x4xf32>, u: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4x8xf32>
  %o = dfg.buffer(%n) : memref<?x4x4xf32>
  %p = dfg.buffer(%n) : memref<?x4x4xf32>
  %q = dfg.buffer(%n) : memref<?x4xf32>
  %z = dfg.buffer(%n) : memref<?x8xf32>
  %r:4 = dfg.node @multiply grid(%i = %n) (in %a = %x : memref<?x4x8xf32>, in %b = %y : memref<?x8x4xf32>, out %c = %o : memref<?x4x4xf32>, out %d = %p : memref<?x4x4xf32>, out %e = %q : memref<?x4xf32>, out %f = %z : memref<?x8xf32>) {
    %zero = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %l = vector.transfer_read %a[%i, %zero, %zero], %pad {in_bounds = [true, true]} : memref<?x4x8xf32>, vector<4x8xf32>
    %m = vector.transfer_read %b[%i, %zero, %zero], %pad {in_bounds = [true, true]} : memref<?x8x4xf32>, vector<8x4xf32>
    %acc = arith.constant dense<1.0> : vector<4x4xf32>
    %v = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %l, %m, %acc : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    vector.transfer_write %v, %c[%i, %zero, %zero] {in_bounds = [true, true]} : vector<4x4xf32>, memref<?x4x4xf32>
    %row = vector.extract %m[0] : vector<4xf32> from vector<8x4xf32>
    %other = vector.extract %m[3] : vector<4xf32> from vector<8x4xf32>
    %outer = vector.outerproduct %row, %other, %acc {kind = #vector.kind<add>} : vector<4xf32>, vector<4xf32>
    vector.transfer_write %outer, %d[%i, %zero, %zero] {in_bounds = [true, true]} : vector<4x4xf32>, memref<?x4x4xf32>
    %start = arith.constant dense<0.25> : vector<4xf32>
    %sums = vector.multi_reduction <add>, %l, %start [1] : vector<4x8xf32> to vector<4xf32>
    vector.transfer_write %sums, %e[%i, %zero] {in_bounds = [true]} : vector<4xf32>, memref<?x4xf32>
    %low = arith.constant dense<0.0> : vector<8xf32>
    %maxima = vector.multi_reduction <maximumf>, %l, %low [0] : vector<4x8xf32> to vector<8xf32>
    vector.transfer_write %maxima, %f[%i, %zero] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3 : memref<?x4x4xf32>, memref<?x4x4xf32>, memref<?x4xf32>, memref<?x8xf32>
}

// Indexed accesses.
dfg.graph @indexed(%x: memref<?x64xi32>) -> (r: memref<?x64xi32>, s: memref<?x16xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?x64xi32>
  %o = dfg.buffer(%n) fill(%zero : i32) : memref<?x64xi32>
  %p = dfg.buffer(%n) : memref<?x16xi32>
  %r:2 = dfg.node @pick grid(%i = %n) (in %a = %x : memref<?x64xi32>, inout %c = %o : memref<?x64xi32>, out %d = %p : memref<?x16xi32>) {
    %j0 = arith.constant 0 : index
    %j3 = arith.constant 3 : index
    %c13 = arith.constant 13 : index
    %k = arith.remui %i, %c13 : index
    %mask = vector.create_mask %k : vector<16xi1>
    %seven = arith.constant dense<7> : vector<16xi32>
    %steps = vector.step : vector<16xindex>
    %threes = arith.constant dense<3> : vector<16xindex>
    %places = arith.muli %steps, %threes : vector<16xindex>
    %v = vector.gather %a[%i, %j3] [%places], %mask, %seven : memref<?x64xi32>, vector<16xindex>, vector<16xi1>, vector<16xi32> into vector<16xi32>
    vector.store %v, %d[%i, %j0] : memref<?x16xi32>, vector<16xi32>
    %few = arith.constant dense<[5, 9, 2, 60, 7, 31, 8, 1, 0, 3, 4, 6, 10, 11, 12, 13]> : vector<16xi32>
    vector.scatter %c[%i, %j0] [%few], %mask, %v : memref<?x64xi32>, vector<16xi32>, vector<16xi1>, vector<16xi32>
  }
  dfg.return %r#0, %r#1 : memref<?x64xi32>, memref<?x16xi32>
}

// Moving elements about.
dfg.graph @shapes(%x: memref<?x16xi16>) -> (r: memref<?x16xi16>, s: memref<?x16xi16>, t: memref<?x8xi32>, u: memref<?x16xi16>, v: memref<?x16xi16>, w: memref<?x16xi16>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xi16>
  %b0 = dfg.buffer(%n) : memref<?x16xi16>
  %b1 = dfg.buffer(%n) : memref<?x16xi16>
  %b2 = dfg.buffer(%n) : memref<?x8xi32>
  %b3 = dfg.buffer(%n) : memref<?x16xi16>
  %b4 = dfg.buffer(%n) : memref<?x16xi16>
  %b5 = dfg.buffer(%n) : memref<?x16xi16>
  %r:6 = dfg.node @move grid(%i = %n) (in %a = %x : memref<?x16xi16>, out %c = %b0 : memref<?x16xi16>, out %d = %b1 : memref<?x16xi16>, out %e = %b2 : memref<?x8xi32>, out %f = %b3 : memref<?x16xi16>, out %g = %b4 : memref<?x16xi16>, out %h = %b5 : memref<?x16xi16>) {
    %zero = arith.constant 0 : index
    %v = vector.load %a[%i, %zero] : memref<?x16xi16>, vector<16xi16>
    %back = vector.shuffle %v, %v [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : vector<16xi16>, vector<16xi16>
    vector.store %back, %c[%i, %zero] : memref<?x16xi16>, vector<16xi16>
    %even, %odd = vector.deinterleave %v : vector<16xi16> -> vector<8xi16>
    %mixed = vector.interleave %odd, %even : vector<8xi16> -> vector<16xi16>
    vector.store %mixed, %d[%i, %zero] : memref<?x16xi16>, vector<16xi16>
    %wide = vector.bitcast %v : vector<16xi16> to vector<8xi32>
    vector.store %wide, %e[%i, %zero] : memref<?x8xi32>, vector<8xi32>
    %square = vector.shape_cast %v : vector<16xi16> to vector<4x4xi16>
    %turned = vector.transpose %square, [1, 0] : vector<4x4xi16> to vector<4x4xi16>
    %flat = vector.shape_cast %turned : vector<4x4xi16> to vector<16xi16>
    vector.store %flat, %f[%i, %zero] : memref<?x16xi16>, vector<16xi16>
    %slice = vector.extract_strided_slice %square {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x4xi16> to vector<2x2xi16>
    %put = vector.insert_strided_slice %slice, %turned {offsets = [2, 0], strides = [1, 1]} : vector<2x2xi16> into vector<4x4xi16>
    %first = vector.extract %v[3] : i16 from vector<16xi16>
    %all = vector.broadcast %first : i16 to vector<4x4xi16>
    %sum = arith.addi %put, %all : vector<4x4xi16>
    %out = vector.shape_cast %sum : vector<4x4xi16> to vector<16xi16>
    vector.store %out, %g[%i, %zero] : memref<?x16xi16>, vector<16xi16>
    %start = arith.constant dense<1> : vector<4xi16>
    %scan, %last = vector.scan <add>, %square, %start {inclusive = true, reduction_dim = 0 : i64} : vector<4x4xi16>, vector<4xi16>
    %k0 = vector.extract %scan[0] : vector<4xi16> from vector<4x4xi16>
    %put2 = vector.insert %last, %scan[0] : vector<4xi16> into vector<4x4xi16>
    %bl = vector.broadcast %k0 : vector<4xi16> to vector<4x4xi16>
    %sum2 = arith.addi %put2, %bl : vector<4x4xi16>
    %out2 = vector.shape_cast %sum2 : vector<4x4xi16> to vector<16xi16>
    vector.store %out2, %h[%i, %zero] : memref<?x16xi16>, vector<16xi16>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : memref<?x16xi16>, memref<?x16xi16>, memref<?x8xi32>, memref<?x16xi16>, memref<?x16xi16>, memref<?x16xi16>
}

// Single bits are bytes in memory.
dfg.graph @bits(%x: memref<?x16xi1>, %y: memref<?x16xi1>) -> (r: memref<?x16xi1>, s: memref<?x16xi1>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xi1>
  %false = arith.constant false
  %o = dfg.buffer(%n) : memref<?x16xi1>
  %p = dfg.buffer(%n) fill(%false : i1) : memref<?x16xi1>
  %r:2 = dfg.node @combine grid(%i = %n) (in %a = %x : memref<?x16xi1>, in %b = %y : memref<?x16xi1>, out %c = %o : memref<?x16xi1>, inout %d = %p : memref<?x16xi1>) {
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %pad = arith.constant true
    %v = vector.load %a[%i, %zero] : memref<?x16xi1>, vector<16xi1>
    %w = vector.transfer_read %b[%i, %five], %pad : memref<?x16xi1>, vector<16xi1>
    %x2 = arith.xori %v, %w : vector<16xi1>
    vector.store %x2, %c[%i, %zero] : memref<?x16xi1>, vector<16xi1>
    vector.maskedstore %d[%i, %zero], %v, %w : memref<?x16xi1>, vector<16xi1>, vector<16xi1>
  }
  dfg.return %r#0, %r#1 : memref<?x16xi1>, memref<?x16xi1>
}
