# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: unsigned.py OUT.onnx   A model of one node, Cast from floats to bytes without a sign."""
import sys


def number(field, value):
    return bytes([field << 3, value])


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return bytes([field << 3 | 2, len(content)]) + content


def port(name, element):
    return block(1, name) + block(2, block(1, number(1, element) + block(2, block(1, block(2, "N")))))


cast = block(1, "x") + block(2, "y") + block(4, "Cast") + block(5, block(1, "to") + number(3, 2) + bytes([20 << 3 & 127 | 128, 1, 2]))
graph = block(1, cast) + block(2, "bytes") + block(11, port("x", 1)) + block(12, port("y", 2))
with open(sys.argv[1], "wb") as file:
    file.write(number(1, 8) + block(7, graph) + block(8, number(2, 17)))
