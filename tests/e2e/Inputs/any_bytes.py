#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles, installs, explains and runs a program whose names are bytes that are no UTF-8."""
import json
import os
import subprocess
import sys

import numpy

# In MLIR's text a byte is written \FF; on the command line it is itself.
MODULE = rb"""
dfg.graph @"gr\E9"(%x: tensor<?xf32>) -> ("y\C3": tensor<?xf32>) attributes {arg_names = ["x\FF"]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = dfg.node @"no\80de" grid(%i = %n) (each %a = %x : tensor<?xf32>) -> tensor<?xf32> {
    %b = arith.addf %a, %a : f32
    dfg.yield %b : f32
  }
  dfg.return %y : tensor<?xf32>
}
"""


def tessera(*words):
    result = subprocess.run([b"tessera", *words], capture_output=True)
    if result.returncode:
        sys.exit(f"{words}: {result.returncode}\n{result.stderr.decode(errors='replace')}")
    return result.stdout


def main():
    with open(b"caf\xe9.mlir", "wb") as file:
        file.write(MODULE)
    tessera(b"compile", b"caf\xe9.mlir", b"-o", b"caf\xe9.tsr")
    tessera(b"install", b"caf\xe9.tsr", b"-o", b"caf\xe9.tsx")
    assert b"x\xff" in tessera(b"explain", b"caf\xe9.tsx")
    tessera(b"explain", b"caf\xe9.tsr")
    json.loads(tessera(b"explain", b"caf\xe9.tsx", b"--json"))
    numpy.save("x.npy", numpy.arange(4, dtype="f4"))
    for program in (b"caf\xe9.tsx", b"caf\xe9.tsr"):
        tessera(b"run", program, b"--program", b"gr\xe9", b"--input", b"x\xff=x.npy", b"--output", b"y\xc3=y.npy", b"--trace", b"t.json")
        assert (numpy.load("y.npy") == [0, 2, 4, 6]).all()
        os.remove("y.npy")
        with open("t.json", encoding="utf-8") as file:
            json.load(file)
    wrong = subprocess.run([b"tessera", b"run", b"caf\xe9.tsx", b"--input", b"x\xfe=x.npy"], capture_output=True)
    assert wrong.returncode == 1 and b"inputs: x\xff" in wrong.stderr, wrong


main()
