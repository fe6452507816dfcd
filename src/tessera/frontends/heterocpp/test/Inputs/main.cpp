// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host of scale.cpp.
#include "scale.h"

#include <cstdio>

int main() {
  int values[] = {1, 2, 3};
  scale(values, 3, FACTOR);
  std::printf("%d %d %d\n", values[0], values[1], values[2]);
  return 0;
}
