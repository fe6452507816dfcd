// What ports declare against what bodies do.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-check-effects

dfg.graph @write_in(%b: memref<?xf32>, %n: index) {
  // expected-note @+1 {{the port is here; declare it 'inout' to read and write, 'out' to write}}
  dfg.node @n grid(%i = %n) (in %p = %b : memref<?xf32>) {
    %x = memref.load %p[%i] : memref<?xf32>
    // expected-error @+1 {{'memref.store' op expected no write through the 'in' port #0 of node 'n', but got one (dfg-e1)}}
    memref.store %x, %p[%i] : memref<?xf32>
  }
  dfg.return
}

// -----

// Through a view, a loop and a branch.
dfg.graph @alias(%b: memref<8xf32>, %c: memref<8xf32>, %flag: i1) {
  // expected-note @+1 {{the port is here}}
  dfg.node @n (in %p = %b : memref<8xf32>, in %q = %c : memref<8xf32>, %f = %flag : i1) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %x = arith.constant 1.0 : f32
    %v = memref.subview %p[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
    %u = memref.subview %q[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
    %w = scf.for %k = %zero to %one step %one iter_args(%a = %v) -> memref<4xf32, strided<[1], offset: 2>> {
      %r = scf.if %f -> memref<4xf32, strided<[1], offset: 2>> {
        scf.yield %a : memref<4xf32, strided<[1], offset: 2>>
      } else {
        scf.yield %u : memref<4xf32, strided<[1], offset: 2>>
      }
      scf.yield %r : memref<4xf32, strided<[1], offset: 2>>
    }
    // expected-error @+2 {{expected no write through the 'in' port #0 of node 'n', but got one (dfg-e1)}}
    // expected-error @+1 {{expected no write through the 'in' port #1 of node 'n', but got one (dfg-e1)}}
    linalg.fill ins(%x : f32) outs(%w : memref<4xf32, strided<[1], offset: 2>>)
  }
  dfg.return
}

// -----

// In a function, with the place inside.
func.func @clear(%m: memref<?xf32>, %i: index) {
  %x = arith.constant 0.0 : f32
  // expected-note @+1 {{the write inside is here}}
  memref.store %x, %m[%i] : memref<?xf32>
  return
}
dfg.graph @function(%b: memref<?xf32>, %n: index) {
  // expected-note @+1 {{the port is here}}
  dfg.node @n grid(%i = %n) (in %p = %b : memref<?xf32>) {
    // expected-error @+1 {{'func.call' op expected no write through the 'in' port #0 of node 'n', but got one (dfg-e1)}}
    func.call @clear(%p, %i) : (memref<?xf32>, index) -> ()
  }
  dfg.return
}

// -----

// By a child of an internal node.
dfg.graph @child(%b: memref<?xf32>, %n: index) {
  // expected-note @+1 {{the port is here}}
  dfg.node @outer (in %p = %b : memref<?xf32>, %m = %n : index) {
    // expected-error @+1 {{'dfg.node' op expected no write through the 'in' port #0 of node 'outer', but got one (dfg-e1)}}
    %p1 = dfg.node @inner grid(%i = %m) (out %q = %p : memref<?xf32>) {
      %x = arith.constant 0.0 : f32
      memref.store %x, %q[%i] : memref<?xf32>
    }
  }
  dfg.return
}

// -----

dfg.graph @read_first(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the port is here; declare it 'inout' to read what was there before}}
  %b1 = dfg.node @n grid(%i = %n) (out %p = %b : memref<?xf32>) {
    // expected-error @+1 {{'memref.load' op expected the 'out' port #0 of node 'n' to be written before it is read, but got a read first (dfg-e2)}}
    %x = memref.load %p[%i] : memref<?xf32>
    memref.store %x, %p[%i] : memref<?xf32>
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// In a loop, the first round reads first.
func.func @peek(%m: memref<?xf32>, %i: index) -> f32 {
  // expected-note @+1 {{the read inside is here}}
  %x = memref.load %m[%i] : memref<?xf32>
  return %x : f32
}
dfg.graph @read_in_loop(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  // expected-note @+1 {{the port is here}}
  %b1 = dfg.node @n grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %k = %zero to %one step %one {
      // expected-error @+1 {{expected the 'out' port #0 of node 'n' to be written before it is read, but got a read first (dfg-e2)}}
      %x = func.call @peek(%p, %i) : (memref<?xf32>, index) -> f32
      memref.store %x, %p[%i] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

// Reading back what was written is fine, also in another block.
dfg.graph @read_back(%b: memref<?xf32>, %n: index) -> memref<?xf32> {
  %b1 = dfg.node @n grid(%i = %n) (out %p = %b : memref<?xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %f = arith.constant 1.0 : f32
    memref.store %f, %p[%i] : memref<?xf32>
    scf.for %k = %zero to %one step %one {
      %x = memref.load %p[%i] : memref<?xf32>
      %y = arith.addf %x, %f : f32
      memref.store %y, %p[%i] : memref<?xf32>
    }
  }
  dfg.return %b1 : memref<?xf32>
}

// -----

memref.global @counter : memref<1xi32> = dense<0>
dfg.graph @global(%n: index) {
  // expected-note @+1 {{the node is here; pass the memory through an 'inout' port}}
  dfg.node @n grid(%i = %n) () {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %m = memref.get_global @counter : memref<1xi32>
    // expected-error @+1 {{'memref.store' op expected node 'n' to write only through its ports, but got a write to the global 'counter' (dfg-e3)}}
    memref.store %one, %m[%zero] : memref<1xi32>
  }
  dfg.return
}

// -----

dfg.graph @never(%b: memref<?xf32>, %n: index) -> (memref<?xf32>, f32) {
  // expected-warning @+2 {{'inout' port #0 of node 'n' is never written (dfg-e4)}}
  // expected-note @+1 {{the port is here; declare it 'in', or leave it out}}
  %s, %b1 = dfg.node @n grid(%i = %n) (inout %p = %b : memref<?xf32>) -> f32 reduce<addf> {
    %x = memref.load %p[%i] : memref<?xf32>
    dfg.yield %x : f32
  }
  dfg.return %b1, %s : memref<?xf32>, f32
}

// -----

func.func private @outside(memref<?xf32>)
dfg.graph @unknown(%b: memref<?xf32>, %n: index) {
  // expected-note @+1 {{the port is here}}
  dfg.node @n (in %p = %b : memref<?xf32>) {
    // expected-remark @+1 {{could not decide whether 'func.call' reads or writes the 'in' port #0 of node 'n' (dfg-e5)}}
    func.call @outside(%p) : (memref<?xf32>) -> ()
  }
  dfg.return
}

// -----

// Called graphs are followed, and what a child accumulates is a write.
dfg.graph @count(%h: memref<16xi32>, %x: tensor<?xindex>, %n: index) -> memref<16xi32> {
  %h1 = dfg.node @bin grid(%i = %n) (each %k = %x : tensor<?xindex>, acc<addi> %p = %h : memref<16xi32>) {
    %one = arith.constant 1 : i32
    dfg.accumulate %one, %p[%k] : memref<16xi32>
  }
  dfg.return %h1 : memref<16xi32>
}
dfg.graph @caller(%h: memref<16xi32>, %x: tensor<?xindex>, %n: index) -> memref<16xi32> {
  %h1 = dfg.node @outer (inout %p = %h : memref<16xi32>, %y = %x : tensor<?xindex>, %m = %n : index) {
    %q = dfg.call @count(%p, %y, %m) : (memref<16xi32>, tensor<?xindex>, index) -> memref<16xi32>
  }
  dfg.return %h1 : memref<16xi32>
}

// -----

dfg.graph @undefined(%n: index) -> (memref<16xi32>, memref<16xi32>) {
  %zero = arith.constant 0 : i32
  // expected-note @+1 {{the buffer is here; give it a 'fill', or write it through an 'out' port first}}
  %b = dfg.buffer() : memref<16xi32>
  %c = dfg.buffer() fill(%zero : i32) : memref<16xi32>
  // expected-warning @+1 {{the content of a buffer is undefined where it is first read (dfg-e6)}}
  %b1, %c1 = dfg.node @count grid(%i = %n) (acc<addi> %p = %b : memref<16xi32>, acc<addi> %q = %c : memref<16xi32>) {
    %one = arith.constant 1 : i32
    %k = arith.constant 3 : index
    dfg.accumulate %one, %p[%k] : memref<16xi32>
    dfg.accumulate %one, %q[%k] : memref<16xi32>
  }
  dfg.return %b1, %c1 : memref<16xi32>, memref<16xi32>
}
