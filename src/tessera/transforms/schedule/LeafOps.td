// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule operations on payloads (a leaf as linalg operations on tensors) and on kernels (loops over buffers).
#ifndef TESSERA_TRANSFORMS_SCHEDULE_LEAFOPS_TD
#define TESSERA_TRANSFORMS_SCHEDULE_LEAFOPS_TD

include "tessera/transforms/schedule/Numbers.td"

include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

class LeafScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "tessera." # mnemonic,
         traits # [DeclareOpInterfaceMethods<TransformOpInterface>]> {
  let cppNamespace = "::tessera::schedule";
}

// Consumes its handles and produces new ones.
class LeafRewriteOp<string mnemonic>
    : LeafScheduleOp<mnemonic, [MemoryEffectsOpInterface, ConsumesHandles, ReportTrackingListenerFailuresOpTrait,
                                TakesNumbers]>;

// Changes what is below its handle, which stays.
class LeafChangeOp<string mnemonic>
    : LeafScheduleOp<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TakesNumbers]>;

def ChunkReductionOp : LeafRewriteOp<"chunk_reduction"> {
  let summary = "split a full reduction into chunks that run in parallel";
  let description = [{
    The chunks depend on the extents alone, so the result has the same bits with any number of threads.

    Before:
    ```mlir
    %r = linalg.generic {iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) {…}
    ```
    After `%f = transform.tessera.chunk_reduction %g chunks 64`:
    ```mlir
    %p = scf.forall (%c) in (64) shared_outs(%o = %empty) -> (tensor<64xf32>) {
      %part = linalg.generic {iterator_types = ["reduction"]} ins(%chunk : tensor<?xf32>) outs(%zero_c : tensor<f32>) {…}
      …
    }
    %r = linalg.generic {iterator_types = ["reduction"]} ins(%p : tensor<64xf32>) outs(%zero : tensor<f32>) {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, I64Attr:$chunks, NumberParams:$params);
  let results = (outs TransformHandleTypeInterface:$forall);
  let assemblyFormat = "$target `chunks` custom<OneNumber>($chunks, $params) attr-dict `:` functional-type($target, $forall)";
}

def RaiseReductionOp : LeafRewriteOp<"raise_reduction"> {
  let summary = "turn a loop that a leaf runs inside an instance into a reduction dimension";
  let description = [{
    For a sum of products (or any combination by a named reduction) over elements that are read at affine places: the
    loop and the grid become one linalg.generic, whose dimensions can be tiled and vectorised together. The order of
    the combination stays.

    Before:
    ```mlir
    linalg.generic {iterator_types = ["parallel", "parallel"]} outs(%c : tensor<?x?xf32>) {
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> f32 {
        %x = tensor.extract %a[%i, %k] …  %y = tensor.extract %b[%k, %j] …
      }
      linalg.yield %s : f32
    }
    ```
    After:
    ```mlir
    linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b) outs(%zeros) {…}
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$generic);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, $generic)";
}

