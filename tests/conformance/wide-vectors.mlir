// Vectors that are much wider than registers: they become loops over their elements, with the same answers. No width here is a
// multiple of a register's.

// Chains, values with several readers, numbers that differ, odd types.
dfg.graph @arithmetic(%x: memref<?x1031xf32>, %y: memref<?x1031xf32>) -> (r: memref<?x1031xf32>, s: memref<?x1031xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x1031xf32>
  %o = dfg.buffer(%n) : memref<?x1031xf32>
  %p = dfg.buffer(%n) : memref<?x1031xf32>
  %r:2 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x1031xf32>, in %b = %y : memref<?x1031xf32>, out %c = %o : memref<?x1031xf32>, out %d = %p : memref<?x1031xf32>) {
    %z = arith.constant 0 : index
    %k = arith.constant dense<1.5> : vector<1031xf32>
    %v = vector.load %a[%i, %z] : memref<?x1031xf32>, vector<1031xf32>
    %w = vector.load %b[%i, %z] : memref<?x1031xf32>, vector<1031xf32>
    %s = vector.fma %v, %k, %w : vector<1031xf32>
    %q = arith.mulf %s, %s : vector<1031xf32>
    %neg = arith.negf %q : vector<1031xf32>
    %e = math.exp %neg : vector<1031xf32>
    vector.store %e, %c[%i, %z] : memref<?x1031xf32>, vector<1031xf32>
    %less = arith.cmpf olt, %v, %w : vector<1031xf32>
    %t = arith.select %less, %s, %e : vector<1031xi1>, vector<1031xf32>
    vector.store %t, %d[%i, %z] : memref<?x1031xf32>, vector<1031xf32>
  }
  dfg.return %r#0, %r#1 : memref<?x1031xf32>, memref<?x1031xf32>
}

dfg.graph @integers(%x: memref<?x4103xi8>, %y: memref<?x4103xi8>) -> (r: memref<?x4103xi8>, s: memref<?x4103xi32>, t: memref<?x4103xi1>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4103xi8>
  %o = dfg.buffer(%n) : memref<?x4103xi8>
  %p = dfg.buffer(%n) : memref<?x4103xi32>
  %q = dfg.buffer(%n) : memref<?x4103xi1>
  %r:3 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x4103xi8>, in %b = %y : memref<?x4103xi8>, out %c = %o : memref<?x4103xi8>, out %d = %p : memref<?x4103xi32>, out %e = %q : memref<?x4103xi1>) {
    %z = arith.constant 0 : index
    %v = vector.load %a[%i, %z] : memref<?x4103xi8>, vector<4103xi8>
    %w = vector.load %b[%i, %z] : memref<?x4103xi8>, vector<4103xi8>
    %less = arith.cmpi slt, %v, %w : vector<4103xi8>
    vector.store %less, %e[%i, %z] : memref<?x4103xi1>, vector<4103xi1>
    %m = arith.maxui %v, %w : vector<4103xi8>
    %odd = arith.trunci %m : vector<4103xi8> to vector<4103xi5>
    %twice = arith.addi %odd, %odd : vector<4103xi5>
    %thrice = arith.addi %twice, %odd : vector<4103xi5>
    %back = arith.extsi %thrice : vector<4103xi5> to vector<4103xi8>
    vector.store %back, %c[%i, %z] : memref<?x4103xi8>, vector<4103xi8>
    %steps = vector.step : vector<4103xindex>
    %numbers = arith.index_cast %steps : vector<4103xindex> to vector<4103xi32>
    %one = arith.constant dense<1> : vector<4103xi32>
    %positive = arith.addi %numbers, %one : vector<4103xi32>
    %long = arith.extsi %v : vector<4103xi8> to vector<4103xi32>
    %scaled = arith.muli %long, %numbers : vector<4103xi32>
    %quotient = arith.floordivsi %scaled, %positive : vector<4103xi32>
    vector.store %quotient, %d[%i, %z] : memref<?x4103xi32>, vector<4103xi32>
  }
  dfg.return %r#0, %r#1, %r#2 : memref<?x4103xi8>, memref<?x4103xi32>, memref<?x4103xi1>
}

