// A tiled matrix product twice. As a group: the tensors between its children are the group's fast memory, the edges
// its barriers, and the tiles along k are summed by a reduction over one dimension of the grid. And as C++ has it: one
// leaf with scratch memory and barriers in a loop.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @group
dfg.graph @group(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (c: tensor<8x8x8x8xf32>) {
  %eight = arith.constant 8 : index
  // CHECK: dfg.node @block grid(%i = %{{.*}}, %j = %{{.*}}, %k = %{{.*}}) ({{.*}}) -> tensor<8x8x8x8xf32> reduce<addf> over [2] {
  %c = dfg.node @block grid(%i = %eight, %j = %eight, %k = %eight) (%x = %a : tensor<64x64xf32>, %y = %b : tensor<64x64xf32>) -> tensor<8x8x8x8xf32> reduce<addf> over [2] {
    %t = arith.constant 8 : index
    %ta = dfg.node @load_a grid(%r = %t, %s = %t) (%m = %x : tensor<64x64xf32>, %bi = %i : index, %bk = %k : index) -> tensor<8x8xf32> {
      %w = arith.constant 8 : index
      %r0 = arith.muli %bi, %w : index
      %s0 = arith.muli %bk, %w : index
      %r1 = arith.addi %r0, %r : index
      %s1 = arith.addi %s0, %s : index
      %v = tensor.extract %m[%r1, %s1] : tensor<64x64xf32>
      dfg.yield %v : f32
    }
    %tb = dfg.node @load_b grid(%r = %t, %s = %t) (%m = %y : tensor<64x64xf32>, %bk = %k : index, %bj = %j : index) -> tensor<8x8xf32> {
      %w = arith.constant 8 : index
      %r0 = arith.muli %bk, %w : index
      %s0 = arith.muli %bj, %w : index
      %r1 = arith.addi %r0, %r : index
      %s1 = arith.addi %s0, %s : index
      %v = tensor.extract %m[%r1, %s1] : tensor<64x64xf32>
      dfg.yield %v : f32
    }
    %p = dfg.node @multiply grid(%r = %t, %s = %t) (%u = %ta : tensor<8x8xf32>, %v = %tb : tensor<8x8xf32>) -> tensor<8x8xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %w = arith.constant 8 : index
      %f0 = arith.constant 0.0 : f32
      %sum = scf.for %q = %zero to %w step %one iter_args(%acc = %f0) -> f32 {
        %e = tensor.extract %u[%r, %q] : tensor<8x8xf32>
        %f = tensor.extract %v[%q, %s] : tensor<8x8xf32>
        %g = arith.mulf %e, %f : f32
        %h = arith.addf %acc, %g : f32
        scf.yield %h : f32
      }
      dfg.yield %sum : f32
    }
    dfg.yield %p : tensor<8x8xf32>
  }
  dfg.return %c : tensor<8x8x8x8xf32>
}

// CHECK-LABEL: dfg.graph @scratch
dfg.graph @scratch(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (c: tensor<64x64xf32>) {
  %eight = arith.constant 8 : index
  %c = dfg.node @blocks grid(%i = %eight, %j = %eight) (%x = %a : tensor<64x64xf32>, %y = %b : tensor<64x64xf32>) -> tensor<64x64xf32> tile {
    %t = arith.constant 8 : index
    %tile = dfg.node @block grid(%r = %t, %s = %t) (%m = %x : tensor<64x64xf32>, %n = %y : tensor<64x64xf32>, %bi = %i : index, %bj = %j : index) -> tensor<8x8xf32> {
      // CHECK: dfg.scratch : memref<8x8xf32>
      %ta = dfg.scratch : memref<8x8xf32>
      %tb = dfg.scratch : memref<8x8xf32>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %w = arith.constant 8 : index
      %f0 = arith.constant 0.0 : f32
      %i0 = arith.muli %bi, %w : index
      %j0 = arith.muli %bj, %w : index
      %row = arith.addi %i0, %r : index
      %col = arith.addi %j0, %s : index
      %sum = scf.for %k = %zero to %w step %one iter_args(%acc = %f0) -> f32 {
        %k0 = arith.muli %k, %w : index
        %ka = arith.addi %k0, %s : index
        %kb = arith.addi %k0, %r : index
        %va = tensor.extract %m[%row, %ka] : tensor<64x64xf32>
        %vb = tensor.extract %n[%kb, %col] : tensor<64x64xf32>
        memref.store %va, %ta[%r, %s] : memref<8x8xf32>
        memref.store %vb, %tb[%r, %s] : memref<8x8xf32>
        // CHECK: dfg.barrier
        dfg.barrier
        %part = scf.for %q = %zero to %w step %one iter_args(%p = %acc) -> f32 {
          %e = memref.load %ta[%r, %q] : memref<8x8xf32>
          %f = memref.load %tb[%q, %s] : memref<8x8xf32>
          %g = arith.mulf %e, %f : f32
          %h = arith.addf %p, %g : f32
          scf.yield %h : f32
        }
        dfg.barrier
        scf.yield %part : f32
      }
      dfg.yield %sum : f32
    }
    dfg.yield %tile : tensor<8x8xf32>
  }
  dfg.return %c : tensor<64x64xf32>
}
