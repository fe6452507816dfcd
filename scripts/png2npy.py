#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: png2npy.py IN.png OUT.npy     a picture as a float32 array of grey values from 0 to 1"""
import sys

import png

if len(sys.argv) != 3:
    sys.exit(__doc__)
png.write_npy(sys.argv[2], [[v / 255 for v in row] for row in png.read_png(sys.argv[1])])