dfg.graph @widths(%x: memref<?x2053xf16>, %y: memref<?x2053xbf16>, %u: memref<?x517xf64>, %l: memref<?x519xi64>) -> (r: memref<?x2053xf16>, s: memref<?x2053xbf16>, t: memref<?x517xf64>, v: memref<?x519xi64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2053xf16>
  %o = dfg.buffer(%n) : memref<?x2053xf16>
  %p = dfg.buffer(%n) : memref<?x2053xbf16>
  %q = dfg.buffer(%n) : memref<?x517xf64>
  %w = dfg.buffer(%n) : memref<?x519xi64>
  %r:4 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x2053xf16>, in %b = %y : memref<?x2053xbf16>, in %c = %u : memref<?x517xf64>, in %d = %l : memref<?x519xi64>, out %e = %o : memref<?x2053xf16>, out %f = %p : memref<?x2053xbf16>, out %g = %q : memref<?x517xf64>, out %h = %w : memref<?x519xi64>) {
    %z = arith.constant 0 : index
    %h0 = vector.load %a[%i, %z] : memref<?x2053xf16>, vector<2053xf16>
    %h1 = arith.addf %h0, %h0 : vector<2053xf16>
    vector.store %h1, %e[%i, %z] : memref<?x2053xf16>, vector<2053xf16>
    %b0 = vector.load %b[%i, %z] : memref<?x2053xbf16>, vector<2053xbf16>
    %b1 = arith.extf %b0 : vector<2053xbf16> to vector<2053xf32>
    %b2 = arith.mulf %b1, %b1 : vector<2053xf32>
    %b3 = arith.truncf %b2 : vector<2053xf32> to vector<2053xbf16>
    vector.store %b3, %f[%i, %z] : memref<?x2053xbf16>, vector<2053xbf16>
    %d0 = vector.load %c[%i, %z] : memref<?x517xf64>, vector<517xf64>
    %d1 = math.absf %d0 : vector<517xf64>
    %d2 = math.sqrt %d1 : vector<517xf64>
    vector.store %d2, %g[%i, %z] : memref<?x517xf64>, vector<517xf64>
    %l0 = vector.load %d[%i, %z] : memref<?x519xi64>, vector<519xi64>
    %l1 = arith.muli %l0, %l0 : vector<519xi64>
    vector.store %l1, %h[%i, %z] : memref<?x519xi64>, vector<519xi64>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3 : memref<?x2053xf16>, memref<?x2053xbf16>, memref<?x517xf64>, memref<?x519xi64>
}

// What is read first stays as it was, whatever is written before it is used.
dfg.graph @order(%x: memref<?x1400xi32>) -> (r: memref<?x1400xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x1400xi32>
  %o = dfg.buffer(%n) : memref<?x1400xi32>
  %r = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x1400xi32>, out %c = %o : memref<?x1400xi32>) {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c17 = arith.constant 17 : index
    %all = vector.load %a[%i, %z] : memref<?x1400xi32>, vector<1400xi32>
    vector.store %all, %c[%i, %z] : memref<?x1400xi32>, vector<1400xi32>
    // One place further on in the same memory, twice.
    %v = vector.load %c[%i, %z] : memref<?x1400xi32>, vector<1100xi32>
    vector.store %v, %c[%i, %one] : memref<?x1400xi32>, vector<1100xi32>
    %w = vector.load %c[%i, %c17] : memref<?x1400xi32>, vector<1100xi32>
    vector.store %w, %c[%i, %c5] : memref<?x1400xi32>, vector<1100xi32>
    // In place.
    %p = vector.load %c[%i, %c5] : memref<?x1400xi32>, vector<1100xi32>
    %q = arith.addi %p, %p : vector<1100xi32>
    vector.store %q, %c[%i, %c5] : memref<?x1400xi32>, vector<1100xi32>
    // Read, overwritten by a single number and by a loop, used.
    %old = vector.load %c[%i, %z] : memref<?x1400xi32>, vector<1100xi32>
    %number = arith.constant 77 : i32
    memref.store %number, %c[%i, %c17] : memref<?x1400xi32>
    %older = vector.load %c[%i, %z] : memref<?x1400xi32>, vector<1100xi32>
    scf.for %j = %z to %c17 step %one {
      memref.store %number, %c[%i, %j] : memref<?x1400xi32>
    }
    %sum = arith.muli %old, %older : vector<1100xi32>
    %c200 = arith.constant 200 : index
    vector.store %sum, %c[%i, %c200] : memref<?x1400xi32>, vector<1100xi32>
  }
  dfg.return %r : memref<?x1400xi32>
}

