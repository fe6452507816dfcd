#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs in the marker style. Each executable runs many functions twice, as a graph and as the code that Clang
made of the same source, and says where the two differ: integers bit for bit, floats within a bound that allows for
contraction and regrouping.

usage: random_programs.py FOLDER --seed S --count N [--compiler "tessera cc"]"""

import argparse
import os
import random
import subprocess
import sys

PER_FILE = 20
INTS = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]


class Function:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.type = rng.choice(["int32_t", "int32_t", "int64_t", "uint32_t", "float", "double"])
        self.real = self.type in ("float", "double")
        self.depth = 0
        self.names = 0

    def fresh(self):
        self.names += 1
        return f"v{self.names}"

    def index(self, scope):
        r = self.rng
        base = r.choice(["i", "i + 1", "n - 1 - i", "i * 3 + 1", "(i ^ 5)"] + [f"(int)({v} & 63)" for v in scope["int"][:2]])
        return f"(unsigned)({base}) % (unsigned)n"

    def integer(self, scope, depth=0):
        r = self.rng
        leaves = scope["int"] + ["i", "n", str(r.randint(-20, 20)), str(r.randint(0, 1000))]
        if depth > 2 or r.random() < 0.25:
            return r.choice(leaves)
        a, b = self.integer(scope, depth + 1), self.integer(scope, depth + 1)
        kind = r.randrange(12)
        if kind < 4:
            # Unsigned arithmetic wraps around; signed overflow would have no meaning.
            return f"(int64_t)((uint64_t)({a}) {r.choice('+-*')} (uint64_t)({b}))"
        if kind == 4:
            return f"(({a}) / (int64_t)((({b}) & 7) + 1))"
        if kind == 5:
            return f"(({a}) % (int64_t)((({b}) & 15) + 3))"
        if kind == 6:
            return f"(({a}) {r.choice(['&', '|', '^'])} ({b}))"
        if kind == 7:
            return f"((int64_t)({a}) >> (({b}) & 7))"
        if kind == 8:
            return f"({self.condition(scope, depth + 1)} ? (int64_t)({a}) : (int64_t)({b}))"
        if kind == 9:
            return f"(int64_t)({r.choice(INTS)})({a})"
        if kind == 10 and not self.real:
            return f"(int64_t)in[{self.index(scope)}]"
        return f"std::{r.choice(['min', 'max'])}<int64_t>({a}, {b})"

    def float(self, scope, depth=0):
        r = self.rng
        leaves = scope["real"] + [f"{r.uniform(-4, 4):.3f}f", f"in[{self.index(scope)}]"]
        if depth > 2 or r.random() < 0.25:
            return f"({self.type})({r.choice(leaves)})"
        a, b = self.float(scope, depth + 1), self.float(scope, depth + 1)
        kind = r.randrange(8)
        if kind < 3:
            return f"({a} {r.choice('+-*')} {b})"
        if kind == 3:
            return f"({a} / (std::fabs({b}) + 1))"
        if kind == 4:
            return f"std::{r.choice(['fabs', 'floor', 'ceil'])}({a})"
        if kind == 5:
            return f"std::sqrt(std::fabs({a}))"
        if kind == 6:
            return f"({self.type})({self.integer(scope, depth + 2)} & 255)"
        return f"std::{r.choice(['min', 'max'])}({a}, {b})"

    def value(self, scope):
        return self.float(scope) if self.real else f"({self.type})({self.integer(scope)})"

    def condition(self, scope, depth=0):
        r = self.rng
        a, b = self.integer(scope, depth + 1), self.integer(scope, depth + 1)
        test = f"(int64_t)({a}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} (int64_t)({b})"
        if depth < 2 and r.random() < 0.3:
            return f"({test} {r.choice(['&&', '||'])} {self.condition(scope, depth + 2)})"
        return f"({test})"

    def statements(self, scope, indent, count, in_loop):
        return "".join(self.statement(scope, indent, in_loop) for _ in range(count))

    def statement(self, scope, indent, in_loop):
        r, pad = self.rng, "  " * indent
        kind = r.randrange(14)
        variables = scope["mutable"]
        if kind < 3 or not variables:
            name = self.fresh()
            text = f"{pad}{self.type} {name} = {self.value(scope)};\n"
            scope["mutable"].append(name)
            scope["real" if self.real else "int"].append(name)
            return text
        target = r.choice(variables)
        if kind < 6:
            return f"{pad}{target} = {self.value(scope)};\n"
        if kind == 6 and not self.real:
            return f"{pad}{target} = ({self.type})((uint64_t){target} + (uint64_t)({self.integer(scope)}));\n"
        if kind == 7 and in_loop:
            return f"{pad}if ({self.condition(scope)})\n{pad}  {r.choice(['break', 'continue'])};\n"
        if self.depth > 2 or kind < 8:
            return f"{pad}tmp[{r.randrange(4)}] = {self.value(scope)};\n{pad}{target} = tmp[(unsigned)({r.choice(['i', str(r.randrange(4))])}) % 4];\n"
        self.depth += 1
        inner = {k: list(v) for k, v in scope.items()}
        if kind < 11:
            text = f"{pad}if ({self.condition(scope)}) {{\n{self.statements(inner, indent + 1, r.randint(1, 3), in_loop)}{pad}}}"
            if r.random() < 0.5:
                other = {k: list(v) for k, v in scope.items()}
                text += f" else {{\n{self.statements(other, indent + 1, r.randint(1, 2), in_loop)}{pad}}}"
            text += "\n"
        elif kind == 11:
            cases = ""
            for c in range(r.randint(1, 4)):
                own = {k: list(v) for k, v in scope.items()}
                cases += f"{pad}case {c}: {{\n{self.statements(own, indent + 1, 1, False)}{pad}}}\n"
                cases += f"{pad}  break;\n" if r.random() < 0.7 else ""
            cases += f"{pad}default:\n{pad}  {target} = {self.value(scope)};\n"
            text = f"{pad}switch ((unsigned)({self.integer(scope)}) % 6) {{\n{cases}{pad}}}\n"
        else:
            counter = self.fresh()
            inner["int"].append(counter)
            head = r.choice(
                [
                    f"for (int {counter} = 0; {counter} < {r.randint(1, 9)}; ++{counter})",
                    f"for (int {counter} = {r.randint(3, 9)}; {counter} >= 0; {counter} -= {r.randint(1, 3)})",
                    f"for (unsigned {counter} = 1; {counter} <= (unsigned)(i & 7); {counter} += 2)",
                ]
            )
            text = f"{pad}{head} {{\n{self.statements(inner, indent + 1, r.randint(1, 3), True)}{pad}}}\n"
        self.depth -= 1
        return text

    def combination(self, scope, old):
        """What an iteration makes of the value that all of them combine."""
        r, t = self.rng, self.type
        if self.real:
            value = self.float(scope)
            kind = r.randrange(3)
            if kind == 0:
                # Sums are regrouped: what is added stays small.
                return f"{old} + std::min(std::max({value}, ({t})-4), ({t})4)"
            return f"std::{r.choice(['min', 'max'])}({old}, {value})"
        value = f"({t})({self.integer(scope)})"
        kind = r.randrange(6)
        if kind < 2:
            return f"({t})((uint64_t){old} {r.choice('+-')} (uint64_t){value})"
        if kind == 2:
            # A constant could decide the result, and there would be nothing to combine.
            return f"{old} {r.choice(['&', '|', '^'])} ({t})({value} ^ in[i])"
        if kind == 3:
            return f"{old} {r.choice(['&&', '||'])} ({self.condition(scope)} != (in[i] == 1))"
        return f"std::{r.choice(['min', 'max'])}({old}, {value})"

    def source(self):
        r, t = self.rng, self.type
        scope = {"int": [], "real": [], "mutable": []}
        body = self.statements(scope, 2, r.randint(3, 8), False)
        form = r.choice(["each", "each", "each", "shared", "variable", "scattered"])
        before = after = ""
        if form == "each":
            result = self.value(scope)
            if scope["mutable"]:
                result = f"({t})({r.choice(scope['mutable'])})" if r.random() < 0.7 else result
            last = f"out[i] = {result};"
        elif form == "shared":
            last = f"out[3] = {self.combination(scope, 'out[3]')};"
        elif form == "scattered":
            value = f"({t})(({self.integer(scope)}) & 255)"
            last = f"out[{self.index(scope)}] += {value};"
        else:
            first = r.choice(["0", "1", "in[2]"])
            before = f"  void *task = __hetero_task_begin(3, in, inBytes, out, outBytes, n, 1, out, outBytes);\n  {t} all = {first};\n"
            last = f"all = {self.combination(scope, 'all')};"
            if r.random() < 0.3:
                last = f"if ({self.condition(scope)})\n      {last}"
            after = "  out[3] = all;\n  __hetero_task_end(task);\n"
        lists = "3, in, inBytes, out, outBytes, n, 1, out, outBytes"
        if form == "variable":
            lists = "2, in, inBytes, n, 0"
        first = r.choice(["0", "0", "2"])
        return f"""
