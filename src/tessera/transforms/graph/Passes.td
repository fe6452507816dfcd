// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph transformations as passes. Each takes the name of a node and reports why it does not apply to it; without
// a name it is tried on every leaf and does what it can.
#ifndef TESSERA_TRANSFORMS_GRAPH_PASSES_TD
#define TESSERA_TRANSFORMS_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

class GraphPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FlattenPass : GraphPass<"tessera-flatten"> {
  let summary = "inline internal nodes without a grid and calls";
  let description = [{
    Only groups remain. Children are named `outer.inner`; the targets and the criticality of the outer
    node hold for them. Private graphs that nobody calls any more are removed.

    Before:
    ```mlir
    %y = dfg.node @outer (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %1 = dfg.node @inner grid(%i = %n) (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {…}
      dfg.yield %1 : tensor<8xf32>
    }
    ```
    After:
    ```mlir
    %y = dfg.node @outer.inner grid(%i = %n) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {…}
    ```
  }];
}

def OutlinePass : GraphPass<"tessera-outline"> {
  let summary = "move nodes into an internal node, or into a graph that is called";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @a grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {…}
    %2 = dfg.node @b grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {…}
    ```
    After `nodes=a,b name=ab`:
    ```mlir
    %2 = dfg.node @ab (%m = %n : index, %y = %x : tensor<?xf32>) -> tensor<?xf32> {
      %1 = dfg.node @a grid(%i = %m) (each %e = %y : tensor<?xf32>) -> tensor<?xf32> {…}
      %3 = dfg.node @b grid(%i = %m) (each %e = %1 : tensor<?xf32>) -> tensor<?xf32> {…}
      dfg.yield %3 : tensor<?xf32>
    }
    ```
    After `nodes=a,b name=ab as-graph`:
    ```mlir
    %2 = dfg.call @ab(%n, %x) : (index, tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let options = [ListOption<"nodes", "nodes", "std::string", "names of the nodes">,
                 Option<"name", "name", "std::string", "\"outlined\"", "name of the new node or graph">,
                 Option<"asGraph", "as-graph", "bool", "false", "make a graph and call it">];
}

def FuseNodesPass : GraphPass<"tessera-fuse-nodes"> {
  let summary = "fuse a producer into its consumer";
  let description = [{
    Through an `each` edge between equal grids the consumer computes its element itself. A result with other users
    is still yielded.

    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    %2 = dfg.node @sum grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> f32 reduce<addf> {
      dfg.yield %e : f32
    }
    ```
    After:
    ```mlir
    %2 = dfg.node @scale_sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    ```
    With `recompute`, an element of a tensor that is passed whole is computed again wherever the consumer extracts it:
    ```mlir
    %p = tensor.extract %s[%u] : tensor<?xf32>        // before: %s is the result of @scale
    ```
    ```mlir
    %e = tensor.extract %x[%u] : tensor<?xf32>        // after
    %p = arith.mulf %e, %e : f32
    ```
  }];
  let options = [Option<"producer", "producer", "std::string", "", "name of the producer">,
                 Option<"consumer", "consumer", "std::string", "", "name of the consumer">,
                 Option<"recompute", "recompute", "bool", "false", "compute elements again where they are read">,
                 Option<"maxCost", "max-cost", "double", "256", "most operations recomputed by one instance">];
}

def FuseSiblingsPass : GraphPass<"tessera-fuse-siblings"> {
  let summary = "make one node of two independent nodes with equal grids";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @lo grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<minimumf> {…}
    %2 = dfg.node @hi grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<maximumf> {…}
    ```
    After:
    ```mlir
    %1, %2 = dfg.node @lo_hi grid(%i = %n) (each %e = %x : tensor<?xf32>) -> (f32 reduce<minimumf>, f32 reduce<maximumf>) {…}
    ```
  }];
  let options = [Option<"first", "first", "std::string", "", "name of one node">,
                 Option<"second", "second", "std::string", "", "name of the other">];
}

def TileGridPass : GraphPass<"tessera-tile-grid"> {
  let summary = "make a leaf a group of tiles";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c64) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {…}
    ```
    After `sizes=16`:
    ```mlir
    %1 = dfg.node @scale_tiles grid(%i = %c4) (%a = %x : tensor<64xf32>) -> tensor<64xf32> tile {
      %base = arith.muli %i, %c16 : index
      %s = tensor.extract_slice %a[%base] [16] [1] : tensor<64xf32> to tensor<16xf32>
      %2 = dfg.node @scale grid(%k = %c16) (each %e = %s : tensor<16xf32>, …) -> tensor<16xf32> {…}
      dfg.yield %2 : tensor<16xf32>
    }
    ```
    Where no result is gathered, the last tile may be cut short. Size 0 leaves a dimension in one piece.
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 ListOption<"sizes", "sizes", "int64_t", "tile size for each grid dimension">];
}

def PerforateGridPass : GraphPass<"tessera-perforate-grid"> {
  let summary = "compute only some positions of a grid dimension, and fill in the others between them";
  let description = [{
    Positions p with (p - offset) mod rate < skip are not computed; they lie on the line between their nearest computed
    neighbours, and before the first and after the last of these are copies. This changes results: see `dfg.knob`.

    Before:
    ```mlir
    %y = dfg.node @blur grid(%i = %h, %j = %w) (%a = %x : tensor<?x?xf32>) -> tensor<?x?xf32> {…}
    ```
    After `dim=0 rate=2`:
    ```mlir
    %c = dfg.node @blur_some grid(%i = %n, %j = %w) (%a = %x : tensor<?x?xf32>, %e = %h : index) -> tensor<?x?xf32> {…}   // for 2i + 1
    %y = dfg.node @blur_fill grid(%i = %h, %j = %w) (%a = %c : tensor<?x?xf32>) -> tensor<?x?xf32> {…}
    ```
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 Option<"dim", "dim", "unsigned", "0", "grid dimension">,
                 Option<"rate", "rate", "int64_t", "2", "length of a period">,
                 Option<"skip", "skip", "int64_t", "1", "positions of a period that are left out">,
                 Option<"offset", "offset", "int64_t", "0", "the first of them">,
                 Option<"cubic", "cubic", "bool", "false", "fill in by cubics through four rows">];
}

def SplitGridPass : GraphPass<"tessera-split-grid"> {
  let summary = "split a node into two over parts of one grid dimension";
  let description = [{
    Before:
    ```mlir
    %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
    After `at=100`:
    ```mlir
    %a = dfg.node @sum_lower grid(%i = %m) (each %e = %x0 : tensor<?xf32>) -> f32 reduce<addf> {…}   // %m = min(100, %n)
    %b = dfg.node @sum_upper grid(%i = %r) (each %e = %x1 : tensor<?xf32>) -> f32 reduce<addf> {…}   // %r = %n - %m
    %s = dfg.node @sum_combine (%p = %a : f32, %q = %b : f32) -> f32 { %v = arith.addf %p, %q : f32 … }
    ```
    Memory goes through the lower part to the upper one.
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 Option<"dim", "dim", "unsigned", "0", "grid dimension">,
                 Option<"at", "at", "int64_t", "1", "first instance of the upper part">];
}

