// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// How numbers and parameters of the CPU's own schedule steps are spelled.

// CHECK-LABEL: @spelling
module attributes {transform.with_named_sequence} {
  transform.named_sequence @spelling(%n: !transform.any_op, %a: !transform.any_op, %b: !transform.any_op, %p: !transform.param<i64>, %q: !transform.param<i64>) {
    // CHECK: lower_packed %{{[^ ]*}} columns %[[P:.*]] blocks 2 split %{{.*}} dot "vnni" :
    transform.tessera.lower_packed %n columns %p blocks 2 split %q dot "vnni" : !transform.any_op
    // CHECK: lower_separable %{{.*}} rows 1 columns %[[P]] into %{{.*}} rows %[[P]] task 3 :
    transform.tessera.lower_separable %a rows 1 columns %p into %b rows %p task 3 : !transform.any_op, !transform.any_op
    transform.yield
  }
}
