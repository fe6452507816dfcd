// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect itself, its interface and the classes that the families share.
#ifndef TESSERA_IR_NN_NNBASE_TD
#define TESSERA_IR_NN_NNBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "tessera/ir/note/NoteBase.td"

// On operations of NnOp, a target's own too.
def Nn_NoteOnLayer : NotePlace<"::tessera::nn::isLayer(op)", "an operation of networks">;

def Nn_Notes : NotesOf<"nn", [
  Note<"name", "name", NoteText, Nn_NoteOnLayer,
       "what the model calls the operation", "::tessera::nn::verifyName">,
  Note<"knob", "knob", NoteText, Nn_NoteOnLayer,
       "how it may be computed other than exactly (docs/knobs.md)", "::tessera::nn::verifyKnob">,
  Note<"range", "range", NoteFloats, Nn_NoteOnLayer,
       "the least and the greatest element of its activation on samples", "::tessera::nn::verifyRange">,
  Note<"demand", "demand", NoteFloats, Nn_NoteOnLayer,
       "the relative errors in the norms l1 and l2 that its result may have", "::tessera::nn::verifyDemand">,
  Note<"layer", "layer", NoteNumber, Nn_NoteOnLayer,
       "its number while candidates for it are measured">
]>;

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::tessera::nn";
  let summary = "tensor operations of networks, with value semantics";
  let description = !strconcat([{
    What a layer computes, not how. Operations stand in a leaf of a `dfg` graph, take and give tensors, and have no effect.
    Integers are signless: where the sign matters an operation carries `unsigned`. Element types that the graph cannot carry
    (8-, 4- and 2-bit floats, 4- and 2-bit integers) are stored one in a byte (`i8`); `nn.cast`, `nn.quantize` and `nn.dequantize`
    name the format. Extents may be dynamic; where a result's extents do not follow from the operands, the operation takes them as
    `index` operands, one for each dynamic extent of the result, in order. Axes count from 0; negative ones are the importer's to resolve.
  }], Nn_Notes.doc);
  let extraClassDeclaration = Nn_Notes.cpp;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def Nn_OpClass : I32EnumAttr<"OpClass", "what an operation may be fused with", [
    I32EnumAttrCase<"Elementwise", 0, "elementwise">, // one element of each operand (after broadcast) → one element
    I32EnumAttrCase<"Injective", 1, "injective">,     // each element of the result is one element of an operand, or a constant
    I32EnumAttrCase<"Reduction", 2, "reduction">,     // each element of the result combines many
    I32EnumAttrCase<"Complex", 3, "complex">,         // a kernel of its own that can take elementwise work into its stores
    I32EnumAttrCase<"Opaque", 4, "opaque">]> {        // fuses with nothing
  let cppNamespace = "::tessera::nn";
  let genSpecializedAttr = 0;
}

def Nn_Layout : I32EnumAttr<"Layout", "what an operation asks of activations in blocks of channels", [
    I32EnumAttrCase<"Plain", 0, "plain">,     // takes and gives N C H W only
    I32EnumAttrCase<"Lanes", 1, "lanes">,     // element by element: any blocks, the same for operands and result
    I32EnumAttrCase<"Planes", 2, "planes">,   // each channel's plane for itself: the same
    I32EnumAttrCase<"Joined", 3, "joined">,   // the operands' channels one behind the other: the same, and none with spare lanes
    I32EnumAttrCase<"Own", 4, "own">,         // mixes channels by weights: operand and result have blocks of their own
    I32EnumAttrCase<"Packed", 5, "packed">]> { // says itself where each number stands; layout assignment makes it
  let cppNamespace = "::tessera::nn";
  let genSpecializedAttr = 0;
}

