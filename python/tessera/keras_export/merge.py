# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of several inputs. They work with channels first when all inputs are at hand that way, otherwise in Keras's order."""
import numpy as np

from .graph import Unsupported, Value
from .table import layer


def _together(graph, inputs):
    """(layout, names) in which all inputs are at hand, with as few transposes as possible."""
    same_rank = len({value.rank for value in inputs}) == 1
    if same_rank and inputs[0].rank > 2 and sum("first" in value.layouts for value in inputs) * 2 > len(inputs):
        return "first", [graph.first(value) for value in inputs]
    return "own", [graph.own(value) for value in inputs]


def _fold(kind):
    def emit(graph, layer, inputs, shape):
        if len(inputs) < 2:
            raise Unsupported("a constant as an operand")
        layout, names = _together(graph, inputs)
        result = names[0]
        for name in names[1:]:
            result = graph.op(kind, [result, name])
        return Value(shape, **{layout: result})

    return emit


for keras_name, onnx_name in (("Add", "Add"), ("Subtract", "Sub"), ("Multiply", "Mul"), ("Maximum", "Max"), ("Minimum", "Min"),
                              ("TrueDivide", "Div"), ("Divide", "Div")):
    layer(keras_name)(_fold(onnx_name))


@layer("Average")
def average(graph, layer, inputs, shape):
    total = _fold("Add")(graph, layer, inputs, shape)
    return graph.elementwise(total, lambda x: graph.op("Mul", [x, graph.weight(np.float32(1 / len(inputs)), "share")]))


@layer("Concatenate")
def concatenate(graph, layer, inputs, shape):
    layout, names = _together(graph, inputs)
    axis, rank = layer.axis % inputs[0].rank, inputs[0].rank
    if layout == "first" and axis > 0:
        axis = 1 if axis == rank - 1 else axis + 1
    return Value(shape, **{layout: graph.op("Concat", names, axis=axis)})
