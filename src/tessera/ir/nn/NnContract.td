// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products: matrix products and convolutions.
#ifndef TESSERA_IR_NN_NNCONTRACT_TD
#define TESSERA_IR_NN_NNCONTRACT_TD

include "tessera/ir/nn/NnElementwise.td"

def Nn_MatmulOp : Nn_Op<"matmul", "Complex", [Nn_TunableInterface], !strconcat(Nn_OwnFlops, Nn_OwnKnobs)> {
  let summary = "matrix product of the two innermost dimensions; leading ones broadcast";
  let description = [{
    Both operands have at least two dimensions and one element type, which is the result's (integers are widened before).
    `transpose_a` and `transpose_b` exchange the two innermost dimensions.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($y)";
}

def Nn_EinsumOp : Nn_Op<"einsum", "Complex", [], Nn_OwnFlops> {
  let summary = "a sum of products, by its equation (explicit output, no ellipsis: the importer writes it out)";
  let arguments = (ins StrAttr:$equation, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$equation `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
}

// x: N C spatial…, w: F C/groups spatial… (transposed: C F/groups spatial…), bias: F. `pads` holds the lows, then the highs.
class Nn_ConvBase<string mnemonic, list<Trait> traits = [], string declarations = "">
    : Nn_Op<mnemonic, "Complex", traits, Nn_OwnFlops # declarations> {
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Nn_ConvOp : Nn_ConvBase<"conv", [Nn_TunableInterface], !strconcat(Nn_OwnKnobs, Nn_HasLayout<"Own">.text)> {
  let summary = "convolution (cross-correlation) in 1 to 3 dimensions, with groups";
}
def Nn_ConvTransposeOp : Nn_ConvBase<"conv_transpose"> {
  let summary = "transposed convolution";
  let description = "Extent of the result: (in - 1) * stride - low - high + dilation * (kernel - 1) + 1 + `output_padding`.";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding, DefaultValuedAttr<I64Attr, "1">:$groups);
}
def Nn_DeformConvOp : Nn_Op<"deform_conv", "Opaque", [AttrSizedOperandSegments]> {
  let summary = "2-D convolution whose taps are moved by `offset` and weighted by `mask` (as ONNX DeformConv)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, AnyRankedTensor:$offset, Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$mask, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups, DefaultValuedAttr<I64Attr, "1">:$offset_groups);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
