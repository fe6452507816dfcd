// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect itself, its types, attributes and enumerations.
#ifndef TESSERA_IR_DFG_DFGBASE_TD
#define TESSERA_IR_DFG_DFGBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "tessera/ir/note/NoteBase.td"

def Dfg_NoteOnNode : NoteOn<["dfg.node"], "a node">;

def Dfg_Notes : NotesOf<"dfg", [
  Note<"knob", "knob", NoteText, Dfg_NoteOnNode,
       "how the node may be computed other than exactly (docs/knobs.md)", "::tessera::dfg::verifyKnob">,
  Note<"versions", "versions", NoteList, NotePlace<"::tessera::dfg::isOfGraph(op)", "a node that stands directly in a graph (dfg-v1)">,
       "graphs of the node's type, any of which may be called instead", "::tessera::dfg::verifyVersions">,
  Note<"approximate", "approximate", NoteMark, NoteOn<["dfg.node"], "a node (dfg-v5)">,
       "no index, branch or bound hangs on the node's results, so that they may be late, or stored where bits get lost">,
  Note<"first", "first", NoteList, Dfg_NoteOnNode,
       "the results before the first activation of a stream; zeros without it", "::tessera::dfg::verifyFirst">,
  Note<"unsignedPorts", "unsigned", NoteList, NoteOn<["dfg.graph"], "a graph">,
       "the inputs and outputs whose integers are unsigned: types have no sign", "::tessera::dfg::verifyUnsigned">,
  Note<"words", "words", NoteTable, NoteOn<["dfg.graph"], "a graph">,
       "for outputs that are strings, by name, the table that their elements (i64) are places in">,
  Note<"checkAccesses", "check_accesses", NoteMark, NoteOn<["builtin.module"], "a module (dfg-v6)">,
       "every access to memory is checked, wherever the programs are installed">
]>;

def Dfg_Dialect : Dialect {
  let name = "dfg";
  let cppNamespace = "::tessera::dfg";
  let summary = "hierarchical dataflow graphs of tensor and general code";
  let description = !strconcat([{
    A program is a set of graphs. A graph holds nodes; its edges are SSA values, so it is
    acyclic and typed by construction. A node is a *leaf*, which holds ordinary MLIR, or
    *internal*, which holds further nodes. Either may be replicated over a grid of up to
    three dimensions. See `Dfg.md` for the reasons and for the numbered rules.
  }], Dfg_Notes.doc);
  let extraClassDeclaration = Dfg_Notes.cpp;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tessera::TesseraDialect"];
}

class Dfg_Op<string mnemonic, list<Trait> traits = []> : Op<Dfg_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Dfg_PortMode : I32EnumAttr<"PortMode", "how a node receives an operand", [
    I32EnumAttrCase<"Whole", 0, "whole">, I32EnumAttrCase<"Each", 1, "each">,
    I32EnumAttrCase<"In", 2, "in">, I32EnumAttrCase<"Out", 3, "out">,
    I32EnumAttrCase<"InOut", 4, "inout">, I32EnumAttrCase<"Acc", 5, "acc">]> {
  let cppNamespace = "::tessera::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_ResultMode : I32EnumAttr<"ResultMode", "how what the instances yield becomes a result", [
    I32EnumAttrCase<"Gather", 0, "gather">, I32EnumAttrCase<"Tile", 1, "tile">,
    I32EnumAttrCase<"Reduce", 2, "reduce">, I32EnumAttrCase<"Fold", 3, "fold">]> {
  let cppNamespace = "::tessera::dfg";
  let genSpecializedAttr = 0;
}

