# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tessera from Python: compile a network, run it on NumPy arrays.

    import tessera
    program = tessera.compile("model.onnx")
    logits = program.run(images)

Models may be ONNX files, bytes or `ModelProto`s, `torch.nn.Module`s (with an example input) and Keras 3 models.
"""
from .api import compile, load, tune, version
from .errors import TesseraError
from .program import Program

__version__ = "0.1.0"
__all__ = ["Program", "TesseraError", "compile", "load", "tune", "version"]
