// Rules of host code (h): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @h() {
  dfg.return
}
dfg.graph @g() {
  dfg.node @n () {
    // expected-error @+2 {{expected a host operation to stand outside graphs, but got it in graph 'g' (dfg-h1)}}
    // expected-note @+1 {{inside a graph, 'dfg.call' instantiates another graph}}
    %r = dfg.launch @h()
  }
  dfg.return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected 'nowhere' to be a graph, but got no such symbol (dfg-h2)}}
  %r = dfg.launch @nowhere()
  return
}

// -----

// expected-note @+1 {{the symbol is defined here}}
func.func @f() {
  // expected-error @+1 {{expected 'f' to be a graph, but got 'func.func' (dfg-h2)}}
  %s = dfg.open @f
  return
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @g(%x: f32) {
  dfg.return
}
func.func @f() {
  // expected-error @+1 {{'dfg.launch' op expected 1 inputs of graph 'g', but got 0 (dfg-h3)}}
  %r = dfg.launch @g()
  return
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @g(%x: f32) {
  dfg.return
}
func.func @f(%x: f64) {
  // expected-error @+1 {{'dfg.launch' op expected input #0 of graph 'g' to have type 'f32', but got 'f64' (dfg-h3)}}
  %r = dfg.launch @g(%x) : f64
  return
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  %r = dfg.launch @g(%x) : f32
  // expected-error @+1 {{'dfg.wait' op expected output #0 of graph 'g' to have type 'f32', but got 'i32' (dfg-h3)}}
  %y = dfg.wait %r : i32
  return
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  %s = dfg.open @g
  // expected-error @+1 {{'dfg.push' op expected 1 inputs of graph 'g', but got 2 (dfg-h3)}}
  dfg.push %s(%x, %x) : f32, f32
  return
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  %s = dfg.open @g
  // expected-error @+1 {{'dfg.pop' op expected 1 outputs of graph 'g', but got 0 (dfg-h3)}}
  dfg.pop %s
  return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  %r = dfg.launch @g(%x) : f32
  // expected-note @+1 {{the first wait is here}}
  %y = dfg.wait %r : f32
  // expected-error @+1 {{expected a run to be waited for once, but got a second wait (dfg-h4)}}
  %z = dfg.wait %r : f32
  return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  %s = dfg.open @g
  // expected-note @+1 {{closed here}}
  dfg.close %s
  // expected-error @+1 {{expected no use of a stream after its close, but got one (dfg-h5)}}
  dfg.push %s(%x) : f32
  return
}