// Transfers past the end, permuted, broadcast and masked.
dfg.graph @transfers(%x: memref<?x37x41xf32>) -> (r: memref<?x40x43xf32>, s: memref<?x40x43xf32>, t: memref<?x40x43xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x37x41xf32>
  %o = dfg.buffer(%n) fill(%zero : f32) : memref<?x40x43xf32>
  %p = dfg.buffer(%n) fill(%zero : f32) : memref<?x40x43xf32>
  %q = dfg.buffer(%n) fill(%zero : f32) : memref<?x40x43xf32>
  %r:3 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x37x41xf32>, inout %c = %o : memref<?x40x43xf32>, inout %d = %p : memref<?x40x43xf32>, inout %e = %q : memref<?x40x43xf32>) {
    %z = arith.constant 0 : index
    %two = arith.constant 2 : index
    %c30 = arith.constant 30 : index
    %pad = arith.constant -3.0 : f32
    %v = vector.transfer_read %a[%i, %two, %z], %pad : memref<?x37x41xf32>, vector<38x42xf32>
    vector.transfer_write %v, %c[%i, %two, %two] : vector<38x42xf32>, memref<?x40x43xf32>
    %w = vector.transfer_read %a[%i, %z, %two], %pad {permutation_map = affine_map<(d0, d1, d2) -> (d2, d1)>} : memref<?x37x41xf32>, vector<40x43xf32>
    vector.transfer_write %w, %d[%i, %z, %z] {in_bounds = [true, true]} : vector<40x43xf32>, memref<?x40x43xf32>
    %mask = vector.create_mask %two, %c30 : vector<40x43xi1>
    %turned = vector.transpose %mask, [1, 0] : vector<40x43xi1> to vector<43x40xi1>
    %u = vector.transfer_read %a[%i, %z, %z], %pad, %turned {permutation_map = affine_map<(d0, d1, d2) -> (d2, d1)>} : memref<?x37x41xf32>, vector<40x43xf32>
    %row = vector.transfer_read %a[%i, %two, %z], %pad {permutation_map = affine_map<(d0, d1, d2) -> (0, d2)>} : memref<?x37x41xf32>, vector<40x43xf32>
    %sum = arith.addf %u, %row : vector<40x43xf32>
    %few = vector.constant_mask [33, 20] : vector<40x43xi1>
    vector.transfer_write %sum, %e[%i, %z, %z], %few : vector<40x43xf32>, memref<?x40x43xf32>
  }
  dfg.return %r#0, %r#1, %r#2 : memref<?x40x43xf32>, memref<?x40x43xf32>, memref<?x40x43xf32>
}

