// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mistakes with a stream whose launch is not in sight.
#include "heterocc.h"

#include <string>

static void copy(const int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "copy");
    out[i] = in[i];
  }
}
static int in[8], out[8];

static void feed(void *stream, const std::string &mistake) {
  if (mistake == "many")
    __hetero_push(stream, 4, in, sizeof(in), out, sizeof(out), 8, 9);
  if (mistake == "order")
    __hetero_push(stream, 3, 8, in, sizeof(in), out, sizeof(out));
  if (mistake == "closed")
    __hetero_close(stream);
  if (mistake == "ended")
    __hetero_wait(stream);
  __hetero_push(stream, 2, in, sizeof(in), out, sizeof(out));
}
int main(int, char **argv) {
  feed(__hetero_launch_stream((void *)copy, 3, in, sizeof(in), out, sizeof(out), 8, 1, out, sizeof(out)),
       argv[1]);
}
