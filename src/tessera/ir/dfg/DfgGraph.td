// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs and what may stand in them beside nodes: calls, buffers, states, combiners.
#ifndef TESSERA_IR_DFG_DFGGRAPH_TD
#define TESSERA_IR_DFG_DFGGRAPH_TD

include "tessera/ir/dfg/DfgBase.td"

def Dfg_GraphOp : Dfg_Op<"graph", [
    IsolatedFromAbove, Symbol, SingleBlock, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a dataflow graph with typed inputs and outputs";
  let description = [{
    Holds nodes, calls, states, buffers and *wiring*: constants, integer and index arithmetic,
    extents and views. The names of the inputs are part of the program (`--input image=…`);
    results are named before their type.

    ```mlir
    dfg.graph @edges(%image: tensor<?x?xf32>, %theta: f32) -> (edges: tensor<?x?xi8>) {
      …
      dfg.return %z : tensor<?x?xi8>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       StrArrayAttr:$arg_names, StrArrayAttr:$result_names,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
  }];
}

def Dfg_ReturnOp : Dfg_Op<"return", [Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "the outputs of a graph";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

def Dfg_CallOp : Dfg_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "instantiate a graph by name as one internal node";
  let description = [{
    One definition, many nodes. The callee's inputs that are memrefs are consumed, and come back as
    results where the callee returns them. A graph may not reach itself through calls.

    ```mlir
    %y = dfg.call @denoise(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Dfg_BufferOp : Dfg_Op<"buffer", [AttrSizedOperandSegments]> {
  let summary = "a fresh piece of memory that belongs to one activation of the graph";
  let description = [{
    Its content is the fill value, or undefined without one. It is freed when its last user has
    run; returning it hands it to the caller.

    ```mlir
    %h = dfg.buffer() fill(%zero : i32) : memref<256xi32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, Optional<AnyType>:$fill);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$memory);
  let assemblyFormat = "`(` $extents `)` (`fill` `(` $fill^ `:` type($fill) `)`)? attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Dfg_StateOp : Dfg_Op<"state"> {
  let summary = "a value kept from one activation of a stream to the next";
  let description = [{
    In the first activation it is the initial value; afterwards what `dfg.update` was given in the
    activation before. Outside a stream each launch is a first activation.

    ```mlir
    %last = dfg.state init(%black : tensor<480x640xf32>) : tensor<480x640xf32>
    …
    dfg.update %last, %frame : tensor<480x640xf32>
    ```
  }];
  let arguments = (ins Optional<AnyType>:$init);
  let results = (outs Res<AnyType, "", [MemAlloc]>:$value);
  let assemblyFormat = "(`init` `(` $init^ `:` type($init) `)`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Dfg_UpdateOp : Dfg_Op<"update", [AllTypesMatch<["state", "next"]>]> {
  let summary = "what a state will be in the next activation";
  let arguments = (ins Arg<AnyType, "", [MemWrite]>:$state, AnyType:$next);
  let assemblyFormat = "$state `,` $next attr-dict `:` type($state)";
  let hasVerifier = 1;
}

def Dfg_CombinerOp : Dfg_Op<"combiner", [
    IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "a user's own associative operation, declared so by being here";
  let description = [{
    Takes two values and yields their combination. The identity is stated; the compiler relies on
    it and on associativity, and cannot check either.

    ```mlir
    dfg.combiner @maxabs(%a: f32, %b: f32) identity 0.0 : f32 {
      %x = math.absf %a : f32
      %y = math.absf %b : f32
      %m = arith.maximumf %x, %y : f32
      dfg.yield %m : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedAttrInterface:$identity);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif
