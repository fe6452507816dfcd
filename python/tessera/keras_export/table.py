# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of layers: the name of a Keras class → (graph, layer, inputs, output shape) → value."""
LAYERS = {}


def layer(*names):
    """Registers a function for these classes."""

    def add(function):
        for name in names:
            LAYERS[name] = function
        return function

    return add
