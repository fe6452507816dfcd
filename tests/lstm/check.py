# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: check.py lstm.onnx images.npy logits.npy     the network in NumPy, with the weights of the file

Reads just enough of protobuf: messages, and tensors of floats with raw data."""
import sys

import numpy as np

import train


def fields(data):
    """(number, content) of each field; numbers as integers, all else as bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 5:
            yield tag >> 3, data[at:at + 4]
            at += 4
        else:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size


def weights(path):
    graph = next(content for number, content in fields(open(path, "rb").read()) if number == 7)
    found = {}
    for number, content in fields(graph):
        if number != 5:
            continue
        parts = list(fields(content))
        shape = [value for n, value in parts if n == 1]
        single = {n: value for n, value in parts}
        kind = {1: np.float32, 7: np.int64}[single[2]]
        found[single[8].decode()] = np.frombuffer(single[9], kind).reshape(shape)
    return found


w = weights(sys.argv[1])
half = w["B"].shape[1] // 2
parameters = {"W": w["W"][0], "R": w["R"][0], "b": w["B"][0, :half] + w["B"][0, half:], "V": w["classify.weight"], "c": w["classify.bias"]}
np.save(sys.argv[3], train.forward(parameters, np.load(sys.argv[2])[:, 0])[0].astype(np.float32))
