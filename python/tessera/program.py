# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An installed program that is loaded and can be run."""
import ctypes
import os
import shutil
import tempfile
import threading
import weakref

import numpy as np

from . import capi, compiler
from .errors import TesseraError


def _shape_text(shape):
    return "x".join("?" if extent < 0 else str(extent) for extent in shape) or "a scalar"


class Port:
    """An input or output: its name, NumPy type and shape (None where any extent goes)."""

    def __init__(self, name, kind, shape, written=False, unsigned=False):
        self.name, self.kind, self.written, self.unsigned = name, kind, written, unsigned
        self.words = None
        self.raw_shape = shape
        self.shape = tuple(None if extent < 0 else extent for extent in shape)
        # Integers are signless; the other view of them has no sign.
        self.type, self.dtype, self.others = capi.TYPES[kind]
        if unsigned:
            self.type, self.dtype, self.others = "u" + self.type[1:], self.others[0], ()

    def __repr__(self):
        return f"{self.name}: {self.type} {_shape_text(self.raw_shape)}"

    def accept(self, value):
        """The value as an array whose memory can be lent to a launch."""
        array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
        name, dtype, others = self.type, self.dtype, self.others
        if array.dtype.name == "bfloat16" and self.kind == capi.BF16:
            array = array.view(np.uint16)
        if array.dtype != dtype and array.dtype not in others:
            # Python's own numbers have no width that could be lost.
            if not hasattr(value, "dtype") and array.dtype.kind in "bif" and np.can_cast(array.dtype, dtype, "same_kind"):
                array = array.astype(dtype)
            else:
                remedy = "store its bits as numpy.uint16" if self.kind == capi.BF16 else f"convert it with .astype(numpy.{dtype.name})"
                raise TesseraError(f"input '{self.name}': expected {name} of shape {_shape_text(self.raw_shape)}, "
                                   f"but got {array.dtype.name}; {remedy}")
        if array.ndim != len(self.shape) or any(w is not None and w != g for w, g in zip(self.shape, array.shape)):
            raise TesseraError(f"input '{self.name}': expected shape {_shape_text(self.raw_shape)}, but got {_shape_text(array.shape)}")
        if self.written:
            return np.array(array, order="C")  # The program changes this input; the caller's array stays.
        return np.ascontiguousarray(array).reshape(array.shape)