// Masked and indexed accesses.
dfg.graph @indexed(%x: memref<?x1201xi32>) -> (r: memref<?x1201xi32>, s: memref<?x1201xi32>, t: memref<?x1201xi32>, u: memref<?x1201xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?x1201xi32>
  %o = dfg.buffer(%n) fill(%zero : i32) : memref<?x1201xi32>
  %p = dfg.buffer(%n) fill(%zero : i32) : memref<?x1201xi32>
  %q = dfg.buffer(%n) fill(%zero : i32) : memref<?x1201xi32>
  %w = dfg.buffer(%n) fill(%zero : i32) : memref<?x1201xi32>
  %r:4 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x1201xi32>, inout %c = %o : memref<?x1201xi32>, inout %d = %p : memref<?x1201xi32>, inout %e = %q : memref<?x1201xi32>, inout %f = %w : memref<?x1201xi32>) {
    %z = arith.constant 0 : index
    %one = arith.constant dense<1> : vector<1201xi32>
    %seven = arith.constant dense<7> : vector<1201xi32>
    %none = arith.constant dense<0> : vector<1201xi32>
    %v = vector.load %a[%i, %z] : memref<?x1201xi32>, vector<1201xi32>
    %last = arith.andi %v, %one : vector<1201xi32>
    %mask = arith.cmpi eq, %last, %none : vector<1201xi32>
    %m = vector.maskedload %a[%i, %z], %mask, %seven : memref<?x1201xi32>, vector<1201xi1>, vector<1201xi32> into vector<1201xi32>
    vector.maskedstore %c[%i, %z], %mask, %m : memref<?x1201xi32>, vector<1201xi1>, vector<1201xi32>
    %x0 = vector.expandload %a[%i, %z], %mask, %seven : memref<?x1201xi32>, vector<1201xi1>, vector<1201xi32> into vector<1201xi32>
    vector.compressstore %d[%i, %z], %mask, %x0 : memref<?x1201xi32>, vector<1201xi1>, vector<1201xi32>
    %steps = vector.step : vector<1201xindex>
    %end = arith.constant dense<1200> : vector<1201xindex>
    %back = arith.subi %end, %steps : vector<1201xindex>
    %g = vector.gather %a[%i, %z] [%back], %mask, %seven : memref<?x1201xi32>, vector<1201xindex>, vector<1201xi1>, vector<1201xi32> into vector<1201xi32>
    vector.store %g, %e[%i, %z] : memref<?x1201xi32>, vector<1201xi32>
    // Places that several lanes write: the last one counts.
    %c13 = arith.constant dense<13> : vector<1201xindex>
    %place = arith.divui %back, %c13 : vector<1201xindex>
    vector.scatter %f[%i, %z] [%place], %mask, %v : memref<?x1201xi32>, vector<1201xindex>, vector<1201xi1>, vector<1201xi32>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3 : memref<?x1201xi32>, memref<?x1201xi32>, memref<?x1201xi32>, memref<?x1201xi32>
}

