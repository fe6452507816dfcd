#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that writes into a folder on a disk of a few KiB (a tmpfs), for each of some sizes, and checks that it fails
with a message and leaves nothing there; at all but the smallest size it may also succeed. Where nothing can be
mounted there is nothing to check.
usage: smalldisk.py FOLDER KIB[,KIB...] COMMAND...        ({} in COMMAND stands for FOLDER)"""
import os
import subprocess
import sys


def main():
    folder, sizes, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    failures = 0
    for size in sizes:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            print("not checked: no tmpfs can be mounted here")
            return 0
        try:
            done = subprocess.run([w.replace("{}", folder) for w in command], capture_output=True, text=True)
            left = os.listdir(folder)
        finally:
            subprocess.run(["umount", folder], check=True)
        refused = done.returncode == 1 and "No space left on device" in done.stderr and not left
        if not refused and (size == sizes[0] or done.returncode != 0):
            failures += 1
            print(f"{size} KiB: status {done.returncode}, {done.stderr!r}, left: {left}")
    return 1 if failures else 0


sys.exit(main())