def Nn_OpInterface : OpInterface<"NnOp"> {
  let cppNamespace = "::tessera::nn";
  let description = "What graph optimisation asks of every operation of the dialect.";
  let methods = [
    InterfaceMethod<"Decides what it fuses with.", "::tessera::nn::OpClass", "getOpClass">,
    InterfaceMethod<"Arithmetic operations for one run; a dynamic extent counts as 1.", "int64_t", "getFlops", (ins), "", [{
      return ::tessera::nn::countElements($_op->getResult(0).getType());
    }]>,
    InterfaceMethod<"Decides whether it runs on activations in blocks of channels; shapes may still forbid it.", "::tessera::nn::Layout", "getLayout", (ins), "", [{
      return ::tessera::nn::Layout::Plain;
    }]>,
    InterfaceMethod<"Spare lanes of a last block, which hold anything finite, would do harm.", "bool", "needsWholeBlocks", (ins), "", "return false;">
  ];
}


def Nn_TunableInterface : OpInterface<"TunableOp"> {
  let cppNamespace = "::tessera::nn";
  let description = "An operation that may be computed in other ways (docs/knobs.md). What a knob makes of it is in transforms/nn/knobs.";
  let methods = [
    InterfaceMethod<"Types and shapes allow the knob; some also need weights that are constants (nn::listKnobs looks).",
                    "bool", "hasKnob", (ins "const ::tessera::Knob &":$knob)>,
    InterfaceMethod<"Multiplications and additions that are left with the knob, in units of f32: two of 16 bits or four of 8 count as one.",
                    "double", "getKnobCost", (ins "const ::tessera::Knob &":$knob)>,
    InterfaceMethod<"The operand whose range `nn.range` states.", "::mlir::Value", "getRangedOperand">,
    InterfaceMethod<"The operand that training made; null when there is none.", "::mlir::Value", "getWeights">
  ];
}

// For operations that count their arithmetic themselves.
defvar Nn_OwnFlops = "int64_t getFlops();\n";

// For operations that are more than `Plain`.
class Nn_HasLayout<string layout> {
  string text = "::tessera::nn::Layout getLayout() { return ::tessera::nn::Layout::" # layout # "; }\n";
}
defvar Nn_Lanes = Nn_HasLayout<"Lanes">.text;
defvar Nn_Packed = Nn_HasLayout<"Packed">.text;
defvar Nn_OwnLayout = "::tessera::nn::Layout getLayout();\n";
defvar Nn_WholeBlocks = "bool needsWholeBlocks();\n";

// For operations that can be tuned.
defvar Nn_OwnKnobs = "bool hasKnob(const ::tessera::Knob &knob);\ndouble getKnobCost(const ::tessera::Knob &knob);\n"
                     "::mlir::Value getRangedOperand();\n::mlir::Value getWeights();\n";

// An operation of the family `opClass`.
class Nn_Base<string mnemonic, string opClass, list<Trait> traits, string declarations, Dialect dialect = Nn_Dialect>
    : Op<dialect, mnemonic, !listconcat([Pure, Nn_OpInterface], traits)> {
  let extraClassDeclaration = "::tessera::nn::OpClass getOpClass() { return ::tessera::nn::OpClass::" # opClass # "; }\n" # declarations;
}
// Its result types follow from operands and attributes. A type that knows more or fewer extents is still accepted, so that extents
// can become known one operation at a time.
// Targets have operations of this kind in dialects of their own.
class Nn_Op<string mnemonic, string opClass, list<Trait> traits = [], string declarations = "", Dialect dialect = Nn_Dialect>
    : Nn_Base<mnemonic, opClass, !listconcat([InferTypeOpAdaptor], traits), declarations # [{
      static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
        return ::tessera::nn::areCompatible(inferred, actual);
      }
    }], dialect>;
// The result type is part of the operation; a verifier compares it with what is known.
class Nn_ExplicitOp<string mnemonic, string opClass, list<Trait> traits = [], string declarations = "">
    : Nn_Base<mnemonic, opClass, traits, declarations> {
  let hasVerifier = 1;
}

#endif
