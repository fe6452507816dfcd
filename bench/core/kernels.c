// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for the graphs that handmade.py writes, with the interface of docs/formats.md.
typedef unsigned long u64;
typedef long i64;

// A node as good as empty: it says how deep in the graph it is, which shows that all ran, and in order.
void depth(const u64 *args, const i64 begin[3], const i64 end[3], void *scratch) {
  *(i64 *)args[0] = *(const i64 *)args[1] + 1;
}

// A stage as good as empty: what is measured is the way from stage to stage.
void step(const u64 *args, const i64 begin[3], const i64 end[3], void *scratch) {
  ((float *)args[1])[7] = ((const float *)args[0])[7] + 1;
}

// One stage of a stream: some arithmetic for each element.
void stage(const u64 *args, const i64 begin[3], const i64 end[3], void *scratch) {
  const float *restrict x = (const float *)args[0];
  float *restrict y = (float *)args[1];
  i64 n = (i64)args[2];
  for (i64 i = 0; i < n; ++i) {
    float v = x[i];
    for (int k = 0; k < 8; ++k)
      v = v * 0.75f + 0.125f;
    y[i] = v;
  }
}
