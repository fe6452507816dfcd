#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs commands whose output goes to a device that is always full: each has to say so, with exit status 1."""
import re
import subprocess
import sys

COMMANDS = [
    "tessera run two.tsx --program sum --input x=x.npy", "tessera run two.tsr --program sum --input x=x.npy",
    "tessera run two.tsr --target oracle --program sum --input x=x.npy", "tessera bench two.tsx --program sum --batch 8 --repeat 1",
    "tessera explain two.tsx", "tessera explain two.tsr", "tessera --help", "tessera --version", "tessera run --help", "tessera compile --help",
    "tessera run x.tsr --help", "tessera targets", "tessera targets --json", "tessera doctor", "tessera install two.tsr --stop-after=place",
    "tessera-fpcmp --help",
]
# The reason is not known any more when it failed in the middle.
MESSAGE = re.compile(r"cannot write to standard output(: No space left on device)?\n$")

for command in COMMANDS:
    with open("/dev/full", "w") as full:
        result = subprocess.run(command.split(), stdout=full, stderr=subprocess.PIPE, text=True)
    if result.returncode != 1 or not MESSAGE.search(result.stderr):
        sys.exit(f"{command}: expected exit status 1 and a message, but got {result.returncode} and {result.stderr!r}")
