// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule operations that the CPU adds: its layers on blocked activations.
#ifndef TESSERA_TARGETS_CPU_SCHEDULEOPS_TD
#define TESSERA_TARGETS_CPU_SCHEDULEOPS_TD

include "tessera/transforms/schedule/Numbers.td"

include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

class CpuScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "tessera." # mnemonic, traits # [DeclareOpInterfaceMethods<TransformOpInterface>,
                                                             MemoryEffectsOpInterface, ConsumesHandles, TakesNumbers]> {
  let cppNamespace = "::tessera::cpu";
}

def LowerPackedOp : CpuScheduleOp<"lower_packed"> {
  let summary = "turn a layer on blocked activations into tasks and register tiles";
  let description = [{
    The elementwise operations behind the layer and its halo become part of its stores. The numbers change how fast the
    kernel is, never what it computes: `rows` x `columns` places of `blocks` blocks of channels stay in registers; `unroll` steps of the
    reduction are written out; `task` rows are one task; with `split` 1 channels are the outermost tasks, so that their weights stay in the
    cache. For Winograd's convolution `columns` (then `rows`, for what is left) are tiles in registers, `task` tiles are transformed together
    and `split` parts of the channels are tasks of their own. `dot` names the instruction that multiplies narrow elements: "vnni", "bf16", "madd", "maddubs" (weights from -64 to 64 alone), "amx-int8", "amx-bf16" (x86),
    "usdot" (Arm), or "plain"; with the AMX ones, for a convolution, `columns` places are a tile, `rows` x `unroll` tiles of places and `blocks` tiles of 16 channels stay in registers.

    Before:
    ```mlir
    %y = cpu.packed_conv %x, %w, %b …
    %z = linalg.generic … ins(%y, %residual) { … maximumf … }
    ```
    After `transform.tessera.lower_packed %conv rows 1 columns 14 blocks 2 unroll 4 task 8`:
    ```mlir
    scf.forall (%n, %part, %block) in (%batch, 7, 2) {
      scf.for %row … { scf.for %column … {
        %sums:28 = scf.for %c1 … iter_args(…) -> (vector<16xf32>, …) {…}
        vector.store …
      } }
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, DefaultValuedAttr<I64Attr, "0">:$rows, DefaultValuedAttr<I64Attr, "0">:$columns,
                       DefaultValuedAttr<I64Attr, "0">:$blocks, DefaultValuedAttr<I64Attr, "0">:$unroll, DefaultValuedAttr<I64Attr, "0">:$task,
                       DefaultValuedAttr<I64Attr, "0">:$split, DefaultValuedAttr<StrAttr, "\"plain\"">:$dot,
                       NumberParams:$params);
  let results = (outs);
  let assemblyFormat = [{custom<Tiles>($target, $rows, $columns, $blocks, $unroll, $task, $split, $params) (`dot` $dot^)? attr-dict `:`
                         type($target)}];
}

def LowerSeparableOp : CpuScheduleOp<"lower_separable", [AttrSizedOperandSegments]> {
  let summary = "turn a depthwise layer and the pointwise one behind it into tasks of strips";
  let description = [{
    A task computes `task` rows of the depthwise layer for all channels into memory of its own, with what follows element by element, and multiplies them by
    the pointwise layer's weights while they are in the cache. The other numbers are those of `lower_packed`, for each of the two.

    Before:
    ```mlir
    %d = cpu.packed_depthwise %x, %w …
    %r = linalg.generic … ins(%d) { … maximumf … }
    %y = cpu.packed_conv %r, %v, %b …
    ```
    After `transform.tessera.lower_separable %depthwise rows 1 columns 14 into %conv rows 1 columns 14 blocks 2 unroll 4 task 8`:
    ```mlir
    scf.forall (%n, %part) in (%batch, 7) {
      %strip = memref.alloc() : memref<1x4x8x56x16xf32>
      scf.for %block … { … vector.store %sum, %strip … }
      scf.for %block … { … memref.load %strip … vector.store … }
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$first, DefaultValuedAttr<I64Attr, "0">:$first_rows, DefaultValuedAttr<I64Attr, "0">:$first_columns,
                       NumberParams:$first_params, TransformHandleTypeInterface:$second, DefaultValuedAttr<I64Attr, "0">:$rows, DefaultValuedAttr<I64Attr, "0">:$columns,
                       DefaultValuedAttr<I64Attr, "0">:$blocks, DefaultValuedAttr<I64Attr, "0">:$unroll, DefaultValuedAttr<I64Attr, "0">:$task,
                       NumberParams:$params);
  let results = (outs);
  let assemblyFormat = [{custom<Places>($first, $first_rows, $first_columns, $first_params) `into`
                         custom<StripTiles>($second, $rows, $columns, $blocks, $unroll, $task, $params) attr-dict `:` type($first) `,` type($second)}];
}

#endif
