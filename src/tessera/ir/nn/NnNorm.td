// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#ifndef TESSERA_IR_NN_NNNORM_TD
#define TESSERA_IR_NN_NNNORM_TD

include "tessera/ir/nn/NnBase.td"

def Nn_BatchNormOp : Nn_Op<"batch_norm", "Elementwise"> {
  let summary = "scale * (x - mean) / sqrt(variance + epsilon) + bias for each channel (dimension 1)";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$scale, AnyRankedTensor:$bias, AnyRankedTensor:$mean, AnyRankedTensor:$variance, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_LayerNormOp : Nn_Op<"layer_norm", "Opaque", [AttrSizedOperandSegments]> {
  let summary = "normalise over all dimensions from `axis` on; without subtracting the mean with `rms`";
  let description = "Computes in f32 (f64 for f64). Scale and bias broadcast against x. The second and third results are the mean and 1/deviation, with extent 1 for the normalised dimensions, in the type of the computation; with `rms` the mean is 0.";
  let arguments = (ins AnyRankedTensor:$x, Optional<AnyRankedTensor>:$scale, Optional<AnyRankedTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon, UnitAttr:$rms);
  let results = (outs AnyRankedTensor:$y, AnyRankedTensor:$mean, AnyRankedTensor:$inverse);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_GroupNormOp : Nn_Op<"group_norm", "Opaque"> {
  let summary = "normalise each of `groups` groups of channels (dimension 1) of each item; scale and bias for each channel";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$scale, AnyRankedTensor:$bias, I64Attr:$groups, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
