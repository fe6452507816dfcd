# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.Module → ONNX, through PyTorch's own exporter."""
import inspect
import io

from .errors import TesseraError

OPSET = 17


def _tensor(value):
    import torch
    return value if isinstance(value, torch.Tensor) else torch.as_tensor(value)


def _input_names(model, count):
    """The parameters' names of `forward`, where it names as many; so that run(x=…) reads like a call of the module."""
    try:
        names = [p.name for p in inspect.signature(model.forward).parameters.values()
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return names[:count] if len(names) >= count else [f"input{i}" for i in range(count)]


def _output_names(model, example):
    import torch
    with torch.no_grad():
        result = model(*example)
    count = len(result) if isinstance(result, (tuple, list)) else 1
    return ["output"] if count == 1 else [f"output{i}" for i in range(count)]


def export(model, example, dynamic_batch=True):
    """The bytes of the ONNX model."""
    import torch
    if example is None:
        raise TesseraError("a torch.nn.Module does not know its inputs' shapes; give an example: tessera.compile(model, torch.zeros(1, 3, 32, 32))")
    example = tuple(_tensor(value) for value in (example if isinstance(example, (tuple, list)) else (example,)))
    training = model.training
    model.eval()
    try:
        inputs, outputs = _input_names(model, len(example)), _output_names(model, example)
        # A program's input and output names must differ.
        outputs = [name if name not in inputs else name + "_" for name in outputs]
        axes = None
        if dynamic_batch:
            axes = {name: {0: "N"} for name, value in zip(inputs, example) if value.dim() > 0}
            axes.update({name: {0: "N"} for name in outputs})
        options = {"opset_version": OPSET, "input_names": inputs, "output_names": outputs, "dynamic_axes": axes}
        if "dynamo" in inspect.signature(torch.onnx.export).parameters:
            options["dynamo"] = False  # The tracing exporter is in every version and needs no further package.
        buffer = io.BytesIO()
        with torch.no_grad():
            torch.onnx.export(model, example, buffer, **options)
    except TesseraError:
        raise
    except Exception as error:  # What a user's model does wrong is reported as it is, with a word on where.
        raise TesseraError(f"PyTorch cannot export this module to ONNX: {error}") from error
    finally:
        model.train(training)
    return buffer.getvalue()