def SequentialisePass : GraphPass<"tessera-sequentialise"> {
  let summary = "turn grid dimensions into loops inside the leaf";
  let description = [{
    Before:
    ```mlir
    %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 fold<addf> {
      dfg.yield %e : f32
    }
    ```
    After:
    ```mlir
    %s = dfg.node @sum (%a = %x : tensor<?xf32>, %m = %n : index) -> f32 {
      %1 = scf.for %i = %c0 to %m step %c1 iter_args(%acc = %identity) -> f32 {
        %e = tensor.extract %a[%i] : tensor<?xf32>
        %2 = arith.addf %acc, %e : f32
        scf.yield %2 : f32
      }
      dfg.yield %1 : f32
    }
    ```
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 ListOption<"dims", "dims", "int64_t", "grid dimensions; all when empty">];
}

def PrivatisePass : GraphPass<"tessera-privatise"> {
  let summary = "give instances memory of their own";
  let description = [{
    Scratch memory, or a port on a buffer of its own, that each instance writes before it reads becomes local:

    Before:
    ```mlir
    %s = dfg.scratch : memref<4xf32>
    ```
    After:
    ```mlir
    %s = memref.alloca() : memref<4xf32>
    ```
    An `acc` port becomes one copy for each chunk of the grid:

    Before:
    ```mlir
    %h1 = dfg.node @count grid(%i = %n) (each %e = %x : tensor<?xi32>, acc<addi> %b = %h0 : memref<256xi32>) {…}
    ```
    After `node=count port=1 chunks=8`:
    ```mlir
    %p0 = dfg.buffer() fill(%zero : i32) : memref<8x256xi32>
    %p1 = dfg.node @count grid(%c = %c8) (%a = %x : tensor<?xi32>, inout %b = %p0 : memref<8x256xi32>, …) {…}
    %h1 = dfg.node @count_merge grid(%k = %c256) (in %p = %p1 : memref<8x256xi32>, acc<addi> %b = %h0 : memref<256xi32>) {…}
    ```
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 Option<"port", "port", "int64_t", "-1", "position of the operand; scratch memory when negative">,
                 Option<"chunks", "chunks", "int64_t", "8", "copies of an accumulator">];
}

def UnrollPass : GraphPass<"tessera-unroll"> {
  let summary = "unroll innermost loops of a leaf, or a grid dimension";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
      %v = arith.mulf %e, %e : f32
      dfg.yield %v : f32
    }
    ```
    After `dim=0 factor=2`:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c4) (%a = %x : tensor<8xf32>) -> tensor<8xf32> tile {
      …
      %t = tensor.from_elements %v0, %v1 : tensor<2xf32>
      dfg.yield %t : tensor<2xf32>
    }
    ```
    Without `dim`, innermost loops are unrolled by the factor, or fully when it is 0.
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">,
                 Option<"dim", "dim", "int64_t", "-1", "grid dimension; loops when negative">,
                 Option<"factor", "factor", "int64_t", "0", "factor; 0 unrolls a loop fully">];
}

