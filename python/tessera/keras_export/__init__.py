# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras 3 models → ONNX: Sequential and functional models, whatever Keras's back end.

The layers are in files by family; each is a function from the layer and its inputs to its outputs, found by the class's name.
"""
from ..errors import TesseraError
from . import conv, merge, plain, recurrent, shape  # Each adds its layers to the table.
from .graph import Graph, Unsupported
from .table import LAYERS

OPSET = 17


def _functional(model, example):
    """The model as a graph of operations, or why it is none."""
    if hasattr(model, "_nodes_by_depth"):
        return model
    if type(model).__name__ == "Sequential" or hasattr(model, "_functional"):
        if getattr(model, "_functional", None) is None and example is not None:
            first = example[0] if isinstance(example, (tuple, list)) else example
            model.build((None, *first.shape[1:]))
        if getattr(model, "_functional", None) is not None:
            return model._functional
        raise TesseraError(f"Keras model '{model.name}' does not know its input's shape; begin it with keras.Input, or give an example")
    raise TesseraError(f"Keras model '{model.name}' is a subclass of Model with code of its own; expected a Sequential or functional model")


def _flatten(structure):
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in _flatten(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for item in structure for leaf in _flatten(item)]
    return [structure]


def _is_tensor(value):
    return type(value).__name__ == "KerasTensor"


def _walk(graph, model, inputs):
    """Emits all operations of a functional model; `inputs` are its inputs' values. Returns its outputs' values."""
    values = {id(tensor): value for tensor, value in zip(_flatten(model.inputs), inputs)}
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            operation = node.operation
            if getattr(node, "is_input", False) or type(operation).__name__ == "InputLayer":
                continue
            arguments = [a for a in _flatten(list(node.arguments.args) + list(node.arguments.kwargs.values()))]
            known = [values.get(id(a)) if _is_tensor(a) else a for a in arguments]
            tensors = [a for a, k in zip(arguments, known) if _is_tensor(a)]
            outputs = _flatten(node.outputs)
            if any(values.get(id(t)) is None for t in tensors):
                made = [None] * len(outputs)  # Follows an operation that is not supported; that one is reported.
            else:
                made = _emit(graph, operation, known, [tuple(t.shape) for t in outputs])
            values.update({id(tensor): value for tensor, value in zip(outputs, made)})
    return [values.get(id(tensor)) for tensor in _flatten(model.outputs)]


def _emit(graph, operation, arguments, shapes):
    inputs = [a for a in arguments if hasattr(a, "layouts")]
    if hasattr(operation, "_nodes_by_depth") or getattr(operation, "_functional", None) is not None:
        with graph.scope(operation.name):
            return _walk(graph, _functional(operation, None), inputs)
    emit = LAYERS.get(type(operation).__name__)
    try:
        if emit is None:
            raise Unsupported("layers of this kind are not known")
        with graph.scope(operation.name):
            made = emit(graph, operation, inputs, shapes[0])
    except Unsupported as why:
        graph.missing.append(f"'{operation.name}' ({type(operation).__name__}): {why}")
        return [None] * len(shapes)
    return made if isinstance(made, list) else [made]


def export(model, example=None):
    """The bytes of the ONNX model."""
    functional = _functional(model, example)
    graph = Graph(model.name, OPSET)
    inputs = [graph.input(t.name, tuple(t.shape), str(t.dtype)) for t in _flatten(functional.inputs)]
    outputs = _walk(graph, functional, inputs)
    if graph.missing:
        raise TesseraError("these layers cannot be exported to ONNX: " + "; ".join(graph.missing))
    names = list(getattr(functional, "output_names", []))
    for i, (value, tensor) in enumerate(zip(outputs, _flatten(functional.outputs))):
        graph.output(names[i] if i < len(names) else f"output{i}", value, tuple(tensor.shape))
    return graph.writer.bytes()
