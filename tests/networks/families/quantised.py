# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes with a scale, and the layers on them. Scales are powers of two, so that roundings come out the same everywhere."""
import numpy as np

from net import TYPES, Reject

WEIGHT = 1


def scale(net, axis_length=None):
    shape = () if axis_length is None else (axis_length,)
    return net.const((2.0 ** net.numbers.integers(-4, 0, shape)).astype(np.float32))


def zero(net, kind, axis_length=None):
    shape = () if axis_length is None else (axis_length,)
    return net.const(net.numbers.integers(0, 6, shape).astype(TYPES[kind][1]), kind)


def quantize(net):
    x = net.tensor(("f32",), ranks=(0, 4), exact=True)
    kind = net.pick(["u8", "i8"])
    if x.rank and net.chance(0.3):
        axis = net.rng.randrange(x.rank)
        if not x.fixed(axis) or not x.dims[axis][0]:
            raise Reject("an open axis")
        n = x.dims[axis][0]
        y = net.node("QuantizeLinear", [x, scale(net, n), zero(net, kind, n)], axis=axis)
        net.node("DequantizeLinear", [y, scale(net, n), zero(net, kind, n)], axis=axis, exact=True)
        return
    y = net.node("QuantizeLinear", [x, scale(net), zero(net, kind)] if net.chance(0.8) else [x, scale(net)])
    if net.chance(0.7):
        net.node("DequantizeLinear", [y, scale(net), zero(net, y.kind)] if net.chance(0.8) else [y, scale(net)], exact=True)


def dequantize(net):
    kind = net.pick(["u8", "i8", "i32"])
    x = net.tensor((kind,), ranks=(0, 4))
    net.node("DequantizeLinear", [x, scale(net)] if kind == "i32" else [x, scale(net), zero(net, kind)], exact=True)


def around(net):
    """A layer between DequantizeLinear and QuantizeLinear."""
    kind = net.pick(["u8", "i8"])
    deep = net.chance(0.5)
    dims = [net.extent(True), net.const_extent(net.pick([1, 3, 4, 8]))] + ([net.extent(True), net.extent(True)] if deep else [])
    x = net.input(kind, dims)
    w = net.const(net.numbers.integers(-20, 21, (net.pick([2, 4, 8]), dims[1][0], 1, 1) if deep else (dims[1][0], net.pick([2, 4, 8]))).astype(np.int8))
    a = net.node("DequantizeLinear", [x, scale(net), zero(net, kind)], exact=True)
    b = net.node("DequantizeLinear", [w, scale(net)], exact=True)
    y = net.node("Conv" if deep else "MatMul", [a, b], exact=True)
    if net.chance(0.5):
        y = net.node("Relu", [y], exact=True)
    z = net.node("QuantizeLinear", [y, scale(net), zero(net, kind)])
    net.node("DequantizeLinear", [z, scale(net), zero(net, kind)])


def dynamic(net):
    x = net.tensor(("f32",), ranks=(1, 3), exact=True, want=lambda v: all(a.size for a in v.arrays))
    net.node("DynamicQuantizeLinear", [x], outputs=3)


def matmul(net):
    kind = net.pick(["u8", "i8"])
    x = net.tensor((kind,), ranks=(2, 3))
    y = net.fresh(kind, [x.dims[-1], net.extent(True)])
    net.node("QLinearMatMul", [x, scale(net), zero(net, kind), y, scale(net), zero(net, kind), scale(net), zero(net, kind)])


def conv(net):
    x = net.input("u8", [net.extent(True), net.const_extent(net.pick([1, 3])), net.extent(True), net.extent(True)])
    w = net.const(net.numbers.integers(-9, 10, (net.pick([1, 2, 4]), x.dims[1][0], 3, 3)).astype(np.int8))
    pads = net.pick([None, [1, 1, 1, 1]])
    if net.chance(0.5):
        net.node("QLinearConv", [x, scale(net), zero(net, "u8"), w, scale(net), net.const(np.array(0, np.int8)), scale(net), zero(net, "u8")], pads=pads)
    else:
        net.node("ConvInteger", [x, net.const(w.arrays[0].astype(np.uint8)), zero(net, "u8"), zero(net, "u8")], pads=pads)


OPS = {"quantize": (3, quantize), "dequantize": (1, dequantize), "around": (2, around), "dynamic": (1, dynamic), "matmul": (1, matmul), "conv": (1, conv)}
