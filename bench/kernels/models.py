# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers that run.py measures: ONNX models of one layer each, with an input from a fixed seed."""

import numpy as np
from onnx import helper, numpy_helper

# name: channels, filters, extent, window, stride, groups
CONVOLUTIONS = {
    "resnet18-32-stem": (3, 64, 32, 3, 1, 1),
    "resnet18-32-1": (64, 64, 32, 3, 1, 1),
    "resnet18-32-2": (128, 128, 16, 3, 1, 1),
    "resnet18-32-2s": (64, 128, 32, 3, 2, 1),
    "resnet18-32-3": (256, 256, 8, 3, 1, 1),
    "resnet18-32-4": (512, 512, 4, 3, 1, 1),
    "resnet18-224-stem": (3, 64, 224, 7, 2, 1),
    "resnet18-224-1": (64, 64, 56, 3, 1, 1),
    "resnet18-224-3": (256, 256, 14, 3, 1, 1),
    "resnet50-224-a": (256, 64, 56, 1, 1, 1),
    "resnet50-224-b": (256, 1024, 14, 1, 1, 1),
    "resnet50-224-c": (2048, 512, 7, 1, 1, 1),
    "alexnet-1": (3, 64, 32, 11, 1, 1),
    "alexnet-2": (64, 192, 16, 5, 1, 1),
    "window-7": (64, 64, 56, 7, 1, 1),
    "window-11": (64, 64, 28, 11, 1, 1),
    "mobilenet-32-dw": (64, 64, 32, 3, 1, 64),
    "mobilenet-32-dws": (128, 128, 32, 3, 2, 128),
    "mobilenet-32-pw": (64, 128, 32, 1, 1, 1),
    "mobilenet-224-dw": (64, 64, 112, 3, 1, 64),
}

# Layers of a transformer: name: shape of the input behind the batch, flops an element (a count for the rate that is printed, no more)
TRANSFORMER = {
    "bert-layernorm": ((128, 768), 8),
    "bert-softmax": ((12, 128, 128), 5),
    "bert-gelu": ((128, 3072), 10),
    "bert-gelu-parts": ((128, 3072), 10),
    "bert-tanh": ((128, 3072), 10),
    "bert-exp": ((128, 3072), 10),
    "bert-linear": ((128, 768), 2 * 3072),
    "bert-attention": ((128, 768), 2 * 4 * 768 + 4 * 128),
    "instance-norm": ((64, 56, 56), 8),
    "batch-norm": ((64, 56, 56), 2),
}

LAYERS = [*CONVOLUTIONS, *TRANSFORMER]


class Builder:
    """A graph from x to y whose values are named in order."""

    def __init__(self, shape):
        self.random = np.random.default_rng(0)
        self.shape, self.nodes, self.constants = shape, [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape, scale=1.0):
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def model(self, result, opset):
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        x, y = helper.make_tensor_value_info("x", 1, self.shape), helper.make_tensor_value_info("y", 1, None)
        graph = helper.make_graph(self.nodes, "layer", [x], [y], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        made.ir_version = 9
        return made, self.random.standard_normal(self.shape).astype(np.float32)


def convolution(name, batch):
    c, f, extent, k, stride, groups = CONVOLUTIONS[name]
    b = Builder([batch, c, extent, extent])
    w = b.weights(f, c // groups, k, k, scale=np.sqrt(2 / (c // groups * k * k)))
    y = b.node("Relu", b.node("Conv", "x", w, b.weights(f), strides=[stride] * 2, pads=[k // 2] * 4, group=groups))
    places = ((extent + 2 * (k // 2) - k) // stride + 1) ** 2
    return *b.model(y, 17), 2 * batch * f * places * (c // groups) * k * k


def attention(b, batch, length, width, heads):
    """Self-attention as exporters write it: three products, heads, softmax, a product."""
    def split(v, order):
        v = b.node("Reshape", v, b.constant(np.array([batch, length, heads, width // heads], np.int64)))
        return b.node("Transpose", v, perm=order)

    def linear(v):
        return b.node("Add", b.node("MatMul", v, b.weights(width, width, scale=width ** -0.5)), b.weights(width))
    q, k, v = split(linear("x"), [0, 2, 1, 3]), split(linear("x"), [0, 2, 3, 1]), split(linear("x"), [0, 2, 1, 3])
    scores = b.node("Mul", b.node("MatMul", q, k), b.constant(np.array((width // heads) ** -0.5, np.float32)))
    mixed = b.node("Transpose", b.node("MatMul", b.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return linear(b.node("Reshape", mixed, b.constant(np.array([batch, length, width], np.int64))))


def transformer(name, batch):
    shape, each = TRANSFORMER[name]
    b = Builder([batch, *shape])
    width = shape[-1]
    if name == "bert-layernorm":
        y = b.node("LayerNormalization", "x", b.weights(width), b.weights(width), axis=-1)
    elif name == "bert-softmax":
        y = b.node("Softmax", "x", axis=-1)
    elif name == "bert-gelu":
        y = b.node("Gelu", "x")
    elif name == "bert-gelu-parts":  # as exporters before opset 20 write it
        half, one, root = (b.constant(np.array(v, np.float32)) for v in (0.5, 1.0, 2 ** 0.5))
        y = b.node("Mul", b.node("Mul", "x", b.node("Add", b.node("Erf", b.node("Div", "x", root)), one)), half)
    elif name in ("bert-tanh", "bert-exp"):
        y = b.node(name[5:].capitalize(), "x")
    elif name == "bert-linear":
        y = b.node("Add", b.node("MatMul", "x", b.weights(width, 3072, scale=width ** -0.5)), b.weights(3072))
    elif name == "bert-attention":
        y = attention(b, batch, *shape, heads=12)
    elif name == "instance-norm":
        y = b.node("InstanceNormalization", "x", b.weights(shape[0]), b.weights(shape[0]))
    else:
        y = b.node("BatchNormalization", "x", *(b.weights(shape[0]) for _ in range(3)), b.constant(np.full(shape[0], 2, np.float32)))
    return *b.model(y, 20), batch * int(np.prod(shape)) * each


def make(name, batch):
    """The model, its input and about how many operations it takes."""
    return convolution(name, batch) if name in CONVOLUTIONS else transformer(name, batch)
