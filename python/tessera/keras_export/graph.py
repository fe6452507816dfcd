# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ONNX graph under construction, and values that know in which layout they are at hand.

Keras puts channels last, ONNX first. A value may be at hand in either order; the other is made by a Transpose when somebody asks for it,
once. So a chain of convolutions, activations and pools has one Transpose at its head and one at its end, not two at each.
"""
import contextlib

import numpy as np

from .. import onnx_write as ow
from ..errors import TesseraError


class Unsupported(Exception):
    """Something of a layer that cannot be exported; the text says what."""


class Value:
    """A tensor: `shape` as Keras has it (None: open), and the names under which it is at hand, by layout: "own" or "first"."""

    def __init__(self, shape, dtype="float32", **layouts):
        self.shape, self.dtype, self.layouts = shape, dtype, layouts

    @property
    def rank(self):
        return len(self.shape)


class Graph:
    def __init__(self, name, opset):
        self.writer = ow.ModelWriter(name, opset)
        self.missing = []
        self._scope, self._names = [], set()
        self._inputs = set()

    # Names

    @contextlib.contextmanager
    def scope(self, name):
        self._scope.append(name)
        yield
        self._scope.pop()

    def _fresh(self, suffix):
        base = "/".join([*self._scope, suffix]) if self._scope else suffix
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    # Nodes and weights

    def op(self, kind, inputs, outputs=1, **attributes):
        """Adds a node; returns the name of its result, or a list of names when it has several."""
        name = self._fresh(kind)
        results = [name + ":0"] if outputs == 1 else [f"{name}:{i}" for i in range(outputs)]
        self.writer.nodes.append(ow.node(kind, inputs, results, name, attributes))
        return results[0] if outputs == 1 else results

    def weight(self, array, suffix="weight", dtype=np.float32):
        name = self._fresh(suffix)
        self.writer.weights.append(ow.tensor(name, np.asarray(array, dtype)))
        return name

    def ints(self, values, suffix="shape"):
        return self.weight(np.asarray(values), suffix, np.int64)

    # Layouts

    def own(self, value):
        """The name of the value in Keras's order."""
        if "own" not in value.layouts:
            value.layouts["own"] = self.op("Transpose", [value.layouts["first"]], perm=[0, *range(2, value.rank), 1])
        return value.layouts["own"]

    def first(self, value):
        """The name of the value with its last axis as axis 1."""
        if "first" not in value.layouts:
            value.layouts["first"] = self.op("Transpose", [value.layouts["own"]], perm=[0, value.rank - 1, *range(1, value.rank - 1)])
        return value.layouts["first"]

    def channels_first(self, layer, value):
        """The value as ONNX wants it for a layer that says where its channels are."""
        return self.own(value) if getattr(layer, "data_format", "channels_last") == "channels_first" else self.first(value)

    def from_channels_first(self, layer, name, shape):
        if getattr(layer, "data_format", "channels_last") == "channels_first":
            return Value(shape, own=name)
        return Value(shape, first=name)

    def elementwise(self, value, function, shape=None):
        """function(name) → name, for what treats each element alike: in whichever layout the value is at hand."""
        layout = "first" if "first" in value.layouts else "own"
        return Value(shape or value.shape, **{layout: function(value.layouts[layout])})

    # Ends

    def _dims(self, shape):
        return ["N" if extent is None and i == 0 else f"d{i}" if extent is None else extent for i, extent in enumerate(shape)]

    def input(self, name, shape, dtype):
        if dtype not in ow.TYPES:
            raise TesseraError(f"Keras input '{name}': type {dtype} is not supported")
        self._names.add(name)
        self._inputs.add(name)
        self.writer.inputs.append(ow.value_info(name, ow.TYPES[dtype], self._dims(shape)))
        return Value(shape, dtype, own=name)

    def output(self, name, value, shape):
        while name in self._inputs:
            name += "_output"
        self.writer.nodes.append(ow.node("Identity", [self.own(value)], [name], self._fresh("output"), {}))
        self._names.add(name)
        self._inputs.add(name)
        self.writer.outputs.append(ow.value_info(name, ow.FLOAT, self._dims(shape)))


def weights(layer, name):
    """A weight of a layer as an array, or None when it has none of this name."""
    variable = getattr(layer, name, None)
    if variable is None:
        return None
    value = variable.value if hasattr(variable, "value") else variable
    value = value() if callable(value) else value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value, np.float32)
