#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and installs each case of a file (parted by lines '// -----') and compares what is said. A case begins with
  // error: TEXT      it must be refused with exit status 1, this text, and no file
  // warning: TEXT    it must be installed, with this text
  // fine             it must be installed without a word
usage: cases.py FILE FOLDER [options of install]"""
import os
import re
import subprocess
import sys


def main():
    folder, options = sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = file.read().split("// -----\n")[1:]
    failures = 0
    for number, text in enumerate(cases, 1):
        source, portable, installed = (f"{folder}/case{number}{ending}" for ending in (".mlir", ".tsr", ".tsx"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(["tessera", "compile", source, "-o", portable], capture_output=True, text=True)
        if done.returncode == 0:
            done = subprocess.run(["tessera", "install", portable, "-o", installed, *options], capture_output=True, text=True)
        kind, wanted = re.match(r"// (error|warning|fine):? ?(.*)", text).groups()
        good = done.returncode == (kind == "error") and os.path.exists(installed) == (kind != "error")
        good = good and (done.stderr == "" if kind == "fine" else f"{kind}: " in done.stderr and wanted in done.stderr)
        if not good:
            failures += 1
            print(f"case {number}, expected {kind} '{wanted}', but got status {done.returncode}:\n{done.stderr[:1500]}")
    print(f"{len(cases) - failures} of {len(cases)} cases are as expected")
    return 1 if failures else 0


sys.exit(main())
