/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A metric of one's own, as a shared library: what `tessera compare --metric ./mine.so` loads.
 *
 *   double tsr_metric(const tsr_metric_array *got, const tsr_metric_array *golden, int32_t outputs)
 *   {
 *     double worst = 0;
 *     for (int64_t i = 0; i < got[0].count; ++i)
 *       worst = fmax(worst, fabs(got[0].data[i] - golden[0].data[i]));
 *     return worst;
 *   }
 *   int tsr_metric_higher_is_better(void) { return 0; }
 *
 * cc -O2 -shared -fPIC mine.c -o mine.so
 */
#ifndef TESSERA_METRIC_H
#define TESSERA_METRIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One output of a program. */
typedef struct tsr_metric_array {
  const char *name;
  const float *data; /* dense, row-major; other types of elements are converted */
  int64_t count;     /* of all elements */
  const int64_t *shape;
  int32_t rank;
} tsr_metric_array;

/* How good `got` is against `golden`; both have `outputs` arrays of the same names and shapes, in the
 * program's order. An answer that is not a number counts as a failure. */
double tsr_metric(const tsr_metric_array *got, const tsr_metric_array *golden, int32_t outputs);

/* 0 for an error, of which less is better; 1 for an accuracy or a similarity. */
int tsr_metric_higher_is_better(void);

#ifdef __cplusplus
}
#endif

#endif
