// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers on blocked activations, with weights that were packed when the program was installed. Layout assignment makes these of
// nn.conv, nn.pool and the like; no front end does. They say where each number stands, and still not how loops run.
#ifndef TESSERA_TARGETS_CPU_IR_CPUOPS_TD
#define TESSERA_TARGETS_CPU_IR_CPUOPS_TD

include "tessera/ir/nn/NnReduce.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Cpu_Notes : NotesOf<"cpu", [
  // From the network to its packed layers: ways to compute the same, up to rounding.
  Note<"algorithm", "algorithm", NoteText, Nn_NoteOnLayer,
       "the algorithm that a convolution or product is to have; the portfolio measures several">,
  Note<"tiles", "tiles", NoteNumbers, Nn_NoteOnLayer,
       "the numbers of its tiles whatever the machine", "::tessera::cpu::verifyTiles">,
  Note<"filled", "filled", NoteNumber, Nn_NoteOnLayer,
       "how many percent of the rows of its weights hold something, where most are zero">,
  Note<"smallWeights", "small_weights", NoteMark, Nn_NoteOnLayer,
       "its weights are so small that pairs of products fit 16 bits">,

  // On functions that become machine code.
  Note<"kernel", "kernel", NoteMark, NoteOnFunction,
       "the function is a kernel; the others are inlined into them">,
  Note<"faults", "faults", NoteNumber, NoteOnFunction,
       "which argument of the kernel holds the cells of its sites">,
  Note<"indirect", "indirect", NoteMark, NoteOnArgumentOfFunction,
       "the argument is a scalar in memory: its slot holds a pointer to it">
]>;

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::tessera::cpu";
  let summary = "layers of networks on activations in blocks of channels";
  let description = !strconcat([{
    What layout assignment makes of operations of `nn`: they say where each number stands, and still not how loops run. They answer the questions of
    `nn`'s interface, so that fusion and placement treat them like the operations that they were. What they mean is registered with the oracle.
  }], Cpu_Notes.doc);
  let extraClassDeclaration = Cpu_Notes.cpp;
  let dependentDialects = ["::tessera::nn::NnDialect"];
}

// Their results follow from operands and attributes as those of `nn` do.
class Cpu_Op<string mnemonic, string opClass, list<Trait> traits = [], string declarations = "">
    : Nn_Op<mnemonic, opClass, traits, declarations, Cpu_Dialect>;

// For operations that take the extents of their result from the operand `init`.
defvar Cpu_Init = "::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }\n";

// A blocked activation is a tensor N x C1 x H x W x c: channel k stands in block k / c, lane k % c. Lanes of the last block beyond the network's
// channels are channels like any other; weights hold zeros for them, so what they contain does not matter as long as it is finite.
// Blocks of c = 1 are the plain layout N C H W (x 1), one block of c = C is N H W C. Elementwise operations take blocked tensors as they are;
// what broadcasts along everything but channels has the shape C1 x 1 x 1 x c.
// Windows never leave their operand: the border that a layer pads with is part of the operand, made by cpu.halo in the node that computes the
// operand (where it costs a few stores) and taken off by cpu.crop where another consumer does not want it (an offset, not a copy: the crop belongs into
// the consumer's node). Channels are static; N, H and W may be open. In a node, a packed operation, the elementwise operations behind it and an cpu.halo at their end
// become one pass over the result.

def Cpu_PackOp : Cpu_Op<"pack", "Injective", [], Nn_Packed> {
  let summary = "N C H W to blocks of `block` channels; zeros in the last block's spare lanes";
  let description = "y[n, k / block, i, j, k % block] = x[n, k, i, j].";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$block);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Cpu_UnpackOp : Cpu_Op<"unpack", "Injective", [], Nn_Packed> {
  let summary = "blocked to N C H W; lanes from `channels` on are dropped";
  let description = "y[n, k, i, j] = x[n, k / c, i, j, k % c] for k < channels.";
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$channels);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