// Reductions and products.
dfg.graph @sums(%x: memref<?x35x37xf32>, %y: memref<?x37x33xf32>, %u: memref<?x1201xi32>) -> (r: memref<?x4xf32>, s: memref<?x37xf32>, t: memref<?x35x33xf32>, v: memref<?x35x37xf32>, w: memref<?x9xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x35x37xf32>
  %o = dfg.buffer(%n) : memref<?x4xf32>
  %p = dfg.buffer(%n) : memref<?x37xf32>
  %q = dfg.buffer(%n) : memref<?x35x33xf32>
  %l = dfg.buffer(%n) : memref<?x35x37xf32>
  %k = dfg.buffer(%n) : memref<?x9xi32>
  %r:5 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x35x37xf32>, in %b = %y : memref<?x37x33xf32>, in %c = %u : memref<?x1201xi32>, out %d = %o : memref<?x4xf32>, out %e = %p : memref<?x37xf32>, out %f = %q : memref<?x35x33xf32>, out %g = %l : memref<?x35x37xf32>, out %h = %k : memref<?x9xi32>) {
    %j0 = arith.constant 0 : index
    %j1 = arith.constant 1 : index
    %j2 = arith.constant 2 : index
    %j3 = arith.constant 3 : index
    %pad = arith.constant 0.0 : f32
    %init = arith.constant 0.5 : f32
    %v = vector.transfer_read %a[%i, %j0, %j0], %pad {in_bounds = [true, true]} : memref<?x35x37xf32>, vector<35x37xf32>
    %flat = vector.shape_cast %v : vector<35x37xf32> to vector<1295xf32>
    %sum = vector.reduction <add>, %flat, %init : vector<1295xf32> into f32
    memref.store %sum, %d[%i, %j0] : memref<?x4xf32>
    %max = vector.reduction <maximumf>, %flat : vector<1295xf32> into f32
    memref.store %max, %d[%i, %j1] : memref<?x4xf32>
    %all = vector.multi_reduction <minnumf>, %v, %init [0, 1] : vector<35x37xf32> to f32
    memref.store %all, %d[%i, %j2] : memref<?x4xf32>
    %one = vector.extract %v[7, 9] : f32 from vector<35x37xf32>
    memref.store %one, %d[%i, %j3] : memref<?x4xf32>
    %start = arith.constant dense<0.25> : vector<37xf32>
    %columns = vector.multi_reduction <add>, %v, %start [0] : vector<35x37xf32> to vector<37xf32>
    vector.transfer_write %columns, %e[%i, %j0] {in_bounds = [true]} : vector<37xf32>, memref<?x37xf32>
    %w = vector.transfer_read %b[%i, %j0, %j0], %pad {in_bounds = [true, true]} : memref<?x37x33xf32>, vector<37x33xf32>
    %acc = arith.constant dense<1.0> : vector<35x33xf32>
    %product = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %v, %w, %acc : vector<35x37xf32>, vector<37x33xf32> into vector<35x33xf32>
    vector.transfer_write %product, %f[%i, %j0, %j0] {in_bounds = [true, true]} : vector<35x33xf32>, memref<?x35x33xf32>
    %scan, %last = vector.scan <add>, %v, %start {inclusive = false, reduction_dim = 0 : i64} : vector<35x37xf32>, vector<37xf32>
    %few = vector.extract %v[3] : vector<37xf32> from vector<35x37xf32>
    %short = vector.extract_strided_slice %last {offsets = [1], sizes = [35], strides = [1]} : vector<37xf32> to vector<35xf32>
    %outer = vector.outerproduct %short, %few, %scan {kind = #vector.kind<add>} : vector<35xf32>, vector<37xf32>
    vector.transfer_write %outer, %g[%i, %j0, %j0] {in_bounds = [true, true]} : vector<35x37xf32>, memref<?x35x37xf32>
    %m = vector.load %c[%i, %j0] : memref<?x1201xi32>, vector<1201xi32>
    %k0 = vector.reduction <add>, %m : vector<1201xi32> into i32
    %k1 = vector.reduction <mul>, %m : vector<1201xi32> into i32
    %k2 = vector.reduction <and>, %m : vector<1201xi32> into i32
    %k3 = vector.reduction <or>, %m : vector<1201xi32> into i32
    %k4 = vector.reduction <xor>, %m : vector<1201xi32> into i32
    %k5 = vector.reduction <maxsi>, %m : vector<1201xi32> into i32
    %k6 = vector.reduction <minui>, %m : vector<1201xi32> into i32
    %c1000 = arith.constant 1000 : index
    %set = vector.create_mask %c1000 : vector<1201xi1>
    %k7 = vector.mask %set { vector.reduction <add>, %m : vector<1201xi32> into i32 } : vector<1201xi1> -> i32
    %k8 = vector.extract %m[%c1000] : i32 from vector<1201xi32>
    %ks = vector.from_elements %k0, %k1, %k2, %k3, %k4, %k5, %k6, %k7, %k8 : vector<9xi32>
    vector.store %ks, %h[%i, %j0] : memref<?x9xi32>, vector<9xi32>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3, %r#4 : memref<?x4xf32>, memref<?x37xf32>, memref<?x35x33xf32>, memref<?x35x37xf32>, memref<?x9xi32>
}

// Moving elements about.
dfg.graph @shapes(%x: memref<?x2052xi16>) -> (r: memref<?x2052xi16>, s: memref<?x2052xi16>, t: memref<?x1026xi32>, u: memref<?x4104xi8>, v: memref<?x2052xi16>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2052xi16>
  %b0 = dfg.buffer(%n) : memref<?x2052xi16>
  %b1 = dfg.buffer(%n) : memref<?x2052xi16>
  %b2 = dfg.buffer(%n) : memref<?x1026xi32>
  %b3 = dfg.buffer(%n) : memref<?x4104xi8>
  %b4 = dfg.buffer(%n) : memref<?x2052xi16>
  %r:5 = dfg.node @move grid(%i = %n) (in %a = %x : memref<?x2052xi16>, out %c = %b0 : memref<?x2052xi16>, out %d = %b1 : memref<?x2052xi16>, out %e = %b2 : memref<?x1026xi32>, out %f = %b3 : memref<?x4104xi8>, out %g = %b4 : memref<?x2052xi16>) {
    %z = arith.constant 0 : index
    %three = arith.constant 3 : index
    %v = vector.load %a[%i, %z] : memref<?x2052xi16>, vector<2052xi16>
    %even, %odd = vector.deinterleave %v : vector<2052xi16> -> vector<1026xi16>
    %mixed = vector.interleave %odd, %even : vector<1026xi16> -> vector<2052xi16>
    vector.store %mixed, %c[%i, %z] : memref<?x2052xi16>, vector<2052xi16>
    %wide = vector.bitcast %v : vector<2052xi16> to vector<1026xi32>
    vector.store %wide, %e[%i, %z] : memref<?x1026xi32>, vector<1026xi32>
    %bytes = vector.bitcast %v : vector<2052xi16> to vector<4104xi8>
    vector.store %bytes, %f[%i, %z] : memref<?x4104xi8>, vector<4104xi8>
    %cube = vector.shape_cast %v : vector<2052xi16> to vector<6x18x19xi16>
    %turned = vector.transpose %cube, [2, 0, 1] : vector<6x18x19xi16> to vector<19x6x18xi16>
    %rows = vector.shuffle %turned, %turned [18, 37, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 20, 15, 16, 17] : vector<19x6x18xi16>, vector<19x6x18xi16>
    %slice = vector.extract_strided_slice %cube {offsets = [1, 2], sizes = [4, 3], strides = [1, 1]} : vector<6x18x19xi16> to vector<4x3x19xi16>
    %put = vector.insert_strided_slice %slice, %cube {offsets = [0, 5, 0], strides = [1, 1, 1]} : vector<4x3x19xi16> into vector<6x18x19xi16>
    %part = vector.extract %rows[4] : vector<6x18xi16> from vector<19x6x18xi16>
    %again = vector.insert %part, %rows[5] : vector<6x18xi16> into vector<19x6x18xi16>
    %single = vector.extract %v[%three] : i16 from vector<2052xi16>
    %more = vector.insert %single, %again[0, %three, 2] : i16 into vector<19x6x18xi16>
    %flat = vector.shape_cast %more : vector<19x6x18xi16> to vector<2052xi16>
    vector.store %flat, %d[%i, %z] : memref<?x2052xi16>, vector<2052xi16>
    %column = vector.extract %part[2] : vector<18xi16> from vector<6x18xi16>
    %tall = vector.shape_cast %column : vector<18xi16> to vector<18x1xi16>
    %all = vector.broadcast %tall : vector<18x1xi16> to vector<6x18x19xi16>
    %sum = arith.addi %put, %all : vector<6x18x19xi16>
    %out = vector.shape_cast %sum : vector<6x18x19xi16> to vector<2052xi16>
    vector.store %out, %g[%i, %z] : memref<?x2052xi16>, vector<2052xi16>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3, %r#4 : memref<?x2052xi16>, memref<?x2052xi16>, memref<?x1026xi32>, memref<?x4104xi8>, memref<?x2052xi16>
}

// What loops and branches carry.
dfg.graph @carried(%x: memref<?x1031xi32>) -> (r: memref<?x1031xi32>, s: memref<?x1031xi32>, t: memref<?x1031xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x1031xi32>
  %o = dfg.buffer(%n) : memref<?x1031xi32>
  %p = dfg.buffer(%n) : memref<?x1031xi32>
  %q = dfg.buffer(%n) : memref<?x1031xi32>
  %r:3 = dfg.node @work grid(%i = %n) (in %a = %x : memref<?x1031xi32>, out %c = %o : memref<?x1031xi32>, out %d = %p : memref<?x1031xi32>, out %e = %q : memref<?x1031xi32>) {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %v = vector.load %a[%i, %z] : memref<?x1031xi32>, vector<1031xi32>
    %ones = arith.constant dense<1> : vector<1031xi32>
    // Two that change places, one that grows.
    %l:3 = scf.for %j = %z to %five step %one iter_args(%f = %v, %g = %ones, %h = %v) -> (vector<1031xi32>, vector<1031xi32>, vector<1031xi32>) {
      %sum = arith.addi %f, %h : vector<1031xi32>
      scf.yield %g, %f, %sum : vector<1031xi32>, vector<1031xi32>, vector<1031xi32>
    }
    %both = arith.subi %l#0, %l#1 : vector<1031xi32>
    vector.store %both, %c[%i, %z] : memref<?x1031xi32>, vector<1031xi32>
    vector.store %l#2, %d[%i, %z] : memref<?x1031xi32>, vector<1031xi32>
    %first = vector.extract %v[0] : i32 from vector<1031xi32>
    %ten = arith.constant 10 : i32
    %small = arith.cmpi slt, %first, %ten : i32
    %b = scf.if %small -> vector<1031xi32> {
      %twice = arith.addi %v, %v : vector<1031xi32>
      scf.yield %twice : vector<1031xi32>
    } else {
      scf.yield %v : vector<1031xi32>
    }
    %limit = arith.constant 1000 : i32
    %w:2 = scf.while (%f = %b, %k = %z) : (vector<1031xi32>, index) -> (index, vector<1031xi32>) {
      %less = arith.cmpi ult, %k, %five : index
      %other = arith.xori %f, %ones : vector<1031xi32>
      scf.condition(%less) %k, %other : index, vector<1031xi32>
    } do {
    ^bb0(%k: index, %f: vector<1031xi32>):
      %more = arith.addi %f, %l#2 : vector<1031xi32>
      %next = arith.addi %k, %one : index
      scf.yield %more, %next : vector<1031xi32>, index
    }
    vector.store %w#1, %e[%i, %z] : memref<?x1031xi32>, vector<1031xi32>
  }
  dfg.return %r#0, %r#1, %r#2 : memref<?x1031xi32>, memref<?x1031xi32>, memref<?x1031xi32>
}

// Without instances, read from and written to tensors.
dfg.graph @tensors(%x: tensor<3x70000xf32>) -> (r: tensor<3x70000xf32>) {
  %r = dfg.node @work (%a = %x : tensor<3x70000xf32>) -> tensor<3x70000xf32> {
    %z = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%z, %z], %pad {in_bounds = [true, true]} : tensor<3x70000xf32>, vector<3x70000xf32>
    %s = arith.addf %v, %v : vector<3x70000xf32>
    %o = tensor.empty() : tensor<3x70000xf32>
    %w = vector.transfer_write %s, %o[%z, %z] {in_bounds = [true, true]} : vector<3x70000xf32>, tensor<3x70000xf32>
    dfg.yield %w : tensor<3x70000xf32>
  }
  dfg.return %r : tensor<3x70000xf32>
}
