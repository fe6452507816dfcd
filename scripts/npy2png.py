#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: npy2png.py IN.npy OUT.png [--beside PICTURE.png] [--invert]

An array of rank 2 as a grey picture, its smallest value black and its largest white (the other way round with --invert).
With --beside, the given picture is put to the left of it.
"""
import sys

import png

words = sys.argv[1:]
invert = "--invert" in words
words = [w for w in words if w != "--invert"]
beside = words.pop(words.index("--beside") + 1) if "--beside" in words[:-1] else None
words = [w for w in words if w != "--beside"]
if len(words) != 2:
    sys.exit(__doc__)
rows = png.read_npy(words[0])
low, high = min(map(min, rows)), max(map(max, rows))
scale = 255 / (high - low) if high > low else 0
rows = [bytes(255 - round((v - low) * scale) if invert else round((v - low) * scale) for v in row) for row in rows]
if beside:
    left = png.read_png(beside)
    if len(left) != len(rows):
        png.fail(f"'{beside}' has {len(left)} rows, the array has {len(rows)}")
    rows = [bytes(a) + b"\xff" * 8 + b for a, b in zip(left, rows)]
png.write_png(words[1], rows)
