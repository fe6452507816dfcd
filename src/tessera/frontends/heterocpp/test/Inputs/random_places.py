#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs that launch graphs from wherever C++ runs code: constructors, initialisers, default arguments,
templates, macros, lambdas, headers, several files, built in many ways. Each program is written twice, with markers for
`tessera cc` and with calls for Clang. The two must print the same, and the runtime must have run as many loops as there
are launches on the way.

usage: random_places.py FOLDER --seed S --count N [--compiler "tessera cc"]"""

import argparse
import os
import random
import re
import subprocess
import sys

TYPES = ["float", "double", "int32_t", "int64_t", "uint8_t"]
PLACES = 14  # in a program

# What both versions begin with. A program counts its launches itself in Clang's version.
COMMON = """#pragma once
#include <cstdint>
#include <cstdio>
#include <vector>
inline int launched = 0;
template <typename T> void show(const char *name, const T *x, int n) {
  std::printf("%s", name);
  for (int i = 0; i < n; ++i)
    std::printf(" %g", (double)x[i]);
  std::printf("\\n");
}
struct Nothing { virtual ~Nothing() {} };
"""
MARKED = COMMON + "#include <heterocc.h>\n#include <tessera/hetero.hpp>\n"
PLAIN = (
    COMMON
    + """#include <cstddef>
