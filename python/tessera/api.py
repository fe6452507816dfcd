# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tessera.compile`, `tessera.tune` and `tessera.load`."""
import fcntl
import os
import re
import shutil
import tempfile
import weakref

from . import capi, compiler
from .errors import TesseraError
from .program import Program


def version():
    """The version of the runtime library."""
    return capi.text(capi.library().tsr_version())


def _is_torch(model):
    return any(base.__module__.startswith("torch.nn") and base.__name__ == "Module" for base in type(model).__mro__)


def _is_keras(model):
    return any(base.__module__.split(".")[0] in ("keras", "tf_keras") and base.__name__ == "Model" for base in type(model).__mro__)


def _clean(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name) or "model"


def _source(model, example, folder, dynamic_batch):
    """(the file to compile, the program's name)."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        if not os.path.exists(path):
            raise TesseraError(f"cannot open '{path}': there is no such file")
        if not path.endswith((".onnx", ".mlir", ".tsr")):
            raise TesseraError(f"expected a file that ends in .onnx, .mlir or .tsr, but got '{path}'")
        return path, _clean(os.path.splitext(os.path.basename(path))[0])
    if isinstance(model, (bytes, bytearray, memoryview)):
        data, name = bytes(model), "model"
    elif hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        data, name = model.SerializeToString(), _clean(model.graph.name)
    elif _is_keras(model):  # Before PyTorch: on Keras's torch back end a model is a torch.nn.Module, too.
        from .keras_export import export
        data, name = export(model, example), _clean(model.name)
    elif _is_torch(model):
        from .torch_export import export
        data, name = export(model, example, dynamic_batch), _clean(type(model).__name__)
    else:
        raise TesseraError(f"cannot compile a {type(model).__name__}; expected an ONNX file, bytes or ModelProto, a torch.nn.Module or a "
                           "Keras 3 model")
    path = os.path.join(folder, name + ".onnx")
    with open(path, "wb") as f:
        f.write(data)
    return path, name


def compile(model, example=None, *, program=None, configuration=None, threads=0, profile=False, dynamic_batch=True, **options):
    """Compiles a model for this machine and loads it.

    model          path of a .onnx, .mlir or .tsr file, the bytes of an ONNX file, an onnx.ModelProto, a torch.nn.Module or a Keras model
    example        torch: an input (array or tensor), or a tuple of them, of the shape that the network will see; Keras: not needed
                   unless the model does not know its input's shape
    program        which graph, when the file holds several
    threads        0: one for each processor
    profile        keep times for Program.profile
    dynamic_batch  torch: leave the first extent of all inputs open (default)
    configuration  of a tuned program: which of its configurations to run; "baseline" is exact
    bind           ONNX: {input: array} for inputs that decide shapes
    frontend_options  {name: value} for the front end
    Others are those of `tessera compile` and `tessera install`, with _ for - and without the dashes in front: mode="strict",
    portfolio=True, without=["fusion"], knobs={"conv1": "int8"}, and for a program that `tessera.tune` wrote loss=1.
    """
    folder, lock = _temporary_folder()
    try:
        source, name = _source(model, example, folder, dynamic_batch)
        portable, installed = compiler.build(source, folder, name, **options)
        made = Program(installed, program, threads, profile, portable=portable, configuration=configuration)
    except BaseException:
        _remove_folder(folder, lock)
        raise
    weakref.finalize(made, _remove_folder, folder, lock)
    return made


def _temporary_folder():
    """A folder, and the lock that says that its owner lives: the next `tessera` removes those of owners that were killed
    (src/tessera/base/TempFolder.h)."""
    while True:
        folder = tempfile.mkdtemp(prefix="tessera-tmp-")
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # taken for one whose owner is gone, before it was locked
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(folder):
            return folder, lock
        os.close(lock)


def _remove_folder(folder, lock):
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def tune(model, data, output, example=None, *, dynamic_batch=True, bind=None, schedule=None, frontend_options=None, **options):
    """Finds what a program's accuracy can be traded for, and writes it with the curve of that to `output`, a .tsr file:
    `tessera.compile(output, loss=1)` then installs the fastest configuration that loses at most one point. Returns `output`.

    model, example, dynamic_batch, bind, schedule, frontend_options: as for `compile`
    data     labelled samples: "mnist:DIR", "cifar10:DIR" or a .npz file with the arrays x and y; or a folder of inputs
    Others are those of `tessera tune`, with _ for -: images=100, loss=[1, 2], knobs=["bf16", "int8"], budget="5m".
    """
    output = os.fspath(output)
    if not output.endswith(".tsr"):
        raise TesseraError(f"expected a name that ends in .tsr, but got '{output}'")
    folder, lock = _temporary_folder()
    try:
        source, name = _source(model, example, folder, dynamic_batch)
        portable = compiler.make_portable(source, folder, name, bind, frontend_options, {"schedule": schedule})
        compiler.tune(portable, data, output, options)
    finally:
        _remove_folder(folder, lock)
    return output


def load(path, program=None, threads=0, profile=False, configuration=None):
    """Loads an installed program (.tsx); other files are compiled first. Needs no compiler for a .tsx."""
    path = os.fspath(path)
    if not path.endswith(".tsx"):
        return compile(path, program=program, configuration=configuration, threads=threads, profile=profile)
    return Program(path, program, threads, profile, configuration=configuration)
