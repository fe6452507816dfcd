#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the builtins for one architecture and writes them as a C++ file.

usage: embed.py ARCH CLANG LLVM_BIN OUT.cpp SOURCE...

Two forms come out. The bitcode is linked into a module of kernels before optimisation, so it must fit any CPU: the
attributes that name a CPU, its features or the absence of library functions would keep a function from being inlined
into a caller that differs, and module flags would clash with the caller's; both are taken out. The object is for what
code generation asks for afterwards (memcpy, __truncsfbf2, ...): generic code, a section for each function.
"""
import os
import re
import subprocess
import sys
import tempfile

FLAGS = """-std=c17 -O2 -ffreestanding -fno-builtin -fno-vectorize -fno-slp-vectorize -ffp-contract=off -fno-math-errno
-fno-trapping-math -fvisibility=hidden -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-stack-protector
-fno-ident -ffunction-sections -Wall -Wextra -Wno-bitwise-conditional-parentheses -Wno-bitwise-instead-of-logical""".split()


def generic(text, keep_no_builtins):
    """LLVM IR without what ties it to a CPU or to the flags of its compilation."""

    def attributes(match):
        line = match.group(0)
        line = re.sub(r' "(target-cpu|tune-cpu|target-features|no-trapping-math|stack-protector-buffer-size|'
                      r'min-legal-vector-width|frame-pointer)"="[^"]*"', "", line)
        if not keep_no_builtins:
            line = line.replace(' "no-builtins"', "")
        return line

    text = re.sub(r"^attributes #.*$", attributes, text, flags=re.M)
    text = re.sub(r"^!llvm\.module\.flags = .*$", "", text, flags=re.M)
    return re.sub(r"^source_filename = .*$", 'source_filename = "builtins"', text, flags=re.M)


def array(name, data):
    lines = [",".join(map(str, data[i : i + 32])) for i in range(0, len(data), 32)]
    body = ",\n".join(lines)
    return f"extern const unsigned long {name}Size = {len(data)};\nalignas(16) extern const unsigned char {name}[] = {{\n{body}}};\n"


def main():
    arch, clang, llvm, out, *sources = sys.argv[1:]
    target = f"--target={arch}-unknown-linux-gnu"
    with tempfile.TemporaryDirectory() as work:
        modules, objects = [], []
        for source in sources:
            stem = os.path.join(work, os.path.basename(source))
            subprocess.run([clang, target, *FLAGS, "-S", "-emit-llvm", source, "-o", stem + ".ll"], check=True)
            with open(stem + ".ll") as f:
                text = f.read()
            with open(stem + ".ll", "w") as f:
                f.write(generic(text, os.path.basename(source) == "Memory.c"))
            modules.append(stem + ".ll")
            subprocess.run([clang, target, *FLAGS, "-c", source, "-o", stem + ".o"], check=True)
            objects.append(stem + ".o")
        bitcode, whole = os.path.join(work, "all.bc"), os.path.join(work, "all.o")
        subprocess.run([os.path.join(llvm, "llvm-link"), *modules, "-o", bitcode], check=True)
        subprocess.run([os.path.join(llvm, "ld.lld"), "-r", *objects, "-o", whole], check=True)
        text = "// Written by embed.py.\n"
        text += array(f"tesseraBuiltinsBitcode_{arch}", open(bitcode, "rb").read())
        text += array(f"tesseraBuiltinsObject_{arch}", open(whole, "rb").read())
    with open(out, "w") as f:
        f.write(text)


main()
