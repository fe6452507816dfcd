// What nobody uses is a warning.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-dead

dfg.graph @g(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-warning @+1 {{result #1 of node 'both' is never used (dfg-w1)}}
  %a, %b = dfg.node @both grid(%i = %n) (each %e = %x : tensor<?xf32>) -> (tensor<?xf32>, f32 reduce<addf>) {
    dfg.yield %e, %e : f32, f32
  }
  // expected-warning @+1 {{node 'first' is dead: none of its results reaches an output or a state (dfg-w2)}}
  %c = dfg.node @first grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
    dfg.yield %e : f32
  }
  // expected-warning @+1 {{node 'second' is dead: none of its results reaches an output or a state (dfg-w2)}}
  %d = dfg.node @second grid(%i = %n) (each %e = %c : tensor<?xf32>) -> f32 reduce<addf> {
    dfg.yield %e : f32
  }
  dfg.return %a : tensor<?xf32>
}

// -----

// expected-warning @+2 {{private graph 'h' is never called, launched or opened (dfg-w3)}}
// expected-warning @+1 {{input 'y' of graph 'h' is never used (dfg-w4)}}
dfg.graph private @h(%x: f32, %y: f32) -> f32 {
  // expected-warning @+1 {{state is never updated, so it stays its initial value (dfg-w5)}}
  %s = dfg.state init(%x : f32) : f32
  dfg.return %s : f32
}

// -----

dfg.graph private @h(%x: f32) -> f32 {
  dfg.return %x : f32
}
dfg.graph @g(%x: f32) -> f32 {
  // expected-warning @+1 {{the call of 'h' is dead: none of its results reaches an output or a state (dfg-w2)}}
  %y = dfg.call @h(%x) : (f32) -> f32
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  // expected-warning @+1 {{the run of graph 'g' is never waited for (dfg-w6)}}
  %r = dfg.launch @g(%x) : f32
  // expected-warning @+1 {{the stream of graph 'g' is never closed (dfg-w6)}}
  %s = dfg.open @g
  dfg.push %s(%x) : f32
  return
}

// -----

// Memory of the group's port goes out through the port; a state's next value is an output.
dfg.graph @fine(%b: memref<8xf32>, %x: f32) -> memref<8xf32> {
  %s = dfg.state init(%x : f32) : f32
  %t = dfg.node @next (%v = %s : f32) -> f32 {
    dfg.yield %v : f32
  }
  dfg.update %s, %t : f32
  %b1 = dfg.node @outer (inout %p = %b : memref<8xf32>) {
    %p1 = dfg.node @inner (inout %q = %p : memref<8xf32>) {
    }
  }
  dfg.return %b1 : memref<8xf32>
}
