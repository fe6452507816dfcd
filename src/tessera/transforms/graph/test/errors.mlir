// What a pass says when a node that was named cannot be treated; a schedule operation's own tests have all the reasons.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-fuse-nodes="producer=a consumer=a"
// RUN: not tessera-opt %s --tessera-fuse-siblings="first=a second=a" 2>&1 | FileCheck %s --check-prefix=SIBLINGS
// RUN: not tessera-opt %s --tessera-tile-grid="node=b sizes=2" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tessera-opt %s --tessera-fuse-loops="node=a" 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not tessera-opt %s --tessera-sequentialise="node=a dims=3" 2>&1 | FileCheck %s --check-prefix=DIMS

// SIBLINGS: error: cannot fuse 'a' and 'a': they are one node
// SIBLINGS: note: name two nodes
// NAME: error: there is no node 'b'
// LOOPS: error: there are no two loops to fuse in 'a'
// DIMS: error: cannot sequentialise 'a': expected grid dimensions below 1, but got 3
// DIMS: note: name dimensions of its grid
dfg.graph @g(%x: tensor<8xf32>) -> (y: tensor<8xf32>) {
  %c8 = arith.constant 8 : index
  // expected-error @+2 {{cannot fuse 'a' into 'a': they are one node}}
  // expected-note @+1 {{name two nodes}}
  %y = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
    dfg.yield %e : f32
  }
  dfg.return %y : tensor<8xf32>
}