def Dfg_ReductionKind : I32EnumAttr<"ReductionKind", "a named associative operation with an identity", [
    I32EnumAttrCase<"AddF", 0, "addf">, I32EnumAttrCase<"AddI", 1, "addi">,
    I32EnumAttrCase<"MulF", 2, "mulf">, I32EnumAttrCase<"MulI", 3, "muli">,
    I32EnumAttrCase<"MinimumF", 4, "minimumf">, I32EnumAttrCase<"MaximumF", 5, "maximumf">,
    I32EnumAttrCase<"MinNumF", 6, "minnumf">, I32EnumAttrCase<"MaxNumF", 7, "maxnumf">,
    I32EnumAttrCase<"MinSI", 8, "minsi">, I32EnumAttrCase<"MaxSI", 9, "maxsi">,
    I32EnumAttrCase<"MinUI", 10, "minui">, I32EnumAttrCase<"MaxUI", 11, "maxui">,
    I32EnumAttrCase<"AndI", 12, "andi">, I32EnumAttrCase<"OrI", 13, "ori">,
    I32EnumAttrCase<"XOrI", 14, "xori">]> {
  let cppNamespace = "::tessera::dfg";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

class Dfg_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Dfg_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Dfg_ReductionAttr : Dfg_Attr<"Reduction", "reduction"> {
  let summary = "a named reduction, or a `dfg.combiner` by its symbol";
  let parameters = (ins OptionalParameter<"std::optional<::tessera::dfg::ReductionKind>">:$kind,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$combiner);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dfg_PortAttr : Dfg_Attr<"Port", "port"> {
  let summary = "the mode of one operand of a node; `acc` carries its reduction";
  let parameters = (ins EnumParameter<Dfg_PortMode>:$mode,
                        OptionalParameter<"::tessera::dfg::ReductionAttr">:$reduction);
  let assemblyFormat = "`<` $mode (`,` $reduction^)? `>`";
  let extraClassDeclaration = [{
    /// A memory port passes a memref, with a declared access.
    bool isMemory() const { return getMode() >= PortMode::In; }
    /// The node may write through this port, so it consumes the memref and yields a new one.
    bool isWritable() const { return getMode() >= PortMode::Out; }
  }];
}

def Dfg_ResultAttr : Dfg_Attr<"Result", "result"> {
  let summary = "how one yielded value becomes a result";
  let description = [{
    `gather`: one element (or tile) of the result for each instance. `tile`: the tiles are
    laid side by side, so each leading extent is the grid's times the tile's. `reduce`:
    combined by an associative operation, in any grouping. `fold`: combined in the order of the
    instances (row-major), never reassociated. `dims` lists the grid dimensions that are
    reduced (all, when empty); the others are gathered.
  }];
  let parameters = (ins EnumParameter<Dfg_ResultMode>:$mode,
                        OptionalParameter<"::tessera::dfg::ReductionAttr">:$reduction,
                        OptionalArrayRefParameter<"int64_t">:$dims);
  let assemblyFormat = "`<` $mode (`,` $reduction^)? (`,` `dims` `=` `[` $dims^ `]`)? `>`";
  let extraClassDeclaration = [{
    bool isReduction() const { return getMode() >= ResultMode::Reduce; }
    /// Grid dimension `dim` of a grid of `rank` is combined away by this result.
    bool reduces(int64_t dim) const {
      return isReduction() && (getDims().empty() || ::llvm::is_contained(getDims(), dim));
    }
  }];
}

def Dfg_DemandAttr : Dfg_Attr<"Demand", "demand"> {
  let summary = "a quality demand: the relative error, in a named norm, that a node's results may have";
  let parameters = (ins StringRefParameter<"l1 or l2">:$norm, "::mlir::FloatAttr":$bound);
  let assemblyFormat = "`<` $norm `,` $bound `>`";
  let genVerifyDecl = 1;
}

def Dfg_VersionAttr : Dfg_Attr<"Version", "version"> {
  let summary = "one way a node can run: a target, and what the target has made of the node";
  let description = [{
    `form` names a private graph with the node's inputs and results: the nodes that this version runs as. Without one the
    version runs the node as it is.
  }];
  let parameters = (ins StringRefParameter<"name of the target">:$target,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$form,
                        OptionalParameter<"::mlir::StringAttr">:$script,
                        OptionalParameter<"::mlir::DictionaryAttr">:$knobs);
  let assemblyFormat = "`<` $target (`as` $form^)? (`,` `script` `=` $script^)? (`,` `knobs` `=` $knobs^)? `>`";
}

class Dfg_Type<string name, string typeMnemonic> : TypeDef<Dfg_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Dfg_RunType : Dfg_Type<"Run", "run"> {
  let summary = "a launched graph whose results will be waited for";
}

def Dfg_StreamType : Dfg_Type<"Stream", "stream"> {
  let summary = "a graph opened as a stream: pushed to and popped from, one activation each";
}

#endif
