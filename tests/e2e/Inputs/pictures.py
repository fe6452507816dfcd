# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts squares out of a photograph: pictures.py PNG FOLDER COUNT SIZE writes FOLDER/0.npy, …"""
import os
import pathlib
import subprocess
import sys

import numpy

source, folder, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.makedirs(folder)
whole = os.path.join(folder, "whole.npy")
script = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "png2npy.py"
subprocess.run([sys.executable, str(script), source, whole], check=True)
picture = numpy.load(whole)
os.remove(whole)
draw = numpy.random.default_rng(1)
for i in range(count):
    y, x = (int(draw.integers(0, extent - size + 1)) for extent in picture.shape)
    numpy.save(os.path.join(folder, f"{i}.npy"), numpy.ascontiguousarray(picture[y:y + size, x:x + size]))
