// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the CPU does with networks before they are cut into nodes, as passes for tests and for `tessera-opt`.
#ifndef TESSERA_TARGETS_CPU_LAYOUT_PASSES_TD
#define TESSERA_TARGETS_CPU_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

class CpuPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::tessera::cpu::CpuDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def CpuLayoutPass : CpuPass<"tessera-cpu-layout"> {
  let summary = "give activations blocked layouts, and weights packed ones";
  let description = [{
    Activations that convolutions make become N x C1 x H x W x c; elementwise operations and pools on them follow. Borders that
    windows read are made where the activation is computed.

    Before:
    ```mlir
    %1 = nn.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, …} : (tensor<?x16x8x8xf32>, …) -> tensor<?x32x8x8xf32>
    ```
    After:
    ```mlir
    %h = cpu.halo %p {pads = array<i64: 1, 1, 1, 1>} : tensor<?x2x8x8x8xf32> -> tensor<?x2x10x10x8xf32>
    %1 = cpu.packed_conv %h, %w1, %b1 {…} : (tensor<?x2x10x10x8xf32>, …) -> tensor<?x4x8x8x8xf32>
    ```
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "8", "f32 elements of a vector register">,
                 Option<"winograd", "winograd", "bool", "true", "allow algorithms that round differently">,
                 Option<"bytes", "bytes", "int64_t", "0", "bytes that one step of a sum of products takes; 0 leaves integers alone">,
                 Option<"halves", "halves", "int64_t", "0", "bf16 elements alike">,
                 Option<"smallBytes", "small-bytes", "int64_t", "0", "the same for weights from -64 to 64; 0: no other">,
                 Option<"tileBytes", "tile-bytes", "int64_t", "0", "bytes of channels that one product of matrices takes; 0: none">,
                 Option<"tileHalves", "tile-halves", "int64_t", "0", "bf16 elements alike">];
}

def CpuPartitionPass : CpuPass<"tessera-cpu-partition"> {
  let summary = "cut a flat leaf into nodes, with the rules for layers on blocks";
  let description = [{
    As `tessera-nn-partition`. Beyond that, a pointwise layer whose weights leave room for it in the cache joins the
    depthwise layer in front of it, a pool joins a convolution, and a layer's border is part of its stores.

    Before:
    ```mlir
    %1 = cpu.packed_conv %x, %w, %b … : …
    %2 = nn.unary relu %1 : …
    %3 = cpu.halo %2 {pads = array<i64: 1, 1, 1, 1>} : …
    ```
    After:
    ```mlir
    %3 = dfg.node @conv (%a = %x : …, %b = %w : …) -> tensor<?x4x10x10x8xf32> {…}
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "put several operations into a node">,
                 Option<"stripWeights", "strip-weights", "int64_t", "0",
                        "bytes of a pointwise layer's weights, at most, with which it joins a depthwise layer">];
}

#endif
