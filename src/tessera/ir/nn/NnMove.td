// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape and data movement; elements at places that other elements name.
#ifndef TESSERA_IR_NN_NNMOVE_TD
#define TESSERA_IR_NN_NNMOVE_TD

include "tessera/ir/nn/NnElementwise.td"

def Nn_ReshapeOp : Nn_ExplicitOp<"reshape", "Injective"> {
  let summary = "the same elements in another shape; `extents` for the dynamic ones";
  let arguments = (ins AnyRankedTensor:$x, Variadic<Index>:$extents);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x (`extents` $extents^)? attr-dict `:` type($x) `->` type($y)";
}

def Nn_TransposeOp : Nn_Op<"transpose", "Injective"> {
  let summary = "dimension i of the result is dimension `permutation[i]` of x";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_BroadcastOp : Nn_ExplicitOp<"broadcast", "Injective"> {
  let summary = "repeat along dimensions of extent 1, and new leading ones, up to the result's shape";
  let arguments = (ins AnyRankedTensor:$x, Variadic<Index>:$extents);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x (`extents` $extents^)? attr-dict `:` type($x) `->` type($y)";
}

def Nn_TileOp : Nn_Op<"tile", "Injective"> {
  let summary = "the whole tensor `repeats[i]` times along dimension i";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$repeats);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_ConcatOp : Nn_Op<"concat", "Injective", [], !strconcat(Nn_OwnLayout, Nn_WholeBlocks)> {
  let summary = "operands side by side along an axis";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
}

def Nn_SliceOp : Nn_ExplicitOp<"slice", "Injective"> {
  let summary = "elements start, start + step, … of each dimension; steps may be negative; the result's type says how many";
  let description = "A dynamic extent of the result is that of x in a dimension with start 0 and step 1.";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_PadMode : Nn_Enum<"PadMode", "what stands in the border", ["constant", "edge", "reflect", "wrap"]>;

def Nn_PadOp : Nn_Op<"pad", "Injective"> {
  let summary = "a border of `lows` and `highs` elements; negative ones cut off";
  let arguments = (ins Nn_PadMode:$mode, AnyRankedTensor:$x, Optional<AnyRankedTensor>:$value, DenseI64ArrayAttr:$lows, DenseI64ArrayAttr:$highs);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$mode operands attr-dict `:` functional-type(operands, results)";
}

def Nn_TriluOp : Nn_Op<"trilu", "Injective"> {
  let summary = "zero below (`upper`) or above diagonal k of the two innermost dimensions";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$k, UnitAttr:$upper);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_ReverseSequenceOp : Nn_Op<"reverse_sequence", "Injective"> {
  let summary = "the first `lengths[b]` elements along `time_axis` in reverse, for each b of `batch_axis`";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$lengths, I64Attr:$time_axis, I64Attr:$batch_axis);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $lengths attr-dict `:` functional-type(operands, results)";
}

def Nn_IotaOp : Nn_ExplicitOp<"iota", "Injective"> {
  let summary = "start + i * step along `axis`, of the result's type; start and step are tensors of rank 0";
  let arguments = (ins AnyRankedTensor:$start, AnyRankedTensor:$step, I64Attr:$axis, Variadic<Index>:$extents);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$start `,` $step (`extents` $extents^)? attr-dict `:` type($start) `,` type($step) `->` type($y)";
}

def Nn_GatherOp : Nn_Op<"gather", "Injective"> {
  let summary = "slices of x along `axis`, at the indices (negative ones count from the end)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$indices, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_GatherElementsOp : Nn_Op<"gather_elements", "Injective"> {
  let summary = "y[i][j] = x[indices[i][j]][j] for axis 0, and so on";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$indices, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_GatherNdOp : Nn_Op<"gather_nd", "Injective"> {
  let summary = "slices at index tuples (innermost dimension of `indices`), as ONNX GatherND";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$indices, I64Attr:$batch_dims);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_ScatterKind : Nn_Enum<"ScatterKind", "what happens to the element that was there", ["set", "add", "mul", "max", "min"]>;

def Nn_ScatterElementsOp : Nn_Op<"scatter_elements", "Opaque"> {
  let summary = "x with y[indices[i][j]][j] = updates[i][j] for axis 0, and so on";
  let arguments = (ins Nn_ScatterKind:$kind, AnyRankedTensor:$x, AnyRankedTensor:$indices, AnyRankedTensor:$updates, I64Attr:$axis, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def Nn_ScatterNdOp : Nn_Op<"scatter_nd", "Opaque"> {
  let summary = "x with slices at index tuples replaced or combined, as ONNX ScatterND";
  let arguments = (ins Nn_ScatterKind:$kind, AnyRankedTensor:$x, AnyRankedTensor:$indices, AnyRankedTensor:$updates, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def Nn_OneHotOp : Nn_Op<"one_hot", "Injective"> {
  let summary = "`values[1]` at the index along a new axis of extent `depth`, `values[0]` elsewhere; an index out of [-depth, depth) gives no hit";
  let arguments = (ins AnyRankedTensor:$indices, AnyRankedTensor:$values, I64Attr:$depth, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$indices `,` $values attr-dict `:` functional-type(operands, results)";
}

def Nn_ColumnsToImageOp : Nn_ExplicitOp<"columns_to_image", "Opaque"> {
  let summary = "sum the columns (N, C * taps, places) back into an image (N C spatial…), as ONNX Col2Im";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

#endif
