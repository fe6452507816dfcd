// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule operations on the graph: find nodes, change the hierarchy, fuse, and change a leaf's grid or its loops.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_GRAPHOPS_TD
#define TESSERA_TRANSFORMS_SCHEDULE_GRAPHOPS_TD

include "tessera/transforms/schedule/Numbers.td"

include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

class GraphScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "tessera." # mnemonic,
         traits # [DeclareOpInterfaceMethods<TransformOpInterface>, MemoryEffectsOpInterface]> {
  let cppNamespace = "::tessera::schedule";
}

// Consumes its handles and produces new ones.
class GraphRewriteOp<string mnemonic, list<Trait> traits = []>
    : GraphScheduleOp<mnemonic, traits # [ConsumesHandles, ReportTrackingListenerFailuresOpTrait]>;

def MatchNodeOp : GraphScheduleOp<"match_node", [NavigationTransformOpTrait]> {
  let summary = "find nodes by name, or all leaves";
  let description = [{
    With a name: the nodes of that name below the payload; it fails when there is none. Without: all leaves.

    ```mlir
    %n = transform.tessera.match_node "gaussian" in %graph : (!transform.any_op) -> !transform.any_op
    %all = transform.tessera.match_node in %graph : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, TransformHandleTypeInterface:$root);
  let results = (outs TransformHandleTypeInterface:$nodes);
  let assemblyFormat = "($name^)? `in` $root attr-dict `:` functional-type($root, $nodes)";
}

def MatchGraphOp : GraphScheduleOp<"match_graph", [NavigationTransformOpTrait]> {
  let summary = "find a graph by name";
  let description = [{
    ```mlir
    %g = transform.tessera.match_graph "edges" in %program : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins StrAttr:$name, TransformHandleTypeInterface:$root);
  let results = (outs TransformHandleTypeInterface:$graph);
  let assemblyFormat = "$name `in` $root attr-dict `:` functional-type($root, $graph)";
}

def FlattenOp : GraphRewriteOp<"flatten"> {
  let summary = "inline internal nodes without a grid, or calls, into their parents";
  let description = [{
    For a graph or a module: all hierarchy in it that is not replicated. The result is what was inlined, or the graph.

    Before:
    ```mlir
    %y = dfg.node @outer (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %1 = dfg.node @inner … (each %e = %a : tensor<8xf32>) -> tensor<8xf32> {…}
      dfg.yield %1 : tensor<8xf32>
    }
    ```
    After `%c = transform.tessera.flatten %outer`:
    ```mlir
    %y = dfg.node @outer.inner … (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$inlined);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, $inlined)";
}

def OutlineOp : GraphRewriteOp<"outline"> {
  let summary = "move nodes of one graph into an internal node, or into a graph that is called";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @a …
    %2 = dfg.node @b … (each %e = %1 : tensor<8xf32>) …
    ```
    After `%o = transform.tessera.outline %nodes as "ab"`:
    ```mlir
    %2 = dfg.node @ab (…) -> tensor<8xf32> { dfg.node @a …; dfg.node @b …; dfg.yield … }
    ```
    With `{as_graph}` the nodes go into a private graph `@ab`, and the result is its call.
  }];
  let arguments = (ins TransformHandleTypeInterface:$nodes, StrAttr:$name, UnitAttr:$as_graph);
  let results = (outs TransformHandleTypeInterface:$outlined);
  let assemblyFormat = "$nodes `as` $name attr-dict `:` functional-type($nodes, $outlined)";
}

def FuseNodesOp : GraphRewriteOp<"fuse_nodes"> {
  let summary = "fuse a producer into its consumer";
  let description = [{
    Through `each` edges between equal grids, for free. With `recompute`, also where the consumer reads other elements
    than its own: the producer's body is copied to each place that reads one, as long as that adds at most `max_cost`
    operations to an instance; the producer stays for its other users. `max_cost %p` takes that from a parameter.

    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {…}
    %2 = dfg.node @sum grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
    After `%f = transform.tessera.fuse_nodes %scale into %sum`:
    ```mlir
    %2 = dfg.node @scale_sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$producer, TransformHandleTypeInterface:$consumer,
                       UnitAttr:$recompute, DefaultValuedAttr<F64Attr, "256.0">:$max_cost,
                       NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$fused);
  let assemblyFormat = "$producer `into` custom<ConsumerAndCost>($consumer, $params) attr-dict `:` functional-type(operands, $fused)";
}

def FuseSiblingsOp : GraphRewriteOp<"fuse_siblings"> {
  let summary = "make one node of two independent nodes with equal grids";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @lo grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<minimumf> {…}
    %2 = dfg.node @hi grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<maximumf> {…}
    ```
    After `%f = transform.tessera.fuse_siblings %lo, %hi`:
    ```mlir
    %1, %2 = dfg.node @lo_hi grid(%i = %n) (each %e = %x : tensor<?xf32>) -> (f32 reduce<minimumf>, f32 reduce<maximumf>) {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$first, TransformHandleTypeInterface:$second);
  let results = (outs TransformHandleTypeInterface:$fused);
  let assemblyFormat = "$first `,` $second attr-dict `:` functional-type(operands, $fused)";
}

def TileGridOp : GraphRewriteOp<"tile_grid", [TakesNumbers]> {
  let summary = "make a leaf a group of tiles";
  let description = [{
    Size 0 leaves a dimension in one piece. Gathered results need sizes that divide the extents; otherwise the last
    tile is cut short.

    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c64) (each %e = %x : tensor<64xf32>) -> tensor<64xf32> {…}
    ```
    After `%group, %leaf = transform.tessera.tile_grid %scale sizes [16]`:
    ```mlir
    %1 = dfg.node @scale_tiles grid(%i = %c4) (%a = %x : tensor<64xf32>) -> tensor<64xf32> tile {
      …
      %2 = dfg.node @scale grid(%k = %c16) (each %e = %slice : tensor<16xf32>, …) -> tensor<16xf32> {…}
      dfg.yield %2 : tensor<16xf32>
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, DenseI64ArrayAttr:$sizes, NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$group, TransformHandleTypeInterface:$leaf);
  let assemblyFormat = "$target `sizes` custom<NumberList>($sizes, $params) attr-dict `:` functional-type($target, results)";
}

def SplitGridOp : GraphRewriteOp<"split_grid", [TakesNumbers]> {
  let summary = "split a node into two over parts of one grid dimension";
  let description = [{
    Reductions are combined by a third node; memory goes through the first to the second.

    Before:
    ```mlir
    %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
    After `%a, %b, %c = transform.tessera.split_grid %sum at 100`:
    ```mlir
    %a = dfg.node @sum_lower grid(%i = %m) (…) -> f32 reduce<addf> {…}
    %b = dfg.node @sum_upper grid(%i = %r) (…) -> f32 reduce<addf> {…}
    %s = dfg.node @sum_combine (%p = %a : f32, %q = %b : f32) -> f32 {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, I64Attr:$at, DefaultValuedAttr<I64Attr, "0">:$dim,
                       NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$first, TransformHandleTypeInterface:$second,
                      TransformHandleTypeInterface:$combine);
  let assemblyFormat = "$target `at` custom<NumberAndDim>($at, $dim, $params) attr-dict `:` functional-type($target, results)";
}

def SequentialiseOp : GraphRewriteOp<"sequentialise", [TakesNumbers]> {
  let summary = "turn grid dimensions into loops inside the leaf";
  let description = [{
    All dimensions, or those in `dims`.

    Before:
    ```mlir
    %s = dfg.node @sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 fold<addf> { dfg.yield %e : f32 }
    ```
    After `%l = transform.tessera.sequentialise %sum`:
    ```mlir
    %s = dfg.node @sum (%a = %x : tensor<?xf32>, %m = %n : index) -> f32 {
      %1 = scf.for %i = %c0 to %m step %c1 iter_args(%acc = %identity) -> f32 {…}
      dfg.yield %1 : f32
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, OptionalAttr<DenseI64ArrayAttr>:$dims,
                       NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$leaf);
  let assemblyFormat = "custom<HandleAndDims>($target, $dims, $params) attr-dict `:` functional-type($target, $leaf)";
}

def PrivatiseOp : GraphRewriteOp<"privatise", [TakesNumbers]> {
  let summary = "give instances memory of their own";
  let description = [{
    Without a port: the leaf's scratch memory becomes local to each instance, when each writes it before reading.
    With an `out` or `inout` port on a buffer of its own: the same. With an `acc` port: each of `chunks` parts of the
    grid gets its own copy, and a second node, the second result, merges them.

    Before:
    ```mlir
    %h1 = dfg.node @count grid(%i = %n) (…, acc<addi> %b = %h0 : memref<256xi32>) {…}
    ```
    After `%n, %m = transform.tessera.privatise %count port 1 chunks 8`:
    ```mlir
    %p0 = dfg.buffer() fill(%zero : i32) : memref<8x256xi32>
    %p1 = dfg.node @count grid(%c = %c8) (…, inout %b = %p0 : memref<8x256xi32>) {…}
    %h1 = dfg.node @count_merge grid(%k = %c256) (in %p = %p1 : memref<8x256xi32>, acc<addi> %b = %h0 : memref<256xi32>) {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, OptionalAttr<I64Attr>:$port,
                       DefaultValuedAttr<I64Attr, "8">:$chunks, NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$node, TransformHandleTypeInterface:$merge);
  let assemblyFormat = "custom<PortAndChunks>($target, $port, $chunks, $params) attr-dict `:` functional-type($target, results)";
}

def UnrollLoopOp : GraphRewriteOp<"unroll_loop", [TakesNumbers]> {
  let summary = "unroll a loop inside a leaf by a factor, or fully";
  let description = [{
    The loop is an `scf.for`, found with `transform.structured.match`. Without `factor 4` it is unrolled fully.

    Before:
    ```mlir
    %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %z) -> f32 { %b = f(%a, %k); scf.yield %b : f32 }
    ```
    After `transform.tessera.unroll_loop %loop`:
    ```mlir
    %b0 = f(%z, %c0)
    %s = f(%b0, %c1)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$loop, DefaultValuedAttr<I64Attr, "0">:$factor,
                       NumberParams:$params);
  let assemblyFormat = "custom<LoopAndFactor>($loop, $factor, $params) attr-dict `:` type($loop)";
}

def UnrollGridOp : GraphRewriteOp<"unroll_grid", [TakesNumbers]> {
  let summary = "let one instance do the work of several neighbours along a grid dimension";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {…}
    ```
    After `%u = transform.tessera.unroll_grid %scale by 2`:
    ```mlir
    %1 = dfg.node @scale grid(%i = %c4) (%a = %x : tensor<8xf32>) -> tensor<8xf32> tile {
      …
      %t = tensor.from_elements %v0, %v1 : tensor<2xf32>
      dfg.yield %t : tensor<2xf32>
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, I64Attr:$factor, DefaultValuedAttr<I64Attr, "0">:$dim,
                       NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$leaf);
  let assemblyFormat = "$target `by` custom<NumberAndDim>($factor, $dim, $params) attr-dict `:` functional-type($target, $leaf)";
}

def FuseLoopsOp : GraphRewriteOp<"fuse_loops"> {
  let summary = "make one loop of two adjacent loops inside a leaf";
  let description = [{
    Before:
    ```mlir
    scf.for %k = %c0 to %c8 step %c1 { memref.store %v, %a[%k] : memref<8xf32> }
    scf.for %k = %c0 to %c8 step %c1 { %w = memref.load %a[%k] : memref<8xf32> … }
    ```
    After `%l = transform.tessera.fuse_loops %first, %second`:
    ```mlir
    scf.for %k = %c0 to %c8 step %c1 { memref.store %v, %a[%k] …; %w = memref.load %a[%k] … }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$first, TransformHandleTypeInterface:$second);
  let results = (outs TransformHandleTypeInterface:$fused);
  let assemblyFormat = "$first `,` $second attr-dict `:` functional-type(operands, $fused)";
}

def HoistOp : GraphRewriteOp<"hoist"> {
  let summary = "move work that all instances do alike into a node without a grid";
  let description = [{
    Before:
    ```mlir
    %y = dfg.node @f grid(%i = %n) (%a = %x : f32, each %e = %t : tensor<?xf32>) -> tensor<?xf32> {
      %r = math.exp %a : f32
      …
    }
    ```
    After `%once, %rest = transform.tessera.hoist %f`:
    ```mlir
    %r = dfg.node @f_invariant (%a = %x : f32) -> f32 {…}
    %y = dfg.node @f grid(%i = %n) (each %e = %t : tensor<?xf32>, %s = %r : f32) -> tensor<?xf32> {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$invariant, TransformHandleTypeInterface:$leaf);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, results)";
}

def SimplifyOp : GraphScheduleOp<"simplify", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "remove dead nodes, results and operands, copies and duplicates";
  let description = [{
    The handle stays valid; handles of nodes that were removed become empty.

    Before:
    ```mlir
    %1 = dfg.node @copy grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> { dfg.yield %e : f32 }
    dfg.return %1 : tensor<?xf32>
    ```
    After `transform.tessera.simplify %graph`:
    ```mlir
    dfg.return %x : tensor<?xf32>
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

#endif
