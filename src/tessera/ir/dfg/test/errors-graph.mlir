// Rules of graphs (g), edge types (t), calls (c) and of buffers and states (s): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'dfg.graph' op expected one name for each of 1 inputs, but got 2 (dfg-g1)}}
dfg.graph @g(%x: f32) attributes {arg_names = ["x", "y"]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected one name for each of 1 outputs, but got 0 (dfg-g1)}}
"dfg.graph"() <{arg_names = ["x"], function_type = (f32) -> f32, result_names = [], sym_name = "g"}> ({
^bb0(%x: f32):
  "dfg.return"(%x) : (f32) -> ()
}) : () -> ()

// -----

// expected-error @+1 {{expected the name of input #0 not to be empty (dfg-g1)}}
dfg.graph @g(%x: f32) attributes {arg_names = [""]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected the names of outputs to differ, but got 'a' twice (dfg-g1)}}
dfg.graph @g(%x: f32) -> (a: f32, a: f32) {
  dfg.return %x, %x : f32, f32
}

// -----

// expected-error @+1 {{expected 1 arguments of the body, as many as inputs, but got 2 (dfg-g2)}}
"dfg.graph"() <{arg_names = ["x"], function_type = (f32) -> (), result_names = [], sym_name = "g"}> ({
^bb0(%x: f32, %y: f32):
  "dfg.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{expected argument #0 of the body to have the input's type 'f32', but got 'f64' (dfg-g2)}}
"dfg.graph"() <{arg_names = ["x"], function_type = (f32) -> (), result_names = [], sym_name = "g"}> ({
^bb0(%x: f64):
  "dfg.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{expected a graph to end with 'dfg.return', but got 'llvm.unreachable' (dfg-g3)}}
dfg.graph @g() {
  llvm.unreachable
}

// -----

// expected-note @+1 {{in this graph; put the operation into a leaf node of its own}}
dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{'arith.addf' op expected only nodes, calls, buffers, states and wiring in a graph, but got an operation that is none of these (dfg-g4)}}
  %y = arith.addf %x, %x : f32
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-note @+1 {{in this node; put the operation into a leaf node of its own}}
  %y = dfg.node @outer (%a = %x : f32) -> f32 {
    %b = dfg.node @inner (%c = %a : f32) -> f32 {
      dfg.yield %c : f32
    }
    // expected-error @+1 {{'math.sqrt' op expected only nodes, calls, buffers, states and wiring in an internal node, but got an operation that is none of these (dfg-g4)}}
    %d = math.sqrt %b : f32
    dfg.yield %d : f32
  }
  dfg.return %y : f32
}

// -----

// expected-note @+1 {{the outputs of graph 'g' are declared here}}
dfg.graph @g(%x: f32) -> (f32, f32) {
  // expected-error @+1 {{expected 2 values, as many as outputs, but got 1 (dfg-g5)}}
  dfg.return %x : f32
}

// -----

// expected-note @+1 {{the outputs of graph 'g' are declared here}}
dfg.graph @g(%x: f32) -> f64 {
  // expected-error @+1 {{expected value #0 to have the output's type 'f64', but got 'f32' (dfg-g5)}}
  dfg.return %x : f32
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-note @+1 {{the other node is here}}
  %y = dfg.node @a (%v = %x : f32) -> f32 {
    // expected-error @+1 {{expected the names of a graph's nodes to differ, but got 'a' twice (dfg-g6)}}
    %w = dfg.node @a (%u = %v : f32) -> f32 {
      dfg.yield %u : f32
    }
    dfg.yield %w : f32
  }
  dfg.return %y : f32
}

// -----

// A graph stands in a module, not in a graph: the rule of all symbols.
dfg.graph @g() {
  // expected-error @+1 {{symbol's parent must have the SymbolTable trait}}
  dfg.graph @h() {
    dfg.return
  }
  dfg.return
}

// -----

// expected-error @+1 {{expected the type of input #0 to be a signless integer, index or float, or a ranked tensor or memref of these, but got 'tensor<*xf32>' (dfg-t1)}}
dfg.graph @g(%x: tensor<*xf32>) {
  dfg.return
}

// -----

// expected-error @+1 {{expected the type of output #0 to be a signless integer, index or float, or a ranked tensor or memref of these, but got 'tensor<4xcomplex<f32>>' (dfg-t1)}}
dfg.graph @g(%x: f32) -> tensor<4xcomplex<f32>> {
  dfg.return
}

// -----

// expected-error @+1 {{but got 'vector<4xf32>' (dfg-t1)}}
dfg.graph @g(%x: vector<4xf32>) {
  dfg.return
}

// -----

// expected-error @+1 {{but got 'ui8' (dfg-t1)}}
dfg.graph @g(%x: ui8) {
  dfg.return
}

// -----

// expected-error @+2 {{expected the memory of input #0 to have an identity layout, but got 'memref<4xf32, strided<[2]>>' (dfg-m2)}}
// expected-note @+1 {{pass the whole memory and the offsets, or copy the view into a 'dfg.buffer'}}
dfg.graph @g(%x: memref<4xf32, strided<[2]>>) {
  dfg.return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  dfg.return %x : f32
}
func.func @f(%x: f32) {
  // expected-error @+2 {{expected a call to stand directly in a graph or an internal node, but got 'func.func' around it (dfg-c1)}}
  // expected-note @+1 {{code outside a graph starts one with 'dfg.launch'}}
  %y = dfg.call @g(%x) : (f32) -> f32
  return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{expected the callee 'h' to be a graph, but got no such symbol (dfg-c2)}}
  %y = dfg.call @h(%x) : (f32) -> f32
  dfg.return %y : f32
}

// -----

// expected-note @+1 {{the symbol is defined here}}
func.func private @h(f32) -> f32
dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{expected the callee 'h' to be a graph, but got 'func.func' (dfg-c2)}}
  %y = dfg.call @h(%x) : (f32) -> f32
  dfg.return %y : f32
}

