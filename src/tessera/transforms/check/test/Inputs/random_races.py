# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random leaves with small constant grids, whose instances are enumerated one by one: the check must find a race
exactly where two of them meet, and may leave few of them undecided."""

import argparse
import os
import random
import re
import subprocess
import sys

SIZE = 12


class Leaf:
    """A random body, kept as MLIR text and as a function that says what an instance touches."""

    def __init__(self, rng):
        self.rng = rng
        self.extents = [rng.randint(2, 4) for _ in range(rng.randint(1, 2))]
        self.lines = []
        self.count = 0
        self.constants = {}
        ids = [("%i", lambda env: env["ids"][0]), ("%j", lambda env: env["ids"][1])][: len(self.extents)]
        self.body = self.block(ids, 2, indent="    ")

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def constant(self, value):
        name = f"%c{value}" if value >= 0 else f"%m{-value}"
        self.constants[name] = value
        return name, lambda env, value=value: value

    def emit(self, indent, text):
        self.lines.append(indent + text)

    def index(self, scope, indent, depth=2):
        """A random affine (or nearly affine) expression over the variables in scope."""
        rng = self.rng
        kind = rng.choice(["var", "var", "const", "add", "sub", "mul", "min", "max", "div", "rem", "select"])
        if depth == 0 or kind == "var":
            return rng.choice(scope)
        if kind == "const":
            return self.constant(rng.randint(0, 6))
        a, fa = self.index(scope, indent, depth - 1)
        name = self.name()
        if kind in ("mul", "div", "rem"):
            value = rng.randint(2, 4)
            b, _ = self.constant(value)
            op = {"mul": "muli", "div": "divsi", "rem": "remsi"}[kind]
            self.emit(indent, f"{name} = arith.{op} {a}, {b} : index")
            if kind == "mul":
                return name, lambda env: fa(env) * value
            # Rounds to zero, as C does.
            def quotient(env):
                return abs(fa(env)) // value * (1 if fa(env) >= 0 else -1)

            return name, quotient if kind == "div" else (lambda env: fa(env) - value * quotient(env))
        b, fb = self.index(scope, indent, depth - 1)
        if kind == "select":
            flag, fc = self.condition(scope, indent)
            self.emit(indent, f"{name} = arith.select {flag}, {a}, {b} : index")
            return name, lambda env: fa(env) if fc(env) else fb(env)
        op, f = {
            "add": ("addi", lambda x, y: x + y),
            "sub": ("subi", lambda x, y: x - y),
            "min": ("minsi", min),
            "max": ("maxsi", max),
        }[kind]
        self.emit(indent, f"{name} = arith.{op} {a}, {b} : index")
        return name, lambda env: f(fa(env), fb(env))

    def condition(self, scope, indent):
        a, fa = self.index(scope, indent, 1)
        b, fb = self.index(scope, indent, 1)
        predicate, f = self.rng.choice(
            [("eq", lambda x, y: x == y), ("ne", lambda x, y: x != y), ("slt", lambda x, y: x < y), ("sge", lambda x, y: x >= y)]
        )
        name = self.name()
        self.emit(indent, f"{name} = arith.cmpi {predicate}, {a}, {b} : index")
        return name, lambda env: f(fa(env), fb(env))

    def access(self, scope, indent):
        name, f = self.index(scope, indent)
        kind = self.rng.choice(["load", "store", "store", "atomic"])
        result = self.name()
        if kind == "load":
            self.emit(indent, f"{result} = memref.load %s[{name}] : memref<{SIZE}xi32>")
        elif kind == "store":
            self.emit(indent, f"memref.store %one, %s[{name}] : memref<{SIZE}xi32>")
        else:
            self.emit(indent, f"{result} = memref.atomic_rmw addi %one, %s[{name}] : (i32, memref<{SIZE}xi32>) -> i32")

        def run(env):
            # Outside the memory an access has no meaning, so the check does not look there.
            if 0 <= f(env) < SIZE:
                env["trace"].append((env["phase"], f(env), kind))

        return run

    def block(self, scope, depth, indent, uniform=True):
        steps = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.choice(["access", "access", "barrier", "loop", "if"])
            if kind == "barrier" and uniform:
                self.emit(indent, "dfg.barrier")
                steps.append(lambda env: env.__setitem__("phase", env["phase"] + 1))
            elif kind == "loop" and depth:
                lower, step = self.rng.randint(0, 1), self.rng.randint(1, 2)
                upper = lower + self.rng.randint(1, 3)
                names = [self.constant(v)[0] for v in (lower, upper, step)]
                counter = self.name()
                self.emit(indent, f"scf.for {counter} = {names[0]} to {names[1]} step {names[2]} {{")
                inner = self.block(scope + [(counter, lambda env, c=counter: env[c])], depth - 1, indent + "  ", uniform)
                self.emit(indent, "}")

                def run(env, counter=counter, inner=inner, lower=lower, upper=upper, step=step):
                    for value in range(lower, upper, step):
                        env[counter] = value
                        inner(env)

                steps.append(run)
            elif kind == "if" and depth:
                flag, f = self.condition(scope, indent)
                self.emit(indent, f"scf.if {flag} {{")
                inner = self.block(scope, depth - 1, indent + "  ", uniform=False)
                self.emit(indent, "}")
                steps.append(lambda env, f=f, inner=inner: inner(env) if f(env) else None)
            else:
                steps.append(self.access(scope, indent))

        def run(env):
            for step in steps:
                step(env)

        return run

    def text(self):
        grid = ", ".join(f"%{n} = %e{d}" for d, n in zip(range(len(self.extents)), "ij"))
        lines = ["dfg.graph @g() {"]
        lines += [f"  %e{d} = arith.constant {e} : index" for d, e in enumerate(self.extents)]
        lines += [f"  dfg.node @n grid({grid}) () {{", f"    %s = dfg.scratch : memref<{SIZE}xi32>", "    %one = arith.constant 1 : i32"]
        lines += [f"    {n} = arith.constant {v} : index" for n, v in sorted(self.constants.items())]
        return "\n".join(lines + self.lines + ["  }", "  dfg.return", "}", ""])

    def races(self):
        points = [(i, j) for i in range(self.extents[0]) for j in range(self.extents[1] if len(self.extents) > 1 else 1)]
        seen = {}
        for ids in points:
            env = {"ids": ids, "phase": 0, "trace": []}
            self.body(env)
            for phase, element, kind in env["trace"]:
                seen.setdefault((phase, element), set()).add((ids, kind))
        for touched in seen.values():
            for a, ka in touched:
                for b, kb in touched:
                    if a != b and {ka, kb} not in ({"load"}, {"atomic"}):
                        return True
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if os.environ.get("TESSERA_FULL"):
        options.count *= 10
    leaves = [Leaf(random.Random(options.seed * 1000003 + k)) for k in range(options.count)]
    source, starts, line = "", [], 1
    for leaf in leaves:
        starts.append(line)
        part = leaf.text() + "// -----\n"
        source += part
        line += part.count("\n")
    run = subprocess.run(
        ["tessera-opt", "-split-input-file", "--tessera-check-races", "-", "-o", "/dev/null"],
        input=source.encode(), capture_output=True,
    )
    found, bad, undecided = {}, 0, 0
    for match in re.finditer(r"^<stdin>:(\d+):\d+: (error|remark): (.*)", run.stderr.decode(), re.M):
        number = max(k for k, start in enumerate(starts) if start <= int(match.group(1)))
        found.setdefault(number, []).append((match.group(2), match.group(3)))
    for k, leaf in enumerate(leaves):
        messages = found.get(k, [])
        error = any(kind == "error" and "(dfg-p1)" in text for kind, text in messages)
        other = [text for kind, text in messages if "(dfg-p1)" not in text]
        undecided += bool(other)
        wrong = error != leaf.races() and not (other and not error)
        if wrong or any("dfg-p2" not in text for text in other):
            bad += 1
            print(f"case {k}: races {leaf.races()}, but the check says {messages}\n{leaf.text()}")
    racy = sum(leaf.races() for leaf in leaves)
    print(f"{options.count} leaves, {racy} racy, {undecided} not decided, {bad} wrong")
    return 1 if bad or run.returncode not in (0, 1) else 0


sys.exit(main())
