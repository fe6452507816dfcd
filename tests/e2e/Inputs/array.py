#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small .npy files for tests, without numpy.
usage: array.py OUT.npy TYPE SHAPE [VALUES]
TYPE is NumPy's name without byte order (f4, i1, f8, b1 ...); SHAPE is 3x4, or - for a scalar. VALUES are numbers with
commas between, `ramp`: 0, 1, 2 ..., or `picture` (the default): smooth hills with a disc and a bar in them, from 0
to 1, the same on every machine."""
import math
import struct
import sys

CODES = {"f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "i4": "i", "i8": "q", "b1": "?"}


def picture(shape):
    if len(shape) > 2:
        # Planes, each a little darker than the one before.
        for plane in range(math.prod(shape[:-2])):
            yield from (value / (plane + 1) for value in picture(shape[-2:]))
        return
    height, width = (list(shape) + [1, 1])[:2]
    for y in range(height):
        for x in range(width):
            value = ((3 * x + 5 * y) % 64) / 256
            if (x - width // 3) ** 2 + (y - height // 2) ** 2 < (min(height, width) // 4) ** 2:
                value += 0.5
            if width * 3 // 4 < x < width * 3 // 4 + 4:
                value += 0.25
            yield value


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, kind, shape = sys.argv[1:4]
    shape = () if shape == "-" else tuple(int(n) for n in shape.split("x"))
    what = sys.argv[4] if len(sys.argv) > 4 else "picture"
    count = 1
    for extent in shape:
        count *= extent
    if what == "picture":
        values = list(picture(shape))
    elif what == "ramp":
        values = list(range(count))
    else:
        values = [float(word) if kind[0] == "f" else int(word) for word in what.split(",")]
    order = "|" if kind[1] == "1" else "<"
    header = f"{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(out, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}{CODES[kind]}", *values[:count]))


main()
