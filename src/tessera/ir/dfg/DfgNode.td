// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes and what may stand only inside a leaf.
#ifndef TESSERA_IR_DFG_DFGNODE_TD
#define TESSERA_IR_DFG_DFGNODE_TD

include "tessera/ir/dfg/DfgBase.td"

def Dfg_NodeOp : Dfg_Op<"node", [
    AutomaticAllocationScope, IsolatedFromAbove, AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a computation, or a child graph, replicated over a grid";
  let description = [{
    The region's arguments are the instance's ids, one for each grid dimension, then one for each
    operand. An operand is received *whole* (the default), or *each* instance gets its own element
    or tile of a tensor whose leading extents are the grid's (a one-to-one edge, no barrier). A
    memref goes through a memory port with a declared access, `in`, `out`, `inout` or
    `acc<reduction>`; the last three consume the memref and yield the new one, after the other
    results and in the order of the ports.

    ```mlir
    %s = dfg.node @smooth grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>) -> tensor<?x?xf32> {
      …
      dfg.yield %v : f32
    }
    %m = dfg.node @peak grid(%i = %h, %j = %w) (each %e = %s : tensor<?x?xf32>) -> f32 reduce<maximumf> {
      dfg.yield %e : f32
    }
    %b1 = dfg.node @count grid(%i = %n) (each %e = %m : tensor<?xi32>, acc<addi> %b = %b0 : memref<256xi32>) {
      …
      dfg.accumulate %one, %b[%k] : memref<256xi32>
    }
    ```

    A node whose region holds nodes, calls or states is *internal*; a replicated internal node is a *group*: its
    children run once for each instance, and an edge between them is the group's barrier.

    Attributes: `targets` (allowed targets), `cost` (expected cost of one instance, in operations), `criticality`
    (`base`, `elevated`, `critical`), `quality` (a `#dfg.demand`), `depth` (bound of the queues that
    leave the node in a stream), `versions` (set by placement).
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$grid, Variadic<AnyType>:$inputs,
                       TypedArrayAttrBase<Dfg_PortAttr, "ports">:$ports,
                       TypedArrayAttrBase<Dfg_ResultAttr, "results">:$yields,
                       OptionalAttr<StrArrayAttr>:$targets, OptionalAttr<F64Attr>:$cost,
                       OptionalAttr<StrAttr>:$criticality, OptionalAttr<Dfg_DemandAttr>:$quality,
                       OptionalAttr<I64Attr>:$depth,
                       OptionalAttr<TypedArrayAttrBase<Dfg_VersionAttr, "versions">>:$versions);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    unsigned getRank() { return getGrid().size(); }
    /// The ids of the instance, one for each grid dimension.
    ::mlir::Block::BlockArgListType getIds() { return getBodyBlock()->getArguments().take_front(getRank()); }
    /// The region's name for each operand in `inputs`.
    ::mlir::Block::BlockArgListType getInputArgs() { return getBodyBlock()->getArguments().drop_front(getRank()); }
    PortAttr getPort(unsigned input) { return ::mlir::cast<PortAttr>(getPorts()[input]); }
    ResultAttr getYield(unsigned result) { return ::mlir::cast<ResultAttr>(getYields()[result]); }
    /// The results that instances yield, without those of the memory ports.
    unsigned getNumYields() { return getYields().size(); }
    /// The result that carries the memref of writable port `input` onwards.
    ::mlir::OpResult getPortResult(unsigned input);
    /// The writable port whose memref result `result` carries onwards; none for a yielded result.
    std::optional<unsigned> getPortOfResult(unsigned result);
    /// Holds nodes, calls or states.
    bool isInternal();
    YieldOp getYieldOp();
    /// The type that an instance must yield for result `result`, by its mode and type.
    ::mlir::Type getYieldedType(unsigned result);
    /// The type of the region's argument for an operand of this type and mode.
    static ::mlir::Type getArgType(::mlir::Type operand, PortAttr port, unsigned rank);
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::ValueRange":$grid, "::mlir::ValueRange":$inputs,
                                 "::llvm::ArrayRef<PortAttr>":$ports, "::mlir::TypeRange":$resultTypes,
                                 "::llvm::ArrayRef<ResultAttr>":$yields)>];
}

def Dfg_YieldOp : Dfg_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["NodeOp", "CombinerOp"]>]> {
  let summary = "what one instance gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Dfg_AccumulateOp : Dfg_Op<"accumulate", [
    TypesMatchWith<"the value has the memory's element type", "memory", "value",
                   "::mlir::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "combine a value into an element of an `acc` port";
  let description = [{
    The element becomes its reduction with the value. Instances may accumulate into the same element;
    the order is not defined, and a float sum may be regrouped.
  }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemRead, MemWrite]>:$memory, Variadic<Index>:$indices);
  let assemblyFormat = "$value `,` $memory `[` $indices `]` attr-dict `:` type($memory)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The reduction of the port that `memory` came in through; null outside a valid leaf.
    ReductionAttr getReduction();
  }];
}

def Dfg_ExtentOp : Dfg_Op<"extent", [Pure]> {
  let summary = "the extent of one dimension of the enclosing leaf's grid";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$extent);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Dfg_ScratchOp : Dfg_Op<"scratch"> {
  let summary = "memory shared by all instances of the enclosing leaf's grid";
  let description = [{
    One piece of memory for one execution of the leaf's grid (for one instance of the group, when the leaf
    stands in one). Its content is undefined at first. Accesses of two instances to one
    element are ordered only by `dfg.barrier`.
  }];
  let results = (outs Res<AnyStaticShapeMemRef, "", [MemAlloc]>:$memory);
  let assemblyFormat = "attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Dfg_BarrierOp : Dfg_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "no instance of the enclosing leaf's grid goes on before all have come here";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif
