// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host of both libraries.
#include "scale.h"

#include <cstdio>
#include <thread>

void shift(int *values, int count);

int main() {
  int values[] = {1, 2, 3};
  std::thread([&] { scale(values, 3, 7); }).join();
  shift(values, 3);
  std::printf("%d %d %d\n", values[0], values[1], values[2]);
}