// -----

// expected-note @+1 {{the graph is defined here}}
dfg.graph @h(%x: f32) -> f32 {
  dfg.return %x : f32
}
dfg.graph @g(%x: f32) -> f64 {
  // expected-error @+1 {{expected the type of the callee 'h', '(f32) -> f32', but got '(f32) -> f64' (dfg-c3)}}
  %y = dfg.call @h(%x) : (f32) -> f64
  dfg.return %y : f64
}

// -----

dfg.graph @a(%x: f32) -> f32 {
  // expected-error @+1 {{expected calls not to be recursive, but graph 'a' reaches itself (dfg-c4)}}
  %y = dfg.call @b(%x) : (f32) -> f32
  dfg.return %y : f32
}
dfg.graph @b(%x: f32) -> f32 {
  %y = dfg.node @inside (%v = %x : f32) -> f32 {
    // expected-note @+1 {{graph 'b' calls 'c' here}}
    %w = dfg.call @c(%v) : (f32) -> f32
    dfg.yield %w : f32
  }
  dfg.return %y : f32
}
dfg.graph @c(%x: f32) -> f32 {
  // expected-note @+1 {{graph 'c' calls 'a' here}}
  %y = dfg.call @a(%x) : (f32) -> f32
  dfg.return %y : f32
}

// -----

dfg.graph @g() {
  dfg.node @n () {
    // expected-error @+2 {{expected a buffer to stand directly in a graph or an internal node, but got 'dfg.node' around it (dfg-s1)}}
    // expected-note @+1 {{memory of one instance of a leaf is 'memref.alloca', of all instances 'dfg.scratch'}}
    %b = dfg.buffer() : memref<4xf32>
  }
  dfg.return
}

// -----

dfg.graph @g() {
  // expected-error @+1 {{expected one extent for each of 1 dynamic dimensions, but got 0 (dfg-s2)}}
  %b = dfg.buffer() : memref<?xf32>
  dfg.return
}

// -----

dfg.graph @g() {
  %n = arith.constant -4 : index
  // expected-error @+1 {{expected extent #0 to be positive, but got -4 (dfg-s2)}}
  %b = dfg.buffer(%n) : memref<?xf32>
  dfg.return
}

// -----

dfg.graph @g(%x: f64) {
  // expected-error @+1 {{expected the fill value to have the element type 'f32', but got 'f64' (dfg-s2)}}
  %b = dfg.buffer() fill(%x : f64) : memref<4xf32>
  dfg.return
}

// -----

dfg.graph @g(%x: f32) {
  // expected-error @+1 {{expected the type of the buffer to be a signless integer, index or float, or a ranked tensor or memref of these, but got 'memref<4xvector<4xf32>>' (dfg-t1)}}
  %b = dfg.buffer() : memref<4xvector<4xf32>>
  dfg.return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  %y = dfg.node @n (%v = %x : f32) -> f32 {
    // expected-error @+2 {{expected a state to stand directly in a graph, but got 'dfg.node' around it (dfg-s3)}}
    // expected-note @+1 {{keep the state in the graph and pass it to the node as an operand}}
    %s = dfg.state init(%v : f32) : f32
    dfg.yield %s : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  %y = dfg.node @n (%v = %x : f32) -> f32 {
    // expected-error @+1 {{expected an update to stand directly in a graph, but got 'dfg.node' around it (dfg-s3)}}
    dfg.update %v, %v : f32
    dfg.yield %v : f32
  }
  dfg.return %y : f32
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{expected a state to have an initial value, 'init(...)', but got none (dfg-s4)}}
  %s = dfg.state : f32
  dfg.update %s, %x : f32
  dfg.return %s : f32
}

// -----

dfg.graph @g(%x: f64) -> f32 {
  // expected-error @+1 {{expected the initial value to have the state's type 'f32', but got 'f64' (dfg-s4)}}
  %s = dfg.state init(%x : f64) : f32
  dfg.return %s : f32
}

// -----

dfg.graph @g(%x: memref<4xf32>) {
  // expected-error @+2 {{expected a state to be a tensor or a scalar, but got 'memref<4xf32>' (dfg-s5)}}
  // expected-note @+1 {{a memref names memory, not a value; keep its content as a tensor}}
  %s = dfg.state init(%x : memref<4xf32>) : memref<4xf32>
  dfg.return
}

// -----

dfg.graph @g(%x: f32) -> f32 {
  // expected-error @+1 {{expected at most one update of a state, but got 2 (dfg-s6)}}
  %s = dfg.state init(%x : f32) : f32
  // expected-note @+1 {{updated here}}
  dfg.update %s, %x : f32
  // expected-note @+1 {{updated here}}
  dfg.update %s, %s : f32
  dfg.return %s : f32
}

// -----

// expected-note @+1 {{the value comes from here}}
dfg.graph @g(%x: f32) {
  // expected-error @+1 {{expected the first operand to be the result of 'dfg.state', but got another value (dfg-s7)}}
  dfg.update %x, %x : f32
  dfg.return
}

// -----

// expected-error @+1 {{expected 'function_type' to be written in the operation's syntax, but got it as an attribute}}
dfg.graph @g() attributes {function_type = () -> ()} {
  dfg.return
}

// -----

dfg.graph @g(%x: f32) {
  // expected-error @+1 {{expected 'ports' to be written in the operation's syntax, but got it as an attribute}}
  dfg.node @n (%v = %x : f32) attributes {ports = []} {
  }
  dfg.return
}
