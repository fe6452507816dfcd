// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windowed reductions (pooling is one case), resampling, and what looks at neighbours.
#ifndef TESSERA_IR_NN_NNWINDOW_TD
#define TESSERA_IR_NN_NNWINDOW_TD

include "tessera/ir/nn/NnReduce.td"

def Nn_PoolOp : Nn_Op<"pool", "Reduction", [Nn_TunableInterface], !strconcat(Nn_OwnFlops, Nn_OwnKnobs, Nn_HasLayout<"Planes">.text)> {
  let summary = "combine a window (max, min, mean, sum, l2 …) at each place; x: N C spatial…";
  let description = [{
    `pads` holds the lows, then the highs, as the model gives them; negative ones cut off. A mean divides by the elements of the window that lie inside the input;
    with `count_pad` by those inside the input and the pads. With `ceil` the number of windows is rounded up, but none starts at or after the end of
    the input: what such a window has beyond the high pad never counts.
    `p` is the exponent for kind l2 when it is not 2.
  }];
  let arguments = (ins Nn_ReduceKind:$kind, AnyRankedTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$count_pad, UnitAttr:$ceil, DefaultValuedAttr<I64Attr, "2">:$p,
                       UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Nn_MaxPoolIndicesOp : Nn_Op<"max_pool_indices", "Opaque"> {
  let summary = "maximum of each window and its flat index (i64) in x; column-major with `column_major`";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       UnitAttr:$ceil, UnitAttr:$column_major, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y, AnyRankedTensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_MaxUnpoolOp : Nn_ExplicitOp<"max_unpool", "Opaque"> {
  let summary = "put elements at their flat indices in a tensor of zeros (the result's static shape; indices count in a tensor of shape `from`)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$indices, DenseI64ArrayAttr:$from);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_LrnOp : Nn_Op<"lrn", "Opaque"> {
  let summary = "local response normalisation over `size` channels";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

// Meanings of the words are ONNX Resize-19's.
def Nn_ResizeOp : Nn_ExplicitOp<"resize", "Opaque"> {
  let summary = "resample a grid; `scales` has one entry for each dimension (result / operand)";
  let arguments = (ins AnyRankedTensor:$x, StrAttr:$mode, StrAttr:$coordinates, StrAttr:$nearest, DenseF64ArrayAttr:$scales, DenseF64ArrayAttr:$roi,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic, UnitAttr:$exclude_outside, UnitAttr:$antialias, DefaultValuedAttr<F64Attr, "0.0">:$outside, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_GridSampleOp : Nn_Op<"grid_sample", "Opaque"> {
  let summary = "sample x (N C spatial…) at the places that `grid` (N out… spatial rank) names, as ONNX GridSample: mode, padding, align_corners";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$grid, StrAttr:$mode, StrAttr:$padding, UnitAttr:$align_corners);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x `,` $grid attr-dict `:` functional-type(operands, results)";
}

def Nn_RoiAlignOp : Nn_Op<"roi_align", "Opaque"> {
  let summary = "mean or maximum of bilinear samples in regions, as ONNX RoiAlign";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$rois, AnyRankedTensor:$batch, StrAttr:$mode, I64Attr:$height, I64Attr:$width, I64Attr:$sampling,
                       F64Attr:$scale, UnitAttr:$half_pixel);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