def VectorizeInstancesOp : LeafChangeOp<"vectorize_instances"> {
  let summary = "put a row of instances into the lanes of vectors, loops and branches included";
  let description = [{
    For each linalg.generic in the payload that is one row of `lanes` instances. A loop runs until its last lane is done; a
    branch runs both sides and selects.

    Before:
    ```mlir
    linalg.generic … outs(%t : tensor<1x16xi32>) {
      %n = scf.while (…) {…}          // as long as this instance needs
      linalg.yield %n : i32
    }
    ```
    After `transform.tessera.vectorize_instances %payload lanes 16`:
    ```mlir
    %n = scf.while (…) {…}            // vector<16xi32>, as long as any instance needs
    vector.transfer_write %n, %t[…]
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, NumberFrom<2>:$lanes, NumberParams:$params);
  let results = (outs);
  let assemblyFormat = "$target `lanes` custom<OneNumber>($lanes, $params) attr-dict `:` type($target)";
}

def VectorizeLoopsOp : LeafChangeOp<"vectorize_loops"> {
  let summary = "put instances that work on memory into the lanes of vectors, loops and branches included";
  let description = [{
    For each loop over instances in a kernel whose body has loops or arrays of its own, where neighbours use neighbouring
    elements. Other loops are left alone: LLVM vectorises plain bodies itself.

    Before:
    ```mlir
    scf.for %j = %lo to %hi step %c1 {
      %s = scf.for %k = %c0 to %n step %c1 … { … load %b[%k * %n + %j] … }
      memref.store %s, %c[%j]
    } {tessera.instances = -1}
    ```
    After `transform.tessera.vectorize_loops %kernel bytes 64`:
    ```mlir
    scf.for %j = %lo to %whole step %c16 {
      %s = scf.for %k = %c0 to %n step %c1 … { … vector.load %b[%k * %n + %j] … }
      vector.store %s, %c[%j]
    }
    scf.if %rest { … the same under a mask … }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, NumberFrom<8>:$bytes, NumberParams:$params);
  let results = (outs);
  let assemblyFormat = "$target `bytes` custom<OneNumber>($bytes, $params) attr-dict `:` type($target)";
}

def PeelRestOp : LeafRewriteOp<"peel_rest"> {
  let summary = "split off what is left of a loop after whole steps";
  let description = [{
    As `transform.loop.peel`, but a loop that has whole steps only stays as it is, and `rest` is empty: one script for
    extents of all kinds.

    Before:
    ```mlir
    scf.for %i = %c0 to %n step %c8 { use(min(8, %n - %i)) }
    ```
    After `%main, %rest = transform.tessera.peel_rest %loop`:
    ```mlir
    scf.for %i = %c0 to %whole step %c8 { use(8) }
    scf.for %i = %whole to %n step %c8 { use(%n - %i) }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$main, TransformHandleTypeInterface:$rest);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, results)";
}

def UnrollConstantLoopsOp : LeafChangeOp<"unroll_constant_loops"> {
  let summary = "fully unroll the short loops of a kernel that run a constant number of times";
  let description = [{
    Innermost first, while a loop runs at most `max_trip` times, its unrolled body stays below `max_ops`
    operations, and all loops of the kernel together add at most four times as many. A function of the `math`
    dialect counts as twenty.

    Before:
    ```mlir
    scf.for %d = %c0 to %c3 step %c1 { use(%d) }
    ```
    After:
    ```mlir
    use(%c0)  use(%c1)  use(%c2)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, DefaultValuedAttr<I64Attr, "16">:$max_trip,
                       DefaultValuedAttr<I64Attr, "2048">:$max_ops, NumberParams:$params);
  let results = (outs);
  let builders = [OpBuilder<(ins "::mlir::Value":$target), [{ build($_builder, $_state, target, 16, 2048, {}); }]>];
  let assemblyFormat = "custom<KernelAndLimits>($target, $max_trip, $max_ops, $params) attr-dict `:` type($target)";
}

def UnrollInnermostOp : LeafChangeOp<"unroll_innermost"> {
  let summary = "unroll the innermost loops of a kernel";
  let description = [{
    Before:
    ```mlir
    scf.for %i = %lo to %hi step %c1 { use(%i) }
    ```
    After `transform.tessera.unroll_innermost %kernel by 2`:
    ```mlir
    scf.for %i = %lo to %even step %c2 { use(%i)  use(%i + 1) }
    scf.for %i = %even to %hi step %c1 { use(%i) }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, NumberFrom<2>:$factor, NumberParams:$params);
  let results = (outs);
  let assemblyFormat = "$target `by` custom<OneNumber>($factor, $params) attr-dict `:` type($target)";
}

def SplitBordersOp : LeafChangeOp<"split_borders"> {
  let summary = "split the innermost loops of a kernel so that clamped indices are plain in the interior";
  let description = [{
    Before:
    ```mlir
    scf.for %j = %c0 to %w step %c1 { %x = arith.maxsi (%j - 1), %c0  … load %row[%x] }
    ```
    After:
    ```mlir
    scf.for %j = %c0 to %c1 step %c1 { %x = arith.maxsi (%j - 1), %c0  … load %row[%x] }
    scf.for %j = %c1 to %w step %c1 { … load %row[%j - 1] }
    ```
    Loops without such a clamp are left alone.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def CheckStepOp
    : LeafScheduleOp<"check_step", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "fail where one of upstream's steps would change what an operation computes";
  let description = [{
    Installing puts it in front of steps of a user's sequence that is not `tessera.unsafe`: "tasks" before
    `structured.tile_using_forall`, which must tile parallel dimensions alone; "loops" before `structured.tile_using_for`,
    "interchange" before `structured.interchange` and "vectorize" before `structured.vectorize`, which must keep the order
    of a reduction whose order is part of its meaning (`fold`).

    ```mlir
    transform.tessera.check_step "tasks" %g dims [0, 1] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$step, DenseI64ArrayAttr:$dims);
  let results = (outs);
  let assemblyFormat = "$step $target `dims` $dims attr-dict `:` type($target)";
}

#endif