class Program:
    """A loaded program. Made by `tessera.compile` or `tessera.load`; may be run from several threads."""

    def __init__(self, path, name=None, threads=0, profile=False, portable=None, configuration=None):
        self._native = None
        self._portable = portable
        self.path = path
        lib = capi.library()
        options = capi.Options()
        lib.tsr_options_init(capi.byref(options))
        options.threads, options.profile = threads, int(profile)
        handle = self._load(name, options)
        if configuration:
            # Its configurations are programs beside the exact one.
            exact = name or capi.text(lib.tsr_program_name(handle)).split("@")[0]
            lib.tsr_program_free(handle)
            handle = self._load(exact if configuration == "baseline" else f"{exact}@{configuration}", options)
        self._native = handle
        self._free = weakref.finalize(self, lib.tsr_program_free, handle)
        self.name = capi.text(lib.tsr_program_name(handle))
        self.inputs = self._ports(lib.tsr_program_input_count, lib.tsr_program_input_info, lib.tsr_program_input_is_unsigned)
        self.outputs = self._ports(lib.tsr_program_output_count, lib.tsr_program_output_info, lib.tsr_program_output_is_unsigned)
        for i, port in enumerate(self.outputs):
            port.words = _words(handle, i)
        self.threads = threads
        self._lock = threading.Lock()

    def _load(self, name, options):
        handle = capi.c_void_p()
        capi.check(capi.library().tsr_program_load(os.fsencode(self.path), name.encode(errors="surrogateescape") if name else None, capi.byref(options),
                                                   capi.byref(handle)))
        return handle

    def _ports(self, count, info_of, unsigned):
        ports = []
        for i in range(count(self._native)):
            info = capi.PortInfo()
            capi.check(info_of(self._native, i, capi.byref(info)))
            ports.append(Port(*capi.port(info), bool(unsigned(self._native, i))))
        return ports

    def __repr__(self):
        return f"<tessera program '{self.name}': {', '.join(map(repr, self.inputs))} -> {', '.join(map(repr, self.outputs))}>"

    def _order(self, positional, named):
        names = [port.name for port in self.inputs]
        if len(positional) > len(names):
            raise TesseraError(f"expected {len(names)} inputs ({', '.join(names)}), but got {len(positional)}")
        values = dict(zip(names, positional))
        for name, value in named.items():
            if name not in names:
                raise TesseraError(f"unknown input '{name}'; inputs: {', '.join(names)}")
            if name in values:
                raise TesseraError(f"input '{name}' is given twice")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TesseraError(f"missing: {', '.join(missing)}; inputs: {', '.join(names)}")
        return [port.accept(values[port.name]) for port in self.inputs]

    def run(self, *positional, **named):
        """Runs it once. Inputs in the program's order, or by name. One output comes back as an array, several as a dict by name.

        Names that are no Python identifiers go through a dict: `program.run(**{"input.1": x})`.
        """
        if len(positional) == 1 and isinstance(positional[0], dict) and not named:
            positional, named = (), positional[0]
        arrays = self._order(positional, named)
        lib = capi.library()
        inputs = (capi.c_void_p * max(len(arrays), 1))()
        outputs = (capi.c_void_p * max(len(self.outputs), 1))()
        try:
            for i, (port, array) in enumerate(zip(self.inputs, arrays)):
                buffer = capi.c_void_p()
                capi.check(lib.tsr_buffer_wrap(port.kind, array.ndim, capi.extents(array.shape), array.ctypes.data,
                                               int(not port.written), capi.byref(buffer)))
                inputs[i] = buffer
            capi.check(lib.tsr_run(self._native, inputs, len(arrays), outputs, len(self.outputs)))
        except BaseException:
            for buffer in outputs:
                lib.tsr_buffer_free(buffer)
            raise
        finally:
            for buffer in inputs:
                lib.tsr_buffer_free(buffer)
        results = [_to_numpy(buffer, port.dtype) for buffer, port in zip(outputs, self.outputs)]
        results = [result if port.words is None else port.words[result] for result, port in zip(results, self.outputs)]
        if len(results) == 1:
            return results[0]
        return {port.name: result for port, result in zip(self.outputs, results)}

    __call__ = run

    def save(self, path):
        """Writes it to a file: `.tsx`, the installed program, or `.tsr`, the portable object, where it was compiled here."""
        if str(path).endswith(".tsr"):
            if not self._portable:
                raise TesseraError(f"'{self.name}' was loaded from an installed program, which holds no portable object; save it as .tsx")
            source = self._portable
        elif str(path).endswith(".tsx"):
            source = self.path
        else:
            raise TesseraError(f"expected a name that ends in .tsx or .tsr, but got '{path}'")
        # Beside, then renamed: nobody sees half a file.
        folder = os.path.dirname(os.path.abspath(path))
        handle, beside = tempfile.mkstemp(dir=folder)
        os.close(handle)
        try:
            shutil.copyfile(source, beside)
            os.chmod(beside, 0o644)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise

    def explain(self, measure=False, **dims):
        """What `tessera explain` says: per node the device, kernels, cost and why. With `measure`, times; `dims` gives the extents of
        inputs that leave them open, e.g. explain(measure=True, image=(16, 3, 32, 32)); a first extent that is not given is 1."""
        words = ["explain", self.path, "--program", self.name]
        if measure:
            words.append("--measure")
            if self.threads:
                words += ["--threads", str(self.threads)]
            for port in self.inputs:
                given = dims.get(port.name)
                for axis, extent in enumerate(port.shape):
                    if extent is None and (given is not None or axis == 0):
                        words += ["--dim", f"{port.name}:{axis}={given[axis] if given is not None else 1}"]
        return compiler.tessera(words)

    def profile(self):
        """What each node cost so far, as a list of dicts; the program must have been opened with `profile=True`."""
        lib = capi.library()
        rows = []
        for i in range(lib.tsr_program_node_count(self._native)):
            node = capi.NodeProfile()
            capi.check(lib.tsr_program_profile(self._native, i, capi.byref(node)))
            rows.append({"node": capi.text(node.name), "source": capi.text(node.source), "device": capi.text(node.device), "count": node.count,
                         "total_ns": node.total_ns, "min_ns": node.min_ns, "flops": node.flops, "bytes": node.bytes})
        return rows


def _words(program, output):
    """The strings that the elements of an output stand for, or None."""
    words = []
    while (word := capi.library().tsr_program_output_word(program, output, len(words))) is not None:
        words.append(capi.text(word))
    return np.array(words) if words else None


def _to_numpy(handle, dtype):
    """An array over the memory of an output, which lives as long as the array."""
    lib = capi.library()
    buffer = capi.c_void_p(handle)
    memory = capi.c_void_p()
    try:
        capi.check(lib.tsr_buffer_map(buffer, capi.READ, capi.byref(memory)))
        shape = tuple(lib.tsr_buffer_shape(buffer)[i] for i in range(lib.tsr_buffer_rank(buffer)))
        size = lib.tsr_buffer_bytes(buffer)
    except BaseException:
        lib.tsr_buffer_free(buffer)
        raise
    if size == 0:
        lib.tsr_buffer_free(buffer)
        return np.empty(shape, dtype)
    block = (ctypes.c_char * size).from_address(memory.value)
    weakref.finalize(block, lib.tsr_buffer_free, buffer)
    return np.frombuffer(block, dtype).reshape(shape)
