# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SimpleRNN, LSTM, GRU and Bidirectional. Keras orders LSTM's gates i, f, c, o and ONNX i, o, f, c; GRU's are z, r, h in both."""
import numpy as np

from .graph import Unsupported, Value, weights
from .table import layer

NAMES = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "softsign": "Softsign", "softplus": "Softplus"}
GATES = {"LSTM": [0, 3, 1, 2], "GRU": [0, 1, 2], "SimpleRNN": [0]}


def _activation(function):
    name = getattr(function, "__name__", str(function))
    if name not in NAMES:
        raise Unsupported(f"activation '{name}' in a recurrent layer")
    return NAMES[name]


def _gates(array, kind, units):
    """The gates of the last axis in ONNX's order, gates first: [gates * units, …]."""
    parts = [array[..., g * units:(g + 1) * units] for g in GATES[kind]]
    return np.concatenate(parts, axis=-1).T


def _tensors(layer):
    """ONNX's W, R and B of one direction, each without the axis of directions."""
    kind, cell = type(layer).__name__, layer.cell
    units = layer.units
    w = _gates(weights(cell, "kernel"), kind, units)
    r = _gates(weights(cell, "recurrent_kernel"), kind, units)
    bias = weights(cell, "bias")
    count = len(GATES[kind]) * units
    if bias is None:
        b = np.zeros(2 * count, np.float32)
    elif bias.ndim == 2:  # GRU with reset_after: one bias before, one after the product with the state.
        b = np.concatenate([_gates(bias[0], kind, units), _gates(bias[1], kind, units)])
    else:
        b = np.concatenate([_gates(bias, kind, units), np.zeros(count, np.float32)])
    return w, r, b


def _run(graph, layers, directions, x):
    """The ONNX operation for one or two layers of one kind: (Y, last state)."""
    first = layers[0]
    kind = type(first).__name__
    for each in layers:
        if getattr(each, "return_state", False) or getattr(each, "stateful", False):
            raise Unsupported("return_state or stateful")
    w, r, b = (graph.weight(np.stack(arrays), name) for arrays, name in zip(zip(*map(_tensors, layers)), ("W", "R", "B")))
    activations = []
    for each in layers:
        cell = each.cell
        outer = _activation(cell.activation)
        activations += {"LSTM": lambda: [_activation(cell.recurrent_activation), outer, outer],
                        "GRU": lambda: [_activation(cell.recurrent_activation), outer], "SimpleRNN": lambda: [outer]}[kind]()
    attributes = {"hidden_size": int(first.units), "activations": activations}
    if len(layers) == 2:
        attributes["direction"] = "bidirectional"
    elif directions[0] == "reverse":
        attributes["direction"] = "reverse"
    if kind == "GRU":
        attributes["linear_before_reset"] = int(first.cell.reset_after)
    steps = graph.op("Transpose", [x], perm=[1, 0, 2])
    return graph.op("RNN" if kind == "SimpleRNN" else kind, [steps, w, r, b], outputs=3 if kind == "LSTM" else 2, **attributes)[:2]


def _sequence(graph, y, direction):
    """[steps, directions, batch, units] → [batch, steps, units] of one direction."""
    one = graph.op("Gather", [y, graph.weight(np.int64(direction), "direction", np.int64)], axis=1)
    return graph.op("Transpose", [one], perm=[1, 0, 2])


@layer("LSTM", "GRU", "SimpleRNN")
def recurrent(graph, layer, inputs, shape):
    back = bool(layer.go_backwards)
    y, last = _run(graph, [layer], ["reverse" if back else "forward"], graph.own(inputs[0]))
    if not layer.return_sequences:
        return Value(shape, own=graph.op("Squeeze", [last, graph.ints([0], "axes")]))
    out = _sequence(graph, y, 0)
    if back:  # Keras gives the outputs in the order of the steps it took.
        out = graph.op("Slice", [out, graph.ints([-1], "starts"), graph.ints([np.iinfo(np.int64).min], "ends"), graph.ints([1], "axes"),
                                 graph.ints([-1], "steps")])
    return Value(shape, own=out)


@layer("Bidirectional")
def bidirectional(graph, layer, inputs, shape):
    forward, backward = layer.forward_layer, layer.backward_layer
    if type(forward) is not type(backward) or type(forward).__name__ not in GATES:
        raise Unsupported(f"Bidirectional around {type(forward).__name__}")
    y, last = _run(graph, [forward, backward], ["forward", "reverse"], graph.own(inputs[0]))
    if forward.return_sequences:
        parts = [_sequence(graph, y, d) for d in (0, 1)]
    else:
        parts = [graph.op("Gather", [last, graph.weight(np.int64(d), "direction", np.int64)], axis=0) for d in (0, 1)]
    mode = layer.merge_mode
    if mode == "concat":
        return Value(shape, own=graph.op("Concat", parts, axis=-1))
    if mode not in ("sum", "mul", "ave"):
        raise Unsupported(f"merge_mode '{mode}'")
    result = graph.op("Mul" if mode == "mul" else "Add", parts)
    if mode == "ave":
        result = graph.op("Mul", [result, graph.weight(np.float32(0.5), "half")])
    return Value(shape, own=result)
