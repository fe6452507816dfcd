# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 7 from Python. usage: first.py MODEL.onnx DATA.npz"""
import sys

import numpy
import tessera

data = numpy.load(sys.argv[2])
program = tessera.compile(sys.argv[1])
logits = program.run(data["x"].astype(numpy.float32) / 255)
print(program)
print(f"{(logits.argmax(1) == data['y']).mean():.1%} right")
