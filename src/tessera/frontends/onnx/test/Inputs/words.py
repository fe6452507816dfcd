# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: words.py OUT.onnx   A linear classifier whose labels are strings, and those labels as scores of a map."""
import struct
import sys


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def port(name, element, *dims):
    shape = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, element) + block(2, shape)))


def floats(name, *values):
    return block(5, block(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in values) + number(20, 6))


def strings(name, *values):
    return block(5, block(1, name) + b"".join(block(9, v) for v in values) + number(20, 8))


model = block(1, "x") + block(2, "label") + block(2, "scores") + block(4, "LinearClassifier") + block(7, "ai.onnx.ml")
model += floats("coefficients", 1, 0, 0, 1, -1, -1) + floats("intercepts", 0, 0, 0) + strings("classlabels_strings", "low", "größer", "high")
zipped = block(1, "scores") + block(2, "map") + block(4, "ZipMap") + block(7, "ai.onnx.ml") + strings("classlabels_strings", "low", "größer", "high")
graph = block(1, model) + block(1, zipped) + block(2, "labels") + block(11, port("x", 1, "N", 2)) + block(12, port("label", 8, "N")) + block(12, block(1, "map"))
with open(sys.argv[1], "wb") as file:
    file.write(number(1, 8) + block(7, graph) + block(8, number(2, 17)) + block(8, block(1, "ai.onnx.ml") + number(2, 1)))
