# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 7 from Python. usage: first.py [MODEL.onnx DATA.npz]; without, LeNet and its images"""
import pathlib
import sys

import numpy
import tessera

examples = pathlib.Path(__file__).resolve().parent.parent
model, images = sys.argv[1:] or (examples / "models/lenet.onnx", examples / "data/mnist-500.npz")
data = numpy.load(images)
program = tessera.compile(model)
logits = program.run(data["x"].astype(numpy.float32) / 255)
print(program)
print(f"{(logits.argmax(1) == data['y']).mean():.1%} right")
