// The six-node edge detection pipeline of examples/edge passes all checks without a word.
// RUN: tessera-opt %tessera_src/examples/edge/edge.mlir -verify-diagnostics --tessera-check-effects --tessera-check-races --tessera-check-dead | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.graph @edges(%image: tensor<?x?xf32>, %theta: f32) -> (edges: tensor<?x?xi8>) {
// CHECK: dfg.node @gaussian grid
// CHECK: dfg.node @laplacian grid
// CHECK: dfg.node @crossings grid
// CHECK: dfg.node @gradient grid
// CHECK: dfg.node @peak grid(%i = %{{.*}}, %j = %{{.*}}) (each %{{.*}} : tensor<?x?xf32>) -> f32 reduce<maximumf> {
// CHECK: dfg.node @reject grid
// CHECK: dfg.return
