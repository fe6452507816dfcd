// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What knobs make of layers where no other operation says it (transforms/nn/knobs).
#ifndef TESSERA_IR_NN_NNAPPROX_TD
#define TESSERA_IR_NN_NNAPPROX_TD

include "tessera/ir/nn/NnBase.td"

def Nn_InterpolateOp : Nn_ExplicitOp<"interpolate", "Complex", [], Nn_OwnLayout> {
  let summary = "rows or columns that were computed, and between them the mean of their neighbours";
  let description = [{
    y: N x C x H x W, or blocked N x C1 x H x W x c. Of its rows (with `rows`), its columns (with `columns`) or both, those whose number is `offset` modulo `rate` are
    in no part: such a row is the mean of the rows above and below, or the one of them that exists. The other rows stand in the parts: with r the p-th of 0, 1, … `rate` - 1
    without `offset`, row i of part p is row i * rate + r of y. Columns alike; with both, the parts go row by row, and columns are filled in after rows.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, I64Attr:$rate, I64Attr:$offset, UnitAttr:$rows, UnitAttr:$columns);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$parts attr-dict `:` functional-type($parts, $y)";
}

def Nn_SplitOp : Nn_Op<"split", "Injective", [], !strconcat(Nn_OwnLayout, Nn_WholeBlocks)> {
  let summary = "f32 as parts of bf16, side by side in dimension 1: the nearest number, the same again, and the nearest to the rest";
  let description = [{
    x: N x C x … of f32; y: N x 3C x … of bf16. With h = bf16(x) and l = bf16(x - h), y is h, h and l, C channels each. Products with weights whose parts are h, l and h
    add up to those of f32 but for 2^-16 of them.
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_NoiseOp : Nn_Op<"noise", "Elementwise"> {
  let summary = "x + sigma * x * g, with g normally distributed, the same in every run";
  let description = [{
    For the element with flat index i: with (a, b, …) = Philox 4x32-10 of the counter (i mod 2^32, i / 2^32, 0, 0) and the key (key mod 2^32, key / 2^32),
    g = sqrt(-2 ln((a + 1) / 2^32)) cos(2 pi b / 2^32).
  }];
  let arguments = (ins AnyRankedTensor:$x, F64Attr:$sigma, I64Attr:$key);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

#endif
