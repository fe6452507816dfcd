#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: png2npy.py IN.png OUT.npy     a picture as a float32 array of grey values from 0 to 1
       png2npy.py 0.25 OUT.npy       a number as a float32 array of rank 0"""
import sys

import png

if len(sys.argv) != 3:
    sys.exit(__doc__)
try:
    number = float(sys.argv[1])
except ValueError:
    number = None
png.write_npy(sys.argv[2], number if number is not None else [[v / 255 for v in row] for row in png.read_png(sys.argv[1])])