#define __hetero_parallel_loop(...)
namespace tessera {
inline size_t extent(size_t n) { return n; }
template <typename F> void parallel_for(size_t n, F f) {
  ++launched;
  for (size_t i = 0; i < n; ++i)
    f(i);
}
}
"""
)
COROUTINE = """#include <coroutine>
struct Steps {
  struct promise_type {
    Steps get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
"""


class Program:
    """The text of one program. `@{f|T|x|n|a}` is a launch as an expression, `@[f|T|x|n|a]` as statements."""

    def __init__(self, rng):
        self.rng = rng
        self.count = 0
        self.header = []
        self.files = [[], []]
        self.calls = []
        self.kernels = {}
        for _ in range(PLACES):
            self.place()

    def kernel(self, type):
        """The name of a kernel: a function or an instance of a template, in the header."""
        r = self.rng
        op = r.choice(["x[i] += a", "x[i] = x[i] * a", "x[i] = a - x[i]", "x[i] += a * (i + 1)", "x[i] = i < 2 ? a : x[i]"])
        key = (type if r.random() < 0.5 else "T", op)
        if key not in self.kernels:
            name = self.kernels[key] = f"kernel{len(self.kernels)}"
            head, t = ("template <typename T> ", "T") if key[0] == "T" else ("inline ", type)
            self.header.append(f"""{head}void {name}({t} *x, size_t bytes, int n, {t} a) {{
  for (int i = 0; i < n; ++i) {{
    __hetero_parallel_loop(1, 3, x, bytes, n, a, 1, x, bytes);
    {op};
  }}
}}
""")
        return f"{self.kernels[key]}<{type}>" if key[0] == "T" else self.kernels[key]

    def expression(self, type, x, n):
        return f"@{{{self.kernel(type)}|{type}|{x}|{n}|{self.rng.randint(1, 5)}}}"

    def statement(self, type, x, n):
        kind = self.rng.randrange(5)
        if kind == 0:
            return f"@[{type}|{x}|{n}|{self.rng.randint(1, 5)}];"
        if kind == 1:
            return self.lambda_loop(type, x, n)
        return self.expression(type, x, n) + ";"

    def lambda_loop(self, type, x, n):
        return f"{{ std::vector<{type}> w({x}, {x} + {n}); {type} k = {self.rng.randint(1, 4)}; tessera::parallel_for(tessera::extent({n}), [&, k](size_t i) {{ w[i] += k; }}); for (int i = 0; i < {n}; ++i) {x}[i] = w[i]; }}"

    def place(self):
        r = self.rng
        self.count += 1
        c, t, n = self.count, r.choice(TYPES), r.randint(2, 9)
        e = lambda x: self.expression(t, x, n)
        s = lambda x: self.statement(t, x, n)
        values = "{" + ", ".join(str(r.randint(0, 9)) for _ in range(n)) + "}"
        array = f"{t} x[{n}] = {values};"
        name = f"p{c}"
        show = f'show("{name}", x, {n});'
        kinds = [k for k in dir(self) if k.startswith("in_")]
        kind = r.choice(kinds)
        text, call = getattr(self, kind)(name, t, n, array, values, e, s)
        call = call or f"{array} {name}(x); {show}"
        if call.startswith("="):
            call = call[1:].replace("SHOW", show)
        where = r.randrange(3)
        if where == 2 and kind.endswith("_file"):
            where = r.randrange(2)  # headers are in both
        (self.header if where == 2 else self.files[where]).append(text.replace("INLINE", "inline" if where == 2 else r.choice(["inline", "static", ""])))
        # The other file calls it through a function.
        (self.calls if where != 1 else self.files[1]).append(f"{call}" if where != 1 else f"void run_{name}() {{ {call} }}\n")
        if where == 1:
            self.files[0].append(f"void run_{name}();\n")
            self.calls.append(f"run_{name}();")

    # Each returns declarations, and statements where it is not `array; name(x); show`.
    def in_function(self, name, t, n, array, values, e, s):
        attribute = self.rng.choice(["", "__attribute__((noinline))", "__attribute__((always_inline))", "[[gnu::flatten]]"])
        return f"{attribute} INLINE void {name}({t} *x) {{ {s('x')} }}\n", None

    def in_c_function_file(self, name, t, n, array, values, e, s):
        return f'extern "C" void {name}({t} *x) {{ {s("x")} }}\nextern "C" void alias_{name}({t} *x) __attribute__((alias("{name}")));\n', f"={array} {name}(x); alias_{name}(x); SHOW"

    def in_anonymous(self, name, t, n, array, values, e, s):
        return f"namespace {{ namespace inner {{ void {name}({t} *x) {{ {s('x')} {s('x')} }} }} }}\n", f"={array} inner::{name}(x); SHOW"

    def in_template(self, name, t, n, array, values, e, s):
        return f"template <int K, typename U> void {name}(U *x) {{ for (int k = 0; k < K; ++k) {{ {s('x')} }} }}\n", f"={array} {name}<2>(x); {name}<3>(x); SHOW"

    def in_constructor(self, name, t, n, array, values, e, s):
        base = self.rng.choice(["", " : Nothing", " : virtual Nothing"])
        head = self.rng.choice(["", "__attribute__((noinline)) "])
        return f"struct {name}_c{base} {{ {array} {head}{name}_c() {{ {s('x')} }} }};\nstruct {name}_d : {name}_c {{ {name}_d() {{ {e('x')}; }} }};\n", f"={{ {name}_c a; show(\"c\", a.x, {n}); {name}_d b; show(\"d\", b.x, {n}); }}"

    def in_far_constructor_file(self, name, t, n, array, values, e, s):
        base = self.rng.choice(["", " : virtual Nothing"])
        return f"struct {name}_c{base} {{ {t} x[{n}]; {name}_c(); ~{name}_c(); static {t} last[{n}]; }};\n{t} {name}_c::last[{n}];\n{name}_c::{name}_c() : x{values} {{ {s('x')} }}\n{name}_c::~{name}_c() {{ {s('x')} for (int i = 0; i < {n}; ++i) last[i] = x[i]; }}\n", f"={{ {name}_c a; show(\"c\", a.x, {n}); }} show(\"d\", {name}_c::last, {n});"

    def in_initializer(self, name, t, n, array, values, e, s):
        return f"struct {name}_c {{ {array} {t} y; {name}_c(int) : y({e('x')}) {{}} {name}_c() : {name}_c(1) {{ {e('x')}; }} }};\n", f"={{ {name}_c a; show(\"c\", a.x, {n}); show(\"y\", &a.y, 1); }}"

    def in_try_block(self, name, t, n, array, values, e, s):
        return f"struct {name}_c {{ {array} {t} y; {name}_c() try : y({e('x')}) {{ {s('x')} throw 1; }} catch (int) {{ {{ {t} z[{n}] = {values}; {s('z')} show(\"z\", z, {n}); }} }} }};\n", f"=try {{ {name}_c a; }} catch (int) {{ {array} {s('x')} SHOW }}"

    def in_member_initializer(self, name, t, n, array, values, e, s):
        head = self.rng.choice(["", "template <typename U> "])
        more = "<int>" if head else ""
        more2 = "<char>" if head else ""
        make = self.rng.choice(["", f"{name}_c() {{}} {name}_c(int) {{}}"]) if not head else ""
        return f"{head}struct {name}_c {{ {array} {t} y = {e('x')}; {make} }};\n", f"={{ {name}_c{more} a{{}}; show(\"c\", a.x, {n}); {name}_c{more2} b; show(\"b\", b.x, {n}); {name}_c{more} many[2]; show(\"m\", many[1].x, {n}); }}"

    def in_global_file(self, name, t, n, array, values, e, s):
        how = self.rng.choice(["static", "", "inline", "thread_local", "const"])
        value = self.rng.choice([e(name + "_x"), f"[] {{ {s(name + '_x')} return {name}_x[1]; }}()"])
        return f"static {t} {name}_x[{n}] = {values};\n{how} {t} {name}_y = {value};\n", f"=show(\"y\", &{name}_y, 1); show(\"x\", {name}_x, {n});"

    def in_static_member(self, name, t, n, array, values, e, s):
        return f"struct {name}_c {{ inline static {t} x[{n}] = {values}; inline static {t} y = {e('x')}; }};\n", f"=show(\"y\", &{name}_c::y, 1); show(\"x\", {name}_c::x, {n});"

    def in_variable_template(self, name, t, n, array, values, e, s):
        return f"INLINE {t} {name}_x[{n}] = {values};\ntemplate <typename U> U {name}_y = {e(name + '_x')};\n", f"={{ double y = {name}_y<double>; show(\"y\", &y, 1); show(\"x\", {name}_x, {n}); }}"

    def in_static_local(self, name, t, n, array, values, e, s):
        return f"INLINE {t} {name}({t} *x) {{ static {t} y = {e('x')}; return y; }}\n", f"={array} {t} y[2] = {{{name}(x), {name}(x)}}; show(\"y\", y, 2); SHOW"

    def in_default_argument(self, name, t, n, array, values, e, s):
        head = self.rng.choice(["INLINE ", "template <typename U = int> "])
        return f"INLINE {t} {name}_x[{n}] = {values};\n{head}{t} {name}({t} y = {e(name + '_x')}) {{ return y; }}\n", f"={{ {t} y[3] = {{{name}(), {name}(), {name}(4)}}; show(\"y\", y, 3); show(\"x\", {name}_x, {n}); }}"

    def in_lambda(self, name, t, n, array, values, e, s):
        return f"INLINE void {name}({t} *x) {{ auto f = [&] {{ {s('x')} }}; f(); f(); }}\n", None

    def in_nested_lambda(self, name, t, n, array, values, e, s):
        return f"INLINE void {name}({t} *x) {{ [&](auto k) {{ auto g = [x, k](auto j) mutable {{ {s('x')} return [=] {{ {s('x')} return j + k; }}; }}; g(1)(); g('a')(); }}(2.5); }}\n", None

    def in_capture(self, name, t, n, array, values, e, s):
        return f"INLINE {t} {name}({t} *x) {{ auto f = [y = {e('x')}] {{ return y; }}; return f() + f(); }}\n", f"={array} {t} y = {name}(x); show(\"y\", &y, 1); SHOW"

    def in_macro(self, name, t, n, array, values, e, s):
        return f"#define {name.upper()}(x) {e('x')}; {s('x')} {e('x')}\n#define {name.upper()}_TWICE(x) {name.upper()}(x); {name.upper()}(x)\nINLINE void {name}({t} *x) {{ {name.upper()}_TWICE(x); }}\n", None

    def in_line(self, name, t, n, array, values, e, s):
        line = f'#line 7 "{name}.inc"\n'
        return f"INLINE void {name}({t} *x) {{\n{line}{s('x')}\n{line}{s('x')}\n{line}{e('x')};\n}}\n", None

    def in_virtual(self, name, t, n, array, values, e, s):
        return f"struct {name}_b {{ virtual {t} go({t} *x) = 0; virtual ~{name}_b() {{}} }};\nstruct {name}_c : virtual {name}_b {{ {t} go({t} *x) override {{ {s('x')} return {e('x')}; }} }};\n", f"={array} {name}_c c; {name}_b &b = c; {t} y = b.go(x); show(\"y\", &y, 1); SHOW"

    def in_operator(self, name, t, n, array, values, e, s):
        return f"struct {name}_c {{ {t} *x; operator {t}() const {{ return {e('x')}; }} {t} operator[](int i) {{ {s('x')} return x[i]; }} friend void touch({name}_c &c) {{ {s('c.x')} }} }};\n", f"={array} {name}_c c{{x}}; {t} y[2] = {{c, c[1]}}; touch(c); show(\"y\", y, 2); SHOW"

    def in_nested_class(self, name, t, n, array, values, e, s):
        return f"template <typename U> struct {name}_c {{ struct Inner {{ template <typename V> static void go(U *x, V) {{ {s('x')} }} }}; void go(U *x) {{ struct Local {{ U *x; void go() {{ {s('x')} }} }}; Local{{x}}.go(); Inner::go(x, 1); Inner::go(x, 'c'); }} }};\n", f"={array} {name}_c<{t}>().go(x); SHOW"

    def in_control(self, name, t, n, array, values, e, s):
        return f"INLINE {t} {name}({t} *x) {{ {t} sum = 0; if ({t} y = {e('x')}; y == y) sum += y; for (int k = 0; k < 2 && {e('x')} == x[0]; ++k) sum += {e('x')}; switch (int({e('x')}) & 1) {{ case 0: {{ {s('x')} break; }} default: {{ {s('x')} }} }} do {{ sum += x[0] == x[0] ? {e('x')} : 0; }} while (sum != sum); return sum; }}\n", f"={array} {t} y = {name}(x); show(\"y\", &y, 1); SHOW"

    def in_statement_expression(self, name, t, n, array, values, e, s):
        return f"INLINE {t} {name}({t} *x) {{ return ({{ {s('x')} {e('x')}; }}) + ({e('x')}, x[0]); }}\n", f"={array} {t} y = {name}(x); show(\"y\", &y, 1); SHOW"

    def in_coroutine_file(self, name, t, n, array, values, e, s):
        return f"Steps {name}({t} *x) {{ for (int k = 0; k < 2; ++k) {{ {s('x')} co_await std::suspend_always(); {e('x')}; }} }}\n", f"={array} auto c = {name}(x); for (int k = 0; k < 3; ++k) {{ c.handle.resume(); SHOW }} c.handle.destroy();"

    def in_new(self, name, t, n, array, values, e, s):
        return f"struct {name}_c {{ {t} y; explicit {name}_c({t} y) : y(y) {{}} }};\n", f"={array} {name}_c *c = new {name}_c({e('x')}); c->y += {e('x')}; show(\"y\", &c->y, 1); delete c; SHOW"

    def in_constexpr(self, name, t, n, array, values, e, s):
        return f"constexpr {t} {name}({t} *x, bool now) {{ if (now) {{ return {e('x')}; }} return 1; }}\n", f"={array} constexpr {t} y = {name}(nullptr, false); {t} z = y + {name}(x, true); show(\"z\", &z, 1); SHOW"

    def in_dead(self, name, t, n, array, values, e, s):
        return f"INLINE void {name}({t} *x) {{ if (false) {{ {s('x')} }} {s('x')} return; {s('x')} }}\nstatic inline void dead_{name}({t} *x) {{ {s('x')} }}\n", None

    def in_inherited(self, name, t, n, array, values, e, s):
        return f"struct {name}_b {{ {array} {t} y = {e('x')}; {name}_b({t} z) {{ {s('x')} y += z; }} }};\nstruct {name}_c : virtual {name}_b {{ {t} more[{n}] = {values}; {t} z = {e('more')}; using {name}_b::{name}_b; }};\n", f"={{ {name}_c c(3); show(\"x\", c.x, {n}); show(\"z\", &c.z, 1); show(\"y\", &c.y, 1); }}"

    def render(self, text, marked):
        """The text with markers, or with calls that are counted."""

        def expression(match):
            kernel, t, x, n, a = match.group(1).split("|")
            if marked:
                return f"(__hetero_wait(__hetero_launch((void *){kernel}, 3, {x}, {n} * sizeof({t}), {n}, ({t}){a}, 1, {x}, {n} * sizeof({t}))), {x}[0])"
            return f"(++launched, {kernel}({x}, {n} * sizeof({t}), {n}, ({t}){a}), {x}[0])"

        def statements(match):
            t, x, n, a = match.group(1).split("|")
            lists = "2, p, bytes, k, 1, p, bytes"
            begin = f"void *h = __hetero_launch_begin({lists});" if marked else "++launched;"
            end = "__hetero_launch_end(h); __hetero_wait(h);" if marked else ""
            return f"{{ {t} *p = {x}; size_t bytes = {n} * sizeof({t}); {t} k = {a}; {begin} for (int i = 0; i < {n}; ++i) {{ __hetero_parallel_loop(1, {lists}); p[i] = p[i] + k; }} {end} }}"

        text = re.sub(r"@\{([^}]*)\}", expression, text)
        return re.sub(r"@\[([^\]]*)\]", statements, text)

    def write(self, folder, marked):
        os.makedirs(os.path.join(folder, "headers"), exist_ok=True)
        report = "" if marked else '  std::fprintf(stderr, "launched %d\\n", launched);\n'
        main = "int main() {\n" + "".join(f"  {{ {call} }}\n" for call in self.calls) + report + "}\n"
        texts = {
            "headers/common.h": MARKED if marked else PLAIN,
            "headers/places.h": "#pragma once\n#include <common.h>\n" + COROUTINE + "".join(self.header),
            "main.cpp": '#include <places.h>\n' + "".join(self.files[0]) + main,
            "other.cpp": '#include <places.h>\n' + "".join(self.files[1]),
        }
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(self.render(text, marked))


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, **more)


def build(compiler, flags, way, folder):
    """Builds the program in one of several ways; the last result, good or bad."""
    files = ["main.cpp", "other.cpp"]
    if way == "together":
        return run(compiler + flags + files + ["-o", "app"], folder)
    objects = []
    for file in files:
        made = file[:-3] + "o"
        if way == "preprocessed":
            result = run(compiler + flags + ["-E", file, "-o", file[:-3] + "ii"], folder)
            if result.returncode:
                return result
            file = file[:-3] + "ii"
        result = run(compiler + flags + ["-c", file, "-o", made], folder)
        if result.returncode:
            return result
        objects.append(made)
    if way == "library":
        result = run(compiler + flags + ["-shared", objects[1], "-o", "libother.so"], folder)
        if result.returncode:
            return result
        return run(compiler + flags + [objects[0], "-o", "app", "-L.", "-lother", "-Wl,-rpath,."], folder)
    return run(compiler + flags + objects + ["-o", "app"], folder)


# Flags that Clang does not take together.
APART = [{"-fsanitize=thread", "-fsanitize=address"}, {"-fprofile-generate", "-fprofile-instr-generate"}]


def choose(rng):
    flags = [rng.choice(["-std=c++20", "-std=c++23", "-std=gnu++20"]), "-w", "-fPIC"]
    flags += [rng.choice(["-I", "-isystem", "-idirafter"]), "headers"]
    flags.append(rng.choice(["-O0", "-O1", "-O2", "-O3", "-Os"]))
    more = ["-g", "-gline-tables-only", "-fsanitize=address", "-fsanitize=undefined", "-fsanitize=thread",
            "-fprofile-instr-generate -fcoverage-mapping", "--coverage", "-fprofile-generate", "-save-temps=obj",
            "-fopenmp", "-fno-omit-frame-pointer", "-ffunction-sections", "-fstack-protector-all", "-fno-inline",
            "-finstrument-functions", "-D_GLIBCXX_ASSERTIONS", "-fvisibility=hidden", "-fno-rtti"]
    for flag in rng.sample(more, rng.randint(0, 3)):
        words = flag.split()
        if any(words[0] in pair and pair & set(flags) for pair in APART):
            continue
        flags += words
    # With hidden symbols, a library has variables of its own.
    ways = ["together", "apart", "preprocessed"] + ([] if "-fvisibility=hidden" in flags else ["library"])
    return flags, rng.choice(ways)


def check(folder, seed, compiler, clang):
    """What is wrong with one program; empty when nothing is."""
    rng = random.Random(seed)
    program = Program(rng)
    flags, way = choose(rng)
    head = f"seed {seed}: {' '.join(flags)}, {way}\n"
    here, there = os.path.join(folder, "marked"), os.path.join(folder, "plain")
    program.write(here, True)
    program.write(there, False)
    result = build(clang, ["-std=c++23", "-w", "-O1", "-Iheaders", "-ffp-contract=off"], "together", there)
    if result.returncode:
        return head + "the generator is wrong:\n" + result.stderr[:3000]
    wanted = run(["./app"], there)
    result = build(compiler, flags, way, here)
    if result.returncode:
        return head + result.stderr[:3000]
    environment = dict(os.environ, TESSERA_PROFILE="1", ASAN_OPTIONS="detect_leaks=0", TSAN_OPTIONS="report_bugs=0")
    got = run(["./app"], here, env=environment)
    if got.returncode:
        return head + f"exit {got.returncode}\n" + got.stderr[:3000]
    if got.stdout != wanted.stdout:
        lines = [f"{a} | {b}" for a, b in zip(wanted.stdout.splitlines(), got.stdout.splitlines()) if a != b]
        return head + "expected | got\n" + "\n".join(lines[:10]) + "\n"
    expected = int(re.search(r"launched (\d+)", wanted.stderr).group(1))
    runs = sum(int(m) for m in re.findall(r"^\S+ +\S+ +cpu:0 +(\d+) ", got.stderr, re.M))
    if runs != expected:
        return head + f"{expected} launches, but {runs} were run\n"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400 if os.environ.get("TESSERA_FULL") else 5)
    parser.add_argument("--compiler", default="tessera cc")
    parser.add_argument("--clang", default="clang++")
    args = parser.parse_args()
    bad = 0
    for k in range(args.count):
        seed = args.seed * 100000 + k
        folder = os.path.join(args.folder, str(seed))
        text = check(folder, seed, args.compiler.split(), args.clang.split())
        if text:
            print(f"{folder}: {text}", end="", flush=True)
            bad += 1
        else:
            subprocess.run(["rm", "-rf", folder])
    print(f"{args.count} programs, {bad} with a difference")
    return 1 if bad else 0


sys.exit(main())
