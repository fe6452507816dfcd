#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the first program out of the README: saxpy.mlir.
usage: readme.py README.md FOLDER"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    program = re.search(r"```mlir\n(.*?)```\n", file.read(), re.S)[1]
with open(f"{sys.argv[2]}/saxpy.mlir", "w", encoding="utf-8") as file:
    file.write(program)
