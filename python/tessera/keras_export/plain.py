# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense, activations, normalisations, embeddings, and layers that do nothing when a network is used."""
import numpy as np

from .graph import Unsupported, Value, weights
from .table import layer


def _constant(graph, value):
    return graph.weight(np.float32(value), "constant")


def _gelu(graph, x, approximate):
    half = _constant(graph, 0.5)
    if approximate:
        cube = graph.op("Mul", [graph.op("Mul", [x, x]), x])
        inner = graph.op("Add", [x, graph.op("Mul", [cube, _constant(graph, 0.044715)])])
        gate = graph.op("Tanh", [graph.op("Mul", [inner, _constant(graph, np.sqrt(2 / np.pi))])])
    else:
        gate = graph.op("Erf", [graph.op("Mul", [x, _constant(graph, np.sqrt(0.5))])])
    gate = graph.op("Add", [gate, _constant(graph, 1)])
    return graph.op("Mul", [graph.op("Mul", [x, half]), gate])


def _hard_sigmoid(graph, x):
    return graph.op("HardSigmoid", [x], alpha=1.0 / 6, beta=0.5)


def _clip(graph, x, low, high):
    return graph.op("Clip", [x, _constant(graph, low), _constant(graph, high)])


ACTIVATIONS = {
    "linear": lambda g, x: x,
    "relu": lambda g, x: g.op("Relu", [x]),
    "relu6": lambda g, x: _clip(g, x, 0, 6),
    "sigmoid": lambda g, x: g.op("Sigmoid", [x]),
    "tanh": lambda g, x: g.op("Tanh", [x]),
    "softplus": lambda g, x: g.op("Softplus", [x]),
    "softsign": lambda g, x: g.op("Softsign", [x]),
    "elu": lambda g, x: g.op("Elu", [x], alpha=1.0),
    "selu": lambda g, x: g.op("Selu", [x]),
    "exponential": lambda g, x: g.op("Exp", [x]),
    "silu": lambda g, x: g.op("Mul", [x, g.op("Sigmoid", [x])]),
    "swish": lambda g, x: g.op("Mul", [x, g.op("Sigmoid", [x])]),
    "gelu": lambda g, x: _gelu(g, x, False),
    "leaky_relu": lambda g, x: g.op("LeakyRelu", [x], alpha=0.2),
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": lambda g, x: g.op("Mul", [x, _hard_sigmoid(g, x)]),
    "hard_swish": lambda g, x: g.op("Mul", [x, _hard_sigmoid(g, x)]),
    "mish": lambda g, x: g.op("Mul", [x, g.op("Tanh", [g.op("Softplus", [x])])]),
}


def activate(graph, activation, value):
    """Applies what a layer's `activation` says."""
    if activation is None:
        return value
    name = getattr(activation, "__name__", None) or type(activation).__name__
    if name in ("softmax", "log_softmax"):
        return Value(value.shape, own=graph.op("Softmax" if name == "softmax" else "LogSoftmax", [graph.own(value)], axis=-1))
    if name not in ACTIVATIONS:
        raise Unsupported(f"activation '{name}'")
    return graph.elementwise(value, lambda x: ACTIVATIONS[name](graph, x)) if name != "linear" else value


@layer("Activation")
def activation(graph, layer, inputs, shape):
    return activate(graph, layer.activation, inputs[0])


@layer("ReLU")
def relu(graph, layer, inputs, shape):
    slope, most, threshold = float(layer.negative_slope), layer.max_value, float(layer.threshold)
    if threshold:
        raise Unsupported("ReLU with a threshold")

    def emit(x):
        if slope:
            x = graph.op("LeakyRelu", [x], alpha=slope)
            return x if most is None else graph.op("Min", [x, _constant(graph, most)])
        return graph.op("Relu", [x]) if most is None else _clip(graph, x, 0, most)

    return graph.elementwise(inputs[0], emit)


@layer("LeakyReLU")
def leaky_relu(graph, layer, inputs, shape):
    slope = getattr(layer, "negative_slope", None)
    return graph.elementwise(inputs[0], lambda x: graph.op("LeakyRelu", [x], alpha=float(0.3 if slope is None else slope)))


@layer("ELU")
def elu(graph, layer, inputs, shape):
    return graph.elementwise(inputs[0], lambda x: graph.op("Elu", [x], alpha=float(layer.alpha)))


@layer("PReLU")
def prelu(graph, layer, inputs, shape):
    return Value(shape, own=graph.op("PRelu", [graph.own(inputs[0]), graph.weight(weights(layer, "alpha"), "alpha")]))


