# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program of the guide's code: the loop as it was and both ways to port it, and two loops as one graph.
usage: porting.py GUIDE.md > PROGRAM.cpp"""
import re
import sys

with open(sys.argv[1]) as file:
    before, lambdas, markers, run, several = re.findall(r"```cpp\n(.*?)```", file.read(), re.S)
step, launch = several.split("…\n")
print(f"""#include "heterocc.h"
#include <cstdio>
#include <tessera/hetero.hpp>
#include <vector>
namespace before {{
{before}}}
namespace lambdas {{
{lambdas}}}
namespace markers {{
{markers}}}
{step}
int main() {{
  const int n = 1000;
  std::vector<float> x(n), a(n, 1), b(n, 1), c(n, 1), t(n), y(n);
  for (int i = 0; i < n; ++i)
    x[i] = float(i % 17);
  before::saxpy(2, x.data(), a.data(), n);
  lambdas::saxpy(2, x.data(), b.data(), n);
  markers::saxpy(2, x.data(), c.data(), n);
  int bad = 0;
  auto check = [&] {{
    for (int i = 1; i < n - 1; ++i)
      bad += a[i] != b[i] || a[i] != c[i] || y[i] != x[i - 1] * x[i - 1] + x[i + 1] * x[i + 1];
  }};
  {launch}
  check();
  y.assign(n, 0);
  {run}
  check();
  std::printf("%d bad\\n", bad);
}}""")
