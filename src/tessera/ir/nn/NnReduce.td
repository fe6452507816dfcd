// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many elements in, one out; prefixes, extremes, order.
#ifndef TESSERA_IR_NN_NNREDUCE_TD
#define TESSERA_IR_NN_NNREDUCE_TD

include "tessera/ir/nn/NnElementwise.td"

def Nn_ReduceKind : Nn_Enum<"ReduceKind", "how elements are combined", [
    "sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"]>;

def Nn_ReduceOp : Nn_Op<"reduce", "Reduction", [Nn_TunableInterface], !strconcat(Nn_OwnFlops, Nn_OwnKnobs)> {
  let summary = "combine the elements along axes";
  let arguments = (ins Nn_ReduceKind:$kind, AnyRankedTensor:$x, DenseI64ArrayAttr:$axes, UnitAttr:$keep, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Nn_ArgReduceOp : Nn_Op<"arg_reduce", "Reduction"> {
  let summary = "the index (i64) of the largest or, with `min`, the smallest element along an axis; the first unless `last`";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$axis, UnitAttr:$min, UnitAttr:$keep, UnitAttr:$last, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_CumulativeOp : Nn_Op<"cumulative", "Opaque"> {
  let summary = "prefix sums or products along an axis";
  let arguments = (ins Nn_ReduceKind:$kind, AnyRankedTensor:$x, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Nn_TopKOp : Nn_Op<"topk", "Opaque"> {
  let summary = "the k largest or smallest along an axis, in order, with their indices (i64); ties by lower index";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$k, I64Attr:$axis, UnitAttr:$smallest, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_SoftmaxOp : Nn_Op<"softmax", "Opaque"> {
  let summary = "softmax along an axis; its logarithm with `log`";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$axis, UnitAttr:$log);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

#endif
