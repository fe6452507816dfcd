/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What programs for HPVM take from its own header: the names of targets, the older hint and kinds of tasks.
 */
#ifndef TESSERA_COMPAT_HPVM_H
#define TESSERA_COMPAT_HPVM_H

#ifdef __cplusplus
namespace hpvm {
#endif
enum Target {
  None,
  CPU_TARGET,
  GPU_TARGET,
  CUDNN_TARGET,
  TENSOR_TARGET,
  CPU_OR_GPU_TARGET,
  FPGA_TARGET,
/* Target::GPU, as papers spell it. Not in C, where the short names would be everyone's, nor where the program
 * has taken them for macros. */
#if defined(__cplusplus) && !defined(CPU)
  CPU = CPU_TARGET,
#endif
#if defined(__cplusplus) && !defined(GPU)
  GPU = GPU_TARGET,
#endif
#if defined(__cplusplus) && !defined(FPGA)
  FPGA = FPGA_TARGET,
#endif
};
#ifdef __cplusplus
}
namespace hetero = hpvm;
extern "C" {
void __hpvm__hint(hpvm::Target target) noexcept;
void __hpvm__init(void) noexcept;
void __hpvm__cleanup(void) noexcept;
void __hpvm__barrier(void) noexcept;
void __hpvm__task(int kind) noexcept; /* of a scheduler; means nothing here */
}
#else
void __hpvm__hint(enum Target target);
void __hpvm__init(void);
void __hpvm__cleanup(void);
void __hpvm__barrier(void);
void __hpvm__task(int kind);
#endif

#endif
