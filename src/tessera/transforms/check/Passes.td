// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that look further than a verifier may: through bodies, functions and pairs of instances. They change nothing.
#ifndef TESSERA_TRANSFORMS_CHECK_PASSES_TD
#define TESSERA_TRANSFORMS_CHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckEffectsPass : Pass<"tessera-check-effects", "::mlir::ModuleOp"> {
  let summary = "Compare what memory ports declare with what bodies do";
  let description = [{
    Follows the memory of each port of each node through views, casts, loops, branches, functions and child nodes.

    * A write through an `in` port is an error at the write (dfg-e1).
    * A read of an `out` port before anything was written there is an error: its content is undefined (dfg-e2).
    * A leaf that writes memory which is no port, a `memref.global`, is an error: nodes have no hidden state (dfg-e3).
    * An `out`, `inout` or `acc` port that is never written is a warning: it orders nodes for nothing (dfg-e4).
    * An operation whose effects are not known is a remark (dfg-e5).
    * A buffer without a fill value that is read before it is written is a warning (dfg-e6).

    Example:

    ```mlir
    %b1 = dfg.node @scale grid(%i = %n) (in %p = %b : memref<?xf32>, out %q = %c : memref<?xf32>) {
      %x = memref.load %p[%i] : memref<?xf32>
      memref.store %x, %p[%i] : memref<?xf32>    // error: write through the 'in' port #0 (dfg-e1)
    }                                            // warning: 'out' port #1 is never written (dfg-e4)
    ```
  }];
}

def CheckRacesPass : Pass<"tessera-check-races", "::mlir::ModuleOp"> {
  let summary = "Find two instances of a node that touch the same element, one of them writing";
  let description = [{
    For each pair of accesses to a port or to scratch memory, asks MLIR's Presburger library for two different
    instances, in the same phase between barriers, that meet in one element. Indices are followed through sums,
    products with constants, quotients and remainders by constants, minima and maxima, selections, casts and affine
    maps; loops give bounds, and branches on affine comparisons give conditions. Extents are symbols. A group's
    instances are compared across all its children.

    * A meeting is an error with a witness (dfg-p1).
    * A meeting that hangs on something not affine (an index read from memory, a product of two variables) is a remark
      that says what could not be decided (dfg-p2).

    Atomic operations and `dfg.accumulate` do not race with themselves. Gathered tensors never race.

    Example:

    ```mlir
    %b1 = dfg.node @shift grid(%i = %n) (inout %p = %b : memref<?xf32>) {
      %one = arith.constant 1 : index
      %j = arith.addi %i, %one : index
      %x = memref.load %p[%j] : memref<?xf32>
      memref.store %x, %p[%i] : memref<?xf32>
      // error: instance (1) writes and instance (0) reads element [1] of port #0 of node 'shift', e.g. for extents (2) (dfg-p1)
    }
    ```
  }];
}

def CheckApproximatePass : Pass<"tessera-check-approximate", "::mlir::ModuleOp"> {
  let summary = "Find what must be exact and depends on results that are marked as approximate";
  let description = [{
    Follows the results of each node that has `dfg.approximate` through nodes, calls, versions, states, memory, loops and branches. An index, the
    condition of a branch, the bound of a loop, an extent or an integer divisor that depends on them is an error (dfg-x1), and so is an operation
    that the check does not know. The shape of such a result is not approximate, and what leaves a graph is its caller's business.

    Example:

    ```mlir
    %k = dfg.node @classify grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xi32> attributes {dfg.approximate} { … }
    %h1 = dfg.node @count grid(%i = %n) (each %e = %k : tensor<?xi32>, acc<addi> %h = %h0 : memref<256xi32>) {
      %place = arith.index_cast %e : i32 to index
      dfg.accumulate %one, %h[%place] : memref<256xi32>
      // error: the results of node 'classify' are marked as approximate, but an index depends on them (dfg-x1)
    }
    ```
  }];
}

def CheckDeadPass : Pass<"tessera-check-dead", "::mlir::ModuleOp"> {
  let summary = "Warn of results, nodes, inputs and graphs that nobody uses";
  let description = [{
    All findings are warnings:

    * a result of a node or call that nobody uses (dfg-w1);
    * a node or call none of whose results reaches an output or a state (dfg-w2);
    * a private graph that is never called, launched or opened (dfg-w3);
    * an input of a graph that nobody uses (dfg-w4);
    * a state that is never updated, and so stays its initial value (dfg-w5);
    * a run that is never waited for, a stream that is never closed (dfg-w6).
  }];
}

def CheckDimsPass : Pass<"tessera-check-dims", "::mlir::ModuleOp"> {
  let summary = "Find extents of dimensions that a shape does not have";
  let description = [{
    A constant dimension of `tensor.dim` or `memref.dim` that is negative or not below the rank is an error (dfg-k1).

    Example:

    ```mlir
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?xf32>    // error: asks for dimension 1 of a shape of rank 1
    ```
  }];
}

#endif
