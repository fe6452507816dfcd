// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers over sequences: recurrent cells and attention.
#ifndef TESSERA_IR_NN_NNSEQUENCE_TD
#define TESSERA_IR_NN_NNSEQUENCE_TD

include "tessera/ir/nn/NnElementwise.td"

def Nn_CellKind : Nn_Enum<"CellKind", "a recurrent cell", ["rnn", "gru", "lstm"]>;

def Nn_RecurrentOp : Nn_Op<"recurrent", "Opaque", [AttrSizedOperandSegments], Nn_OwnFlops> {
  let summary = "a recurrent layer over a sequence, operands and results as in ONNX RNN, GRU and LSTM (layout 0)";
  let description = [{
    x: [T, B, I]; w: [D, gates*H, I]; r: [D, gates*H, H]; bias: [D, 2*gates*H]; lengths: [B]; initial_h, initial_c: [D, B, H]; peephole: [D, 3*H].
    Results: y [T, D, B, H], last h [D, B, H], last c [D, B, H] (zeros unless lstm). D is 2 when `direction` is "bidirectional" ("forward", "reverse").
    `activations` has the functions' lower-case names for each direction (f, g, h as ONNX orders them), `alphas` and `betas` their parameters (one each).
  }];
  let arguments = (ins Nn_CellKind:$kind, AnyRankedTensor:$x, AnyRankedTensor:$w, AnyRankedTensor:$r, Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$lengths,
                       Optional<AnyRankedTensor>:$initial_h, Optional<AnyRankedTensor>:$initial_c, Optional<AnyRankedTensor>:$peephole, StrAttr:$direction,
                       StrArrayAttr:$activations, DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas, DefaultValuedAttr<F64Attr, "0.0">:$clip,
                       UnitAttr:$linear_before_reset, UnitAttr:$input_forget);
  let results = (outs AnyRankedTensor:$y, AnyRankedTensor:$last_h, AnyRankedTensor:$last_c);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

def Nn_AttentionOp : Nn_Op<"attention", "Complex", [], Nn_OwnFlops> {
  let summary = "softmax(cap(scale * q k^T) + bias) v for each batch and head";
  let description = [{
    q: [B, H, Q, E], k: [B, G, K, E], v: [B, G, K, V] with G dividing H (a group of heads shares keys and values); bias broadcasts against [B, H, Q, K] and
    carries masks as -infinity. `soft_cap` > 0 means cap * tanh(s / cap). A row without any finite score gives zeros.
  }];
  let arguments = (ins AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, Optional<AnyRankedTensor>:$bias, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$soft_cap);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
