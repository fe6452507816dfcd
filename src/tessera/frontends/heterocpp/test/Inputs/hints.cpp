// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints in all their forms.
#include "heterocc.h"

#include <cstdio>
#include <numeric>
#include <vector>

using namespace hpvm;

static void places(int *a, size_t ab, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, ab, n, 1, a, ab, "one");
    __hetero_hint(hpvm::CPU_TARGET);
    a[i] += 1;
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, ab, n, 1, a, ab, "several");
    __hetero_hint("cuda, cpu");
    a[i] += 1;
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, ab, n, 1, a, ab, "repeated");
    __hetero_hint(hpvm::CPU_OR_GPU_TARGET);
    __hpvm__hint(hpvm::CPU_TARGET);
    a[i] += 1;
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, ab, n, 1, a, ab, "device");
    __hetero_hint(Target::GPU); // as papers spell it
    a[i] += 1;
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, ab, n, 1, a, ab, "anywhere");
    __hetero_hint(hpvm::None);
    a[i] += 1;
  }
}
int main() {
  std::vector<int> a(100);
  __hetero_wait(__hetero_launch((void *)places, 2, a.data(), a.size() * sizeof(int), 100, 1, a.data(),
                                a.size() * sizeof(int)));
  std::printf("sum %d\n", std::accumulate(a.begin(), a.end(), 0));
}
