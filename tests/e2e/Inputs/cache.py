#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spoils the only entry of a cache in several ways: the command that uses it works all the same, and the entry is then what it was.
usage: cache.py FOLDER OTHER.tsx... -- COMMAND...        OTHER: installed programs that are put in the entry's place"""
import os
import subprocess
import sys


def entry(folder):
    found = [name for name in os.listdir(folder) if name.endswith(".tsx")]
    if len(found) != 1 or set(os.listdir(folder)) - set(found) - {"kernels"}:
        sys.exit(f"expected one entry, but got {os.listdir(folder)}")
    return os.path.join(folder, found[0])


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    folder, rest = sys.argv[1], sys.argv[2:]
    others, command = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    environment = {**os.environ, "TESSERA_CACHE": os.path.abspath(folder)}

    def run():
        return subprocess.run(command, env=environment, check=True, capture_output=True).stdout

    expected = run()
    path = entry(folder)
    good, number = read(path), os.stat(path).st_ino
    if run() != expected or os.stat(path).st_ino != number:
        sys.exit("a good entry was made anew")
    flipped = good[:4200] + bytes([good[4200] ^ 1]) + good[4201:]
    for what, bad in [("cut", good[:5000]), ("flipped", flipped), ("empty", b""), *((name, read(name)) for name in others)]:
        with open(path, "wb") as file:
            file.write(bad)
        if run() != expected or read(path) != good:
            sys.exit(f"{what}: the entry was not made anew")
    # Others could have changed it.
    os.chmod(path, 0o666)
    if run() != expected or os.stat(path).st_mode & 0o22:
        sys.exit("an entry that others may write was taken")


main()
