// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule scripts as passes.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_PASSES_TD
#define TESSERA_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphSchedulePass : Pass<"tessera-graph-schedule", "::mlir::ModuleOp"> {
  let summary = "write the default script of the graph stage and run it";
  let description = [{
    Before:
    ```mlir
    %1 = dfg.node @scale grid(%i = %n) (each %e = %x : tensor<?xf32>) -> tensor<?xf32> {…}
    %2 = dfg.node @sum grid(%i = %n) (each %e = %1 : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
    The script, printed with `print`:
    ```mlir
    %1 = transform.tessera.fuse_nodes %scale into %sum : (!transform.any_op, !transform.any_op) -> !transform.any_op
    ```
    After:
    ```mlir
    %2 = dfg.node @scale_sum grid(%i = %n) (each %e = %x : tensor<?xf32>) -> f32 reduce<addf> {…}
    ```
  }];
  let options = [Option<"print", "print", "bool", "false", "print the script to standard error">,
                 Option<"maxRecompute", "max-recompute", "double", "16", "most operations recomputed by one instance">];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

#endif
