// Rules of memory ports (m): one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected a memory port ('in', 'out', 'inout' or 'acc') for operand #0 of type 'memref<4xf32>', but got 'whole' (dfg-m1)}}
  dfg.node @n (%v = %b : memref<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected a memref for the 'in' port #0, but got 'tensor<4xf32>' (dfg-m1)}}
  // expected-note @+1 {{tensors and scalars are values: receive them whole, or 'each' its own}}
  dfg.node @n (in %v = %x : tensor<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%b: memref<8xf32>) {
  %v = memref.subview %b[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
  // expected-error @+2 {{expected the memory of operand #0 to have an identity layout, but got 'memref<4xf32, strided<[2]>>' (dfg-m2)}}
  // expected-note @+1 {{pass the whole memory and the offsets, or copy the view into a 'dfg.buffer'}}
  dfg.node @n (in %x = %v : memref<4xf32, strided<[2]>>) {
  }
  dfg.return
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected the result of port #0 to have the operand's type 'memref<4xf32>', but got 'memref<?xf32>' (dfg-m3)}}
  %0 = "dfg.node"(%b) <{name = "n", operandSegmentSizes = array<i32: 0, 1>, ports = [#dfg.port<out>], yields = []}> ({
  ^bb0(%v: memref<4xf32>):
    "dfg.yield"() : () -> ()
  }) : (memref<4xf32>) -> memref<?xf32>
  dfg.return
}

// -----

// The old value is dead once a port has consumed it.
dfg.graph @g(%b: memref<4xf32>) {
  // expected-note @+1 {{consumed here by the 'inout' port of node 'write'; use the result instead}}
  %b1 = dfg.node @write (inout %v = %b : memref<4xf32>) {
  }
  // expected-error @+1 {{expected operand #0 to be memory that is still valid, but it was consumed before (dfg-m4)}}
  dfg.node @read (in %v = %b : memref<4xf32>) {
  }
  dfg.return
}

// -----

// Neither a view nor a cast brings it back.
dfg.graph @g(%b: memref<4xf32>) -> memref<4xf32> {
  %c = memref.cast %b : memref<4xf32> to memref<?xf32>
  // expected-note @+1 {{consumed here by the 'out' port of node 'write'; use the result instead}}
  %b1 = dfg.node @write (out %v = %c : memref<?xf32>) {
  }
  // expected-error @+1 {{expected operand #0 to be memory that is still valid, but it was consumed before (dfg-m4)}}
  dfg.return %b : memref<4xf32>
}

// -----

dfg.graph @callee(%b: memref<4xf32>) {
  dfg.return
}
dfg.graph @g(%b: memref<4xf32>) -> memref<4xf32> {
  // expected-note @+1 {{consumed here by the call of 'callee'; use the result instead}}
  dfg.call @callee(%b) : (memref<4xf32>) -> ()
  // expected-error @+1 {{expected operand #0 to be memory that is still valid, but it was consumed before (dfg-m4)}}
  dfg.return %b : memref<4xf32>
}

// -----

// Also in an internal node.
dfg.graph @g(%b: memref<4xf32>) {
  %b9 = dfg.node @outer (inout %o = %b : memref<4xf32>) {
    // expected-note @+1 {{consumed here by the 'acc' port of node 'count'; use the result instead}}
    %b1 = dfg.node @count (acc<addf> %v = %o : memref<4xf32>) {
    }
    // expected-error @+1 {{expected operand #0 to be memory that is still valid, but it was consumed before (dfg-m4)}}
    dfg.node @read (in %v = %o : memref<4xf32>) {
    }
  }
  dfg.return
}

// -----

// expected-note @+1 {{the memory comes from here}}
dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+1 {{expected memory that is consumed to be passed once, but operands #0 and #1 are the same memory (dfg-m5)}}
  %b1 = dfg.node @n (in %u = %b : memref<4xf32>, out %v = %b : memref<4xf32>) {
  }
  dfg.return
}

// -----

dfg.graph @g() -> (memref<4xf32>, memref<4xf32>) {
  // expected-note @+1 {{the memory comes from here}}
  %b = dfg.buffer() : memref<4xf32>
  // expected-error @+1 {{expected memory that is consumed to be passed once, but operands #0 and #1 are the same memory (dfg-m5)}}
  dfg.return %b, %b : memref<4xf32>, memref<4xf32>
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  // expected-error @+2 {{expected result #0 to be a value, but got 'memref<4xf32>' (dfg-m6)}}
  // expected-note @+1 {{memory leaves a node only as the result of a port that came in with it}}
  %c = dfg.node @n (in %v = %b : memref<4xf32>) -> memref<4xf32> {
    dfg.yield %v : memref<4xf32>
  }
  dfg.return
}

// -----

dfg.graph @g(%b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the port is here; declare it 'inout' to read and write}}
  %b1 = dfg.node @n (acc<addf> %v = %b : memref<4xf32>) {
    %z = arith.constant 0 : index
    // expected-error @+1 {{expected the memory of an 'acc' port only to be accumulated into with the port's reduction, but got another use (dfg-m7)}}
    %x = memref.load %v[%z] : memref<4xf32>
  }
  dfg.return
}

// -----

// A child with another reduction would mix the two.
dfg.graph @g(%b: memref<4xf32>) {
  // expected-note @+1 {{the port is here; declare it 'inout' to read and write}}
  %b9 = dfg.node @outer (acc<addf> %v = %b : memref<4xf32>) {
    %b1 = dfg.node @sum (acc<addf> %u = %v : memref<4xf32>) {
    }
    // expected-error @+1 {{expected the memory of an 'acc' port only to be accumulated into with the port's reduction, but got another use (dfg-m7)}}
    %b2 = dfg.node @max (acc<maximumf> %u = %b1 : memref<4xf32>) {
    }
  }
  dfg.return
}
