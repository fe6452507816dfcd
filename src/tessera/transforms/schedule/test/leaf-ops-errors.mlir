// RUN: tessera-opt %s --transform-interpreter --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  func.func @fold(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
    // expected-note @below {{payload op}}
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%init : tensor<f32>) attrs = {tessera.ordered, tessera.reductions = [#dfg.reduction<addf>]} {
    ^bb0(%e: f32, %acc: f32):
      %s = arith.addf %acc, %e : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %r : tensor<f32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the reduction: its order is part of its meaning (fold)}}
    %f = transform.tessera.chunk_reduction %g chunks 8 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @copy(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @below {{payload op}}
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) {
    ^bb0(%e: f32, %acc: f32):
      linalg.yield %e : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot raise the loop: what it yields is not the result of a loop}}
    %f = transform.tessera.raise_reduction %g : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note @below {{payload op}}
  func.func @nothing() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split the reduction: it is not a linalg.generic}}
    %c = transform.tessera.chunk_reduction %f chunks 8 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @call(%out: tensor<8xf32>, %t: tensor<2xf32>) -> tensor<8xf32> {
    // expected-note @below {{payload op}}
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%out : tensor<8xf32>) {
    ^bb0(%o: f32):
      %c0 = arith.constant 0 : index
      %d = tensor.dim %t, %c0 : tensor<2xf32>
      %i = arith.index_cast %d : index to i32
      %f = arith.sitofp %i : i32 to f32
      linalg.yield %f : f32
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{cannot put instances into lanes: 'tensor.dim' has no form on vectors}}
    transform.tessera.vectorize_instances %root lanes 8 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note @below {{payload op}}
  func.func @nothing() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot split off the rest: it is not an scf.for}}
    %m, %r = transform.tessera.peel_rest %f : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