// `pads`: rows above, columns to the left, rows below, columns to the right.
def Cpu_HaloOp : Cpu_Op<"halo", "Injective", [], Nn_Packed> {
  let summary = "a border of `fill` around each plane of a blocked activation; a quantised one is padded with its zero point";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}
def Cpu_CropOp : Cpu_Op<"crop", "Injective", [], Nn_Packed> {
  let summary = "a blocked activation without so many rows and columns at its border; the inverse of cpu.halo";
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$pads);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Cpu_PackedConvOp : Cpu_Op<"packed_conv", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "convolution of a blocked activation, any window, without padding";
  let description = [{
    x: N x C1 x H x W x c, w: F1 x (C1 / groups) x KH x KW x c x F0, bias: F1 x F0, y: N x F1 x OH x OW x F0 with OH = (H - dilation * (KH - 1) - 1) / stride + 1.
    With g = f1 / (F1 / groups):
    y[n, f1, i, j, f0] = bias[f1, f0] + sum over c1, kh, kw, c0 of
      x[n, g * (C1 / groups) + c1, i * strides[0] + kh * dilations[0], j * strides[1] + kw * dilations[1], c0] * w[f1, c1, kh, kw, c0, f0].
    `groups` divides C1 and F1: a group is a number of whole blocks.
    Narrow operands have wide results: x of bytes (unsigned) and w of bytes (signed) give i32, bf16 gives f32; bias has the result's type. Then
    w: F1 x (C1 / groups) x KH x KW x (c / p) x F0 x p, with the p channels that one instruction multiplies and adds side by side.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Cpu_PackedSparseOp : Cpu_Op<"packed_sparse", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "a convolution, or a product, whose weights are mostly zero";
  let description = [{
    x: N x C1 x H x W x c, values: S x F0, taps: S, starts: F1 + 1, bias: F1 x F0, y: N x F1 x OH x OW x F0 as in cpu.packed_conv. Of the weights of each block of the
    result, only the rows (one tap of the window on one channel of x, all lanes of the block) that hold something are there. With
    taps[s] = ((c1 * KH + kh) * KW + kw) * c + c0:
    y[n, f1, i, j, f0] = bias[f1, f0] + sum over s from starts[f1] to starts[f1 + 1] of
      x[n, c1, i * strides[0] + kh * dilations[0], j * strides[1] + kw * dilations[1], c0] * values[s, f0].
    A matrix x: M x K has K channels at M places and windows of one element, y: M x (F1 * F0).
    `taps` and `starts` are i32 constants: starts do not fall, and taps are those of windows on x.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$values, AnyRankedTensor:$taps, AnyRankedTensor:$starts, Optional<AnyRankedTensor>:$bias,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$kernel, DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Cpu_PackedWinogradOp : Cpu_Op<"packed_winograd", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed, [{
  /// Rows, and columns, of the window: 3 or 5.
  int64_t getWindow();
}])> {
  let summary = "convolution with a 3x3 or 5x5 window and stride 1 by Winograd's F(tile, window)";
  let description = [{
    x and y as in cpu.packed_conv; w: F1 x T*T x (C1 * c) x F0 with T = tile + window - 1, which says what the window is: the weights g of each pair of
    channels as G g Gt, row by row. With the T x T input tile d at (i * tile, j * tile), zeros where it leaves x: the tile x tile part of y at the same place is
    At (sum over channels of w * (Bt d B)) A + bias, elementwise product; what leaves y is dropped. The matrices for tile 4 (points 0, 1, -1, 2, -2) and 2
    are those of Lavin and Gray; targets/cpu/packed/Winograd.h has them.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, I64Attr:$tile);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Cpu_PackedDepthwiseOp : Cpu_Op<"packed_depthwise", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "each channel of a blocked activation with a window of its own, without padding";
  let description = [{
    x: N x C1 x H x W x c, w: C1 x KH x KW x c, bias: C1 x c, y: N x C1 x OH x OW x c:
    y[n, c1, i, j, c0] = bias[c1, c0] + sum over kh, kw of x[n, c1, i * strides[0] + kh * dilations[0], j * strides[1] + kw * dilations[1], c0] * w[c1, kh, kw, c0].
    x may be narrower than the rest, which is f32 then: bytes (unsigned), bf16 or f16.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Cpu_PackedMatmulOp : Cpu_Op<"packed_matmul", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "a matrix times packed weights";
  let description = [{
    x: M x K, w: N1 x K x N0, bias: N1 x N0, y: M x `columns`, which is at most N1 * N0:
    y[m, n1 * N0 + n0] = bias[n1, n0] + sum over k of x[m, k] * w[n1, k, n0].
    M may stand for up to three dimensions, all of them open; K is static.
    Narrow operands as for cpu.packed_conv, with w: N1 x (K / p) x N0 x p.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w, Optional<AnyRankedTensor>:$bias, I64Attr:$columns);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// What both operands are computed for has no packed weights; `init` has the extents of the result and no content.
def Cpu_ProductOp : Cpu_Op<"product", "Complex", [DestinationStyleOpInterface], !strconcat(Nn_OwnFlops, Nn_Packed, Cpu_Init)> {
  let summary = "a product of matrices that are both computed; the leading dimensions broadcast";
  let description = [{
    x: … x M x K, y: … x K x N (with `transpose_y` … x N x K), result: … x M x N, all of f32 and of one rank. Any extent may be open.
    A leading extent of an operand is the result's or 1.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, AnyRankedTensor:$init, UnitAttr:$transpose_y);
  let results = (outs AnyRankedTensor:$z);
  let assemblyFormat = "$x `,` $y `into` $init attr-dict `:` type($x) `,` type($y) `,` type($init) `->` type($z)";
}

def Cpu_AttendOp : Cpu_Op<"attend", "Complex", [DestinationStyleOpInterface], !strconcat(Nn_OwnFlops, Nn_Packed, Cpu_Init)> {
  let summary = "softmax of scores, times values";
  let description = [{
    scores: … x M x K, values: … x K x N, result: … x M x N: the softmax of each row of scores times the values. Extents as for cpu.product, but N is static.
    A row of -infinity alone gives NaN, as its softmax does, or zeros with `zeros`.
    Where the scores come of a cpu.product in the same node, perhaps through elementwise operations, they never exist as a whole: a block of keys after the other is
    multiplied, weighted by its distance from the largest score so far, and added up.
  }];
  let arguments = (ins AnyRankedTensor:$scores, AnyRankedTensor:$values, AnyRankedTensor:$init, UnitAttr:$zeros);
  let results = (outs AnyRankedTensor:$z);
  let assemblyFormat = "$scores `,` $values `into` $init attr-dict `:` type($scores) `,` type($values) `,` type($init) `->` type($z)";
}

def Cpu_PackedPoolOp : Cpu_Op<"packed_pool", "Complex", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "maximum, minimum, mean or sum of a window at each place of a blocked activation";
  let description = [{
    x: N x C1 x H x W x c. `pads` (above, left, below, right), which may be part of no window alone, are not part of x; elements there are never the maximum, and a mean divides by
    the elements inside x, with `count_pad` by those inside x and the pads. Bytes are unsigned; they and bf16 only have maxima and minima. Extent of the result: (H + above + below - dilation * (KH - 1) - 1) / stride + 1.
  }];
  let arguments = (ins Nn_ReduceKind:$kind, AnyRankedTensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$count_pad);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Cpu_PackedMeanOp : Cpu_Op<"packed_mean", "Reduction", [], !strconcat(Nn_OwnFlops, Nn_Packed)> {
  let summary = "the mean of each plane of a blocked activation: N x C1 x H x W x c to N x (C1 * c)";
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

#endif
