// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch as a region, in the older spellings.
#include "scale.h"

#include "heterocc.h"

void scale(int *values, int count, int factor) {
#ifdef MISTAKE
  mistake();
#endif
  size_t bytes = count * sizeof(int);
  void *launch = __hpvm_launch_begin(3, values, bytes, count, factor, 1, values, bytes);
  void *section = __hpvm_parallel_section_begin();
  for (int i = 0; i < count; ++i) {
    __hpvm_parallel_loop(1, 3, values, bytes, count, factor, 1, values, bytes, "scale");
    __hpvm__hint(hpvm::CPU_TARGET);
    __hpvm__task(3);
    values[i] *= factor;
  }
  __hpvm_parallel_section_end(section);
  __hpvm_launch_end(launch);
  __hpvm_wait(launch);
}