void {self.name}({t} *in, size_t inBytes, {t} *out, size_t outBytes, int n) {{
{before}  for (int i = {first}; i < n; ++i) {{
    __hetero_parallel_loop(1, {lists}, "{self.name}");
    {t} tmp[4] = {{}};
{body}    {last}
  }}
{after}}}
"""


HEAD = """#include "heterocc.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

template <typename T> static bool near(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b))
      return true; // an overflow on the way may come sooner or later
    return std::fabs(a - b) <= (sizeof(T) == 4 ? 1e-3 : 1e-9) * (1 + std::fabs(a) + std::fabs(b));
  } else
    return a == b;
}
template <typename T>
static int check(const char *name, void (*host)(T *, size_t, T *, size_t, int), void (*graph)(T *, T *, size_t, int)) {
  const int n = 61;
  std::vector<T> in(n), a(n), b(n);
  for (int i = 0; i < n; ++i)
    in[i] = (T)((i * 7919) % 257 - 100);
  host(in.data(), n * sizeof(T), a.data(), n * sizeof(T), n);
  graph(in.data(), b.data(), n * sizeof(T), n);
  for (int i = 0; i < n; ++i)
    if (!near(a[i], b[i])) {
      std::printf("%s differs at %d: %.17g, expected %.17g\\n", name, i, (double)b[i], (double)a[i]);
      return 1;
    }
  return 0;
}
"""


def write(path, seed, count):
    rng = random.Random(seed)
    text, calls = HEAD, ""
    for k in range(count):
        function = Function(rng, f"f{seed}_{k}")
        text += function.source()
        t, name = function.type, function.name
        text += f"""static void run_{name}({t} *in, {t} *out, size_t bytes, int n) {{
  __hetero_wait(__hetero_launch((void *){name}, 3, in, bytes, out, bytes, n, 1, out, bytes));
}}
"""
        calls += f'  bad += check<{t}>("{name}", {name}, run_{name});\n'
    text += f'int main() {{\n  int bad = 0;\n{calls}  std::printf("{count} programs, %d differ\\n", bad);\n  return bad;\n}}\n'
    with open(path, "w") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000 if os.environ.get("TESSERA_FULL") else 200)
    parser.add_argument("--compiler", default="tessera cc")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    bad = done = 0
    while done < args.count:
        count = min(PER_FILE, args.count - done)
        seed = args.seed * 1000 + done // PER_FILE
        source = os.path.join(args.folder, f"random{seed}.cpp")
        write(source, seed, count)
        command = args.compiler.split() + ["-std=c++20", "-O1", "-ffp-contract=off", "-w", source, "-o", source[:-4]]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            result = subprocess.run([source[:-4]], capture_output=True, text=True, timeout=300)
        if result.returncode != 0:
            print(f"{source}:\n{result.stdout}{result.stderr}", end="")
            bad += 1
        done += count
    print(f"{done} random programs, {bad} files with a difference")
    return 1 if bad else 0


sys.exit(main())
