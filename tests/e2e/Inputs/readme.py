#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the first program out of the README and the commands that follow it: saxpy.mlir and commands.sh.
usage: readme.py README.md FOLDER"""
import re
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    program, commands = re.search(r"```mlir\n(.*?)```\n```sh\n(.*?)```", text, re.S).groups()
    for name, content in (("saxpy.mlir", program), ("commands.sh", "set -e\n" + commands)):
        with open(f"{sys.argv[2]}/{name}", "w", encoding="utf-8") as file:
            file.write(content)


main()