def FuseLoopsPass : GraphPass<"tessera-fuse-loops"> {
  let summary = "make one loop of two adjacent loops inside a leaf";
  let description = [{
    Before:
    ```mlir
    scf.for %k = %c0 to %c8 step %c1 { memref.store %v, %a[%k] : memref<8xf32> }
    scf.for %k = %c0 to %c8 step %c1 { %w = memref.load %a[%k] : memref<8xf32> … }
    ```
    After:
    ```mlir
    scf.for %k = %c0 to %c8 step %c1 {
      memref.store %v, %a[%k] : memref<8xf32>
      %w = memref.load %a[%k] : memref<8xf32> …
    }
    ```
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">];
}

def HoistPass : GraphPass<"tessera-hoist"> {
  let summary = "move work that all instances do alike into a node without a grid";
  let description = [{
    Before:
    ```mlir
    %y = dfg.node @f grid(%i = %n) (%a = %x : f32, each %e = %t : tensor<?xf32>) -> tensor<?xf32> {
      %r = math.exp %a : f32
      %v = arith.mulf %e, %r : f32
      dfg.yield %v : f32
    }
    ```
    After:
    ```mlir
    %r = dfg.node @f_invariant (%a = %x : f32) -> f32 {
      %1 = math.exp %a : f32
      dfg.yield %1 : f32
    }
    %y = dfg.node @f grid(%i = %n) (each %e = %t : tensor<?xf32>, %s = %r : f32) -> tensor<?xf32> {
      %v = arith.mulf %e, %s : f32
      dfg.yield %v : f32
    }
    ```
  }];
  let options = [Option<"node", "node", "std::string", "", "name of the node">];
}

def SimplifyPass : GraphPass<"tessera-simplify"> {
  let summary = "remove dead nodes, results and operands, copies and duplicates";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @copy grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {
      dfg.yield %e : f32
    }
    %2 = dfg.node @dead grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {…}
    dfg.return %1 : tensor<?xf32>
    ```
    After:
    ```mlir
    dfg.return %x : tensor<?xf32>
    ```
  }];
}

#endif
