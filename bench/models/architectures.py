#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes networks of the usual architectures as ONNX files: real shapes, random weights, operators as exporters spell them.

usage: architectures.py [--list] [--open] [--layers N] [--out FOLDER] [NAME]...

--open leaves the batch and the length open; otherwise both are static. It takes numpy and onnx alone, so that a benchmark needs no
training framework. From Python: build(name, open=False, layers=None) gives the model, inputs(name) the arrays of one launch.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Network:
    """Nodes as they are written down, weights from a seed."""

    def __init__(self, seed=0):
        self.nodes, self.weights, self.ports, self.results = [], [], [], []
        self.random = np.random.default_rng(seed)

    def name(self, stem):
        return f"{stem}_{len(self.nodes) + len(self.weights)}"

    def constant(self, value):
        name = self.name("c")
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape, scale=None):
        scale = shape[0] ** -0.5 if scale is None else scale
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def number(self, value):
        return self.constant(np.float32(value))

    def op(self, kind, *operands, results=1, **attributes):
        names = [self.name(kind) for _ in range(1)] if results == 1 else [f"{self.name(kind)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, list(operands), names, name=names[0], **attributes))
        return names[0] if results == 1 else names

    def port(self, name, kind, shape):
        self.ports.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def result(self, value, shape, name="y"):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.results.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, "network", self.ports, self.results, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)

    # Layers.

    def linear(self, x, rows, columns, bias=True):
        y = self.op("MatMul", x, self.weight(rows, columns))
        return self.op("Add", self.weight(columns, scale=0.02), y) if bias else y

    def norm(self, x, width):
        """As opset 17 has it."""
        return self.op("LayerNormalization", x, self.constant(np.ones(width, np.float32)), self.constant(np.zeros(width, np.float32)),
                       axis=-1, epsilon=1e-5)

    def plain_norm(self, x, width):
        """As exporters wrote it before there was an operator."""
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        square = self.op("Pow", centred, self.number(2))
        root = self.op("Sqrt", self.op("Add", self.op("ReduceMean", square, axes=[-1]), self.number(1e-5)))
        scaled = self.op("Mul", self.op("Div", centred, root), self.constant(np.ones(width, np.float32)))
        return self.op("Add", scaled, self.constant(np.zeros(width, np.float32)))

    def rms_norm(self, x, width):
        square = self.op("ReduceMean", self.op("Pow", x, self.number(2)), axes=[-1])
        root = self.op("Sqrt", self.op("Add", square, self.number(1e-6)))
        return self.op("Mul", self.op("Mul", x, self.op("Div", self.number(1), root)), self.constant(np.ones(width, np.float32)))

    def gelu(self, x):
        wide = self.op("Add", self.op("Erf", self.op("Div", x, self.number(2 ** 0.5))), self.number(1))
        return self.op("Mul", self.op("Mul", x, wide), self.number(0.5))

    def gelu_tanh(self, x):
        cube = self.op("Mul", self.op("Pow", x, self.number(3)), self.number(0.044715))
        inner = self.op("Mul", self.op("Add", x, cube), self.number((2 / np.pi) ** 0.5))
        return self.op("Mul", self.op("Mul", x, self.number(0.5)), self.op("Add", self.op("Tanh", inner), self.number(1)))

    def heads(self, x, count, size, order=(0, 2, 1, 3)):
        return self.op("Transpose", self.op("Reshape", x, self.constant(np.array([0, -1, count, size]))), perm=list(order))

    def joined(self, x, width):
        return self.op("Reshape", self.op("Transpose", x, perm=[0, 2, 1, 3]), self.constant(np.array([0, -1, width])))

    def attention(self, q, k, v, width, count, mask=None, scale="div", fill=None):
        size = width // count
        q, v = self.heads(q, count, size), self.heads(v, count, size)
        k = self.heads(k, count, size, (0, 2, 3, 1))
        if scale == "both":  # as PyTorch's new exporter: the root of the scale on either side
            root = self.number(size ** -0.25)
            q, k = self.op("Mul", q, root), self.op("Mul", k, root)
        scores = self.op("MatMul", q, k)
        if scale == "div":
            scores = self.op("Div", scores, self.number(size ** 0.5))
        if mask is not None:
            scores = self.op("Where", mask, scores, self.number(fill)) if fill is not None else self.op("Add", scores, mask)
        return self.joined(self.op("MatMul", self.op("Softmax", scores, axis=-1), v), width)

    def causal(self, x, longest):
        """A triangle of a table, cut to the length of x."""
        length = self.op("Gather", self.op("Shape", x), self.constant(np.array([1])))
        table = self.constant(np.tril(np.ones((1, 1, longest, longest), bool)))
        zero = self.constant(np.array([0, 0]))
        ends = self.op("Concat", length, length, axis=0)
        return self.op("Slice", table, zero, ends, self.constant(np.array([2, 3])))


