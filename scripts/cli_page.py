#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the page docs/cli.md: what every command says of itself. scripts/check compares it with the committed page.
usage: cli_page.py FOLDER-WITH-TESSERA"""
import os
import subprocess
import sys

PAGE = """# The command line
This page is what the commands say of themselves; `scripts/check --fix` renews it.

A command succeeds with exit status 0; a mistake is one message on standard error and exit status 1. Files are written
beside their destination and renamed, so an error or an interrupt leaves nothing half-written. A path that ends in
`.tsr`, `.mlir` or `.onnx` makes `run`, `bench`, `eval` and `explain` start the compiler.

| variable | meaning |
|---|---|
| `TESSERA_CACHE` | folder for what `run X.tsr` installs; default: `$XDG_CACHE_HOME/tessera` or `~/.cache/tessera` |
| `TESSERA_STORE` | MiB that compiled kernels may take in the folder `kernels` of the cache, where later installations find them; default 512; 0: none are kept |
| `TESSERA_DATA` | folder of the data sets `mnist` and `cifar10`, for `eval --data` without a folder |
| `TESSERA_MEMORY` | most address space of a compilation, e.g. `4G`; default 16 GiB |
| `TESSERA_TIME_LIMIT` | most seconds of processor time for reading a file (default 300), and for installing a program (default: no limit); 0: no limit |
| `TESSERA_THREADS` | number of threads where `--threads` is not given; default: one for each processor |
| `TESSERA_PIN` | when set, each thread stays on one processor |
| `TESSERA_CPU_FEATURES` | CPU features to assume beside those that the processor reports, separated by commas; for emulators |
| `TESSERA_LOG` | 1 or 2: more messages on standard error |
| `TESSERA_DEVICE_LIMIT` | seconds that a launch or a copy on a device may take before the device counts as lost; default 600; 0: no limit |
| `TESSERA_NULL` | faults and delays of the null device, for tests (`src/tessera/targets/null/README.md`) |
| `TMPDIR` | folder for temporary files of the compiler |
"""

COMMANDS = [
    ("tessera", []),
    ("tessera compile", ["compile"]),
    ("tessera tune", ["tune"]),
    ("tessera calibrate", ["calibrate"]),
    ("tessera install", ["install"]),
    ("tessera run", ["run"]),
    ("tessera run, with a portable object or a source file", ["run", "x.tsr"]),
    ("tessera bench", ["bench"]),
    ("tessera eval", ["eval"]),
    ("tessera compare", ["compare"]),
    ("tessera verify", ["verify"]),
    ("tessera report", ["report"]),
    ("tessera explain", ["explain"]),
    ("tessera explain, with a portable object", ["explain", "x.tsr"]),
    ("tessera targets", ["targets"]),
    ("tessera doctor", ["doctor"]),
    ("tessera-fpcmp", None),
]


def main():
    folder = sys.argv[1]
    parts = [PAGE]
    for title, words in COMMANDS:
        program = os.path.join(folder, "tessera" if words is not None else "tessera-fpcmp")
        # Without a terminal's width in the environment the text is the same everywhere.
        done = subprocess.run([program, *(words or []), "--help"], capture_output=True, text=True, check=True)
        text = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        parts.append(f"## {title}\n```\n{text}\n```\n")
    sys.stdout.write("\n".join(parts))


main()
