#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages a .tsr or .tsx file in many ways and runs a command on each copy: every copy must be refused with one
message and exit status 1, never by a crash.
usage: damage.py FILE COUNT -- COMMAND...        ({} in COMMAND stands for the damaged copy)"""
import os
import random
import subprocess
import sys


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    command = sys.argv[4:]
    with open(path, "rb") as file:
        good = file.read()
    copy = path + ".damaged" + os.path.splitext(path)[1]
    random.seed(1)
    # The header and the table densely, the rest spread out; then cuts, and a tail.
    places = sorted(set(list(range(0, 64, 3)) + [len(good) * i // count for i in range(count)]))
    cases = [("flip %d" % p, good[:p] + bytes([good[p] ^ (1 << random.randrange(8))]) + good[p + 1 :]) for p in places]
    cases += [("cut %d" % p, good[:p]) for p in (0, 1, 7, 8, 63, 64, 100, 4095, 4096, len(good) // 2, len(good) - 1)]
    cases += [("tail", good + b"\0")]
    failures = 0
    for name, content in cases:
        with open(copy, "wb") as file:
            file.write(content)
        done = subprocess.run([word.replace("{}", copy) for word in command], capture_output=True, text=True)
        if done.returncode != 1 or not done.stderr.startswith("error: ") or done.stderr.count("\n") != 1 or "signal" in done.stderr:
            failures += 1
            print(f"{name}: status {done.returncode}, {done.stderr!r}")
    os.remove(copy)
    print(f"{len(cases) - failures} of {len(cases)} damaged copies refused")
    return 1 if failures else 0


sys.exit(main())
