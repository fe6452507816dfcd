# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pools and what resamples, in one to three dimensions, with open batch, channels and extents."""
import numpy as np

from net import Reject

WEIGHT = 3


def image(net, channels=None, ranks=(3, 5)):
    """A tensor of images: one that is there, or a new one."""
    def new():
        spatial = net.pick([1, 2, 3], [2, 6, 1])
        if not ranks[0] <= spatial + 2 <= ranks[1]:
            spatial = ranks[0] - 2
        depth = net.const_extent(net.pick([1, 2, 3, 4, 6, 8, 16], [2, 3, 3, 3, 1, 3, 1])) if net.chance(0.8) else net.extent(True)
        extents = [net.extent(fixed=net.chance(0.3)) if spatial < 3 else net.extent(True) for _ in range(spatial)]
        return net.input(net.default, [net.extent(True), channels or depth, *extents])
    return net.find(lambda v: v.kind == net.default and ranks[0] <= v.rank <= ranks[1] and (channels is None or v.dims[1] == channels), new, 0.6)


def window(net, x, dilated=True):
    """Attributes of a window that fits x: kernel, strides, pads, dilations."""
    spatial = x.rank - 2
    kernel = [net.pick([1, 2, 3, 4, 5], [4, 3, 6, 1, 1]) for _ in range(spatial)]
    attributes = {}
    if net.chance(0.6):
        attributes["strides"] = [net.pick([1, 2, 3], [5, 4, 1]) for _ in range(spatial)]
    if dilated and net.chance(0.2):
        attributes["dilations"] = [net.pick([1, 2]) for _ in range(spatial)]
    way = net.pick(["none", "pads", "same", "valid"], [3, 5, 2, 1])
    if way == "pads":
        attributes["pads"] = [net.rng.randrange((k + 1) // 2 + (k > 2)) for k in kernel * 2]
    elif way == "same":
        attributes["auto_pad"] = net.pick(["SAME_UPPER", "SAME_LOWER"])
    elif way == "valid":
        attributes["auto_pad"] = "VALID"
    pads = attributes.get("pads", [0] * 2 * spatial)
    for d in range(spatial):
        span = attributes.get("dilations", [1] * spatial)[d] * (kernel[d] - 1) + 1
        if way != "same" and min(x.dims[d + 2]) + pads[d] + pads[spatial + d] < span:
            raise Reject("a window that is wider than what it looks at")
    return kernel, attributes


def conv(net):
    x = image(net)
    kernel, attributes = window(net, x)
    channels, groups = x.dims[1], 1
    if x.fixed(1) and net.chance(0.35):
        groups = net.pick([g for g in range(1, channels[0] + 1) if channels[0] % g == 0])
    made = net.const_extent(groups * net.pick([1, 2, 3, 4, 8])) if groups > 1 or net.chance(0.8) else net.extent(True)
    inner = tuple(c // groups for c in channels)
    weight = net.fresh(x.kind, [made, inner, *map(net.const_extent, kernel)], constant=0.8)
    bias = [net.fresh(x.kind, [made], constant=0.8)] if net.chance(0.5) else []
    if net.chance(0.5):
        attributes["kernel_shape"] = kernel
    y = net.node("Conv", [x, weight, *bias], group=groups if groups > 1 else None, exact=True, **attributes)
    if net.chance(0.3):
        net.node(net.pick(["Relu", "Sigmoid", "LeakyRelu"]), [y])


def transposed(net):
    x = image(net)
    kernel, attributes = window(net, x)
    channels, groups = x.dims[1], 1
    if x.fixed(1) and net.chance(0.3):
        groups = net.pick([g for g in range(1, channels[0] + 1) if channels[0] % g == 0])
    weight = net.fresh(x.kind, [channels, net.const_extent(net.pick([1, 2, 3])), *map(net.const_extent, kernel)], constant=0.8)
    if "strides" in attributes and net.chance(0.3):
        attributes["output_padding"] = [net.rng.randrange(s) for s in attributes["strides"]]
    net.node("ConvTranspose", [x, weight], group=groups if groups > 1 else None, kernel_shape=kernel, exact=True, **attributes)


def pool(net):
    op = net.pick(["MaxPool", "AveragePool", "LpPool"], [5, 4, 1])
    x = image(net)
    kernel, attributes = window(net, x, dilated=op == "MaxPool" or op == "AveragePool" and net.opset >= 19)
    if "SAME" in attributes.get("auto_pad", ""):
        attributes.pop("dilations", None)  # ONNX Runtime pads then as if there were none, and gives fewer elements than the standard says
    if "auto_pad" not in attributes and net.chance(0.3) and (op == "MaxPool" or net.opset >= 19):
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and net.chance(0.4):
        attributes["count_include_pad"] = 1
    outputs = 2 if op == "MaxPool" and net.chance(0.2) and x.exact else 1
    net.node(op, [x], outputs=outputs, kernel_shape=kernel, exact=op == "MaxPool", **attributes)


def whole(net):
    net.node(net.pick(["GlobalAveragePool", "GlobalMaxPool"]), [image(net)])


def resize(net):
    x = image(net, ranks=(3, 4))
    mode = net.pick(["nearest", "linear", "cubic"], [5, 5, 1])
    if mode == "cubic" and x.rank != 4:
        mode = "linear"
    attributes = {"mode": mode}
    if net.chance(0.7):
        attributes["coordinate_transformation_mode"] = net.pick(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    if mode == "nearest":
        attributes["nearest_mode"] = net.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    empty = None
    spatial = x.rank - 2
    if net.chance(0.6):
        factors = [1.0, 1.0] + [net.pick([0.5, 1.0, 1.5, 2.0, 3.0], [2, 1, 2, 5, 1]) for _ in range(spatial)]
        net.node("Resize", [x, empty, net.const(np.array(factors, np.float32))], exact=mode == "nearest", **attributes)
    elif x.fixed(0) and x.fixed(1):
        sizes = [x.dims[0][0], x.dims[1][0]] + [net.pick([1, 2, 4, 5, 8]) for _ in range(spatial)]
        net.node("Resize", [x, empty, None, net.ints(*sizes)], exact=mode == "nearest", **attributes)
    elif net.opset >= 18:
        sizes = [net.pick([1, 2, 4, 5, 8]) for _ in range(spatial)]
        net.node("Resize", [x, empty, None, net.ints(*sizes)], axes=list(range(2, x.rank)), exact=mode == "nearest", **attributes)
    else:
        raise Reject("no way")


def response(net):
    x = image(net, ranks=(4, 4))
    net.node("LRN", [x], size=net.pick([1, 3, 5]), alpha=0.1, beta=0.75, bias=1.0)


def sample(net):
    if net.opset < 16:
        raise Reject("opset")
    x = image(net, ranks=(4, 4))
    grid = net.fresh("f32", [x.dims[0], net.extent(True), net.extent(True), net.const_extent(2)],
                     lambda shape, i: (net.numbers.integers(-5, 6, shape) / 4).astype(np.float32))
    mode = net.pick(["bilinear", "nearest"]) if net.opset < 20 else net.pick(["linear", "nearest"])
    net.node("GridSample", [x, grid], mode=mode, padding_mode=net.pick(["zeros", "border", "reflection"]), align_corners=net.pick([0, 1]))


OPS = {"conv": (8, conv), "transposed": (3, transposed), "pool": (5, pool), "whole": (1, whole), "resize": (3, resize), "response": (1, response),
       "sample": (1, sample)}
