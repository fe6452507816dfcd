// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What host code says to graphs: launch, wait, push, pop. The C and C++ interfaces of the
// runtime have the same words.
#ifndef TESSERA_IR_DFG_DFGHOST_TD
#define TESSERA_IR_DFG_DFGHOST_TD

include "tessera/ir/dfg/DfgBase.td"

def Dfg_LaunchOp : Dfg_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "start one activation of a graph";
  let description = [{
    ```mlir
    %run = dfg.launch @edges(%image, %theta) : tensor<?x?xf32>, f32
    %z = dfg.wait %run : tensor<?x?xi8>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph, Variadic<AnyType>:$inputs);
  let results = (outs Res<Dfg_RunType, "", [MemAlloc]>:$run);
  let assemblyFormat = "$graph `(` $inputs `)` attr-dict (`:` type($inputs)^)?";
  let hasVerifier = 1;
}

def Dfg_WaitOp : Dfg_Op<"wait"> {
  let summary = "block until a launched graph has finished; its results";
  let arguments = (ins Arg<Dfg_RunType, "", [MemFree]>:$run);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$run attr-dict (`:` type($outputs)^)?";
  let hasVerifier = 1;
}

def Dfg_OpenOp : Dfg_Op<"open", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "open a graph as a stream";
  let description = [{
    ```mlir
    %s = dfg.open @edges
    dfg.push %s(%frame, %theta) : tensor<?x?xf32>, f32
    %z = dfg.pop %s : tensor<?x?xi8>
    dfg.close %s
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$graph);
  let results = (outs Res<Dfg_StreamType, "", [MemAlloc]>:$stream);
  let assemblyFormat = "$graph attr-dict";
  let hasVerifier = 1;
}

def Dfg_PushOp : Dfg_Op<"push"> {
  let summary = "give a stream the inputs of one more activation; blocks when its queues are full";
  let arguments = (ins Arg<Dfg_StreamType, "", [MemWrite]>:$stream, Variadic<AnyType>:$inputs);
  let assemblyFormat = "$stream `(` $inputs `)` attr-dict (`:` type($inputs)^)?";
  let hasVerifier = 1;
}

def Dfg_PopOp : Dfg_Op<"pop"> {
  let summary = "take the results of the oldest activation; blocks until it has finished";
  let arguments = (ins Arg<Dfg_StreamType, "", [MemRead, MemWrite]>:$stream);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$stream attr-dict (`:` type($outputs)^)?";
  let hasVerifier = 1;
}

def Dfg_CloseOp : Dfg_Op<"close"> {
  let summary = "no more activations; waits for those in flight";
  let arguments = (ins Arg<Dfg_StreamType, "", [MemFree]>:$stream);
  let assemblyFormat = "$stream attr-dict";
  let hasVerifier = 1;
}

#endif