@layer("Softmax")
def softmax(graph, layer, inputs, shape):
    axis = layer.axis
    if not isinstance(axis, int):
        raise Unsupported("Softmax over several axes")
    return Value(shape, own=graph.op("Softmax", [graph.own(inputs[0])], axis=axis))


@layer("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "GaussianNoise", "AlphaDropout",
       "ActivityRegularization", "Identity")
def nothing(graph, layer, inputs, shape):
    return inputs[0]


@layer("Dense")
def dense(graph, layer, inputs, shape):
    x, kernel, bias = graph.own(inputs[0]), weights(layer, "kernel"), weights(layer, "bias")
    if inputs[0].rank == 2:
        y = graph.op("Gemm", [x, graph.weight(kernel, "kernel"), *([graph.weight(bias, "bias")] if bias is not None else [])])
    else:
        y = graph.op("MatMul", [x, graph.weight(kernel, "kernel")])
        if bias is not None:
            y = graph.op("Add", [y, graph.weight(bias, "bias")])
    return activate(graph, layer.activation, Value(shape, own=y))


@layer("BatchNormalization")
def batch_normalization(graph, layer, inputs, shape):
    value, axis = inputs[0], layer.axis % inputs[0].rank
    channels = value.shape[axis]
    mean, variance = weights(layer, "moving_mean"), weights(layer, "moving_variance")
    gamma, beta = weights(layer, "gamma"), weights(layer, "beta")
    gamma = np.ones(channels) if gamma is None else gamma
    beta = np.zeros(channels) if beta is None else beta
    terms = [graph.weight(array, name) for array, name in ((gamma, "gamma"), (beta, "beta"), (mean, "mean"), (variance, "variance"))]

    def emit(x):
        return graph.op("BatchNormalization", [x, *terms], epsilon=float(layer.epsilon))

    if axis == value.rank - 1 and value.rank > 2:
        return Value(shape, first=emit(graph.first(value)))
    if axis != 1:
        raise Unsupported(f"axis {layer.axis} of {value.rank}")
    return Value(shape, own=emit(graph.own(value)))


@layer("LayerNormalization")
def layer_normalization(graph, layer, inputs, shape):
    axes = [layer.axis] if isinstance(layer.axis, int) else list(layer.axis)
    axes = sorted(a % inputs[0].rank for a in axes)
    if axes != list(range(axes[0], inputs[0].rank)):
        raise Unsupported(f"axes {axes}: only the last ones can be normalised")
    if getattr(layer, "rms_scaling", False):
        raise Unsupported("rms_scaling")
    extents = [inputs[0].shape[a] for a in axes]
    gamma, beta = weights(layer, "gamma"), weights(layer, "beta")
    terms = [graph.weight(np.ones(extents) if gamma is None else gamma.reshape(extents), "gamma"),
             graph.weight(np.zeros(extents) if beta is None else beta.reshape(extents), "beta")]
    return Value(shape, own=graph.op("LayerNormalization", [graph.own(inputs[0]), *terms], axis=axes[0], epsilon=float(layer.epsilon)))


@layer("Rescaling")
def rescaling(graph, layer, inputs, shape):
    scale, offset = np.float32(layer.scale), np.float32(layer.offset)
    x = graph.own(inputs[0])
    if inputs[0].dtype != "float32":
        x = graph.op("Cast", [x], to=1)
    return Value(shape, own=graph.op("Add", [graph.op("Mul", [x, graph.weight(scale, "scale")]), graph.weight(offset, "offset")]))


@layer("Normalization")
def normalization(graph, layer, inputs, shape):
    mean, variance = np.asarray(layer.mean, np.float32), np.asarray(layer.variance, np.float32)
    if getattr(layer, "invert", False):
        raise Unsupported("invert")
    deviation = np.maximum(np.sqrt(variance), 1e-7)
    x = graph.op("Sub", [graph.own(inputs[0]), graph.weight(mean, "mean")])
    return Value(shape, own=graph.op("Div", [x, graph.weight(deviation, "deviation")]))


@layer("Embedding")
def embedding(graph, layer, inputs, shape):
    if getattr(layer, "mask_zero", False):
        raise Unsupported("mask_zero")
    ids = graph.own(inputs[0])
    if inputs[0].dtype not in ("int32", "int64"):
        ids = graph.op("Cast", [ids], to=7)
    return Value(shape, own=graph.op("Gather", [graph.weight(weights(layer, "embeddings"), "embeddings"), ids], axis=0))
