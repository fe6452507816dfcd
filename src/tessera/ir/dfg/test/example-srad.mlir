// SRAD, one step: the speckle statistics of the whole picture (a reduction) steer a diffusion (a stencil), which has
// two stages, coefficients and update.
// RUN: tessera-opt %s -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @srad
dfg.graph @srad(%image: tensor<?x?xf32>, %lambda: f32) -> (smoothed: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  // CHECK: dfg.node @moments grid(%i = %{{.*}}, %j = %{{.*}}) (each %{{.*}} = %image : tensor<?x?xf32>) -> (f32 reduce<addf>, f32 reduce<addf>) {
  %sum, %squares = dfg.node @moments grid(%i = %h, %j = %w) (each %e = %image : tensor<?x?xf32>) -> (f32 reduce<addf>, f32 reduce<addf>) {
    %q = arith.mulf %e, %e : f32
    dfg.yield %e, %q : f32, f32
  }
  // CHECK: dfg.node @speckle (
  %q0 = dfg.node @speckle (%s = %sum : f32, %q = %squares : f32, %m = %h : index, %n = %w : index) -> f32 {
    %mn = arith.muli %m, %n : index
    %count64 = arith.index_cast %mn : index to i64
    %count = arith.sitofp %count64 : i64 to f32
    %mean = arith.divf %s, %count : f32
    %meansq = arith.mulf %mean, %mean : f32
    %avg = arith.divf %q, %count : f32
    %var = arith.subf %avg, %meansq : f32
    %r = arith.divf %var, %meansq : f32
    dfg.yield %r : f32
  }
  // CHECK: dfg.node @coefficient grid(
  %c = dfg.node @coefficient grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, each %e = %image : tensor<?x?xf32>, %q = %q0 : f32) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %f1 = arith.constant 1.0 : f32
    %iu = arith.subi %i, %one : index
    %u = arith.maxsi %iu, %zero : index
    %jl = arith.subi %j, %one : index
    %l = arith.maxsi %jl, %zero : index
    %vu = tensor.extract %x[%u, %j] : tensor<?x?xf32>
    %vl = tensor.extract %x[%i, %l] : tensor<?x?xf32>
    %du = arith.subf %vu, %e : f32
    %dl = arith.subf %vl, %e : f32
    %g0 = arith.mulf %du, %du : f32
    %g1 = arith.mulf %dl, %dl : f32
    %g = arith.addf %g0, %g1 : f32
    %den = arith.addf %f1, %q : f32
    %t = arith.divf %g, %den : f32
    %t1 = arith.addf %f1, %t : f32
    %r = arith.divf %f1, %t1 : f32
    dfg.yield %r : f32
  }
  // CHECK: dfg.node @update grid(
  %y = dfg.node @update grid(%i = %h, %j = %w) (%k = %c : tensor<?x?xf32>, each %e = %image : tensor<?x?xf32>, each %ke = %c : tensor<?x?xf32>, %f = %lambda : f32) -> tensor<?x?xf32> {
    %one = arith.constant 1 : index
    %eh = dfg.extent 0
    %hmax = arith.subi %eh, %one : index
    %id = arith.addi %i, %one : index
    %d = arith.minsi %id, %hmax : index
    %kd = tensor.extract %k[%d, %j] : tensor<?x?xf32>
    %s = arith.addf %ke, %kd : f32
    %t = arith.mulf %s, %f : f32
    %r = arith.addf %e, %t : f32
    dfg.yield %r : f32
  }
  dfg.return %y : tensor<?x?xf32>
}
