# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that only move elements. Keras's order of elements counts."""
from .graph import Unsupported, Value
from .table import layer


@layer("Flatten")
def flatten(graph, layer, inputs, shape):
    value = inputs[0]
    if getattr(layer, "data_format", "channels_last") == "channels_first" and value.rank > 2:
        # Keras moves the channels to the end before it flattens.
        x = graph.op("Transpose", [graph.own(value)], perm=[0, *range(2, value.rank), 1])
        return Value(shape, own=graph.op("Flatten", [x], axis=1))
    return Value(shape, own=graph.op("Flatten", [graph.own(value)], axis=1))


@layer("Reshape")
def reshape(graph, layer, inputs, shape):
    # 0: the batch stays what it is.
    return Value(shape, own=graph.op("Reshape", [graph.own(inputs[0]), graph.ints([0, *layer.target_shape])]))


@layer("Permute")
def permute(graph, layer, inputs, shape):
    return Value(shape, own=graph.op("Transpose", [graph.own(inputs[0])], perm=[0, *layer.dims]))


@layer("RepeatVector")
def repeat_vector(graph, layer, inputs, shape):
    x = graph.op("Unsqueeze", [graph.own(inputs[0]), graph.ints([1], "axes")])
    return Value(shape, own=graph.op("Tile", [x, graph.ints([1, layer.n, 1], "repeats")]))


@layer("TimeDistributed")
def time_distributed(graph, layer, inputs, shape):
    # A Dense layer works on the last axis, whatever comes before it.
    from .table import LAYERS
    if type(layer.layer).__name__ not in ("Dense", "Activation", "Dropout", "ReLU"):
        raise Unsupported(f"TimeDistributed around {type(layer.layer).__name__}")
    return LAYERS[type(layer.layer).__name__](graph, layer.layer, inputs, shape)
