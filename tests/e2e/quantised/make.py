# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes net.onnx, a network between QuantizeLinear and DequantizeLinear, and what ONNX Runtime makes of it.

usage: make.py FOLDER    (needs onnx and onnxruntime; the three files beside this one were made so)

Activations are unsigned or signed bytes with one scale; weights are signed with a scale for each channel or one for all, once unsigned. There is a
window with a border, a depthwise layer, a residual, a maximum, a clipped relu, Gemm and MatMul. Scales come from running the network in f32.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)
nodes, constants = [], []


def constant(name, array):
    constants.append(numpy_helper.from_array(array, name))
    return name


def op(kind, inputs, name, **attributes):
    nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
    return name


def bytes_of(x, low, high, signed=False):
    """x through bytes and back; the range holds 0."""
    scale = np.float32((high - low) / 255)
    zero = int(round(-low / (high - low) * 255)) - (128 if signed else 0)
    terms = [constant(x + ".scale", scale), constant(x + ".zero", np.array(zero, np.int8 if signed else np.uint8))]
    return op("DequantizeLinear", [op("QuantizeLinear", [x, *terms], x + ".q"), *terms], x + ".d")


def weight(name, w, axis=None, unsigned=False):
    """Weights as bytes; their dequantised form, and the scale of each result."""
    others = tuple(d for d in range(w.ndim) if d != axis)
    scale = (np.abs(w).max(axis=others) if axis is not None else np.abs(w).max()).astype(np.float32) / np.float32(127)
    shape = [-1 if d == axis else 1 for d in range(w.ndim)] if axis is not None else []
    q = np.rint(w / scale.reshape(shape)).clip(-127, 127)
    q = (q + 128).astype(np.uint8) if unsigned else q.astype(np.int8)
    zero = np.full(scale.shape, 128 if unsigned else 0, q.dtype)
    more = {"axis": axis} if axis is not None else {}
    return op("DequantizeLinear", [constant(name, q), constant(name + ".scale", scale), constant(name + ".zero", zero)], name + ".d", **more), scale


def bias(name, count, scale, size=0.2):
    scale = np.broadcast_to(np.float32(scale), [count]).copy()
    q = np.rint(random.normal(0, size, count) / scale).astype(np.int32)
    return op("DequantizeLinear", [constant(name, q), constant(name + ".scale", scale), constant(name + ".zero", np.zeros(count, np.int32))], name + ".d", axis=0)


def normal(*shape):
    fan = np.prod(shape[1:]) if len(shape) > 2 else shape[0]
    return random.normal(0, np.sqrt(2 / fan), shape).astype(np.float32)


x = bytes_of("x", -1.0, 1.0)
w, s = weight("w1", normal(16, 3, 3, 3), axis=0)
y = op("Relu", [op("Conv", [x, w, bias("b1", 16, s * np.float32(2 / 255))], "conv1", pads=[1, 1, 1, 1])], "relu1")
first = bytes_of(y, 0.0, 3.0)
w, s = weight("w2", normal(16, 1, 3, 3), axis=0)
y = op("Clip", [op("Conv", [first, w], "conv2", pads=[1, 1, 1, 1], group=16), constant("zero", np.float32(0)), constant("six", np.float32(6))], "relu2")
y = bytes_of(y, 0.0, 6.0, signed=True)
w, s = weight("w3", normal(16, 16, 1, 1))
y = bytes_of(op("Conv", [y, w], "conv3"), -5.3, 6.1, signed=True)
y = bytes_of(op("Relu", [op("Add", [y, first], "add")], "relu3"), 0.0, 6.0)
y = bytes_of(op("MaxPool", [y], "pool", kernel_shape=[2, 2], strides=[2, 2]), 0.0, 6.0)
w, s = weight("w4", normal(32, 16, 3, 3), axis=0, unsigned=True)
y = bytes_of(op("Relu", [op("Conv", [y, w], "conv4", strides=[2, 2], pads=[1, 1, 1, 1])], "relu4"), 0.0, 9.0)
y = op("Flatten", [y], "flatten")
w, s = weight("w5", normal(20, 288) / 4, axis=0)
y = bytes_of(op("Relu", [op("Gemm", [y, w, bias("b5", 20, s * np.float32(9 / 255))], "gemm", transB=1)], "relu5"), 0.0, 20.0)
w, s = weight("w6", normal(20, 10), axis=1)
y = bytes_of(op("MatMul", [y, w], "matmul"), -8.0, 8.0)
op("Identity", [y], "y")

graph = helper.make_graph(nodes, "quantised", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 12, 12])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
path = os.path.join(sys.argv[1], "net")
onnx.save(model, path + ".onnx")
x = random.uniform(-1, 1, (8, 3, 12, 12)).astype(np.float32)
np.save(path + "-x.npy", x)
# As the model is written; its optimiser would use integer layers that round in other places.
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(path + ".onnx", options, providers=["CPUExecutionProvider"])
np.save(path + "-y.npy", session.run(None, {"x": x})[0])
