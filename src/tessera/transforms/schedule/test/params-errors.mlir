// RUN: tessera-opt %s --transform-interpreter --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  func.func @f() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    // expected-error @below {{expected a parameter of at least 2 for 'by', but got 1}}
    transform.tessera.unroll_innermost %root by %one : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @f() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %two = transform.merge_handles %one, %one : !transform.param<i64>
    // expected-error @below {{expected a parameter of one number for 'lanes', but got 2}}
    transform.tessera.vectorize_instances %root lanes %two : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    // expected-error @below {{expected 0 parameters for its numbers, but got 1}}
    transform.tessera.unroll_innermost %root by %two {factor = 3 : i64} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{minimum value is 2}}
    transform.tessera.unroll_innermost %root by 1 : !transform.any_op
    transform.yield
  }
}
