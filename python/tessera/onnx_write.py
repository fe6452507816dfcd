# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ONNX models without the onnx package: the few protobuf messages that an exporter needs, field by field.

Field numbers are those of onnx.proto. A message is bytes; a field is a tag, for text and messages a length, and the content.
"""
import struct

import numpy as np

FLOAT, INT32, INT64 = 1, 6, 7
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
         "uint32": 12, "uint64": 13}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(int(value))


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, array):
    array = np.asarray(array)
    out = b"".join(number(1, extent) for extent in array.shape)
    return out + number(2, TYPES[array.dtype.name]) + block(8, name) + block(9, np.ascontiguousarray(array).tobytes())


def attribute(name, value):
    out = block(1, name)
    if isinstance(value, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, (bool, int, np.integer)):
        return out + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return out + block(4, value) + number(20, 3)
    if isinstance(value, np.ndarray):
        return out + block(5, tensor("", value)) + number(20, 4)
    if all(isinstance(v, str) for v in value):
        return out + b"".join(block(9, v) for v in value) + number(20, 8)
    if any(isinstance(v, float) for v in value):
        return out + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + number(20, 6)
    return out + b"".join(number(8, v) for v in value) + number(20, 7)


def node(kind, inputs, outputs, name, attributes):
    return (b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs) + block(3, name) + block(4, kind)
            + b"".join(block(5, attribute(key, value)) for key, value in attributes.items()))


def value_info(name, kind, shape):
    """`shape` holds numbers, and names for extents that are open."""
    dims = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, dims)))


class ModelWriter:
    """Collects nodes and weights; `bytes()` gives the model."""

    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def bytes(self):
        graph = b"".join(block(1, n) for n in self.nodes) + block(2, self.name)
        graph += b"".join(block(5, w) for w in self.weights)
        graph += b"".join(block(11, i) for i in self.inputs) + b"".join(block(12, o) for o in self.outputs)
        return number(1, 8) + block(2, "tessera") + block(7, graph) + block(8, block(1, "") + number(2, self.opset))