def extents(is_open, batch, length):
    return ("batch", "length") if is_open else (batch, length)


def bert(is_open, layers, length=128, width=768, count=12, hidden=3072):
    n = Network()
    b, t = extents(is_open, 1, length)
    x, given = n.port("x", TensorProto.FLOAT, [b, t, width]), n.port("mask", TensorProto.INT64, [b, t])
    wide = n.op("Unsqueeze", n.op("Cast", given, to=TensorProto.FLOAT), n.constant(np.array([1, 2])))
    mask = n.op("Mul", n.op("Sub", n.number(1), wide), n.number(np.finfo(np.float32).min))
    for _ in range(layers):
        q, k, v = (n.linear(x, width, width) for _ in range(3))
        x = n.norm(n.op("Add", n.linear(n.attention(q, k, v, width, count, mask), width, width), x), width)
        x = n.norm(n.op("Add", n.linear(n.gelu(n.linear(x, width, hidden)), hidden, width), x), width)
    n.result(x, [b, t, width])
    return n.model()


def minilm(is_open, layers):
    return bert(is_open, layers, 128, 384, 12, 1536)


def vit(is_open, layers, width=384, count=6, length=197):
    n = Network()
    b, t = extents(is_open, 1, length)
    x = n.port("x", TensorProto.FLOAT, [b, t, width])
    for _ in range(layers):
        h = n.norm(x, width)
        parts = n.linear(h, width, 3 * width)
        parts = n.op("Reshape", parts, n.constant(np.array([0, -1, 3, count, width // count])))
        q, k, v = n.op("Split", n.op("Transpose", parts, perm=[2, 0, 3, 1, 4]), results=3, axis=0)
        q, k, v = (n.op("Squeeze", each, n.constant(np.array([0]))) for each in (q, k, v))
        scores = n.op("MatMul", n.op("Mul", q, n.number((width // count) ** -0.5)), n.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = n.joined(n.op("MatMul", n.op("Softmax", scores, axis=-1), v), width)
        x = n.op("Add", x, n.linear(y, width, width))
        x = n.op("Add", x, n.linear(n.gelu(n.linear(n.norm(x, width), width, 4 * width)), 4 * width, width))
    n.result(x, [b, t, width])
    return n.model()


def vit_tiny(is_open, layers):
    return vit(is_open, layers, 192, 3)


def gpt2(is_open, layers, length=128, width=768, count=12):
    n = Network()
    b, t = extents(is_open, 1, length)
    x = n.port("x", TensorProto.FLOAT, [b, t, width])
    mask = n.causal(x, 1024)
    for _ in range(layers):
        parts = n.linear(n.plain_norm(x, width), width, 3 * width)
        q, k, v = n.op("Split", parts, n.constant(np.array([width] * 3)), results=3, axis=2)
        y = n.attention(q, k, v, width, count, mask, "div", np.finfo(np.float32).min)
        x = n.op("Add", n.linear(y, width, width), x)
        x = n.op("Add", x, n.linear(n.gelu_tanh(n.linear(n.plain_norm(x, width), width, 4 * width)), 4 * width, width))
    n.result(x, [b, t, width])
    return n.model()


def t5(is_open, layers, length=128, width=512, count=8, hidden=2048):
    n = Network()
    b, t = extents(is_open, 1, length)
    x = n.port("x", TensorProto.FLOAT, [b, t, width])
    places = n.port("bias", TensorProto.FLOAT, [1, count, t, t])
    for _ in range(layers):
        h = n.rms_norm(x, width)
        q, k, v = (n.linear(h, width, width, bias=False) for _ in range(3))
        x = n.op("Add", x, n.linear(n.attention(q, k, v, width, count, places, None), width, width, bias=False))
        h = n.op("Relu", n.linear(n.rms_norm(x, width), width, hidden, bias=False))
        x = n.op("Add", x, n.linear(h, hidden, width, bias=False))
    n.result(x, [b, t, width])
    return n.model()


def whisper(is_open, layers, length=1500, width=384, count=6):
    n = Network()
    b, t = extents(is_open, 1, length)
    x = n.port("x", TensorProto.FLOAT, [b, t, width])
    for _ in range(layers):
        h = n.norm(x, width)
        q, k, v = n.linear(h, width, width), n.linear(h, width, width, bias=False), n.linear(h, width, width)
        x = n.op("Add", x, n.linear(n.attention(q, k, v, width, count, scale="both"), width, width))
        x = n.op("Add", x, n.linear(n.gelu(n.linear(n.norm(x, width), width, 4 * width)), 4 * width, width))
    n.result(x, [b, t, width])
    return n.model()


def mixer(is_open, layers, width=512, length=196):
    """Products along the length have weights of that length: only the batch may be open."""
    n = Network()
    b = "batch" if is_open else 1
    x = n.port("x", TensorProto.FLOAT, [b, length, width])
    for _ in range(layers):
        h = n.op("Transpose", n.norm(x, width), perm=[0, 2, 1])
        h = n.linear(n.gelu(n.linear(h, length, 256)), 256, length)
        x = n.op("Add", x, n.op("Transpose", h, perm=[0, 2, 1]))
        x = n.op("Add", x, n.linear(n.gelu(n.linear(n.norm(x, width), width, 2048)), 2048, width))
    n.result(x, [b, length, width])
    return n.model()


def recurrent(kind, gates, is_open, layers, length=24, width=512, both=True):
    n = Network()
    directions = 2 if both else 1
    t, b = ("length", "batch") if is_open else (length, 1)
    x, size = n.port("x", TensorProto.FLOAT, [t, b, width]), width
    for _ in range(layers):
        w = n.weight(directions, gates * width, size, scale=size ** -0.5)
        r = n.weight(directions, gates * width, width, scale=width ** -0.5)
        y = n.op(kind, x, w, r, n.weight(directions, 2 * gates * width, scale=0.02), hidden_size=width,
                 direction="bidirectional" if both else "forward")
        size = directions * width
        x = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.constant(np.array([0, 0, size])))
    n.result(x, [t, b, size])
    return n.model()


def lstm(is_open, layers):
    return recurrent("LSTM", 4, is_open, layers)


def lstm_step(is_open, layers):
    return recurrent("LSTM", 4, is_open, layers, length=1)


def gru(is_open, layers):
    return recurrent("GRU", 3, is_open, layers, both=False)


# Name: how it is made, its layers, and the arrays of one launch as (name, type, shape).
ARCHITECTURES = {
    "bert-base": (bert, 12, [("x", "f", (1, 128, 768)), ("mask", "ones", (1, 128))]),
    "minilm": (minilm, 6, [("x", "f", (1, 128, 384)), ("mask", "ones", (1, 128))]),
    "vit-tiny": (vit_tiny, 12, [("x", "f", (1, 197, 192))]),
    "vit-small": (vit, 12, [("x", "f", (1, 197, 384))]),
    "gpt2": (gpt2, 12, [("x", "f", (1, 128, 768))]),
    "t5-small": (t5, 6, [("x", "f", (1, 128, 512)), ("bias", "f", (1, 8, 128, 128))]),
    "whisper-tiny-encoder": (whisper, 4, [("x", "f", (1, 1500, 384))]),
    "mixer-s16": (mixer, 8, [("x", "f", (1, 196, 512))]),
    "lstm": (lstm, 1, [("x", "f", (24, 1, 512))]),
    "lstm-step": (lstm_step, 1, [("x", "f", (1, 1, 512))]),
    "gru": (gru, 1, [("x", "f", (24, 1, 512))]),
}


def build(name, open=False, layers=None):
    make, usual, _ = ARCHITECTURES[name]
    return make(open, layers or usual)


def inputs(name, seed=1):
    random = np.random.default_rng(seed)
    return {port: random.standard_normal(shape).astype(np.float32) if kind == "f" else np.ones(shape, np.int64)
            for port, kind, shape in ARCHITECTURES[name][2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="only these; default all")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--open", action="store_true", help="leave the batch and the length open")
    parser.add_argument("--layers", type=int, help="so many layers instead of the usual number")
    parser.add_argument("--out", default=".", help="where the files go; default here")
    given = parser.parse_args()
    if given.list:
        print("\n".join(ARCHITECTURES))
        return
    for name in given.name or ARCHITECTURES:
        if name not in ARCHITECTURES:
            parser.error(f"unknown network '{name}'; --list prints those there are")
        os.makedirs(given.out, exist_ok=True)
        onnx.save(build(name, given.open, given.layers), os.path.join(given.out, name + (".open" if given.open else "") + ".onnx"))


if __name__ == "__main__":
    main()
