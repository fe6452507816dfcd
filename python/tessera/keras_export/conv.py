# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pools, padding and resizing of images.

Keras's padding="same" puts the odd element at the end, at any stride: ONNX's SAME_UPPER. Where the extents are known the pads are written
as numbers.
"""
import numpy as np

from .graph import Unsupported, Value, weights
from .plain import activate
from .table import layer


def _tuple(value, rank):
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _spatial(layer, value):
    if getattr(layer, "data_format", "channels_last") == "channels_first":
        return value.shape[2:]
    return value.shape[1:-1]


def _padding(layer, value, window, strides, dilation):
    """The attributes that say how the border is padded."""
    rank = len(window)
    if layer.padding == "valid":
        return {"pads": [0] * (2 * rank)}
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilation)]
    if layer.padding == "causal":
        return {"pads": [reach[0] - 1, 0]}
    if layer.padding != "same":
        raise Unsupported(f"padding '{layer.padding}'")
    extents = _spatial(layer, value)
    if None in extents:
        return {"auto_pad": "SAME_UPPER"}
    before, after = [], []
    for extent, stride, window_reach in zip(extents, strides, reach):
        total = max((-(-extent // stride) - 1) * stride + window_reach - extent, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    return {"pads": before + after}


def _bias(graph, layer):
    bias = weights(layer, "bias")
    return [] if bias is None else [graph.weight(bias, "bias")]


@layer("Conv1D", "Conv2D", "Conv3D")
def conv(graph, layer, inputs, shape):
    kernel = weights(layer, "kernel")  # spatial…, inputs, outputs
    rank = kernel.ndim - 2
    strides, dilation = _tuple(layer.strides, rank), _tuple(layer.dilation_rate, rank)
    w = graph.weight(kernel.transpose(rank + 1, rank, *range(rank)), "kernel")
    y = graph.op("Conv", [graph.channels_first(layer, inputs[0]), w, *_bias(graph, layer)], kernel_shape=list(kernel.shape[:rank]),
                 strides=list(strides), dilations=list(dilation), group=int(layer.groups),
                 **_padding(layer, inputs[0], kernel.shape[:rank], strides, dilation))
    return activate(graph, layer.activation, graph.from_channels_first(layer, y, shape))


def _depthwise(graph, layer, inputs, kernel):
    """Each channel by itself: spatial…, channels, multiplier."""
    rank = kernel.ndim - 2
    channels, multiplier = kernel.shape[rank:]
    strides, dilation = _tuple(layer.strides, rank), _tuple(layer.dilation_rate, rank)
    w = kernel.transpose(rank, rank + 1, *range(rank)).reshape(channels * multiplier, 1, *kernel.shape[:rank])
    return lambda bias: graph.op(
        "Conv", [graph.channels_first(layer, inputs[0]), graph.weight(w, "depthwise_kernel"), *bias], kernel_shape=list(kernel.shape[:rank]),
        strides=list(strides), dilations=list(dilation), group=int(channels),
        **_padding(layer, inputs[0], kernel.shape[:rank], strides, dilation))


@layer("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise_conv(graph, layer, inputs, shape):
    kernel = weights(layer, "kernel")
    if kernel is None:
        kernel = weights(layer, "depthwise_kernel")
    y = _depthwise(graph, layer, inputs, kernel)(_bias(graph, layer))
    return activate(graph, layer.activation, graph.from_channels_first(layer, y, shape))


@layer("SeparableConv1D", "SeparableConv2D")
def separable_conv(graph, layer, inputs, shape):
    y = _depthwise(graph, layer, inputs, weights(layer, "depthwise_kernel"))([])
    kernel = weights(layer, "pointwise_kernel")
    rank = kernel.ndim - 2
    w = graph.weight(kernel.transpose(rank + 1, rank, *range(rank)), "pointwise_kernel")
    y = graph.op("Conv", [y, w, *_bias(graph, layer)], kernel_shape=[1] * rank)
    return activate(graph, layer.activation, graph.from_channels_first(layer, y, shape))


@layer("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def conv_transpose(graph, layer, inputs, shape):
    kernel = weights(layer, "kernel")  # spatial…, outputs, inputs
    rank = kernel.ndim - 2
    strides, dilation = _tuple(layer.strides, rank), _tuple(layer.dilation_rate, rank)
    if layer.padding not in ("same", "valid"):
        raise Unsupported(f"padding '{layer.padding}'")
    if getattr(layer, "output_padding", None) is not None:
        raise Unsupported("output_padding")
    before, after, extra = [], [], []
    for k, stride, d in zip(kernel.shape, strides, dilation):
        surplus = (k - 1) * d + 1 - stride
        total = max(surplus, 0) if layer.padding == "same" else 0
        before.append(total // 2)
        after.append(total - total // 2)
        extra.append(max(-surplus, 0))
    w = graph.weight(kernel.transpose(rank + 1, rank, *range(rank)), "kernel")
    y = graph.op("ConvTranspose", [graph.channels_first(layer, inputs[0]), w, *_bias(graph, layer)], kernel_shape=list(kernel.shape[:rank]),
                 strides=list(strides), dilations=list(dilation), pads=before + after, output_padding=extra)
    return activate(graph, layer.activation, graph.from_channels_first(layer, y, shape))


@layer("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D")
def pool(graph, layer, inputs, shape):
    rank = inputs[0].rank - 2
    window = _tuple(layer.pool_size, rank)
    strides = _tuple(layer.strides if layer.strides is not None else layer.pool_size, rank)
    kind = "MaxPool" if type(layer).__name__.startswith("Max") else "AveragePool"
    y = graph.op(kind, [graph.channels_first(layer, inputs[0])], kernel_shape=list(window), strides=list(strides),
                 **_padding(layer, inputs[0], window, strides, (1,) * rank))
    return graph.from_channels_first(layer, y, shape)


@layer("GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
       "GlobalMaxPooling3D")
def global_pool(graph, layer, inputs, shape):
    kind = "GlobalMaxPool" if "Max" in type(layer).__name__ else "GlobalAveragePool"
    y = graph.op(kind, [graph.channels_first(layer, inputs[0])])
    if layer.keepdims:
        return graph.from_channels_first(layer, y, shape)
    return Value(shape, own=graph.op("Flatten", [y], axis=1))


def _pairs(value, rank):
    """Keras's many ways to say how much at each border: [(before, after)…]."""
    if isinstance(value, int):
        return [(value, value)] * rank
    if rank == 1:
        return [tuple(value)] if len(value) == 2 else [(value[0], value[0])]
    return [(v, v) if isinstance(v, int) else tuple(v) for v in value]


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(graph, layer, inputs, shape):
    pairs = _pairs(layer.padding, inputs[0].rank - 2)
    pads = [0, 0, *(b for b, _ in pairs), 0, 0, *(a for _, a in pairs)]
    y = graph.op("Pad", [graph.channels_first(layer, inputs[0]), graph.ints(pads, "pads")], mode="constant")
    return graph.from_channels_first(layer, y, shape)


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(graph, layer, inputs, shape):
    pairs = _pairs(layer.cropping, inputs[0].rank - 2)
    ends = [-after if after else np.iinfo(np.int64).max for _, after in pairs]
    y = graph.op("Slice", [graph.channels_first(layer, inputs[0]), graph.ints([b for b, _ in pairs], "starts"), graph.ints(ends, "ends"),
                           graph.ints(range(2, 2 + len(pairs)), "axes")])
    return graph.from_channels_first(layer, y, shape)


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(graph, layer, inputs, shape):
    rank = inputs[0].rank - 2
    scales = [1.0, 1.0, *map(float, _tuple(layer.size, rank))]
    how = getattr(layer, "interpolation", "nearest")
    modes = {"nearest": {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
             "bilinear": {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}}
    if how not in modes:
        raise Unsupported(f"interpolation '{how}'")
    y = graph.op("Resize", [graph.channels_first(layer, inputs[0]), "", graph.weight(scales, "scales")], **modes[how])
    return graph.from_channels_first(layer, y, shape)
